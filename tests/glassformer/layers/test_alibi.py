"""ALiBi: slopes, the bias, and a model whose attention has it."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from glassformer.layers.alibi import AlibiAttention, alibi_bias, alibi_slopes, use_alibi
from glassformer.layers.kv_cache import KVCache
from glassformer.layers.multihead import MultiHeadAttention, merge_heads, split_heads
from glassformer.models.config import TransformerConfig
from glassformer.models.task_models import TransformerForCausalLM

SIZES = {"vocab_size": 13, "d_model": 20, "num_heads": 5, "num_layers": 2, "d_ff": 7}


def small_model(**choices):
    config = TransformerConfig(**SIZES, positions="rotary", norm_first=True, **choices)
    return TransformerForCausalLM(config).eval()


def test_the_slopes_of_eight_heads_are_those_of_the_paper():
    assert alibi_slopes(8).tolist() == [0.5**number for number in range(1, 9)]


def test_slopes_and_bias_are_blooms_up_to_what_a_softmax_ignores(subtests):
    """Bloom adds slope times the key's position, which is ours plus a number for each query."""
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    for heads in [1, 3, 5, 8, 11, 12, 23]:
        with subtests.test(heads=heads):
            theirs = build_alibi_tensor(torch.ones(1, 17), heads, torch.float32)  # (heads, 1, 17)
            assert torch.allclose(alibi_slopes(heads), theirs[:, 0, 1], rtol=1e-6)
            causal = torch.full((11, 17), -torch.inf).triu(17 - 11 + 1)
            ours = alibi_bias(heads, 11, 17) + causal
            assert torch.allclose(ours.softmax(-1), (theirs + causal).softmax(-1), atol=1e-6)


def test_the_bias_counts_from_each_query_back():
    bias = alibi_bias(2, 3, 5)
    assert (bias[0] * 16).tolist() == [[-2, -1, 0, 0, 0], [-3, -2, -1, 0, 0], [-4, -3, -2, -1, 0]]
    assert (bias[1] * 256).equal(bias[0] * 16)


def test_no_heads_are_refused():
    for heads in (0, -3):
        with pytest.raises(ValueError, match=rf"num_heads \({heads}\) must be at least 1"):
            alibi_slopes(heads)


def test_attention_is_torchs_with_the_slopes_of_the_paper(subtests):
    for kv_heads in [5, 1]:
        with subtests.test(kv_heads=kv_heads):
            attention, x = AlibiAttention(20, 5, num_kv_heads=kv_heads), torch.randn(3, 11, 20)
            heads = [
                split_heads(project(x), count)
                for project, count in (
                    (attention.q_proj, 5),
                    (attention.k_proj, kv_heads),
                    (attention.v_proj, kv_heads),
                )
            ]
            # four heads have the first, and then every other
            slopes = torch.tensor([2**-2, 2**-4, 2**-6, 2**-8, 2**-1])[:, None, None]
            back = torch.arange(11.0)[:, None] - torch.arange(11.0)
            bias = (-slopes * back).masked_fill(back < 0, -torch.inf)
            output = scaled_dot_product_attention(*heads, attn_mask=bias, enable_gqa=True)
            expected = attention.out_proj(merge_heads(output))
            assert torch.allclose(attention(x, is_causal=True), expected, atol=1e-5)


def test_a_model_keeps_its_weights_and_loses_its_turns():
    model = small_model()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    ids = torch.randint(1, 13, (3, 11))
    rotary = model(ids)
    assert use_alibi(model) is model
    assert {type(layer.attention) for layer in model.decoder.layers} == {AlibiAttention}
    assert all(layer.attention.rotary is None for layer in model.decoder.layers)
    assert before.keys() == model.state_dict().keys()
    assert all(before[name].equal(weight) for name, weight in model.state_dict().items())
    assert not model.decoder.layers[0].attention.training
    assert not torch.allclose(model(ids), rotary, atol=1e-4)


def test_sizes_and_bias_of_the_attention_stay():
    attention = (
        use_alibi(small_model(num_kv_heads=1, head_dim=6, bias=False, attn_dropout=0.3))
        .decoder.layers[1]
        .attention
    )
    assert (attention.num_kv_heads, attention.head_dim, attention.dropout) == (1, 6, 0.3)
    assert attention.q_proj.bias is None


def test_biases_norms_and_window_of_the_attention_stay():
    attention = (
        use_alibi(small_model(qkv_bias=False, qk_norm=True, norm_eps=0.25, sliding_window=3))
        .decoder.layers[1]
        .attention
    )
    assert attention.q_proj.bias is None
    assert attention.out_proj.bias is not None
    assert attention.k_norm.eps == 0.25
    assert attention.sliding_window == 3


@torch.no_grad()
def test_a_cache_and_padding_on_the_left_change_nothing():
    model = use_alibi(small_model())
    ids = torch.randint(1, 13, (3, 11))
    whole, cache = model(ids), KVCache()
    parts = [model(ids[:, a:b], cache=cache) for a, b in ((0, 4), (4, 5), (5, 11))]
    assert torch.allclose(torch.cat(parts, dim=1), whole, atol=1e-5)
    padded = torch.cat([torch.zeros(3, 2, dtype=torch.long), ids], dim=1)
    shifted = model(padded, attention_mask=(padded > 0).long())
    assert torch.allclose(shifted[:, 2:], whole, atol=1e-5)


def test_other_positions_are_refused():
    model = TransformerForCausalLM(TransformerConfig(**SIZES))
    with pytest.raises(ValueError, match=r"positions \('learned'\) must be rotary"):
        use_alibi(model)
    assert type(model.decoder.layers[0].attention) is MultiHeadAttention
