from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch.func import functional_call

from glassformer.layers.norms import RMSNorm, layer_norm

SHAPES = [(7,), (5, 7), (2, 5, 7), (2, 3, 5, 7)]


def check_equal(ours, theirs, inputs):
    """Compare two norms of the same inputs, and their gradients."""
    leaves = [part.requires_grad_() for part in inputs]
    outputs = ours(*leaves), theirs(*leaves)
    torch.testing.assert_close(*outputs, rtol=0, atol=1e-13)
    towards = torch.randn_like(outputs[0])
    gradients = [torch.autograd.grad(output, leaves, towards) for output in outputs]
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-12)


def test_layer_norm_and_its_gradients_equal_torchs(subtests):
    for eps, shape in product([1e-12, 1e-5, 0.3], SHAPES):
        with subtests.test(eps=eps, shape=shape):
            x = 3 * torch.randn(shape, dtype=torch.float64) + 11
            check_equal(
                lambda x, weight, bias, eps=eps: layer_norm(x, weight, bias, eps),
                lambda x, weight, bias, eps=eps: F.layer_norm(x, (7,), weight, bias, eps),
                [x, *torch.randn(2, 7, dtype=torch.float64)],
            )


def test_by_hand():
    # Mean 4; deviations -3 -1 4; variance (9 + 1 + 16) / 3, and 1/3 more makes 9.
    x = torch.tensor([1.0, 3.0, 8.0], dtype=torch.float64)
    weight = torch.tensor([1.0, 1.0, 3.0], dtype=torch.float64)
    bias = torch.tensor([0.0, 5.0, 0.0], dtype=torch.float64)
    expected = torch.tensor([-1.0, -1 / 3 + 5, 4.0], dtype=torch.float64)
    torch.testing.assert_close(layer_norm(x, weight, bias, 1 / 3), expected, rtol=0, atol=1e-15)


@pytest.mark.usefixtures("unhooked")
def test_refuses_what_does_not_fit():
    message = r"weight of shape \(5,\) and bias of shape \(7,\) must both have shape \(7,\)"
    with pytest.raises(ValueError, match=message):
        layer_norm(torch.zeros(2, 7), torch.zeros(5), torch.zeros(7), 1e-5)
    with pytest.raises(ValueError, match=r"bias of shape \(1,\) must both have shape \(7,\)"):
        layer_norm(torch.zeros(2, 7), torch.zeros(7), torch.zeros(1), 1e-5)
    with pytest.raises(ValueError, match=r"eps \(0\) must be more than 0"):
        layer_norm(torch.zeros(2, 7), torch.zeros(7), torch.zeros(7), 0)


def test_rms_norm_and_its_gradients_equal_torchs(subtests):
    for eps, shape in product([1e-12, 1e-5, 0.3], SHAPES):
        with subtests.test(eps=eps, shape=shape):
            ours = RMSNorm(7, eps).double()
            check_equal(
                lambda x, weight, ours=ours: functional_call(ours, {"weight": weight}, x),
                lambda x, weight, eps=eps: F.rms_norm(x, (7,), weight, eps),
                [3 * torch.randn(shape, dtype=torch.float64) + 11, torch.randn(7).double()],
            )


def test_equals_a_llamas_rms_norm_to_the_last_bit(subtests):
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    for dtype in [torch.float32, torch.bfloat16, torch.float16]:
        with subtests.test(dtype=dtype):
            ours, llamas = RMSNorm(7, 1e-5).to(dtype), LlamaRMSNorm(7, eps=1e-5).to(dtype)
            with torch.no_grad():
                llamas.weight.copy_(ours.weight.normal_())
            x = (3 * torch.randn(2, 5, 7) + 11).to(dtype)
            assert ours(x).dtype == dtype
            assert torch.equal(ours(x), llamas(x))


def test_rms_norm_by_hand():
    # Mean square (4 + 16 + 25) / 3 = 15, and 1 more makes 16.
    norm = RMSNorm(3, 1.0)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1.0, 1.0, 3.0]))
    output = norm(torch.tensor([2.0, -4.0, 5.0]))
    torch.testing.assert_close(output, torch.tensor([0.5, -1.0, 3.75]), rtol=0, atol=1e-6)


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
