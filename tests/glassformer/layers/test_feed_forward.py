from itertools import product

import pytest
import torch
import torch.nn.functional as F
import transformers
from torch import nn

from glassformer.layers.feed_forward import ACTIVATIONS, FeedForward, GatedFeedForward
from glassformer.weights.families.fields import HF_ACTIVATIONS

D_MODEL, D_FF = 7, 29


def test_equals_the_two_linear_maps_of_the_paper():
    layer = FeedForward(D_MODEL, D_FF, activation="relu").double()
    x = torch.randn(2, 5, D_MODEL, dtype=torch.float64)
    inner = (x @ layer.up_proj.weight.mT + layer.up_proj.bias).clamp(min=0)
    expected = inner @ layer.down_proj.weight.mT + layer.down_proj.bias
    torch.testing.assert_close(layer(x), expected, rtol=0, atol=1e-13)


def test_equals_convolutions_one_position_wide():
    layer = FeedForward(D_MODEL, D_FF).double()
    x = torch.randn(2, 5, D_MODEL, dtype=torch.float64)
    inner = F.conv1d(x.mT, layer.up_proj.weight[..., None], layer.up_proj.bias)
    outer = F.conv1d(F.gelu(inner), layer.down_proj.weight[..., None], layer.down_proj.bias)
    torch.testing.assert_close(layer(x), outer.mT, rtol=0, atol=1e-13)


def test_each_position_is_transformed_by_itself():
    layer = FeedForward(D_MODEL, D_FF)
    x = torch.randn(2, 5, D_MODEL)
    before = layer(x)
    x[:, 3] += 1.0
    changed = (layer(x) != before).any(-1)
    assert changed.tolist() == [[False, False, False, True, False]] * 2


def test_shuffled_tokens_give_shuffled_outputs():
    layer = FeedForward(D_MODEL, D_FF).double()
    x = torch.randn(2, 5, D_MODEL, dtype=torch.float64)
    order = torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(layer(x[:, order]), layer(x)[:, order], rtol=0, atol=1e-13)


def test_activations_equal_those_of_transformers():
    x = torch.linspace(-6, 6, 1009, dtype=torch.float64)
    for name, here in HF_ACTIVATIONS.items():
        difference = (ACTIVATIONS[here]()(x) - transformers.activations.ACT2FN[name](x)).abs().max()
        assert difference < 1e-12, name


def test_dropout_comes_last_and_in_training_only():
    layer = FeedForward(D_MODEL, D_FF, dropout=0.4)
    x = torch.randn(3, 1009, D_MODEL)
    whole = layer.eval()(x)
    dropped = layer.train()(x)
    kept = dropped != 0
    assert kept.float().mean().item() == pytest.approx(0.6, abs=0.02)
    torch.testing.assert_close(dropped[kept], whole[kept] / 0.6)


def test_bias_can_be_left_out():
    layer = FeedForward(D_MODEL, D_FF, bias=False)
    assert [name for name, _ in layer.named_parameters()] == ["up_proj.weight", "down_proj.weight"]
    assert layer(torch.zeros(2, 3, D_MODEL)).eq(0).all()


def test_is_made_of_torchs_own_parts():
    assert {type(m) for m in FeedForward(7, 29).children()} == {nn.Linear, nn.GELU, nn.Dropout}


def test_refuses_what_it_cannot_build():
    with pytest.raises(ValueError, match=r"d_model \(7\) and d_ff \(0\) must be at least 1"):
        FeedForward(7, 0)
    with pytest.raises(ValueError, match=r"'mish'\) must be one of gelu, gelu_tanh, relu, silu"):
        FeedForward(7, 29, activation="mish")


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


def test_gated_by_hand():
    layer = GatedFeedForward(2, 3, activation="relu")
    with torch.no_grad():
        layer.gate_proj.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]))
        layer.up_proj.weight.copy_(torch.tensor([[2.0, 0.0], [5.0, 0.0], [7.0, 0.0]]))
        layer.down_proj.weight.copy_(torch.tensor([[1.0, 1.0, 1.0], [0.0, 1.0, 0.0]]))
    # Gates 2, 3 and 0 let 4, 10 and 14 pass: 8, 30 and 0.
    assert layer(torch.tensor([[2.0, 3.0]])).tolist() == [[38.0, 30.0]]


def test_gated_is_silu_without_biases_if_not_told_otherwise():
    layer = GatedFeedForward(D_MODEL, D_FF)
    assert isinstance(layer.activation, nn.SiLU)
    names = [name for name, _ in layer.named_parameters()]
    assert names == ["gate_proj.weight", "up_proj.weight", "down_proj.weight"]


def test_gated_dropout_comes_last_and_in_training_only():
    layer = GatedFeedForward(D_MODEL, D_FF, dropout=0.4)
    x = torch.randn(3, 1009, D_MODEL)
    whole = layer.eval()(x)
    dropped = layer.train()(x)
    kept = dropped != 0
    assert kept.float().mean().item() == pytest.approx(0.6, abs=0.02)
    torch.testing.assert_close(dropped[kept], whole[kept] / 0.6)


def test_gated_refuses_what_it_cannot_build():
    with pytest.raises(ValueError, match=r"d_model \(0\) and d_ff \(29\) must be at least 1"):
        GatedFeedForward(0, 29)
    with pytest.raises(ValueError, match=r"'mish'\) must be one of gelu, gelu_tanh, relu, silu"):
        GatedFeedForward(7, 29, activation="mish")
