"""Every family's tables, against the classes of the transformers that is installed."""

import warnings
from dataclasses import fields

import pytest
import transformers
from small_models import SIZES, small_config, small_model
from transformers import CONFIG_MAPPING

from glassformer import TransformerConfig, from_hf
from glassformer.families import ARCHITECTURES, FAMILIES

EACH_FAMILY = pytest.mark.parametrize("model_type", FAMILIES)
EACH_CLASS = pytest.mark.parametrize("name", ARCHITECTURES)


def parts(here):
    """Return the names here that one name there stands for."""
    return (here,) if isinstance(here, str) else here


def test_each_family_is_compared():
    assert SIZES.keys() == FAMILIES.keys()


@EACH_CLASS
def test_every_name_in_the_table_is_a_module_on_both_sides(name):
    """A row that serves nothing would be a row that nobody checks."""
    hf = small_model(getattr(transformers, name))
    ours = {name.replace(".1.", ".0.") for name, _ in from_hf(hf).named_modules()}
    theirs = {name.replace(".1.", ".0.") for name, _ in hf.named_modules()}
    in_files = {live: file for file, live in ARCHITECTURES[name].in_files.items()}
    for there, here in ARCHITECTURES[name].names.items():
        known = {there, in_files.get(there, there)}  # an older transformers has the files' names
        assert {one.replace("*", "0") for one in known} & theirs
        assert {part.replace("*", "0") for part in parts(here)} <= ours


@EACH_FAMILY
def test_every_field_of_transformers_is_accounted_for_once(model_type):
    family, there = FAMILIES[model_type], CONFIG_MAPPING[model_type]
    lists = [set(family.honored), set(family.refused_unless), set(family.harmless)]
    known = set.union(*lists)
    assert sum(map(len, lists)) == len(known)
    assert set(family.settle(there().to_dict())) | set(there.attribute_map) <= known


@EACH_FAMILY
def test_what_is_honored_is_a_field_here(model_type):
    ours = {field.name for field in fields(TransformerConfig)} - {"decoder"}
    for here in FAMILIES[model_type].honored.values():
        assert {part.removeprefix("decoder.") for part in parts(here)} <= ours


@EACH_FAMILY
def test_a_field_that_transformers_knows_under_two_names_is_honored_under_both(model_type):
    for alias, name in CONFIG_MAPPING[model_type].attribute_map.items():
        value = 96 if alias == "hidden_size" else 4
        there = CONFIG_MAPPING[model_type](**{alias: value})
        assert getattr(there, name) == value
        given = {"model_type": model_type, alias: value}
        assert TransformerConfig.from_hf(given) == TransformerConfig.from_hf(there)
        with pytest.raises(ValueError, match=rf"{alias} \({value}\) and {name} \({2 * value}\)"):
            TransformerConfig.from_hf({**given, name: 2 * value})


@EACH_FAMILY
def test_what_transformers_lacks_is_ignored_with_one_warning(model_type):
    plain = {"model_type": model_type, "vocab_size": 101, "pad_token_id": 0}
    odd = {"name": "Kim", "language": "de", "is_llama_config": True, "quantization_config": {}}
    assert not odd.keys() & CONFIG_MAPPING[model_type]().to_dict().keys()
    match = "no field is_llama_config, language, name, quantization_config$"
    with pytest.warns(UserWarning, match=match) as warned:
        config = TransformerConfig.from_hf({**plain, **odd})
    assert len(warned) == 1
    assert config == TransformerConfig.from_hf(plain)


@EACH_FAMILY
def test_a_live_config_with_more_fields_gives_what_its_file_gives(model_type):
    there = CONFIG_MAPPING[model_type](**SIZES[model_type], language="de")
    with pytest.warns(UserWarning, match="no field language$"):
        live = TransformerConfig.from_hf(there)
    with pytest.warns(UserWarning, match="no field language$"):
        assert TransformerConfig.from_hf(there.to_dict()) == live


@EACH_FAMILY
def test_a_field_of_a_newer_transformers_is_refused_unless_it_is_as_ever(model_type):
    class Newer(CONFIG_MAPPING[model_type]):
        stream_gate: float | None = None

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TransformerConfig.from_hf(Newer())
    with pytest.raises(
        ValueError, match=rf"stream_gate \(0.5\) .* {model_type}.* builds only None"
    ):
        TransformerConfig.from_hf(Newer(stream_gate=0.5))


@pytest.mark.parametrize("model_type", ["gpt2", "llama", "marian"])
@pytest.mark.parametrize(
    ("field", "value"),
    [("is_causal", False), ("layer_types", ["sliding_attention"]), ("sliding_window", 7)],
)
def test_what_masks_and_caches_of_transformers_ask_for_is_refused(model_type, field, value):
    with pytest.raises(ValueError, match=rf"{field} \(.*\) is not honored for {model_type}"):
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
        config = small_config(getattr(transformers, model))
        sizes = [v for k, v in SIZES[name].items() if v and not k.endswith("token_id")]
        sizes.append(config.hidden_size // config.num_attention_heads)
        assert len(set(sizes)) == len(sizes)
