"""The mixture of experts, against Mixtral's."""

from itertools import product

import pytest
import torch
import transformers
from small_models import TOLERANCE

from glassformer.layers.experts import MixtureOfExperts, balancing_loss, choose_experts

BATCH, SEQ, D_MODEL, D_FF = 3, 7, 11, 13


def build(num_experts=5, chosen=2, d_model=D_MODEL, d_ff=D_FF):
    return MixtureOfExperts(d_model, d_ff, num_experts=num_experts, experts_per_token=chosen)


def mixtral(ours, implementation="eager"):
    """Mixtral's block with our weights: it stacks all experts, and each gate on its up matrix."""
    from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock

    config = transformers.MixtralConfig(
        hidden_size=ours.router.in_features,
        intermediate_size=ours.experts[0].up_proj.out_features,
        num_local_experts=len(ours.experts),
        num_experts_per_tok=ours.experts_per_token,
        experts_implementation=implementation,
    )
    theirs = MixtralSparseMoeBlock(config).to(ours.router.weight.dtype)
    with torch.no_grad():
        theirs.gate.weight.copy_(ours.router.weight)
        for number, expert in enumerate(ours.experts):
            both = torch.cat([expert.gate_proj.weight, expert.up_proj.weight])
            theirs.experts.gate_up_proj[number] = both
            theirs.experts.down_proj[number] = expert.down_proj.weight
    return theirs


def in_our_layout(theirs):
    """The gradients of Mixtral's block, in the order of our parameters."""
    yield theirs.gate.weight.grad
    pairs = zip(theirs.experts.gate_up_proj.grad, theirs.experts.down_proj.grad, strict=True)
    for gate_up, down in pairs:
        yield from (*gate_up.chunk(2), down)


def test_output_and_gradients_are_mixtrals(monkeypatch, subtests):
    """Mixtral takes its router's softmax in float32 always: here it keeps float64."""
    rows = [
        (torch.float64, "eager", D_MODEL, D_FF),
        (torch.float32, "grouped_mm", 12, 20),  # takes no float64, and rows of 16 bytes each
    ]
    for (dtype, implementation, d_model, d_ff), (num_experts, chosen) in product(
        rows, [(5, 2), (3, 3), (2, 1), (17, 4)]
    ):
        with (
            subtests.test(implementation, dtype=dtype, num_experts=num_experts, chosen=chosen),
            monkeypatch.context() as patch,
        ):
            if dtype == torch.float64:
                patch.setattr(torch.Tensor, "float", lambda tensor: tensor)
            ours = build(num_experts, chosen, d_model, d_ff).to(dtype)
            theirs = mixtral(ours, implementation)
            close = {"rtol": 0.0, "atol": TOLERANCE[dtype]}
            x = torch.randn(BATCH, SEQ, d_model, dtype=dtype)
            inputs = [x.clone().requires_grad_() for _ in range(2)]
            outputs = [ours(inputs[0]), theirs(inputs[1])]
            torch.testing.assert_close(*outputs, **close)
            weight = torch.randn_like(x)
            for output in outputs:
                (output * weight).sum().backward()
            torch.testing.assert_close(inputs[0].grad, inputs[1].grad, **close)
            for mine, other in zip(ours.parameters(), in_our_layout(theirs), strict=True):
                torch.testing.assert_close(mine.grad, other, **close)


def test_the_loss_is_mixtrals_over_all_layers(subtests):
    from transformers.models.mixtral.modeling_mixtral import load_balancing_loss_func

    for padded, (num_experts, chosen) in product([False, True], [(5, 2), (3, 3), (2, 1), (17, 4)]):
        with subtests.test(padded=padded, num_experts=num_experts, chosen=chosen):
            layers = [torch.randn(BATCH * SEQ, num_experts, requires_grad=True) for _ in range(2)]
            real = torch.arange(SEQ) < torch.tensor([[7], [2], [5]])
            mask = real if padded else torch.ones_like(real)
            theirs = load_balancing_loss_func(
                tuple(layers), num_experts, chosen, mask.long() if padded else None
            )
            ours = balancing_loss(torch.cat([one[mask.flatten()] for one in layers]), chosen)
            torch.testing.assert_close(ours, theirs, rtol=0.0, atol=1e-6)
            both = [torch.autograd.grad(loss, layers) for loss in (ours, theirs)]
            torch.testing.assert_close(*both, rtol=0.0, atol=1e-6)


def test_each_expert_gets_its_tokens_alone():
    layer, x = build(5, 2), torch.randn(BATCH, SEQ, D_MODEL)
    _, chosen = choose_experts(layer.router(x), 2)
    met = []
    for expert in layer.experts:
        expert.register_forward_pre_hook(lambda _, given: met.append(given[0]))
    layer(x)
    for number, tokens in enumerate(met):
        assert tokens.equal(x[(chosen == number).any(-1)])
    assert sum(map(len, met)) == 2 * BATCH * SEQ


def test_narrow_logits_are_weighed_in_float32():
    logits = torch.randn(SEQ, 5).bfloat16()
    weights, _ = choose_experts(logits, 2)
    expected, _ = choose_experts(logits.float(), 2)
    assert weights.equal(expected.bfloat16())


def test_parameters_by_formula():
    layer = build(5, 2)
    assert sum(weight.numel() for weight in layer.parameters()) == 5 * D_MODEL + 5 * 3 * 11 * 13
    assert layer.active_parameters == 5 * D_MODEL + 2 * 3 * 11 * 13


@pytest.mark.usefixtures("unhooked")
class TestBadInput:
    def test_more_or_fewer_than_there_are(self):
        for num_experts, chosen in [(5, 6), (5, 0), (0, 1)]:
            message = rf"experts_per_token \({chosen}\) .* num_experts \({num_experts}\)"
            with pytest.raises(ValueError, match=message):
                build(num_experts, chosen)
            with pytest.raises(ValueError, match=message):
                choose_experts(torch.zeros(SEQ, num_experts), chosen)

    def test_another_width(self):
        with pytest.raises(ValueError, match=r"shape \(3, 7\) must end in d_model \(11\)"):
            build()(torch.zeros(3, 7))

    def test_no_width(self):
        with pytest.raises(ValueError, match=r"d_model \(11\) and d_ff \(0\) must be at least 1"):
            MixtureOfExperts(11, 0, num_experts=2, experts_per_token=1)
