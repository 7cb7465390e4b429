"""Packed linear maps beside the same maps as they are."""

import copy

import pytest
import torch
from torch import nn

from glassformer.packing import packed

WIDE, NARROW = (11, 29), (31, 7)  # in, out
ROUNDING = 1e-5


def model(dtype=torch.float32):
    """Maps that widen and that narrow, with a bias and without."""
    torch.manual_seed(0)
    maps = {
        "wide": nn.Linear(*WIDE),
        "narrow": nn.Linear(*NARROW, bias=False),
        "same": nn.Linear(13, 13),
    }
    return nn.ModuleDict(maps).to(dtype)


@pytest.mark.parametrize("rows", [1, 2, 5, 17])
@pytest.mark.parametrize("name", ["wide", "narrow", "same"])
def test_packed_maps_give_what_the_maps_give(name, rows):
    maps = model()
    linear = maps[name]
    hidden = torch.randn(rows, 1, linear.in_features)
    wanted = hidden.double() @ linear.weight.double().mT
    wanted = wanted if linear.bias is None else wanted + linear.bias.double()
    with torch.inference_mode(), packed(maps, rows):
        found = linear(hidden)
    assert found.shape == wanted.shape
    assert (found.double() - wanted).abs().max() < ROUNDING


def test_more_rows_than_it_was_packed_for_are_right_too():
    # A prompt is read in one go: many more rows than the steps that follow have.
    maps = model()
    hidden = torch.randn(3, 19, WIDE[0])[:, 1:]
    with torch.inference_mode():
        wanted = maps["wide"](hidden)
        with packed(maps, 3):
            found = maps["wide"](hidden)
    assert (found - wanted).abs().max() < ROUNDING


@pytest.mark.parametrize("rows", [1, 3])
def test_the_maps_are_as_before_when_it_ends(rows):
    maps = model()
    before = copy.deepcopy(maps.state_dict())
    pointers = {name: weight.data_ptr() for name, weight in maps.state_dict().items()}
    refused = "shapes cannot be multiplied|inner product"  # torch's words, oneDNN's words
    with pytest.raises(RuntimeError, match=refused), packed(maps, rows):
        maps["wide"](torch.randn(rows, WIDE[0] + 1))
    assert not any("forward" in vars(linear) for linear in maps.values())
    after = maps.state_dict()
    assert {name: weight.data_ptr() for name, weight in after.items()} == pointers
    assert all(after[name].equal(before[name]) for name in before)
    assert all(weight.is_contiguous() for weight in after.values())


def test_what_is_trained_between_two_uses_counts():
    maps = model()
    hidden = torch.randn(2, WIDE[0])
    with torch.inference_mode(), packed(maps, 2):
        first = maps["wide"](hidden)
    with torch.no_grad():
        maps["wide"].weight.mul_(2.0)
        maps["wide"].bias.mul_(2.0)
    with torch.inference_mode(), packed(maps, 2):
        second = maps["wide"](hidden)
    assert (second - 2 * first).abs().max() < ROUNDING


def test_hooks_see_a_packed_map():
    maps, seen = model(), []
    maps["wide"].register_forward_hook(lambda module, inputs, output: seen.append(output))
    with torch.inference_mode(), packed(maps, 2):
        output = maps["wide"](torch.randn(2, WIDE[0]))
    assert len(seen) == 1
    assert seen[0] is output


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_dtypes_are_left_alone(dtype):
    maps = model(dtype)
    with packed(maps, 3):
        assert not any("forward" in vars(linear) for linear in maps.values())


def test_without_onednn_or_off_the_cpu_nothing_is_packed(monkeypatch):
    maps, elsewhere = model(), model().to("meta")
    with packed(maps, 3), packed(elsewhere, 3):
        assert all("forward" in vars(linear) for linear in maps.values())
        assert not any("forward" in vars(linear) for linear in elsewhere.values())
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    with packed(maps, 3):
        assert not any("forward" in vars(linear) for linear in maps.values())
