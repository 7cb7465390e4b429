"""What is measured of a language model on long texts, on a small one."""

import random

import pytest
import torch
from torch.nn.functional import cross_entropy

from glassformer import long_reading as module
from glassformer.config import TransformerConfig
from glassformer.heads import TransformerForCausalLM
from glassformer.long_reading import (
    BLOCK,
    NAMES,
    WINDOW,
    WINDOWS,
    block_means,
    finds,
    hide_needles,
    kept_in_view,
    token_losses,
)

NEEDED = pytest.mark.language_model


@pytest.fixture
def small():
    torch.manual_seed(0)
    sizes = {"vocab_size": 13, "d_model": 20, "num_heads": 5, "num_layers": 2, "d_ff": 7}
    config = TransformerConfig(**sizes, positions="rotary_halves", norm_first=True, norm="rms")
    return TransformerForCausalLM(config).eval()


def test_losses_are_those_of_a_plain_pass(small, monkeypatch):
    monkeypatch.setattr(module, "SHORT", 4)
    ids = torch.randint(13, (3, 11))
    plain = cross_entropy(small(ids)[:, :-1].mT, ids[:, 1:], reduction="none")
    assert token_losses(small, ids).shape == (3, 10)
    assert torch.allclose(token_losses(small, ids), plain, atol=1e-5)


def test_what_is_not_seen_changes_nothing(small):
    ids = torch.randint(13, (1, 11))
    other = ids.clone()
    other[0, 0] = (ids[0, 0] + 1) % 13
    seen = torch.ones(11, 11, dtype=torch.bool)
    seen[3:, 0] = False  # but through the tokens between, which saw it
    seen[1:3, 0] = False
    moved = (token_losses(small, ids, seen) - token_losses(small, other, seen)).abs()[0]
    assert moved[0] > 1e-4
    assert (moved[1:] < 1e-6).all()


def test_means_are_of_neighbors():
    losses = torch.arange(2.0 * 77).view(2, 77)
    means = block_means(losses)
    assert BLOCK == 32
    assert means.tolist() == [[15.5, 47.5], [92.5, 124.5]]


def test_a_window_keeps_some_positions_in_view():
    seen = kept_in_view(WINDOW + 5, 2, 4)
    row = seen[-1].nonzero()[:, 0].tolist()
    assert row == [2, 3, *range(5, WINDOW + 5)]
    assert kept_in_view(WINDOW + 5, *WINDOWS["window"])[-1].sum() == WINDOW
    row = kept_in_view(WINDOW + 7, *WINDOWS["first kept"])[-1]
    assert row[:8].tolist() == [True] * 4 + [False] * 3 + [True]


@NEEDED
@pytest.mark.parametrize("length", [256, 509])
def test_each_name_is_hidden_once_and_evenly(length):
    ids, facts = hide_needles(length, random.Random(7))
    text = module.tokenizer(module.language_checkpoint()).decode(ids)
    assert length - 60 < len(ids) <= length
    assert sorted(name for name, _ in facts) == sorted(NAMES)
    places = [text.index(f" The secret number of {name} is {n}.") / len(text) for name, n in facts]
    assert places == pytest.approx([0.11, 0.36, 0.61, 0.86], abs=0.12)
    assert text.count("secret") == len(NAMES)


@NEEDED
def test_what_the_model_writes_is_found(monkeypatch):
    """A model that copies what followed the last such name finds all, and none without a text."""
    facts = [("Alice", "0417"), ("Frank", "9320")]
    ids = module.spell(" The secret number of Frank is 9320. The secret number of Alice is 0417.")

    class Copier(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.read = []

        def forward(self, asked, cache, last_only=False):
            if last_only:
                self.read = asked[0].tolist()
                return None
            logits = torch.zeros(*asked.shape, 49152)
            for row, line in enumerate(asked.tolist()):
                for place in range(4, len(line)):
                    before = line[: place + 1][-6:]
                    for start in range(len(self.read) - len(before)):
                        if self.read[start : start + len(before)] == before:
                            logits[row, place, self.read[start + len(before)]] = 9
            return logits

    class Kept:
        def reorder(self, rows):
            assert rows.tolist() == [0, 0]

    monkeypatch.setattr(module, "KVCache", Kept)
    assert finds(Copier(), ids, facts).tolist() == [True, True]
    assert finds(Copier(), ids, [("Alice", "0418"), ("Frank", "9320")]).tolist() == [False, True]
    assert finds(Copier(), [], facts).tolist() == [False, False]


def test_nothing_is_trained(monkeypatch):
    assert not module.build().state_dict()
    assert module.files() == []
    monkeypatch.setenv("GLASSFORMER_LM", "/nowhere/at/all")
    with pytest.raises(ValueError, match="/nowhere/at/all"):
        module.files()
