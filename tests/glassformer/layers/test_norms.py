from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from glassformer.layers.norms import RMSNorm, layer_norm

SHAPES = [(7,), (5, 7), (2, 5, 7), (2, 3, 5, 7)]


def test_equals_torchs_layer_norm(subtests):
    for eps, shape in product([1e-12, 1e-5, 0.3], SHAPES):
        with subtests.test(eps=eps, shape=shape):
            x = 3 * torch.randn(shape, dtype=torch.float64) + 11
            weight, bias = torch.randn(2, 7, dtype=torch.float64)
            expected = F.layer_norm(x, (7,), weight, bias, eps)
            torch.testing.assert_close(
                layer_norm(x, weight, bias, eps), expected, rtol=0, atol=1e-13
            )


def test_equals_the_module_that_models_use_in_float32():
    module = nn.LayerNorm(7, eps=1e-12)
    with torch.no_grad():
        module.weight.normal_()
        module.bias.normal_()
    x = torch.randn(2, 5, 7)
    ours = layer_norm(x, module.weight, module.bias, module.eps)
    torch.testing.assert_close(ours, module(x), rtol=0, atol=2e-6)


def test_gradients_equal_torchs():
    leaves = [torch.randn(size, dtype=torch.float64, requires_grad=True) for size in (7, 7)]
    x = torch.randn(2, 5, 7, dtype=torch.float64, requires_grad=True)
    towards = torch.randn(2, 5, 7, dtype=torch.float64)
    ours = torch.autograd.grad(layer_norm(x, *leaves, 1e-5), [x, *leaves], towards)
    theirs = torch.autograd.grad(F.layer_norm(x, (7,), *leaves, 1e-5), [x, *leaves], towards)
    for our, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our, their, rtol=0, atol=1e-12)


def test_by_hand():
    # Mean 4; deviations -3 -1 4; variance (9 + 1 + 16) / 3, and 1/3 more makes 9.
    x = torch.tensor([1.0, 3.0, 8.0], dtype=torch.float64)
    weight = torch.tensor([1.0, 1.0, 3.0], dtype=torch.float64)
    bias = torch.tensor([0.0, 5.0, 0.0], dtype=torch.float64)
    expected = torch.tensor([-1.0, -1 / 3 + 5, 4.0], dtype=torch.float64)
    torch.testing.assert_close(layer_norm(x, weight, bias, 1 / 3), expected, rtol=0, atol=1e-15)


def test_each_vector_is_normalised_by_itself():
    weight, bias = torch.randn(2, 7)
    x = torch.randn(2, 5, 7)
    before = layer_norm(x, weight, bias, 1e-5)
    x[0] *= 100
    x[1, 3] += torch.randn(7)
    changed = (layer_norm(x, weight, bias, 1e-5) - before).abs().amax(-1) > 1e-3
    assert changed.tolist() == [[False] * 5, [False, False, False, True, False]]


def test_a_constant_vector_becomes_the_bias():
    weight, bias = torch.randn(2, 7)
    assert layer_norm(torch.full((5, 7), 3.0), weight, bias, 1e-12).equal(bias.expand(5, 7))


@pytest.mark.usefixtures("unhooked")
def test_refuses_what_does_not_fit():
    message = r"weight of shape \(5,\) and bias of shape \(7,\) must both have shape \(7,\)"
    with pytest.raises(ValueError, match=message):
        layer_norm(torch.zeros(2, 7), torch.zeros(5), torch.zeros(7), 1e-5)
    with pytest.raises(ValueError, match=r"bias of shape \(1,\) must both have shape \(7,\)"):
        layer_norm(torch.zeros(2, 7), torch.zeros(7), torch.zeros(1), 1e-5)
    with pytest.raises(ValueError, match=r"eps \(0\) must be more than 0"):
        layer_norm(torch.zeros(2, 7), torch.zeros(7), torch.zeros(7), 0)


def rms_norm(like, dtype=torch.float64, eps=1e-5):
    """Ours and another one, with one weight."""
    ours, other = RMSNorm(7, eps), like(7, eps=eps)
    with torch.no_grad():
        other.weight.copy_(ours.weight.normal_())
    return ours.to(dtype), other.to(dtype)


def test_equals_torchs_rms_norm(subtests):
    for eps, shape in product([1e-12, 1e-5, 0.3], SHAPES):
        with subtests.test(eps=eps, shape=shape):
            ours, torchs = rms_norm(nn.RMSNorm, eps=eps)
            x = 3 * torch.randn(shape, dtype=torch.float64) + 11
            torch.testing.assert_close(ours(x), torchs(x), rtol=0, atol=1e-13)


def test_equals_a_llamas_rms_norm_to_the_last_bit(subtests):
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    for dtype in [torch.float32, torch.bfloat16, torch.float16]:
        with subtests.test(dtype=dtype):
            ours, llamas = rms_norm(LlamaRMSNorm, dtype)
            x = (3 * torch.randn(2, 5, 7) + 11).to(dtype)
            assert ours(x).dtype == dtype
            assert torch.equal(ours(x), llamas(x))


def test_gradients_of_rms_norm_equal_torchs():
    ours, torchs = rms_norm(nn.RMSNorm)
    x = torch.randn(2, 5, 7, dtype=torch.float64, requires_grad=True)
    towards = torch.randn(2, 5, 7, dtype=torch.float64)
    gradients = [torch.autograd.grad(norm(x), [x, norm.weight], towards) for norm in (ours, torchs)]
    for our, their in zip(*gradients, strict=True):
        torch.testing.assert_close(our, their, rtol=0, atol=1e-12)


def test_rms_norm_by_hand():
    # Mean square (4 + 16 + 25) / 3 = 15, and 1 more makes 16.
    norm = RMSNorm(3, 1.0)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1.0, 1.0, 3.0]))
    output = norm(torch.tensor([2.0, -4.0, 5.0]))
    torch.testing.assert_close(output, torch.tensor([0.5, -1.0, 3.75]), rtol=0, atol=1e-6)


def test_rms_norm_forgets_the_length_of_a_vector_and_keeps_its_mean():
    norm, x = RMSNorm(7, 1e-12).double(), torch.randn(5, 7, dtype=torch.float64) + 3
    torch.testing.assert_close(norm(1000 * x), norm(x), rtol=0, atol=1e-9)
    assert norm(x).mean(-1).gt(0.5).all()
    assert F.layer_norm(x, (7,)).mean(-1).abs().lt(1e-12).all()


def test_rms_norm_in_float16_survives_what_its_squares_would_not():
    assert RMSNorm(7, 1e-5).half()(torch.full((7,), 3e4, dtype=torch.float16)).eq(1).all()


def test_a_new_rms_norm_scales_nothing_and_says_what_it_is():
    norm = RMSNorm(7, 0.25)
    assert norm.weight.tolist() == [1] * 7
    assert [name for name, _ in norm.named_parameters()] == ["weight"]
    assert repr(norm) == "RMSNorm(7, eps=0.25)"


def test_rms_norm_refuses_what_it_cannot_build():
    with pytest.raises(ValueError, match=r"d_model \(0\) must be at least 1"):
        RMSNorm(0, 1e-5)
    with pytest.raises(ValueError, match=r"eps \(0.0\) must be more than 0"):
        RMSNorm(7, 0.0)
