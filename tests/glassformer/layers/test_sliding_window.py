"""The window itself, and the cache that keeps no more: against slices taken by hand."""

from dataclasses import replace
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassformer import KVCache, TransformerConfig, TransformerDecoder
from glassformer.layers.sliding_window import (
    SlidingWindowCache,
    WindowKVBuffer,
    window_mask,
)
from glassformer.models.builders import build_cache

BATCH, SEQ, VOCAB, LAYERS = 3, 31, 29, 2
CONFIG = TransformerConfig(
    vocab_size=VOCAB,
    d_model=22,
    num_heads=2,
    num_layers=LAYERS,
    d_ff=13,
    max_positions=37,
    num_token_types=0,
)
EXACT = {"rtol": 0.0, "atol": 1e-13}


def decoder(window):
    config = replace(CONFIG, sliding_window=window)
    return TransformerDecoder(config).double().eval().requires_grad_(False)


@given(st.integers(1, 7), st.integers(0, 11), st.integers(1, 13))
def test_a_query_sees_the_keys_less_than_a_window_before_its_own(q_len, past, window):
    mask = window_mask(q_len, past + q_len, window)
    for query in range(q_len):
        for key in range(past + q_len):
            assert mask[query, key] == (past + query - key < window)


@given(st.integers(1, 5), st.lists(st.integers(1, 11), min_size=1, max_size=9))
def test_what_the_new_tokens_see_is_given_and_what_the_next_one_sees_is_kept(window, pieces):
    cache, whole = WindowKVBuffer(window), torch.empty(2, BATCH, 1, 0, 5)
    for new in pieces:
        added = torch.randn(2, BATCH, 1, new, 5)
        whole = torch.cat([whole, added], dim=3)
        given = torch.stack(cache.append(*added))
        length = whole.shape[3]
        assert given.equal(whole[:, :, :, max(length - new - window + 1, 0) :])
        assert torch.stack(cache.tensors()).equal(whole[:, :, :, max(length - window + 1, 0) :])
        assert cache.length == length


def test_memory_does_not_grow_with_the_text():
    cache, window = WindowKVBuffer(5), 5
    for _ in range(200):
        given = cache.append(torch.zeros(BATCH, 1, 1, 7), torch.zeros(BATCH, 1, 1, 7))
    longest = given[0].untyped_storage().nbytes() // (2 * BATCH * 7 * 4)
    assert cache.length == 200
    assert longest <= 4 * window


def test_in_pieces_as_at_once(subtests):
    for window, pieces, padded, kind in product(
        [1, 5, 31],
        [(1,) * SEQ, (7, 1, 1, 11, 1, 10)],
        [True, False],
        [KVCache, SlidingWindowCache],
    ):
        with subtests.test(window=window, pieces=pieces, padded=padded, kind=kind):
            model, cache, ids = decoder(window), kind(), torch.randint(1, VOCAB, (BATCH, SEQ))
            real = torch.arange(SEQ) >= torch.tensor([[0], [4], [29]])
            mask = real.long() if padded else None
            parts, end = [], 0
            for part in ids.split(pieces, dim=1):
                end += part.shape[1]
                parts.append(model(part, None if mask is None else mask[:, :end], cache=cache))
            kept = real if padded else torch.ones_like(real)
            torch.testing.assert_close(torch.cat(parts, 1)[kept], model(ids, mask)[kept], **EXACT)


def test_a_token_is_moved_by_those_within_reach_of_the_layers_alone():
    """Each layer hands on what the one before it saw: two windows, one place shared."""
    window, ids = 4, torch.randint(1, VOCAB, (1, SEQ))
    model, reach = decoder(window), LAYERS * (window - 1)
    for place in range(SEQ):
        changed = ids.clone()
        changed[0, place] = ids[0, place] % (VOCAB - 1) + 1
        moved = (model(changed) - model(ids)).abs().amax(-1)[0] > 1e-9
        assert moved.nonzero().flatten().tolist() == [*range(place, min(place + reach + 1, SEQ))]


def test_a_window_as_long_as_the_text_is_none():
    model, ids = decoder(SEQ), torch.randint(1, VOCAB, (BATCH, SEQ))
    plain = TransformerDecoder(CONFIG).double().eval()
    plain.load_state_dict(model.state_dict())
    assert plain(ids).equal(model(ids))


def test_the_cache_keeps_a_window_of_each_layer():
    model, cache = decoder(5), SlidingWindowCache()
    model(torch.randint(1, VOCAB, (BATCH, SEQ)), cache=cache)
    assert cache.length == SEQ
    # keys and values, in float64, of 4 tokens
    assert cache.nbytes == 2 * 8 * LAYERS * BATCH * 22 * 4


def test_reordered_rows_go_on_as_those_they_came_from():
    model, cache = decoder(5), SlidingWindowCache()
    ids, rows = torch.randint(1, VOCAB, (BATCH, SEQ)), torch.tensor([2, 0, 2, 1, 1])
    model(ids[:, :-1], cache=cache)
    cache.reorder(rows)
    output = model(ids[rows, -1:], cache=cache)
    torch.testing.assert_close(output, model(ids[rows])[:, -1:], **EXACT)


def test_the_cache_that_a_configuration_asks_for():
    assert type(build_cache(CONFIG)) is KVCache
    assert type(build_cache(replace(CONFIG, sliding_window=3))) is SlidingWindowCache


@pytest.mark.usefixtures("unhooked")
class TestBadInput:
    def test_no_window_and_sizes_below_one(self, subtests):
        ids, cache = torch.ones(1, 1, dtype=torch.long), SlidingWindowCache()
        below = r"q_len \(\d\), .* must be at least 1"
        rows = [
            (lambda: decoder(None)(ids, cache=cache), "TransformerDecoder has no sliding_window"),
            (lambda: window_mask(0, 1, 1), below),
            (lambda: window_mask(1, 0, 1), below),
            (lambda: window_mask(1, 1, 0), below),
            (lambda: WindowKVBuffer(0), r"window \(0\) must be at least 1"),
            (lambda: decoder(0), r"sliding_window \(0\) must be at least 1"),
        ]
        for call, message in rows:
            with subtests.test(message), pytest.raises(ValueError, match=message):
                call()

    def test_keys_of_another_batch_leave_it_as_it_was(self):
        cache = WindowKVBuffer(3)
        cache.append(torch.zeros(2, 1, 2, 5), torch.zeros(2, 1, 2, 5))
        with pytest.raises(ValueError, match=r"the new keys are \(3, 1, 5\)"):
            cache.append(torch.zeros(3, 1, 1, 5), torch.zeros(3, 1, 1, 5))
        assert cache.length == 2
