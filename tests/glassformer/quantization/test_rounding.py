"""Rounding against the gguf library and a loop, and its correction on inputs it hasn't seen."""

from itertools import product

import gguf
import pytest
import torch
from torch import nn

from glassformer.quantization.rounding import (
    POWERS,
    awq_round,
    input_moments,
    output_error,
    round_weights,
)


def in_a_loop(weight, bits, group):
    """Each weight's nearest level, by trying all of them."""
    found = weight.clone()
    for row in range(weight.shape[0]):
        for start in range(0, weight.shape[1], group):
            part = weight[row, start : start + group]
            low, step = part.min(), (part.max() - part.min()) / (2**bits - 1)
            for k, one in enumerate(part):
                code = min(range(2**bits), key=lambda q: abs(float(low + q * step - one)))
                found[row, start + k] = low.half().float() + code * step.half().float()
    return found


def test_each_weight_goes_to_the_nearest_level(subtests):
    for bits, group in [(1, 5), (2, 7), (3, 35), (4, 5)]:
        with subtests.test(bits=bits, group=group):
            weight = torch.randn(11, 35)
            torch.testing.assert_close(
                round_weights(weight, bits, group), in_a_loop(weight, bits, group)
            )


def test_four_bits_in_groups_of_32_are_what_the_format_stores():
    weight, kind = torch.randn(13, 96), gguf.GGMLQuantizationType.Q4_1
    theirs = gguf.quants.dequantize(gguf.quants.quantize(weight.numpy(), kind), kind)
    assert round_weights(weight, 4, 32).equal(torch.tensor(theirs))
    assert round_weights(round_weights(weight, 4, 32), 4, 32).equal(torch.tensor(theirs))


def linear_inputs(seed, columns, tokens):
    """Inputs in which some columns are much larger, and alike."""
    draw = torch.Generator().manual_seed(seed)
    size = torch.linspace(-2, 2, columns).exp()
    mixed = torch.eye(columns) + 0.3 * torch.randn(columns, columns, generator=draw)
    return [torch.randn(tokens, columns, generator=draw) @ mixed * size for _ in range(2)]


def test_the_correction_helps_on_inputs_it_has_not_seen(subtests):
    for seed, bits, group in product([1, 2, 3], [2, 3], [7, 35]):
        with subtests.test(seed=seed, bits=bits, group=group):
            weight = torch.randn(29, 35, generator=torch.Generator().manual_seed(seed))
            seen, unseen = linear_inputs(seed, 35, 211)
            corrected = awq_round(weight, seen.mT @ seen / 211, bits, group)
            plain = round_weights(weight, bits, group)
            for inputs in (seen, unseen):
                ours, theirs = ((w - weight) @ inputs.mT for w in (corrected, plain))
                assert ours.square().mean() < theirs.square().mean()


def test_the_correction_is_never_worse_on_the_inputs_it_has_seen(subtests):
    for seed in [1, 2, 3, 5, 7]:
        with subtests.test(seed=seed):
            draw = torch.Generator().manual_seed(seed)
            weight, inputs = torch.randn(3, 5, generator=draw), torch.randn(2, 5, generator=draw)
            moments = inputs.mT @ inputs / 2
            errors = [
                output_error(found - weight, moments)
                for found in (awq_round(weight, moments, 2, 5), round_weights(weight, 2, 5))
            ]
            assert errors[0] <= errors[1]
            assert 0.0 in POWERS


def test_columns_that_never_have_an_input():
    weight, inputs = torch.randn(7, 11), torch.randn(23, 11)
    inputs[:, 3] = 0
    assert awq_round(weight, inputs.mT @ inputs, 4, 11).isfinite().all()


def test_the_error_is_that_of_the_outputs():
    change, inputs = torch.randn(7, 11).double(), torch.randn(23, 11).double()
    by_hand = sum((change @ x).square().sum() for x in inputs) / 23
    torch.testing.assert_close(output_error(change, inputs.mT @ inputs / 23), by_hand)


def test_moments_of_every_linear_layer_without_padding():
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))
    batch = torch.randn(2, 11, 5)
    is_token = torch.arange(11) < torch.tensor([[11], [4]])
    with input_moments(model, is_token) as moments:
        model(batch)
    tokens = torch.cat([batch[0], batch[1, :4]])
    hidden = model[0](tokens).tanh().detach()
    assert list(moments) == ["0", "2"]
    torch.testing.assert_close(moments["0"], tokens.mT @ tokens / 15)
    torch.testing.assert_close(moments["2"], hidden.mT @ hidden / 15)
    model(torch.zeros(1, 2, 5))
    torch.testing.assert_close(moments["0"], tokens.mT @ tokens / 15)


def test_what_cannot_be_rounded(unhooked):
    weight = torch.randn(7, 35)
    for bits in (0, 9):
        with pytest.raises(ValueError, match=rf"bits \({bits}\) must be from 1 to 8"):
            round_weights(weight, bits)
    with pytest.raises(ValueError, match=r"group \(32\) must divide the 35 columns"):
        round_weights(weight, 4, 32)
    with pytest.raises(ValueError, match=r"weights from 0 to 2e\+06 .* largest number is 65504"):
        round_weights(torch.tensor([[0.0, 2e6]]), 4)
    with pytest.raises(ValueError, match=r"moments of shape \(5, 5\) must be \(35, 35\)"):
        awq_round(weight, torch.eye(5), 4)
    with pytest.raises(ValueError, match="moments are all zero"):
        awq_round(weight, torch.zeros(35, 35), 4)
