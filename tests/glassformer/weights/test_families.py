"""Every family's tables, against the classes of the transformers that is installed."""

import warnings
from dataclasses import fields
from itertools import product

import pytest
import transformers
from small_models import SIZES, small_config, small_model

from glassformer import TransformerConfig, from_hf
from glassformer.weights.families.registry import ARCHITECTURES, FAMILIES


def parts(here):
    """Return the names here that one name there stands for."""
    return (here,) if isinstance(here, str) else here


def test_each_family_is_compared():
    assert SIZES.keys() == FAMILIES.keys()


def test_every_name_in_the_table_is_a_module_on_both_sides(subtests):
    """A row that serves nothing would be a row that nobody checks."""
    for name in ARCHITECTURES:
        with subtests.test(name=name):
            hf = small_model(name)
            ours = {name.replace(".1.", ".0.") for name, _ in from_hf(hf).named_modules()}
            theirs = {name.replace(".1.", ".0.") for name, _ in hf.named_modules()}
            in_files = {live: file for file, live in ARCHITECTURES[name].in_files.items()}
            for there, here in ARCHITECTURES[name].names.items():
                # an older transformers has the files' names
                known = {there, in_files.get(there, there)}
                assert {one.replace("*", "0") for one in known} & theirs
                assert {part.replace("*", "0") for part in parts(here)} <= ours


def test_every_field_of_transformers_is_accounted_for_once(subtests):
    for model_type in FAMILIES:
        with subtests.test(model_type=model_type):
            family, there = FAMILIES[model_type], transformers.CONFIG_MAPPING[model_type]
            lists = [set(family.honored), set(family.refused_unless), set(family.harmless)]
            known = set.union(*lists)
            assert sum(map(len, lists)) == len(known)
            assert set(family.settle(there().to_dict())) | set(there.attribute_map) <= known


def test_what_is_honored_is_a_field_here():
    ours = {field.name for field in fields(TransformerConfig)} - {"decoder"}
    for family in FAMILIES.values():
        for here in family.honored.values():
            assert {part.removeprefix("decoder.") for part in parts(here)} <= ours, here


def test_a_field_that_transformers_knows_under_two_names_is_honored_under_both(subtests):
    for model_type in FAMILIES:
        with subtests.test(model_type=model_type):
            for alias, name in transformers.CONFIG_MAPPING[model_type].attribute_map.items():
                value = 96 if alias == "hidden_size" else 4
                there = transformers.CONFIG_MAPPING[model_type](**{alias: value})
                assert getattr(there, name) == value
                given = {"model_type": model_type, alias: value}
                assert TransformerConfig.from_hf(given) == TransformerConfig.from_hf(there)
                message = rf"{alias} \({value}\) and {name} \({2 * value}\)"
                with pytest.raises(ValueError, match=message):
                    TransformerConfig.from_hf({**given, name: 2 * value})


def test_what_transformers_lacks_is_ignored_with_one_warning(subtests):
    for model_type in FAMILIES:
        with subtests.test(model_type=model_type):
            plain = {"model_type": model_type, "vocab_size": 101, "pad_token_id": 0}
            odd = {"name": "Kim", "language": "de", "is_llama_config": True}
            assert not odd.keys() & transformers.CONFIG_MAPPING[model_type]().to_dict().keys()
            match = "no field is_llama_config, language, name$"
            with pytest.warns(UserWarning, match=match) as warned:
                config = TransformerConfig.from_hf({**plain, **odd})
            assert len(warned) == 1
            assert config == TransformerConfig.from_hf(plain)


def test_a_configuration_for_quantized_weights_has_a_warning_of_its_own():
    given = {"model_type": "llama", "quantization_config": {"quant_method": "gptq", "bits": 4}}
    with pytest.warns(UserWarning, match=r"'gptq', 'bits': 4.* weights .* can't be loaded") as said:
        config = TransformerConfig.from_hf(given)
    assert len(said) == 1
    assert config == TransformerConfig.from_hf({"model_type": "llama"})


def test_a_live_config_with_more_fields_gives_what_its_file_gives(subtests):
    for model_type in FAMILIES:
        with subtests.test(model_type=model_type):
            there = transformers.CONFIG_MAPPING[model_type](**SIZES[model_type], language="de")
            with pytest.warns(UserWarning, match="no field language$"):
                live = TransformerConfig.from_hf(there)
            with pytest.warns(UserWarning, match="no field language$"):
                assert TransformerConfig.from_hf(there.to_dict()) == live


def test_a_field_of_a_newer_transformers_is_refused_unless_it_is_as_ever(subtests):
    for model_type in FAMILIES:
        with subtests.test(model_type=model_type):

            class Newer(transformers.CONFIG_MAPPING[model_type]):
                stream_gate: float | None = None

            with warnings.catch_warnings():
                warnings.simplefilter("error")
                TransformerConfig.from_hf(Newer())
            message = rf"stream_gate \(0.5\) .* {model_type}.* builds only None"
            with pytest.raises(ValueError, match=message):
                TransformerConfig.from_hf(Newer(stream_gate=0.5))


def test_what_masks_and_caches_of_transformers_ask_for_is_refused(subtests):
    for model_type, (field, value) in product(
        ["gpt2", "llama", "marian"],
        [("is_causal", False), ("layer_types", ["sliding_attention"]), ("sliding_window", 7)],
    ):
        message = rf"{field} \(.*\) is not honored for {model_type}"
        with subtests.test(message), pytest.raises(ValueError, match=message):
            TransformerConfig.from_hf({"model_type": model_type, field: value})


def test_a_token_that_is_none_may_be_written_as_minus_one():
    given = {"model_type": "llama", "vocab_size": 101, "pad_token_id": -1}
    assert TransformerConfig.from_hf(given).pad_token_id is None


def test_labels_that_are_none_are_those_that_nobody_named():
    given = {"model_type": "bert", "id2label": None, "num_labels": 5}
    assert TransformerConfig.from_hf(given).num_labels == 5
    assert TransformerConfig.from_hf({**given, "num_labels": None}).num_labels == 2


def test_small_sizes_differ_within_each_family():
    for name, model in {"bert": "BertModel", "llama": "LlamaModel", "gpt2": "GPT2Model"}.items():
        config = small_config(model)
        sizes = [v for k, v in SIZES[name].items() if v and not k.endswith("token_id")]
        sizes.append(config.hidden_size // config.num_attention_heads)
        assert len(set(sizes)) == len(sizes)
