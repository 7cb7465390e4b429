from itertools import product

import pytest
import torch
import transformers

from glassformer.layers.feed_forward import ACTIVATIONS, FeedForward, GatedFeedForward
from glassformer.weights.families.fields import HF_ACTIVATIONS

D_MODEL, D_FF = 7, 29
BOTH = (FeedForward, GatedFeedForward)


def test_equals_the_two_linear_maps_of_the_paper():
    x = torch.randn(2, 5, D_MODEL, dtype=torch.float64)
    for bias in (True, False):
        layer = FeedForward(D_MODEL, D_FF, activation="relu", bias=bias).double()
        up, down = layer.up_proj, layer.down_proj
        inner = (x @ up.weight.mT + (up.bias if bias else 0)).clamp(min=0)
        expected = inner @ down.weight.mT + (down.bias if bias else 0)
        torch.testing.assert_close(layer(x), expected, rtol=0, atol=1e-13)
        assert len(list(layer.parameters())) == (4 if bias else 2)


def test_activations_equal_those_of_transformers():
    x = torch.linspace(-6, 6, 1009, dtype=torch.float64)
    for name, here in HF_ACTIVATIONS.items():
        difference = (ACTIVATIONS[here]()(x) - transformers.activations.ACT2FN[name](x)).abs().max()
        assert difference < 1e-12, name


def test_dropout_comes_last_and_in_training_only(subtests):
    for kind in BOTH:
        with subtests.test(kind=kind):
            layer, x = kind(D_MODEL, D_FF, dropout=0.4), torch.randn(3, 1009, D_MODEL)
            whole = layer.eval()(x)
            dropped = layer.train()(x)
            kept = dropped != 0
            assert kept.float().mean().item() == pytest.approx(0.6, abs=0.02)
            torch.testing.assert_close(dropped[kept], whole[kept] / 0.6)


def test_refuses_what_it_cannot_build():
    for kind in BOTH:
        with pytest.raises(ValueError, match=r"d_model \(7\) and d_ff \(0\) must be at least 1"):
            kind(7, 0)
        with pytest.raises(
            ValueError, match=r"'mish'\) must be one of gelu, gelu_tanh, relu, silu"
        ):
            kind(7, 29, activation="mish")


def test_gated_equals_a_llamas(subtests):
    from transformers.models.llama.modeling_llama import LlamaMLP

    for bias, there in product([True, False], ["silu", "gelu_new", "relu"]):
        with subtests.test(bias=bias, there=there):
            sizes = {"hidden_size": D_MODEL, "num_attention_heads": 1, "head_dim": 2}
            sizes |= {"intermediate_size": D_FF}
            theirs = LlamaMLP(
                transformers.LlamaConfig(**sizes, hidden_act=there, mlp_bias=bias)
            ).double()
            activation = HF_ACTIVATIONS[there]
            ours = GatedFeedForward(D_MODEL, D_FF, activation=activation, bias=bias).double()
            ours.load_state_dict(theirs.state_dict())
            x = torch.randn(2, 5, D_MODEL, dtype=torch.float64)
            torch.testing.assert_close(ours(x), theirs(x), rtol=0, atol=1e-13)
