import pytest
import torch

from glassformer.positions import LearnedPositions


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
