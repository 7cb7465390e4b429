from glassformer import TransformerConfig
from glassformer.models.builders import build_attention, build_feed_forward

SIZES = {"d_model": 21, "num_heads": 6, "num_kv_heads": 2, "head_dim": 10, "d_ff": 37}


def config(**changes):
    return TransformerConfig(**SIZES, **changes)


def test_each_part_is_dropped_at_its_own_rate():
    for gated in (False, True):
        choices = config(dropout=0.25, attn_dropout=0.125, gated=gated)
        assert build_attention(choices).dropout == 0.125
        assert build_feed_forward(choices).dropout.p == 0.25


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
