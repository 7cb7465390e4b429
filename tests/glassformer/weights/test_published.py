"""Published configurations, in small and with random weights, give what transformers gives."""

import json
import warnings

import pytest
import torch
import transformers
from published import PUBLISHED, shrunk
from safetensors.torch import save_model
from small_models import CLOSE, answer, randomized

from glassformer import TransformerConfig, load
from glassformer.weights.families.registry import ARCHITECTURES, FAMILIES

WIDTHS = ("hidden_size", "d_model", "n_embd", "dim")
BODIES = {"distilbert": "DistilBertModel", "roberta": "RobertaModel"}


def test_every_family_is_among_them():
    assert {config["model_type"] for config, _ in PUBLISHED.values()} == FAMILIES.keys()


def test_each_field_is_known_or_ignored_with_one_warning(subtests):
    for name in PUBLISHED:
        with subtests.test(name=name):
            config, ignored = PUBLISHED[name]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found = TransformerConfig.from_hf(config)
            said = [str(one.message) for one in caught]
            assert ("quantization_config" in config) == any("fewer bits" in one for one in said)
            assert [one.rpartition(" no field ")[2] for one in said if "no field" in one] == (
                [", ".join(sorted(ignored))] if ignored else []
            )
            there = transformers.CONFIG_MAPPING[config["model_type"]]
            assert not ignored & there().to_dict().keys()
            assert found.d_model == config[next(name for name in WIDTHS if name in config)]


@pytest.mark.filterwarnings("ignore:ignored. the", "ignore:quantization_config")
def test_a_model_of_it_equals_transformers(tmp_path, subtests):
    for name in PUBLISHED:
        with subtests.test(name=name):
            config = shrunk(PUBLISHED[name][0])
            if config["architectures"][0] not in ARCHITECTURES:  # a head that is not built here
                config["architectures"] = [BODIES[config["model_type"]]]
            make = getattr(transformers, config["architectures"][0])
            kept = {
                field: value for field, value in config.items() if field != "quantization_config"
            }
            theirs = randomized(make(make.config_class.from_dict(kept)).float(), std=0.15)
            save_model(theirs, tmp_path / "model.safetensors")
            (tmp_path / "config.json").write_text(json.dumps(config))
            ids, real = (
                torch.randint(3, 97, (5, 17)),
                torch.arange(17) < torch.tensor([[17], [9], [7], [2], [1]]),
            )
            given = {"attention_mask": real.long()}
            with torch.no_grad():
                ours = load(tmp_path)
                if config["model_type"] == "vit":
                    images = torch.randn(5, 3, 21, 21)
                    output, expected = ours(images), answer(theirs, images)
                elif config["model_type"] == "marian":
                    target = torch.randint(3, 97, (5, 11))
                    output = ours(ids, target, real.long())
                    expected = theirs(input_ids=ids, **given, decoder_input_ids=target).logits
                else:
                    ids = ids.masked_fill(~real, max(config.get("pad_token_id") or 0, 0))
                    output, expected = (
                        ours(ids, real.long()),
                        answer(theirs, input_ids=ids, **given),
                    )
            if output.shape[:2] == real.shape:
                output, expected = output[real], expected[real]
            torch.testing.assert_close(output, expected, **CLOSE)
