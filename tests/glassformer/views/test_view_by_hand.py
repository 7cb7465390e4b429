"""An attention by hand: each number in the picture is one that a pencil would find."""

import math
import re

import pytest
import torch

from glassformer.views import by_hand

WORDS = ["time", "flies", "fast"]
QUERY = torch.tensor([[1.0, 0.0], [1.0, 2.0], [0.0, 1.0]])
KEY = torch.tensor([[2.0, 0.5], [0.0, 1.0], [1.0, -1.0]])
VALUE = torch.tensor([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]])


def panels(asks=1, **more):
    """What each step of the picture writes."""
    html = by_hand(QUERY, KEY, VALUE, WORDS, asks=asks, **more).html
    steps = re.findall(r'<g data-step="(\d)">(.*?)(?=<g data-step|</svg>)', html, re.DOTALL)
    return {int(k): re.findall(r"<text[^>]*>([^<]*)</text>", part) for k, part in steps}


def pencil(asks):
    """Scores, weights and output, computed without torch."""
    query = QUERY[asks].tolist()
    dots = [sum(q * k for q, k in zip(query, row, strict=True)) for row in KEY.tolist()]
    powers = [math.exp(dot / math.sqrt(2)) for dot in dots]
    weights = [power / sum(powers) for power in powers]
    columns = zip(*VALUE.tolist(), strict=True)
    output = [sum(w * v for w, v in zip(weights, column, strict=True)) for column in columns]
    return dots, [dot / math.sqrt(2) for dot in dots], weights, output


def shown(value):
    return f"{value:.2f}".replace("-", "−")


def test_each_step_shows_what_a_pencil_finds(subtests):
    for asks in [0, 1, 2]:
        with subtests.test(asks=asks):
            dots, scores, weights, output = pencil(asks)
            steps = panels(asks)
            assert [word for word in steps[1] if word in ("query", "key", "value")] == [
                *("query", "key", "value")
            ]
            assert [f"= {dot:g}".replace("-", "−") for dot in dots] == [
                word for word in steps[2] if word.startswith("= ")
            ]
            assert [f"÷ √2 = {shown(score)}" for score in scores] == [
                word for word in steps[2] if word.startswith("÷")
            ]
            assert {shown(weight) for weight in weights} <= set(steps[3])
            assert [shown(value) for value in output] == steps[4][-2:]


def test_queries_keys_and_values_keep_their_colors_through_the_steps():
    html = by_hand(QUERY, KEY, VALUE, WORDS, asks=1).html
    roles = [
        set(re.findall('data-role="(query|key|value)"', part))
        for part in html.split("<g data-step")[1:]
    ]
    assert roles == [{"query", "key", "value"}, {"query", "key"}, set(), {"value"}]


def test_the_table_and_the_sentences_say_the_same():
    told = str(by_hand(QUERY, KEY, VALUE, WORDS, asks=1))
    _, scores, weights, output = pencil(1)
    rows = [line.split() for line in told.splitlines()[1:4]]
    assert [row[5:7] for row in rows] == [
        [f"{score:.2f}", f"{weight:.2f}"] for score, weight in zip(scores, weights, strict=True)
    ]
    assert told.splitlines()[4].split()[-2:] == [f"{value:.2f}" for value in output]
    assert "2. The score of each word is its key times the query of “flies”" in told


def test_what_does_not_fit_is_refused(unhooked, subtests):
    rows = [
        ({"tokens": WORDS[:2]}, r"\(3, 2\).* do not fit 2 words"),
        ({"asks": 3}, r"asks \(3\) must be from 0 to 2, a word's position"),
        ({"key": KEY[:, :1]}, r"\(3, 1\).* do not fit 3 words"),
        ({"vectors": KEY[:2]}, r"vectors of shape \(2, 2\) must have the shape \(3, 2\)"),
    ]
    for change, message in rows:
        with subtests.test(message):
            given = {
                "query": QUERY,
                "key": KEY,
                "value": VALUE,
                "tokens": WORDS,
                "asks": 1,
            } | change
            with pytest.raises(ValueError, match=message):
                by_hand(**given)


def test_the_vectors_come_first_where_they_are_given():
    first = panels(vectors=torch.tensor([[3.0, 5.0], [7.0, 8.0], [9.0, 6.0]]))[1]
    names = ["vector", "query", "key", "value"]
    assert [word for word in first if word in names] == names
    cells = [
        word.lstrip("+").removesuffix(".00")
        for word in first[first.index("vector") : first.index("query")]
    ]
    assert cells == ["vector", "3", "5", "7", "8", "9", "6"]
    assert "vector" not in panels()[1]


def test_what_is_not_small_is_refused():
    wide = torch.randn(7, 3)
    with pytest.raises(ValueError, match="7 words with 3 numbers each: by hand, you can follow 2"):
        by_hand(wide, wide, wide, list("abcdefg"), asks=0)


def test_words_are_text():
    html = by_hand(QUERY, KEY, VALUE, ["<b>", "שלום", "👩‍👧"], asks=0).html
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
