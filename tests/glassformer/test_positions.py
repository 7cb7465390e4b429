import math

import pytest
import torch
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

from glassformer.positions import LearnedPositions, SinusoidalPositions, sinusoids


def test_looks_up_a_row_of_its_table_for_each_position():
    positions = LearnedPositions(11, 7)
    ids = torch.tensor([[0, 3, 10], [2, 2, 1]])
    expected = torch.stack([positions.table.weight[i] for i in ids.flatten()]).view(2, 3, 7)
    assert torch.equal(positions(ids), expected)
    assert torch.equal(positions(torch.arange(11)), positions.table.weight)


def test_stays_on_the_device_of_its_input():
    with torch.device("meta"):
        positions = LearnedPositions(11, 7)
        assert positions(torch.arange(5)).device.type == "meta"


def test_refuses_more_positions_than_it_has_learned_on_any_device():
    with pytest.raises(ValueError, match=r"12 tokens is longer than max_positions \(11\)"):
        LearnedPositions(11, 7)(torch.arange(12))
    with (
        torch.device("meta"),
        pytest.raises(ValueError, match=r"12 tokens is longer than max_positions \(11\)"),
    ):
        LearnedPositions(11, 7)(torch.arange(12))


@pytest.mark.parametrize("ids", [[3, 11], [-1, 4]])
def test_refuses_positions_beyond_its_table(ids):
    low, high = sorted(ids)
    with pytest.raises(ValueError, match=rf"positions {low} to {high} .* max_positions \(11\)"):
        LearnedPositions(11, 7)(torch.tensor(ids))


def test_refuses_an_empty_table():
    with pytest.raises(ValueError, match=r"max_positions \(0\) and d_model \(7\)"):
        LearnedPositions(0, 7)


@pytest.mark.parametrize("d_model", [6, 7])
def test_sines_and_cosines_by_hand(d_model):
    table = SinusoidalPositions(11, d_model).table
    for position in range(11):
        for number in range(d_model):
            angle = position / 10000 ** (2 * (number // 2) / d_model)
            expected = math.cos(angle) if number % 2 else math.sin(angle)
            assert table[position, number].item() == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("d_model", [6, 7])
def test_marian_puts_the_sines_first(d_model):
    theirs = MarianSinusoidalPositionalEmbedding(11, d_model)
    ours = SinusoidalPositions(11, d_model, interleaved=False)
    ids = torch.tensor([[0, 3, 10]])
    expected = theirs.create_weight()[ids]
    torch.testing.assert_close(ours(ids), expected, rtol=0, atol=1e-7)


def test_sinusoids_are_made_again_and_not_saved():
    assert not SinusoidalPositions(11, 7).state_dict()
    assert not list(SinusoidalPositions(11, 7).parameters())


def test_the_product_of_two_sinusoids_depends_on_their_distance_alone():
    table = SinusoidalPositions(101, 62).double().table
    products = sinusoids(101, 62) @ sinusoids(101, 62).T
    for distance in (1, 5, 17):
        along = products.diagonal(distance)
        torch.testing.assert_close(along, along[:1].expand_as(along), rtol=0, atol=1e-12)
    assert table.norm(dim=-1).allclose(torch.tensor(31.0, dtype=torch.float64).sqrt(), atol=1e-6)


def test_a_width_of_sinusoids_keeps_their_precision():
    double = sinusoids(5000, 512)
    single = SinusoidalPositions(5000, 512).table
    assert (single - double).abs().max() < 1e-7


def test_refuses_sinusoids_past_the_last_position():
    positions = SinusoidalPositions(11, 7)
    with pytest.raises(ValueError, match=r"12 tokens is longer than max_positions \(11\)"):
        positions(torch.arange(12))
    with pytest.raises(ValueError, match=r"positions 4 to 11 .* max_positions \(11\)"):
        positions(torch.tensor([11, 4]))
    with pytest.raises(ValueError, match=r"positions -1 to 4 .* max_positions \(11\)"):
        positions(torch.tensor([-1, 4]))


def test_refuses_sinusoids_of_no_width():
    with pytest.raises(ValueError, match=r"max_positions \(11\) and d_model \(0\)"):
        SinusoidalPositions(11, 0)
