"""Repeated tokens, and scores counted one token at a time."""

import pytest
import torch

from glassformer.interpret.induction import induction_scores, repeat_after

LAYERS, HEADS = 2, 3


def test_each_row_is_repeated_after_the_same_token():
    ids = torch.randint(10, 101, (5, 7))
    rows = repeat_after(3, ids)
    assert rows.tolist() == [[3, *row, *row] for row in ids.tolist()]
    assert rows.dtype == ids.dtype


def test_scores_equal_a_search_for_the_token_before(subtests):
    """What to look at is found by reading the ids, all of which differ within a copy."""
    for length in [1, 2, 3, 11]:
        with subtests.test(length=length):
            ids = repeat_after(0, 1 + torch.randperm(97)[:length][None])[0].tolist()
            weights = torch.randn(LAYERS, HEADS, len(ids), len(ids)).double().softmax(-1)
            wanted = torch.zeros(LAYERS, HEADS).double()
            for query in range(length + 1, len(ids)):
                earlier = ids.index(ids[query])
                wanted += weights[:, :, query, earlier + 1] / length
            torch.testing.assert_close(induction_scores(weights, length), wanted)


def test_weights_of_another_length():
    for length, seq in [(3, 6), (3, 8), (0, 1)]:
        longer = 1 + 2 * length
        message = rf"\(2, {seq}, {seq}\) must end in 1 \+ 2 · length = {longer} .*\({length}\)"
        with pytest.raises(ValueError, match=message):
            induction_scores(torch.rand(2, seq, seq), length)
