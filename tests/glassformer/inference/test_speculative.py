"""Speculative decoding writes what the model alone would: token for token, or in distribution."""

import math
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import product
from unittest.mock import Mock

import pytest
import torch
import torch.nn.functional as F

from glassformer import KVCache, SlidingWindowCache, Transformer, TransformerConfig, generate
from glassformer.inference.drafts import PromptLookup
from glassformer.inference.generation import Sampler
from glassformer.inference.speculative import (
    acceptance,
    crop,
    remainder,
    speculative_generate,
    verify,
)
from glassformer.models.task_models import TransformerForCausalLM

VOCAB, SEQ, NEW = 7, 11, 23
CONFIG = TransformerConfig(
    vocab_size=VOCAB,
    d_model=20,
    num_heads=2,
    num_layers=3,
    d_ff=13,
    max_positions=SEQ + NEW - 1,
    num_token_types=0,
    initializer_range=0.3,
)
DOUBLE = torch.float64


def build(config=CONFIG, seed=0):
    torch.manual_seed(seed)
    return TransformerForCausalLM(config).double().eval()


@pytest.fixture
def model():
    return build()


@pytest.fixture
def ids():
    return torch.randint(1, VOCAB, (1, SEQ))


def guess(ids, count):
    """Any tokens, from an even distribution."""
    return torch.randint(VOCAB, (count,)), torch.full((count, VOCAB), 1 / VOCAB)


def by_model(other, do_sample=False, generator=None):
    """A draft by another model, which reads the whole text for each token."""
    sampler = Sampler(do_sample, generator=generator)

    @torch.no_grad()
    def propose(ids, count):
        rows = [torch.empty(0, VOCAB)]
        for _ in range(count):
            rows.append(sampler.probabilities(other(ids)[:, -1]))
            ids = torch.cat([ids, torch.multinomial(rows[-1], 1, generator=generator)], dim=1)
        return ids[0, ids.shape[1] - count :], torch.cat(rows)

    return propose


DRAFTS = {
    "guesses": lambda model: guess,
    "lookup": lambda model: PromptLookup(VOCAB),
    "another model": lambda model: by_model(build(seed=1)),
    "another model, sampled": lambda model: by_model(build(seed=1), do_sample=True),
}


@pytest.mark.usefixtures("unhooked")
def test_greedy_is_generate_token_for_token(ids, subtests):
    rows = [({}, 5), ({"positions": "rotary", "sliding_window": 3}, 5), ({}, 1)]
    for (choices, max_proposals), name in product(rows, DRAFTS):
        with subtests.test(choices=choices, max_proposals=max_proposals, name=name):
            model = build(replace(CONFIG, **choices))
            expected = generate(model, ids, max_new_tokens=NEW)
            given = {"max_new_tokens": NEW, "max_proposals": max_proposals}
            found = speculative_generate(model, ids, DRAFTS[name](model), **given)
            assert found.ids.equal(expected)
            assert found.passes + found.accepted == NEW
            assert found.accepted <= found.proposed <= max_proposals * found.passes


def test_a_model_accepts_its_own_proposals(model, ids, subtests):
    for max_proposals, do_sample in product([1, 3, 30], [False, True]):
        with subtests.test(max_proposals=max_proposals, do_sample=do_sample):
            draft = by_model(model, do_sample=do_sample)
            choices = {"max_new_tokens": NEW, "max_proposals": max_proposals}
            found = speculative_generate(model, ids, draft, do_sample=do_sample, **choices)
            assert found.passes == math.ceil(NEW / (max_proposals + 1))
            assert found.accepted == found.proposed == NEW - found.passes


@pytest.mark.usefixtures("unhooked")
def test_it_ends_where_generate_does(model, ids, subtests):
    for name, end in product(["guesses", "another model"], range(VOCAB)):
        with subtests.test(name=name, end=end):
            given = {"max_new_tokens": NEW, "eos_token_id": end}
            expected = generate(model, ids, **given)
            found = speculative_generate(model, ids, DRAFTS[name](model), **given)
            assert found.ids.equal(expected)
            new = expected.shape[1] - SEQ
            # the end may have been a proposal
            assert found.passes + found.accepted in (new, new + 1)


def test_each_token_is_read_once_and_nothing_is_computed_for_the_prompt_s_logits(model, ids):
    read, answered = [], []
    model.decoder.register_forward_pre_hook(lambda _, given: read.append(given[0].shape[1]))
    model.lm_head.register_forward_pre_hook(lambda _, given: answered.append(len(given[0])))
    found = speculative_generate(model, ids, by_model(build()), max_new_tokens=9, max_proposals=2)
    assert found.passes == 3
    assert read == [SEQ + 2, 3, 3]
    assert answered == [3, 3, 3]


def distributions(rows, seed):
    """Rows of probabilities, some of which are zero."""
    drawn = torch.rand(rows, 3, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed))
    drawn = drawn.masked_fill(drawn < 0.2, 0.0)
    drawn[:, 0] += 0.1
    return drawn / drawn.sum(-1, keepdim=True)


def joint(wanted, drawn_from):
    """The probabilities of the first two tokens, summed over what is proposed and accepted.

    The first row of each argument is that of the first token, and row 1 + a of the second one
    after a. After a rejection, the model goes on by itself.
    """
    accept, rest = acceptance(wanted, drawn_from), remainder(wanted, drawn_from)
    found = torch.zeros(3, 3, dtype=DOUBLE)
    for a, b in product(range(3), range(3)):
        chance = drawn_from[0, a] * drawn_from[1 + a, b]
        found += chance * (1 - accept[0, a]) * rest[0][:, None] * wanted[1:]
        found[a] += chance * accept[0, a] * (1 - accept[1 + a, b]) * rest[1 + a]
        found[a, b] += chance * accept[0, a] * accept[1 + a, b]
    return found


def test_two_tokens_have_the_models_probabilities_exactly(subtests):
    for seed, sure in product(range(5), ["neither", "draft", "model", "both"]):
        with subtests.test(seed=seed, sure=sure):
            wanted, drawn_from = distributions(4, seed), distributions(4, seed + 100)
            one_hot = partial(F.one_hot, num_classes=3)
            if sure in ("draft", "both"):
                drawn_from = one_hot(drawn_from.argmax(-1)).to(DOUBLE)
            if sure in ("model", "both"):
                wanted = one_hot(wanted.argmax(-1)).to(DOUBLE)
            expected = wanted[0][:, None] * wanted[1:]
            torch.testing.assert_close(joint(wanted, drawn_from), expected, rtol=0.0, atol=1e-14)


def test_equal_distributions_reject_nothing_and_leave_no_hole():
    same = distributions(4, 0)
    assert acceptance(same, same).eq(1).all()
    assert remainder(same, same).equal(same)


def test_a_proposal_is_kept_if_its_draw_is_below_the_ratio(monkeypatch):
    """The ratios are 0.2 / 0.4 and 0.1 / 0.4; after each row, one token alone is missing."""
    wanted = torch.tensor([[0.2, 0.8, 0.0], [0.9, 0.1, 0.0], [0.0, 0.0, 1.0]])
    drawn_from = torch.tensor([[0.4, 0.6, 0.0], [0.6, 0.4, 0.0]])
    kept = {(0.49, 0.24): [0, 1, 2], (0.49, 0.26): [0, 0], (0.51, 0.0): [1], (0.0, 0.0): [0, 1, 2]}
    for draws, expected in kept.items():
        monkeypatch.setattr(torch, "rand", Mock(return_value=torch.tensor(draws)))
        assert verify(wanted, torch.tensor([0, 1]), drawn_from).tolist() == expected, draws


def chi_square(counts, expected):
    """How far counts are from what is expected, in standard deviations of such a sum."""
    total = sum(counts.values())
    assert set(counts) <= {outcome for outcome, chance in expected.items() if chance > 0}
    terms = [(counts[o] - total * e) ** 2 / (total * e) for o, e in expected.items() if e > 0]
    freedom = len(terms) - 1
    return (sum(terms) - freedom) / math.sqrt(2 * freedom)


@pytest.mark.usefixtures("unhooked")
def test_sampled_texts_are_as_frequent_as_the_models():
    generator = torch.Generator().manual_seed(0)
    model, ids = build(), torch.tensor([[1, 5, 2]])
    draft = by_model(build(seed=1), do_sample=True, generator=generator)
    two = torch.tensor([*product(range(VOCAB), range(VOCAB))])
    with torch.no_grad():
        logits = model(torch.cat([ids.expand(len(two), 3), two], dim=1))[:, 2:4]
    logits = logits.masked_fill(logits < logits.topk(4).values[..., -1:], -math.inf)
    chances = (logits / 0.7).softmax(-1)
    each = chances.gather(2, two[..., None])[..., 0].prod(dim=1)
    expected = dict(zip(map(tuple, two.tolist()), each.tolist(), strict=True))
    counts = Counter()
    choices = {"do_sample": True, "temperature": 0.7, "top_k": 4, "generator": generator}
    for _ in range(400):
        found = speculative_generate(model, ids, draft, max_new_tokens=2, **choices)
        counts[tuple(found.ids[0, 3:].tolist())] += 1
    assert chi_square(counts, expected) < 4


@torch.no_grad()
def test_a_cropped_cache_goes_on_as_if_the_rest_had_not_been_read(model):
    ids, cache = torch.randint(1, VOCAB, (3, SEQ)), KVCache()
    model(ids, cache=cache)
    crop(cache, 4)
    assert cache.length == 4
    other = torch.cat([ids[:, :4], ids[:, 5:]], dim=1)
    output = model(other[:, 4:], cache=cache)
    torch.testing.assert_close(output, model(other)[:, 4:], rtol=0.0, atol=1e-13)
    crop(cache, 0)
    torch.testing.assert_close(model(ids, cache=cache), model(ids), rtol=0.0, atol=1e-13)


@pytest.mark.usefixtures("unhooked")
class TestBadInput:
    def test_a_cache_of_other_length(self, model, ids):
        cache = KVCache()
        with torch.no_grad():
            model(ids, cache=cache)
        for length in (-1, SEQ + 1):
            with pytest.raises(
                ValueError, match=rf"length \({length}\) must be from 0 to the 11 tok"
            ):
                crop(cache, length)

    def test_a_window(self, ids):
        model, cache = build(replace(CONFIG, sliding_window=3)), SlidingWindowCache()
        with torch.no_grad():
            model(ids, cache=cache)
        with pytest.raises(ValueError, match=r"SlidingWindowCache can't be cut back to length \(9"):
            crop(cache, 9)

    def test_models_prompts_and_sizes(self, model, ids, subtests):
        config = replace(CONFIG, decoder=replace(CONFIG, cross_attention=True))
        rows = [
            (model, torch.ones(2, 3).long(), {}, r"shape \(2, 3\) must be one prompt"),
            (Transformer(config), ids, {}, "TransformerForCausalLM, got a Transformer$"),
            (model, ids, {"max_proposals": 0}, r"max_proposals \(0\) must be at least 1"),
            (model, ids, {"max_new_tokens": NEW + 1}, r"need 34 positions, more than .* \(33\)"),
        ]
        for writer, prompt, more, message in rows:
            with subtests.test(message), pytest.raises(ValueError, match=message):
                speculative_generate(writer, prompt, guess, **{"max_new_tokens": 2, **more})

    def test_a_draft_that_returns_something_else(self, model, ids, subtests):
        rows = [
            ([1, 2, 3], [[1 / 7] * 7] * 3, r"at most 2, .* \(proposed, 7\), got shapes \(3,\)"),
            ([1], [[1 / 5] * 5], r"got shapes \(1,\) and \(1, 5\)"),
            ([1], [[0.5] * 7], r"sum to 1: the smallest is 0.5, and they sum to \[3.5\]"),
            ([1], [[-1.0, 2.0, 0, 0, 0, 0, 0]], r"the smallest is -1, and they sum to \[1.0\]"),
            ([2, 0], [[1.0, 0, 0, 0, 0, 0, 0]] * 2, r"proposes \[2, 0\], .* probability 0"),
        ]
        for tokens, probabilities, message in rows:
            draft = Mock(return_value=(torch.tensor(tokens), torch.tensor(probabilities)))
            with subtests.test(message), pytest.raises(ValueError, match=message):
                speculative_generate(model, ids, draft, max_new_tokens=5, max_proposals=2)
