"""What a reader sees of a text, held against what Python-Markdown makes of it."""

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st
from markdown import Markdown

from proofbook.parsing.visible_text import BOUNDARY, visible_text
from tables import table


@table(
    ("source", "seen"),
    [
        ("Each *row* sums **to one**.", "Each row sums to one."),
        ("two\nlines   and\tblanks", "two lines and blanks"),
        ("of `a * b` and ``x ` y``", "of a * b and x ` y"),
        ('[five]{ equals="f(\'}\')" } of *so*{ holds="x > {1: 2}[1]" }', None),
        ('the [chapter](masks.md#a_b "A title") on it', "the chapter on it"),
        ("a picture ![of it](x.svg) here[^1]", "a picture here"),
        (r"1 \* 2 \* 3", "1 * 2 * 3"),
        ("snake_case_name and _so_", "snake_case_name and so"),
        ("Fish &amp; chips &#8211; now", "Fish & chips – now"),
        ('a <span class="x">marked</span> word <!-- hidden -->here', "a marked word here"),
        ("the root $\\sqrt{d_k}$ of it", "the root $\\sqrt{d_k}$ of it"),
        ("- an item\n- another\n  of two lines", f"an item{BOUNDARY}another of two lines"),
        ("| a | *b* |", f"{BOUNDARY}a {BOUNDARY}b {BOUNDARY}"),
        ("> quoted\n> words", "quoted words"),
        ("1 * 2 is 2 * 1", "1 * 2 is 2 * 1"),
    ],
)
def test_markup_is_left_out(source, seen):
    if seen is None:
        seen = "five of so"
    assert visible_text(source).text == seen


def test_each_letter_knows_its_place():
    source = "a *bc* [d](e.md) `f g`"
    seen = visible_text(source)
    assert [source[a:b] for a, b in seen.places if b - a == 1] == [*seen.text]
    assert [(one.kind, source[slice(*one.outer)]) for one in seen.elements] == [
        ("emphasis", "*bc*"),
        ("link", "[d](e.md)"),
        ("code", "`f g`"),
    ]


WORDS = st.sampled_from(["time", "flies", "like", "an", "arrow", "3.14", "it's", "x_y", "a-b"])
PIECES = st.one_of(
    WORDS,
    WORDS.map(lambda word: f"*{word}*"),
    WORDS.map(lambda word: f"**{word} {word}**"),
    WORDS.map(lambda word: f"_{word.replace('_', '')}_"),
    WORDS.map(lambda word: f"`{word}`"),
    WORDS.map(lambda word: f"`{word} *{word}*`"),
    WORDS.map(lambda word: f"[{word}](page.md)"),
    WORDS.map(lambda word: f"[*{word}* `{word}`](page.md#part)"),
    WORDS.map(lambda word: f"{word} &amp; {word}"),
    st.just(r"\*"),
)


@given(st.lists(PIECES, min_size=1, max_size=9))
def test_it_is_what_the_page_shows(parts):
    source = " ".join(parts)
    html = Markdown().convert(source)
    shown = " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())
    assert visible_text(source).text == shown
