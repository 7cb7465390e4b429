"""What newer models vary in attention, against torch's own functions."""

from itertools import product

import pytest
import torch
from torch import nn

from glassformer import MultiHeadAttention, RotaryPositions, TransformerConfig
from glassformer.layers.multihead import merge_heads, split_heads
from glassformer.models.varied_attention import VariedAttention, attention_kind

BATCH, SEQ, D_MODEL, HEADS, KV_HEADS, HEAD_DIM = 3, 11, 21, 6, 2, 10
SIZES = {"num_kv_heads": KV_HEADS, "head_dim": HEAD_DIM}


def varied(**choices):
    attention = VariedAttention(D_MODEL, HEADS, **SIZES, **choices).double()
    for parameter in attention.parameters():
        nn.init.normal_(parameter)
    return attention.requires_grad_(False)


def by_torch(attention, hidden, mask=None, is_causal=False):
    """The same with torch's norm, mask and kernel."""
    heads = {
        name: split_heads(getattr(attention, f"{name}_proj")(hidden), count)
        for name, count in {"q": HEADS, "k": KV_HEADS, "v": KV_HEADS}.items()
    }
    for name in ("q", "k"):
        norm = getattr(attention, f"{name}_norm")
        if norm is not None:
            heads[name] = nn.functional.rms_norm(heads[name], (HEAD_DIM,), norm.weight, norm.eps)
    if attention.rotary is not None:
        heads |= {name: attention.rotary(heads[name], torch.arange(SEQ)) for name in ("q", "k")}
    output = nn.functional.scaled_dot_product_attention(
        *heads.values(), attn_mask=mask, is_causal=is_causal, enable_gqa=True
    )
    return attention.out_proj(merge_heads(output))


def test_queries_and_keys_are_normalized_before_they_are_turned(subtests):
    for eps, rotary in product([1e-6, 0.5], [None, RotaryPositions(HEAD_DIM)]):
        with subtests.test(eps=eps, rotary=rotary):
            attention, hidden = (
                varied(qk_norm_eps=eps, rotary=rotary),
                torch.randn(BATCH, SEQ, D_MODEL),
            )
            hidden = hidden.double()
            expected = by_torch(attention, hidden, is_causal=True)
            torch.testing.assert_close(
                attention(hidden, is_causal=True), expected, rtol=0, atol=1e-10
            )


def test_a_window(subtests):
    for window, qk_norm_eps in product([1, 3, 10, 11, 99], [None, 1e-6]):
        with subtests.test(window=window, qk_norm_eps=qk_norm_eps):
            attention = varied(window=window, qk_norm_eps=qk_norm_eps)
            hidden = torch.randn(BATCH, SEQ, D_MODEL).double()
            back = torch.arange(SEQ)[:, None] - torch.arange(SEQ)
            expected = by_torch(attention, hidden, mask=(back >= 0) & (back < window))
            torch.testing.assert_close(
                attention(hidden, is_causal=True), expected, rtol=0, atol=1e-10
            )


def test_biases(subtests):
    for bias, qkv_bias, out_bias in product(
        [True, False], [True, False, None], [True, False, None]
    ):
        with subtests.test(bias=bias, qkv_bias=qkv_bias, out_bias=out_bias):
            attention = varied(bias=bias, qkv_bias=qkv_bias, out_bias=out_bias)
            first = bias if qkv_bias is None else qkv_bias
            for name in ("q_proj", "k_proj", "v_proj"):
                assert (getattr(attention, name).bias is not None) is first
            assert (attention.out_proj.bias is not None) is (bias if out_bias is None else out_bias)


def config(**choices):
    return TransformerConfig(d_model=D_MODEL, num_heads=HEADS, **SIZES, norm_eps=0.25, **choices)


def test_without_a_choice_it_is_the_plain_class(subtests):
    for crosses in [True, False]:
        with subtests.test(crosses=crosses):
            assert attention_kind(config(), crosses=crosses) is MultiHeadAttention


def test_the_choices_of_a_configuration(subtests):
    for crosses in [True, False]:
        with subtests.test(crosses=crosses):
            choices = config(qkv_bias=False, qk_norm=True, sliding_window=7)
            made = attention_kind(choices, crosses=crosses)(D_MODEL, HEADS, **SIZES)
            assert made.q_proj.bias is None
            assert made.out_proj.bias is not None
            if crosses:
                assert made.window is made.q_norm is made.k_norm is None
            else:
                assert made.window == 7
                assert made.q_norm.eps == made.k_norm.eps == 0.25
                assert made.q_norm.weight.shape == made.k_norm.weight.shape == (HEAD_DIM,)


def test_what_alone_crosses_has_no_variation():
    made = attention_kind(config(qk_norm=True, sliding_window=7), crosses=True)
    assert made is MultiHeadAttention


def test_its_line_names_the_window():
    assert "num_kv_heads=2, dropout=0.0, window=7" in repr(varied(window=7))
    assert "window" not in repr(varied())


def test_a_head_can_be_looked_at_alone_where_biases_alone_vary():
    attention = varied(qkv_bias=False, bias=True)
    assert attention.head(5).k_proj.weight.equal(attention.k_proj.weight[HEAD_DIM:])
    assert attention.head(5).q_proj.bias is None


def test_a_head_alone_has_no_norm_and_no_window(subtests):
    for choices in [{"window": 3}, {"qk_norm_eps": 1e-6}]:
        with (
            subtests.test(choices=choices),
            pytest.raises(ValueError, match=r"head 1 has norms \(.*\) or a window \(.*\), which"),
        ):
            varied(**choices).head(1)


def test_a_window_below_one():
    with pytest.raises(ValueError, match=r"window \(0\) must be at least 1"):
        varied(window=0)
