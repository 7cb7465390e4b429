"""Every family's tables, against the classes of the transformers that is installed."""

import re
import warnings
from dataclasses import fields

import pytest
import transformers
from small_models import SIZES, small_model

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


def test_a_token_that_is_none_may_be_written_as_minus_one():
    given = {"model_type": "llama", "vocab_size": 101, "pad_token_id": -1}
    assert TransformerConfig.from_hf(given).pad_token_id is None


def test_labels_that_are_none_are_those_that_nobody_named():
    given = {"model_type": "bert", "id2label": None, "num_labels": 5}
    assert TransformerConfig.from_hf(given).num_labels == 5
    assert TransformerConfig.from_hf({**given, "num_labels": None}).num_labels == 2


# What the configurations of transformers say even where nobody chose it.
WRITTEN_OUT = {
    "llama": {"num_kv_heads": 32, "head_dim": 128},
    "mistral": {"head_dim": 128},
    "qwen3": {"qkv_bias": False, "out_bias": False},
    "vit": {"qkv_bias": True},
}


def test_defaults_are_those_of_transformers(subtests):
    for model_type in FAMILIES:
        with subtests.test(model_type):
            expected = vars(TransformerConfig.from_hf({"model_type": model_type}))
            live = TransformerConfig.from_hf(transformers.CONFIG_MAPPING[model_type]())
            assert vars(live) == expected | WRITTEN_OUT.get(model_type, {})


MASKS = {"is_causal": False, "sliding_window": 7, "layer_types": ["full_attention"]}
SCALES = {"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True}
NOT_HONORED = {
    "gpt2": {**MASKS, **SCALES, "add_cross_attention": True, "reorder_and_upcast_attn": True},
    "llama": MASKS,
    "marian": {
        **MASKS,
        "normalize_before": True,
        "encoder_layerdrop": 0.5,
        "activation_dropout": 0.25,
    },
    "mistral": {"layer_types": ["full_attention"]},
    "qwen2": {
        "use_sliding_window": True,
        "layer_types": ["full_attention", "sliding_attention"],
    },
    "qwen3": {"use_sliding_window": True},
    "roberta": {"is_decoder": True, "hidden_act": "relu"},
    "vit": {"is_encoder_decoder": True},
}
ROPES = {"rope_type": "default", "rope_theta": 500.0}
OTHERS = [
    ("distilbert", {"activation": "mish"}, r"activation \('mish'\) must be one of gelu,"),
    ("roberta", {"pad_token_id": None}, r"pad_token_id \(None\) must be a token"),
    ("vit", {"hidden_act": "mish"}, r"hidden_act \('mish'\) must be one of gelu"),
    ("vit", {"image_size": 5, "patch_size": 7}, r"image_size \(5, 5\) must be at least patch_size"),
    ("marian", {"tie_word_embeddings": False}, r"tie_embeddings \(False\) must be True"),
    ("llama", {"hidden_act": "mish"}, r"hidden_act \('mish'\) must be one of gelu,"),
    ("llama", {"head_dim": 7}, r"head_dim \(7\) must be even: positions \('rotary_halves'\)"),
    (
        "llama",
        {"attention_bias": True, "mlp_bias": False},
        r"mlp_bias \(False\) and attention_bias",
    ),
    (
        "llama",
        {"rope_parameters": ROPES | {"partial_rotary_factor": 0.5}},
        r"partial_rotary_factor \(0.5\) is not honored for llama",
    ),
    (
        "llama",
        {"rope_theta": 1e4, "rope_parameters": ROPES},
        r"rope_theta \(10000.0\) and rope_parameters.rope_theta \(500.0\) must be equal",
    ),
    *(
        (kind, {"rope_scaling": {"type": "longrope"}}, rf"\('longrope'\) is not honored for {kind}")
        for kind in ("llama", "qwen3")
    ),
]


def test_what_is_not_built_is_refused(subtests):
    rows = [
        *(
            (
                kind,
                {field: value},
                rf"{field} \({re.escape(repr(value))}\) is not honored for {kind}",
            )
            for kind, given in NOT_HONORED.items()
            for field, value in given.items()
        ),
        *OTHERS,
    ]
    for kind, given, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            TransformerConfig.from_hf({"model_type": kind, **given})
