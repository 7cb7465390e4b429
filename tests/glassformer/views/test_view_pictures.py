"""Small pictures of one idea each: what a reader sees in them is what the tensors say."""

import math
import re
from itertools import product

import pytest
import torch

from glassformer.layers.masks import causal_mask
from glassformer.layers.positions import RotaryPositions
from glassformer.models.config import TransformerConfig
from glassformer.views import dials, heads_apart, next_tokens, reading_order, shared_heads

WORDS = ["time", "flies", "like", "an", "arrow"]


def texts(view):
    return re.findall(r"<text[^>]*>([^<]*)<", view.html)


# --- masks


def test_a_row_shows_the_words_that_may_be_read_and_hides_the_others():
    mask = torch.rand(5, 5) < 0.5
    html = reading_order(mask, WORDS).html
    rows = html.split("dashed: hidden")[0].split("reads:</text>")[1:]
    for row, may in zip(rows, mask.tolist(), strict=True):
        seen = [w for w in re.findall(r"<text[^>]*>(\w+)</text>", row) if w in WORDS]
        assert seen == [word for word, one in zip(WORDS, may, strict=True) if one]
        assert row.count("stroke-dasharray") == may.count(False)


def test_causal_reading_gains_a_word_a_row_and_its_own_word_is_the_last():
    view = reading_order(causal_mask(5), WORDS)
    lines = [line.split() for line in str(view).splitlines()[1:]]
    assert lines == [[WORDS[i], *WORDS[: i + 1]] for i in range(5)]
    assert view.html.count("frame bold") == 5


def test_other_readers_have_no_word_of_their_own():
    mask = torch.ones(2, 5, dtype=torch.bool)
    view = reading_order(mask, WORDS, readers=["das", "ist"])
    assert "frame bold" not in view.html
    assert "das reads:" in texts(view)


def test_who_may_read_nothing_is_said_to():
    told = str(reading_order(torch.zeros(1, 1, dtype=torch.bool), ["a"]))
    assert told.splitlines()[1].split() == ["a", "nothing"]


def test_what_is_no_mask_of_these_words_is_refused(unhooked, subtests):
    for mask in [torch.ones(4, 5, dtype=torch.bool), torch.ones(5, 5)]:
        with (
            subtests.test(mask=mask),
            pytest.raises(ValueError, match="must be boolean, with a row for each of 5 readers"),
        ):
            reading_order(mask, WORDS)


# --- heads


def test_each_head_has_a_color_from_the_cut_to_the_merge():
    html = heads_apart(torch.randn(5, 12), WORDS, num_heads=3).html
    for part in html.split("<g data-step")[1:3]:
        assert {"series-1", "series-2", "series-3"} == set(re.findall(r"series-\d", part))
    assert "head 2" in html
    assert "head 3" not in html


def test_merged_numbers_are_those_that_were_cut():
    html = heads_apart(torch.randn(5, 12), WORDS, num_heads=3).html
    first, *_, last = html.split("<g data-step")[1:]
    assert re.findall('fill-opacity="([^"]*)"', first) == re.findall('fill-opacity="([^"]*)"', last)


def test_what_cannot_be_cut_is_refused(subtests):
    rows = [
        (torch.randn(5, 12), 5, r"num_heads \(5\) must divide the width \(12\)"),
        (torch.randn(4, 12), 3, r"with a row for each of 5 words"),
        (torch.randn(5, 49), 7, r"at most 48 numbers"),
    ]
    for wide, heads, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            heads_apart(wide, WORDS, num_heads=heads)


# --- rotation


def test_equal_distances_have_equal_angles_and_products(subtests):
    for interleaved, pair in product([True, False], [0, 2]):
        with subtests.test(interleaved=interleaved, pair=pair):
            query, key = torch.tensor([1.0, 0.5]), torch.tensor([0.3, -0.8])
            rotary = RotaryPositions(16, interleaved=interleaved)
            text = str(dials(rotary, query, key, [(3, 5), (60, 62), (3, 4)], pair=pair))
            near, far, other = (row.split()[-2:] for row in text.splitlines()[1:])
            assert near == far != other
            # Of two positions; a key ahead turns counterclockwise.
            turn = 2 * 10000 ** (-2 * pair / 16)
            angle = math.atan2(key[1], key[0]) - math.atan2(query[1], query[0]) + turn
            wanted = math.degrees(math.atan2(math.sin(angle), math.cos(angle)))
            assert near[0] == f"{wanted:.0f}°"
            expected = query.norm() * key.norm() * math.cos(angle)
            assert float(near[1]) == pytest.approx(expected.item(), abs=0.006)


def test_dials_name_their_positions_and_their_hands():
    view = dials(RotaryPositions(2), torch.ones(2), torch.ones(2), [(0, 7)])
    assert {"query at 0", "key at 7"} <= set(texts(view))
    assert set(re.findall('class="line bold" data-role="(.*?)"', view.html)) == {"query", "key"}


def test_hands_without_a_length_and_dials_without_positions_are_refused():
    hand = torch.ones(2)
    with pytest.raises(ValueError, match=r"key \[0.0, 0.0\] must be two finite numbers"):
        dials(RotaryPositions(2), hand, 0 * hand, [(0, 1)])
    with pytest.raises(ValueError, match=r"query .* must be two finite numbers"):
        dials(RotaryPositions(2), hand * math.nan, hand, [(0, 1)])
    with pytest.raises(ValueError, match="at least one pair of positions"):
        dials(RotaryPositions(2), hand, hand, [])


# --- shared keys and values


def test_each_query_leads_to_the_keys_it_reads():
    config = TransformerConfig(d_model=48, num_heads=6, num_kv_heads=2)
    view = shared_heads({"grouped": config})
    ends = re.findall(r'class="line" d="M[\d.]+ [\d.]+L([\d.]+)', view.html)
    assert len(ends) == 6
    assert [ends.count(end) for end in dict.fromkeys(ends)] == [3, 3]
    assert str(view).splitlines()[1].split() == ["grouped", "6", "2", "3", str(2 * 2 * 8)]


def test_a_head_for_each_query_keeps_the_most_and_one_for_all_the_least():
    kinds = {str(n): TransformerConfig(num_kv_heads=n) for n in (12, 4, 1)}
    kept = [
        int(line.split()[-1].replace(",", "")) for line in str(shared_heads(kinds)).splitlines()[1:]
    ]
    assert kept == [2 * 64 * n for n in (12, 4, 1)]


def test_there_must_be_a_configuration():
    with pytest.raises(ValueError, match="at least one configuration"):
        shared_heads({})


# --- next tokens


def test_bars_are_as_long_as_the_probabilities_on_one_scale_for_all():
    first = torch.tensor([0.1, 0.6, 0.3])
    view = next_tokens({"a": first, "b": first.flip(0)}, "xyz".__getitem__, most=2)
    bars = [float(w) for w in re.findall('data-role="series-1"[^>]*width="([^"]*)"', view.html)]
    assert [bar / bars[0] for bar in bars] == [
        pytest.approx(p / 0.6, abs=0.01) for p in (0.6, 0.3, 0.6, 0.1)
    ]
    rows = [line.split() for line in str(view).splitlines()[1:]]
    assert rows[:2] == [["a", "y", "0.600"], ["a", "z", "0.300"]]
    assert rows[2] == ["a", "all", "others", "0.100"]
    assert [row[1] for row in rows[3:5]] == ["y", "z"]


def test_distributions_of_other_texts_have_bars_for_their_own_likeliest_tokens():
    first = torch.tensor([0.1, 0.6, 0.3])
    chances = {"a": first, "b": first.roll(1)}
    view = next_tokens(chances, "xyz".__getitem__, most=2, same_tokens=False)
    rows = [line.split() for line in str(view).splitlines()[1:]]
    assert rows[:2] == [["a", "y", "0.600"], ["a", "z", "0.300"]]
    assert rows[3:5] == [["b", "z", "0.600"], ["b", "x", "0.300"]]


def test_what_is_no_distribution_is_refused(subtests):
    rows = [
        ({}, "expected vectors of the same size"),
        ({"a": torch.tensor([0.5, 0.6])}, "'a' has .* a sum of 1.1"),
        ({"a": torch.tensor([1.5, -0.5])}, "'a' has numbers from -0.5"),
        ({"a": torch.tensor([math.nan, 0.5])}, "'a' has"),
        ({"a": torch.ones(1), "b": torch.full((2,), 0.5)}, "expected vectors of the same size"),
    ]
    for chances, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            next_tokens(chances, str)
