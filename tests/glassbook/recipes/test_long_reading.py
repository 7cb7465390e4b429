"""What is measured of a language model on a long text, tried on a small one."""

import random

import pytest
import torch
from torch.nn.functional import cross_entropy

from glassbook.recipes import long_reading as module
from glassbook.recipes.long_reading import (
    ALIKE,
    BLOCK,
    DIFFERENT,
    SCALED,
    SINKS,
    VIEW,
    WINDOWS,
    block_means,
    hide_needles,
    judge,
    kept_in_view,
    likeliest_digits,
    long_text,
    losses_after_gaps,
    positions_with_gap,
    scaled,
    spell,
    token_losses,
)
from glassbook.recipes.trained_models import trained
from glassbook.smollm.language import language_checkpoint, language_model
from glassformer import KVCache, TransformerConfig, TransformerForCausalLM
from glassformer.weights.checkpoints import tokenizer

NEEDED = pytest.mark.language_model
VOCAB = 13


@pytest.fixture
def small():
    torch.manual_seed(0)
    sizes = {"vocab_size": VOCAB, "d_model": 20, "num_heads": 5, "num_layers": 2, "d_ff": 7}
    config = TransformerConfig(
        **sizes,
        num_kv_heads=1,
        positions="rotary_halves",
        rope_theta=1e6,  # so that the slower pair is one that each scaling slows
        embedding_norm=False,
        num_token_types=0,
        norm_first=True,
        initializer_range=0.5,
    )
    return TransformerForCausalLM(config).eval()


def plain_losses(model, ids):
    return cross_entropy(model(ids)[:, :-1].mT, ids[:, 1:], reduction="none").detach()


def test_losses_are_those_of_a_plain_pass(small, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 4)
    ids = torch.randint(VOCAB, (3, 11))
    assert token_losses(small, ids).shape == (3, 10)
    assert torch.allclose(token_losses(small, ids), plain_losses(small, ids), atol=1e-5)


def test_what_no_token_sees_changes_nothing(small):
    ids = torch.randint(VOCAB, (1, 11))
    other = ids.clone()
    other[0, 0] = (ids[0, 0] + 1) % VOCAB
    seen = torch.ones(11, 11, dtype=torch.bool)
    seen[1:, 0] = False
    moved = (token_losses(small, ids, seen=seen) - token_losses(small, other, seen=seen)).abs()[0]
    assert moved[0] > 1e-4
    assert (moved[1:] < 1e-6).all()


def test_a_gap_moves_the_first_half_away(small):
    """The same with everything in one pass, at positions written down by hand."""
    ids = torch.randint(VOCAB, (3, 14))
    positions = torch.tensor([[*range(7), *range(7 + 5, 14 + 5)]])
    whole = token_losses(small, ids, positions=positions)[:, 7:]
    near, far = losses_after_gaps(small, ids, (0, 5))
    assert torch.allclose(near, plain_losses(small, ids)[:, 7:], atol=1e-5)  # as part of the whole
    assert torch.allclose(far, whole, atol=1e-5)
    assert not torch.allclose(far, near, atol=1e-2)


def test_what_stays_near_is_as_far_as_without_a_gap(small):
    """The same with everything in one pass, each layer turning queries and keys by hand."""
    ids, gap, near = torch.randint(VOCAB, (3, 14)), 5, (1, 3)
    moved = losses_after_gaps(small, ids, (0, gap), near=near)
    assert torch.allclose(moved[0], losses_after_gaps(small, ids, (0,))[0], atol=1e-5)
    far, all_near = losses_after_gaps(small, ids, (gap, 0))
    assert not torch.allclose(moved[1], far, atol=1e-2)
    assert not torch.allclose(moved[1], all_near, atol=1e-2)
    whole = losses_after_gaps(small, ids, (gap,), near=(0, 7))[0]
    assert torch.allclose(whole, all_near, atol=1e-5)


def test_near_keys_are_turned_by_the_gap(small):
    ids, gap = torch.randint(VOCAB, (2, 14)), 5
    seen = []
    attention = small.decoder.layers[1].attention
    attention.rotary.register_forward_hook(
        lambda _, given, out: seen.append((given[0].clone(), given[1], out))
    )
    losses_after_gaps(small, ids, (gap,), near=(1, 3))
    keys = next(out[:, 5:] for x, _, out in seen if x.shape[1] == 6)  # five queries, one key
    before, turn, after = next(entry for entry in seen if entry[0].shape[1] == 1)
    assert torch.allclose(before, keys[:, :, 1:3])
    assert turn.flatten().tolist() == [gap] * 4  # two rows, two keys
    pairs = before.shape[-1] // 2
    frequencies = small.config.rope_theta ** (-torch.arange(pairs) / pairs)
    turned = torch.view_as_complex(torch.stack(before.split(pairs, -1), -1).contiguous())
    turned = torch.view_as_real(turned * torch.polar(torch.ones(pairs), gap * frequencies))
    assert torch.allclose(after, torch.cat(turned.unbind(-1), -1), atol=1e-5)


def test_a_scaled_model_is_as_it_was_afterwards(small, subtests):
    for name in SCALED:
        with subtests.test(name=name):
            ids, positions = torch.randint(VOCAB, (3, 14)), positions_with_gap(14, 16384)
            before = token_losses(small, ids, positions=positions)
            with scaled(small, SCALED[name]):
                inside = token_losses(small, ids, positions=positions)
            assert not torch.allclose(inside, before, atol=1e-3)
            assert torch.equal(token_losses(small, ids, positions=positions), before)


def test_linear_scaling_divides_frequencies(small):
    ids = torch.randint(VOCAB, (3, 14))
    with scaled(small, SCALED["linear"]):
        inside = plain_losses(small, ids)
    for layer in small.decoder.layers:
        layer.attention.rotary.frequencies /= 4
    assert torch.allclose(inside, plain_losses(small, ids), atol=1e-5)


def test_means_are_of_neighbors():
    losses = torch.arange(2.0 * 77).view(2, 77)
    assert BLOCK == 32
    assert block_means(losses).tolist() == [[15.5, 47.5], [92.5, 124.5]]


def test_a_window_keeps_some_positions_in_view():
    row = kept_in_view(VIEW + 5, 2, 4)[-1].nonzero()[:, 0].tolist()
    assert row == [2, 3, *range(5, VIEW + 5)]
    counts = {n: kept_in_view(VIEW + 97, *kept)[-1].sum().item() for n, kept in WINDOWS.items()}
    assert counts == {"window": VIEW, "first kept": VIEW + SINKS, "others kept": VIEW + SINKS}
    assert (
        kept_in_view(VIEW + 97, *WINDOWS["first kept"])[-1, :6].tolist() == [True] * 4 + [False] * 2
    )


@NEEDED
def test_each_number_is_hidden_once_and_evenly(subtests):
    for length, things in [(512, ALIKE), (1021, DIFFERENT)]:
        with subtests.test(length=length, things=things):
            ids, hay, facts = hide_needles(length, things, random.Random(7))
            text = tokenizer(language_checkpoint()).decode(ids)
            lines = [f"The {thing} is {number}.\n\n" for thing, number in facts]
            assert sorted(thing for thing, _ in facts) == sorted(things)
            assert [text.count(line) for line in lines] == [1] * len(things)
            places = [text.index(line) / (len(text) - len(lines[-1])) for line in lines]
            assert places == sorted(places)
            assert places == pytest.approx([0, 0.25, 0.5, 0.75, 1], abs=0.2)
            assert places[0] == 0
            assert places[-1] == 1
            assert len({number[0] for _, number in facts}) == len(facts)
            assert all(len(number) == 4 for _, number in facts)
            for line in lines:
                text = text.replace(line, "")
            assert text == tokenizer(language_checkpoint()).decode(hay)
            assert len(hay) < len(ids) <= length


class Copier(torch.nn.Module):
    """Writes what followed the last four tokens the first time."""

    def __init__(self):
        super().__init__()
        self.lm_head = torch.nn.Identity()
        self.text = []

    def read(self, model, ids, *, cache):
        if not self.text:
            self.text = ids[0].tolist()
        logits = torch.zeros(*ids.shape, 49152)
        for row, line in enumerate(ids.tolist()):
            for place in range(3, len(line)):
                before = line[place - 3 : place + 1]
                for start in range(len(self.text) - 4):
                    if self.text[start : start + 4] == before:
                        logits[row, place, self.text[start + 4]] = 9
        return logits


@NEEDED
def test_a_number_is_found_where_the_model_would_write_it(monkeypatch):
    facts = [("code of the green door", "0417"), ("price of the car", "9320")]
    ids = spell("The price of the car is 9320.\n\nThe code of the green door is 0417.")
    monkeypatch.setattr(KVCache, "reorder", lambda self, rows: None)
    for asked, right, anothers in (
        (facts, [True, True], [False, False]),
        ([facts[0], (facts[1][0], "9321")], [True, False], [False, False]),
        ([(facts[0][0], "1417"), facts[1]], [False, True], [False, False]),
        ([(facts[0][0], "1417"), (facts[1][0], "0320")], [False, False], [True, False]),
        ([(facts[0][0], "9320"), (facts[1][0], "0417")], [False, False], [True, True]),
    ):
        copier = Copier()
        monkeypatch.setattr(module, "read", copier.read)
        found = judge(likeliest_digits(copier, ids, asked), asked)
        assert [kind.tolist() for kind in found] == [right, anothers]


@NEEDED
def test_the_first_blocks_of_the_recorded_run_are_measured_again():
    """A causal model's losses don't depend on later tokens, so two blocks are enough."""
    ids = torch.tensor([spell(long_text())[: 2 * BLOCK + 1]])
    found = block_means(token_losses(language_model(), ids)[0])
    torch.testing.assert_close(
        found, torch.tensor(trained("long_reading").history["whole"][:2]), rtol=1e-4, atol=0
    )


def test_a_model_of_your_own_counts(monkeypatch, tmp_path):
    monkeypatch.delenv("GLASSFORMER_LM", raising=False)
    assert list(module.data()) == [long_text().encode()]
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"mine")
    monkeypatch.setenv("GLASSFORMER_LM", str(tmp_path))
    assert list(module.data()) == [long_text().encode(), b"mine"]
