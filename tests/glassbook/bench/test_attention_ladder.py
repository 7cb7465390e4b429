"""Each version of attention gives what transformers gives, and takes nothing it doesn't compute."""

from functools import partial
from itertools import product

import pytest
import torch
from small_models import CLOSE, VOCAB, answer, small_model

from glassbook.bench.attention_ladder import Batched, Joined, Looped, attending, versions
from glassformer import KVCache, from_hf
from glassformer.layers.alibi import AlibiAttention
from glassformer.layers.multihead import MultiHeadAttention

MAKES = {
    "looped": Looped,
    "batched": Batched,
    "joined": Joined,
    "fused": partial(Joined, fused=True),
}
KINDS = {
    "shared keys": {"num_key_value_heads": 2},
    "wide heads": {"num_key_value_heads": 3, "head_dim": 22},
    "biases": {"num_key_value_heads": 6, "attention_bias": True, "mlp_bias": True},
}


def test_each_version_gives_the_logits_of_transformers(subtests):
    for make, kind in product(MAKES.values(), KINDS):
        with subtests.test(make=make, kind=kind):
            theirs = small_model("LlamaForCausalLM", std=0.15, **KINDS[kind])
            ours, ids = from_hf(theirs), torch.randint(VOCAB, (5, 11))
            with torch.no_grad(), attending(ours.decoder, versions(ours.decoder, make)):
                torch.testing.assert_close(ours(ids), answer(theirs, ids), **CLOSE)


def test_a_version_needs_no_rotary_positions(subtests):
    for make in MAKES.values():
        with subtests.test(make=make):
            attention = MultiHeadAttention(21, 3).double()
            hidden, places = torch.randn(2, 5, 21, dtype=torch.float64), torch.arange(5)[None]
            theirs = attention(hidden, is_causal=True)
            torch.testing.assert_close(make(attention)(hidden, position_ids=places), theirs)


def test_the_decoder_has_its_own_attentions_again_even_after_an_error():
    decoder = from_hf(small_model("LlamaForCausalLM")).decoder
    own = [layer.attention for layer in decoder.layers]
    with attending(decoder, versions(decoder, Looped)):
        assert {type(layer.attention) for layer in decoder.layers} == {Looped}
    assert [layer.attention for layer in decoder.layers] == own
    with (
        pytest.raises(ValueError, match="input_ids"),
        attending(decoder, versions(decoder, Looped)),
    ):
        decoder(torch.zeros(0, 0, dtype=torch.long))
    assert [layer.attention for layer in decoder.layers] == own


def test_masks_caches_and_variations_are_refused(subtests):
    for make in MAKES.values():
        with subtests.test(make=make):
            decoder = from_hf(small_model("LlamaForCausalLM")).decoder
            ids = torch.randint(VOCAB, (2, 7))
            with torch.no_grad(), attending(decoder, versions(decoder, make)):
                with pytest.raises(ValueError, match=r"(Looped|Batched|Joined) takes no cache"):
                    decoder(ids, cache=KVCache())
                with pytest.raises(ValueError, match=r"takes no attn_mask$"):
                    decoder(ids, torch.ones_like(ids))
            for more in (
                MultiHeadAttention(21, 3, sliding_window=2),
                MultiHeadAttention(21, 3, qk_norm_eps=1e-6),
                AlibiAttention(21, 3),
            ):
                with pytest.raises(
                    ValueError, match=rf"window, or ALiBi, got {type(more).__name__}\("
                ):
                    make(more)


def test_every_layer_needs_one():
    decoder = from_hf(small_model("LlamaForCausalLM")).decoder
    with (
        pytest.raises(ValueError, match="one attention for each of 3 layers, got 2"),
        attending(decoder, versions(decoder, Looped)[:2]),
    ):
        pass


def test_joined_projections_are_one_matrix():
    joined = Joined(MultiHeadAttention(84, 6, num_kv_heads=2))
    assert joined.weight.shape == (84 + 2 * 28, 84)
    assert joined.bias is not None
    assert joined.bias.shape == (84 + 2 * 28,)
