import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Model

from glassformer import TransformerConfig, TransformerForCausalLM, from_hf, load
from glassformer.decoder import TransformerDecoder

BATCH, SEQ, VOCAB = 3, 11, 101
CLOSE = {"rtol": 0.0, "atol": 2e-5}


def config(**changes):
    sizes = {"vocab_size": VOCAB, "n_positions": 23, "n_embd": 35, "n_layer": 2, "n_head": 5}
    return GPT2Config(**sizes, bos_token_id=1, eos_token_id=2, **changes)


@pytest.fixture
def ids():
    return torch.randint(VOCAB, (BATCH, SEQ))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"n_inner": 41, "activation_function": "relu", "layer_norm_epsilon": 0.1},
        {"tie_word_embeddings": False},
    ],
)
def test_language_model_equals_transformers(ids, changes):
    theirs = GPT2LMHeadModel(config(**changes, initializer_range=0.2)).eval()
    ours = from_hf(theirs)
    assert isinstance(ours, TransformerForCausalLM)
    with torch.no_grad():
        torch.testing.assert_close(ours(ids), theirs(ids).logits, **CLOSE)
        torch.testing.assert_close(ours(ids, last_only=True), theirs(ids).logits[:, -1:], **CLOSE)


def test_body_equals_transformers(ids):
    theirs = GPT2Model(config()).eval()
    ours = from_hf(theirs)
    assert isinstance(ours, TransformerDecoder)
    with torch.no_grad():
        torch.testing.assert_close(ours(ids), theirs(ids).last_hidden_state, **CLOSE)


def test_left_padding_equals_transformers_with_positions_that_skip_it(ids):
    theirs = GPT2LMHeadModel(config()).eval()
    mask = torch.arange(SEQ) >= torch.tensor([[0], [4], [1]])
    positions = (mask.long().cumsum(1) - 1).clamp(min=0)
    with torch.no_grad():
        expected = theirs(ids, attention_mask=mask.long(), position_ids=positions).logits
        logits = from_hf(theirs)(ids, mask)
    torch.testing.assert_close(logits[mask], expected[mask], **CLOSE)


def test_load_equals_from_hf(ids, tmp_path):
    theirs = GPT2LMHeadModel(config()).eval()
    theirs.save_pretrained(tmp_path)
    with torch.no_grad():
        assert load(tmp_path)(ids).equal(from_hf(theirs)(ids))


def test_the_last_map_is_the_table_of_tokens_where_it_is_tied():
    model = from_hf(GPT2LMHeadModel(config()))
    assert model.lm_head.weight is model.decoder.embeddings.tokens.weight
    untied = from_hf(GPT2LMHeadModel(config(tie_word_embeddings=False)))
    assert untied.lm_head.weight is not untied.decoder.embeddings.tokens.weight


def test_a_causal_model_has_no_memory():
    with pytest.raises(ValueError, match=r"cross_attention \(True\) needs a memory"):
        TransformerForCausalLM(TransformerConfig(cross_attention=True))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scale_attn_weights", False),
        ("scale_attn_by_inverse_layer_idx", True),
        ("add_cross_attention", True),
        ("reorder_and_upcast_attn", True),
    ],
)
def test_what_is_not_built_is_refused(name, value):
    with pytest.raises(ValueError, match=rf"{name} \({value}\) is not honoured for gpt2"):
        TransformerConfig.from_hf(config(**{name: value}))
