from itertools import product

import torch
from torch import nn

from glassformer import FeedForward, GatedFeedForward, RMSNorm, TransformerConfig
from glassformer.models.builders import build_attention, build_feed_forward, build_norm

SIZES = {"d_model": 21, "num_heads": 6, "num_kv_heads": 2, "head_dim": 10, "d_ff": 37}


def config(**changes):
    rates = {"dropout": 0.25, "attn_dropout": 0.125}
    return TransformerConfig(**SIZES, **rates, norm_eps=1e-3, **changes)


def test_attention_has_the_sizes_asked_for():
    for bias in (False, True):
        attention = build_attention(config(bias=bias))
        assert attention.q_proj.weight.shape == (60, 21)
        assert attention.k_proj.weight.shape == attention.v_proj.weight.shape == (20, 21)
        assert (attention.out_proj.bias is not None) is bias
        assert attention.dropout == 0.125
        assert attention.rotary is None


def test_only_attention_to_the_own_sequence_is_rotary():
    for positions, interleaved in [("rotary", True), ("rotary_halves", False)]:
        choices = config(positions=positions, rope_theta=500.0)
        rotary = build_attention(choices).rotary
        assert (rotary.head_dim, rotary.theta, rotary.interleaved) == (10, 500.0, interleaved)
        assert build_attention(choices, crosses=True).rotary is None


def test_only_attention_to_the_own_sequence_has_norms_and_a_window():
    choices = config(qkv_bias=False, qk_norm=True, sliding_window=7)
    own, crossing = build_attention(choices), build_attention(choices, crosses=True)
    for attention in (own, crossing):
        assert attention.q_proj.bias is None
        assert attention.out_proj.bias is not None
    assert own.sliding_window == 7
    assert own.q_norm.eps == own.k_norm.eps == choices.norm_eps
    assert own.q_norm.weight.shape == own.k_norm.weight.shape == (10,)
    assert crossing.sliding_window is crossing.q_norm is crossing.k_norm is None


def test_the_width_of_a_rotary_head_follows_from_the_others():
    choices = TransformerConfig(d_model=30, num_heads=5, positions="rotary")
    assert build_attention(choices).rotary.head_dim == 6


def test_feed_forward():
    for (gated, kind), bias in product(
        [(False, FeedForward), (True, GatedFeedForward)], (False, True)
    ):
        network = build_feed_forward(config(gated=gated, bias=bias, activation="relu"))
        assert type(network) is kind
        assert network.up_proj.weight.shape == (37, 21)
        assert (network.down_proj.bias is not None) is bias
        assert isinstance(network.activation, nn.ReLU)
        assert network.dropout.p == 0.25


def test_norm():
    for name, kind in [("layer", nn.LayerNorm), ("rms", RMSNorm)]:
        norm = build_norm(config(norm=name))
        assert type(norm) is kind
        assert norm.weight.shape == (21,)
        assert norm.eps == 1e-3
        assert norm(torch.zeros(2, 21)).eq(0).all()
