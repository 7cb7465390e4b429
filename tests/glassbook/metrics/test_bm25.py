"""Word counts by hand: BM25 is written out as a loop over words."""

import math
from collections import Counter

import pytest
import torch

from glassbook.metrics.bm25 import bm25

TEXTS = [
    "the dog saw the cat",
    "a cat sat on the mat near the door and slept",
    "dog dog dog",
    "rain",
    "the rain saw a dog",
]
QUERIES = ["dog", "the cat slept", "rain and rain", "banana"]


def by_hand(query, text):
    """Robertson and Zaragoza 2009, equation 3.15, with Lucene's rarity; k1 is 1.5, b is 0.75."""
    texts = [Counter(t.split()) for t in TEXTS]
    mean = sum(sum(t.values()) for t in texts) / len(texts)
    words, score = Counter(text.split()), 0.0
    for word in query.split():
        holding = sum(word in t for t in texts)
        rarity = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        length = 1 - 0.75 + 0.75 * sum(words.values()) / mean
        score += rarity * words[word] * 2.5 / (words[word] + 1.5 * length)
    return score


def test_bm25_by_hand():
    wanted = torch.tensor([[by_hand(query, text) for text in TEXTS] for query in QUERIES])
    torch.testing.assert_close(bm25(QUERIES, TEXTS), wanted)
    assert wanted[3].eq(0).all()
    assert len(wanted[:3].unique()) > 7


def test_nothing_to_compare():
    for queries, texts in [([], TEXTS), (QUERIES, [])]:
        with pytest.raises(ValueError, match=rf"one text, got {len(queries)} and {len(texts)}"):
            bm25(queries, texts)
