import json
from dataclasses import FrozenInstanceError, replace

import pytest
import transformers

from glassformer import default_checkpoint
from glassformer.models.config import TransformerConfig


def test_default_is_bert_base():
    assert TransformerConfig() == TransformerConfig.from_hf(transformers.BertConfig())


def test_what_only_training_needs_is_taken_over_by_its_name_here():
    """What a model computes is compared with transformers' own, with each choice."""
    theirs = transformers.BertConfig(
        hidden_dropout_prob=0.25,
        attention_probs_dropout_prob=0.125,
        classifier_dropout=0.375,
        initializer_range=0.5,
    )
    assert TransformerConfig.from_hf(theirs) == TransformerConfig(
        dropout=0.25, attn_dropout=0.125, classifier_dropout=0.375, initializer_range=0.5
    )


def test_labels_are_counted_from_their_names_or_taken_as_a_number():
    names = {str(number): f"label {number}" for number in range(5)}
    for given in ({"id2label": names}, {"num_labels": 5}, {"num_labels": 5, "id2label": names}):
        assert TransformerConfig.from_hf({"model_type": "bert", **given}).num_labels == 5
    with pytest.raises(ValueError, match=r"num_labels \(7\).* must agree") as error:
        TransformerConfig.from_hf({"model_type": "bert", "num_labels": 7, "id2label": names})
    assert "id2label ({'0': 'label 0'" in str(error.value)


def test_a_config_file_gives_what_the_live_config_gives():
    text = (default_checkpoint() / "config.json").read_text()
    config = TransformerConfig.from_hf(json.loads(text))
    assert config == TransformerConfig.from_hf(
        transformers.BertConfig.from_pretrained(default_checkpoint())
    )
    assert config == TransformerConfig(d_model=384, num_layers=6, d_ff=1536)


def test_refuses_what_it_would_have_to_ignore_or_does_not_know(subtests):
    only = r"{} \(.*\) is not honored .* builds only {}"
    rows = [
        ({"position_embedding_type": "relative_key"}, only.format("position_.*", "'absolute'")),
        ({"is_decoder": True}, only.format("is_decoder", "False")),
        ({"add_cross_attention": True}, only.format("add_cross_attention", "False")),
        ({"pruned_heads": {"1": [0, 2]}}, only.format("pruned_heads", "{}")),
        ({"hidden_act": "mish"}, r"hidden_act \('mish'\) must be one of gelu,"),
        ({"model_type": "t5"}, r"model_type \('t5'\) must be one of bert"),
        ({"model_type": None}, r"model_type \(None\) must be one of bert"),
    ]
    for given, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            TransformerConfig.from_hf({"model_type": "bert", **given})


def test_cannot_be_changed_but_can_be_varied():
    config = TransformerConfig()
    with pytest.raises(FrozenInstanceError, match="d_model"):
        config.d_model = 384
    assert replace(config, d_model=384).d_model == 384


def test_refuses_values_out_of_range(subtests):
    rows = [
        ({"num_heads": 10}, r"num_heads \(10\) must divide d_model \(768\)"),
        ({"num_kv_heads": 5}, r"num_kv_heads \(5\) must divide num_heads \(12\)"),
        ({"num_kv_heads": 0}, r"num_kv_heads \(0\) must be at least 1"),
        ({"head_dim": 0}, r"head_dim \(0\) must be at least 1"),
        ({"num_layers": 0}, r"num_layers \(0\) must be at least 1"),
        ({"max_positions": -1}, r"max_positions \(-1\) must be at least 1"),
        ({"num_token_types": -1}, r"num_token_types \(-1\) must not be negative"),
        ({"dropout": 1.0}, r"dropout \(1.0\) must be at least 0 and less than 1"),
        ({"attn_dropout": -0.1}, r"attn_dropout \(-0.1\) must be at least 0"),
        ({"norm_eps": 0.0}, r"norm_eps \(0.0\) must be more than 0"),
        ({"initializer_range": -0.02}, r"initializer_range \(-0.02\) must not be negative"),
        ({"norm": "batch"}, r"norm \('batch'\) must be one of layer, rms"),
        ({"positions": "spiral"}, r"positions \('spiral'\) must be one of learned, sinusoidal"),
        ({"rope_theta": 0.0}, r"rope_theta \(0.0\) must be more than 0"),
        (
            {"positions": "rotary", "d_model": 21, "num_heads": 3},
            r"head_dim \(7\) must be even: positions \('rotary'\)",
        ),
        ({"activation": "mish"}, r"activation \('mish'\) must be one of gelu, gelu_tanh, relu"),
        (
            {"skip_padding": True, "pad_token_id": None},
            r"skip_padding \(True\) needs a pad_token_id",
        ),
        ({"pad_token_id": 30522}, r"pad_token_id \(30522\) .* vocab_size \(30522\)"),
    ]
    for choices, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            TransformerConfig(**choices)
