"""Drafts propose what they say."""

import pytest
import torch

from glassformer.inference.drafts import PromptLookup

VOCAB = 13


def test_the_prompt_is_copied(subtests):
    rows = [
        ([7, 3, 8, 9, 7, 3], 2, [8, 9, 7]),
        ([7, 3, 8, 9, 3, 5, 7, 3], 2, [8, 9, 3]),  # two tokens before one
        ([7, 3, 8, 9, 3, 5, 7, 3], 1, [5, 7, 3]),  # the last occurrence
        ([7, 3, 8, 4, 3, 5], 3, []),
        ([6, 1, 6], 3, [1, 6]),
        ([4, 4, 4], 5, [4]),
        ([4], 2, []),
    ]
    for text, ngram, proposed in rows:
        with subtests.test(text=text, ngram=ngram, proposed=proposed):
            tokens, probabilities = PromptLookup(VOCAB, ngram)(torch.tensor([text]), 3)
            assert tokens.tolist() == proposed
            assert probabilities.shape == (len(proposed), VOCAB)
            assert probabilities.argmax(-1).tolist() == proposed
            assert probabilities.sum().item() == len(proposed)


def test_no_more_is_copied_than_asked_for():
    assert PromptLookup(VOCAB)(torch.tensor([[4, 5, 6, 4]]), 0)[0].tolist() == []
    assert PromptLookup(VOCAB)(torch.tensor([[4, 5, 6, 4]]), 1)[0].tolist() == [5]


@pytest.mark.usefixtures("unhooked")
def test_no_ngram():
    with pytest.raises(ValueError, match=r"ngram \(0\) must be at least 1"):
        PromptLookup(VOCAB, 0)
