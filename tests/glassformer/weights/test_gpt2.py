from itertools import product

import pytest
import torch
from safetensors.torch import save_file
from small_models import CLOSE, VOCAB, answer, small_model

from glassformer import CheckpointError, TransformerConfig, TransformerForCausalLM, from_hf, load
from glassformer.models.decoder import TransformerDecoder

BATCH, SEQ = 3, 11
MAKES = {"GPT2Model": TransformerDecoder, "GPT2LMHeadModel": TransformerForCausalLM}


@pytest.fixture
def ids():
    return torch.randint(VOCAB, (BATCH, SEQ))


def test_equals_transformers_with_positions_that_skip_padding(ids, tmp_path, subtests):
    rows = [
        {},
        {"n_inner": 41, "activation_function": "relu", "layer_norm_epsilon": 0.1},
        {"tie_word_embeddings": False},
    ]
    mask = torch.arange(SEQ) >= torch.tensor([[0], [4], [1]])
    places = {"position_ids": (mask.long().cumsum(1) - 1).clamp(min=0)}
    for changes, (make, kind) in product(rows, MAKES.items()):
        with subtests.test(changes=changes, make=make), torch.no_grad():
            theirs = small_model(make, **changes)
            theirs.save_pretrained(tmp_path)
            ours = from_hf(theirs)
            assert type(ours) is kind
            output = ours(ids, mask)
            expected = answer(theirs, ids, attention_mask=mask.long(), **places)
            torch.testing.assert_close(output[mask], expected[mask], **CLOSE)
            assert load(tmp_path)(ids, mask).equal(output)
            if kind is TransformerForCausalLM:
                tied = changes.get("tie_word_embeddings", True)
                assert (ours.lm_head.weight is ours.decoder.embeddings.tokens.weight) is tied
                last = ours(ids, mask, last_only=True)
                torch.testing.assert_close(last, output[:, -1:], **CLOSE)


def test_a_file_of_the_body_alone_serves_the_language_model(ids, tmp_path):
    theirs = small_model("GPT2LMHeadModel")
    theirs.save_pretrained(tmp_path)
    weights = dict(theirs.transformer.state_dict())  # as OpenAI's own files have them
    weights["h.0.attn.bias"] = torch.ones(1, 1, 43, 43)  # the causal mask, which they hold too
    save_file(weights, tmp_path / "model.safetensors")
    with torch.no_grad():
        assert load(tmp_path)(ids).equal(from_hf(theirs)(ids))
    save_file({**weights, "wxe.weight": torch.ones(43, 35)}, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"unexpected: wxe\.weight"):
        load(tmp_path)


def test_a_causal_model_has_no_memory():
    with pytest.raises(ValueError, match=r"cross_attention \(True\) needs a memory"):
        TransformerForCausalLM(TransformerConfig(cross_attention=True))
