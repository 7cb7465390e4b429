"""Pictures of machines and memory: what they show is counted again here."""

import re

import pytest
from drawings import facts, svgs, texts

from glassformer.views import ring

# --- a ring


def ring_turns(held):
    """What each process holds after each turn: first added up, then copied."""
    size, turns = len(held), [[[*pieces] for pieces in held]]
    for turn in range(2 * (size - 1)):
        before = turns[-1]
        after = [[*pieces] for pieces in before]
        for r in range(size):
            k = (r - 1 - turn) % size
            after[r][k] = before[r - 1][k] + (before[r][k] if turn < size - 1 else 0)
        turns.append(after)
    return turns


def fills(view, size):
    """The share of each piece that is filled, a row for each turn."""
    shares = [
        round(float(rect.get("height")) / 28 * size)
        for svg in svgs(view)
        for rect in svg.iter("rect")
        if rect.get("class") == "tint" and not rect.get("style")
    ]
    return [shares[k : k + size * size] for k in range(0, len(shares), size * size)]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_piece_is_filled_by_as_many_as_its_number_counts(size):
    """Every process has ones, so a piece's number is how many processes are in it."""
    turns = ring_turns([[1] * size for _ in range(size)])
    view = ring(turns)
    assert fills(view, size) == [[n for pieces in held for n in pieces] for held in turns]
    assert fills(view, size)[-1] == [size] * size**2
    assert len(re.findall('data-step="', view.html)) == len(turns) == 2 * size - 1


def test_each_turn_sends_one_piece_from_each_process_and_tells_its_sums():
    view = ring(ring_turns([[1, 2, 3], [10, 20, 30], [100, 200, 300]]))
    assert view.html.count('class="tip"') == 4 * 3
    assert view.html.count("frame bold") == 4 * 3
    assert facts(view)[2] == ["turn 2", "1, 222, 303", "11, 20, 333", "111, 220, 300"]
    assert texts(view)[-9:] == ["111", "222", "333"] * 3
    said = re.findall(r"adds|keeps|\d of 3", str(view))
    assert said == ["adds", "0 of 3", "adds", "1 of 3", "keeps", "2 of 3", "keeps", "3 of 3"]


def test_what_did_not_come_from_the_left_is_no_ring(subtests):
    turns = ring_turns([[1, 2, 3], [10, 20, 30], [100, 200, 300]])
    to_the_left = [[*reversed(held)] for held in turns]
    rows = [
        (to_the_left, r"process \d had \d+ and its left neighbor \d+: \d+ is neither"),
        (turns[:1], r"but got 1 turns of 3 processes with \[3\]"),
        ([[[1]], [[1]]], r"2 to 4 processes .* of 1 processes"),
        ([[[1, 2], [3, 4]], [[1, 2], [3]]], r"with \[1, 2\]"),
        ([[[0, 2], [3, 4]]] * 2, "other than 0"),
    ]
    for given, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            ring(given)
