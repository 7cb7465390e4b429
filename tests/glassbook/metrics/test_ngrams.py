"""Counted by hand: two rows, 0 for padding, five tokens."""

from math import log

import pytest
import torch

from glassbook.metrics.ngrams import (
    best_threshold,
    bigram,
    most_common_between,
    shared_surprise,
    unigram,
)

IDS = torch.tensor([[1, 2, 3, 2, 3], [1, 2, 4, 0, 0]])


def test_unigram_by_hand():
    """Eight tokens and one more of each of the five."""
    expected = torch.tensor([1.0, 3.0, 4.0, 3.0, 2.0]) / 13
    torch.testing.assert_close(unigram(IDS, 5, 0), expected)


def test_bigram_by_hand():
    """After 2 came 3 twice and 4 once; after 4 and 0 nothing, so that unigrams are all there is."""
    found, single = bigram(IDS, 5, 0), unigram(IDS, 5, 0)
    torch.testing.assert_close(found[2], (torch.tensor([0.0, 0, 0, 2, 1]) + single) / 4)
    torch.testing.assert_close(found[1], (torch.tensor([0.0, 0, 2, 0, 0]) + single) / 3)
    torch.testing.assert_close(found[[4, 0]], single.expand(2, -1))


def test_rows_are_probabilities():
    ids = torch.randint(101, (7, 13))
    assert unigram(ids, 101, 0).sum().item() == pytest.approx(1.0, abs=1e-5)
    torch.testing.assert_close(bigram(ids, 101, 0).sum(1), torch.ones(101))


def test_most_common_between_by_hand():
    ids = torch.tensor([[1, 2, 3], [1, 4, 3], [1, 4, 3], [3, 2, 1]])
    assert most_common_between(ids) == {(1, 3): 4, (3, 1): 2}


def test_shared_surprise_by_hand():
    """The first pair shares 2, twice on one side, and 4; the second shares nothing."""
    ids = torch.tensor([[2, 3, 2, 4, 2, 4], [1, 2, 3, 4, 4, 4]])
    types = torch.tensor([[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]])
    shares = torch.tensor([0.1, 0.1, 0.3, 0.3, 0.2])
    expected = torch.tensor([-log(0.3) - log(0.2), 0.0])
    torch.testing.assert_close(shared_surprise(ids, types, shares), expected)


def test_the_best_threshold_by_hand():
    """Yes from 3 on is wrong once, where from 5 on it is wrong twice."""
    scores = torch.tensor([1.0, 5.0, 3.0, 2.0, 3.0, 3.0])
    wanted = torch.tensor([False, True, True, False, False, True])
    assert best_threshold(scores, wanted) == 3.0
    assert best_threshold(scores, torch.tensor([True] * 6)) == 1.0
