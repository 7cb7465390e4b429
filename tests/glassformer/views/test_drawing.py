"""What all views share: numbers and words as they are written, parts of pictures, and colors."""

import itertools
import math
import re
from pathlib import Path

import pytest
from drawings import Reader, contrast

from glassformer.views.drawing import arrow, box, cells, cut, figure, legend, picture, text
from glassformer.views.palette import GROUPS, ROLES, THEME
from glassformer.views.steps import step, stepped
from glassformer.views.view import (
    aligned,
    columns_of,
    isolated,
    minus,
    number,
    table,
    visible,
)

FAMILY = "👩\u200d👩\u200d👧\u200d👦"

# --- numbers, words, and tables


def test_a_number_has_as_many_decimals_as_the_largest_beside_it_needs(subtests):
    """Whole numbers beside larger ones are counts, and have none."""
    rows = [
        *((0.43, largest, "0.43") for largest in (1.0, 9.99)),
        *((0.43, largest, "0.4") for largest in (10.0, 99.9)),
        *((0.43, largest, "0") for largest in (100.0, 1e6)),
        (3.0, 9.0, "3.00"),
        (3.0, 10.0, "3"),
        (3.0, 11.5, "3.0"),
        (3.5, 11.0, "3.5"),
        (3, 1.0, "3"),
        (-0.004, 1.0, "0.00"),
        (-0.006, 1.0, "-0.01"),
        (math.nan, 1.0, "nan"),
        (-math.inf, 1.0, "-∞"),
    ]
    for value, largest, written in rows:
        with subtests.test(value=value, largest=largest):
            assert number(value, largest) == written


def test_a_hyphen_that_begins_a_number_becomes_a_minus_sign():
    assert minus("-1.5e-07 · -∞ = feed-forward -x 3-4") == "−1.5e−07 · −∞ = feed-forward -x 3-4"


def test_what_cannot_be_seen_is_written_out(subtests):
    """Characters that join others are seen where they join nothing."""
    rows = [
        *((token, "␣time") for token in ("Ġtime", "▁time", " time")),
        ("ĊĠtime", "↵␣time"),
        (" one head  only ", "␣one head␣␣only␣"),
        ("a\u200bb\n", "a\\u200bb\\n"),
        (FAMILY, FAMILY),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("\u200cab", "\\u200cab"),
        ("ab\u200c", "ab\\u200c"),
        ("\u200d", "\\u200d"),
    ]
    for token, shown in rows:
        with subtests.test(token):
            assert visible(token) == shown


def test_columns_are_counted_as_a_terminal_does(subtests):
    rows = [("time", 4), ("日本", 4), ("ＡＢ", 4), ("e\u0301", 1), ("e\u20dd", 1), ("a\u200bb", 2)]
    for token, columns in [*rows, (FAMILY, 2), ("👩", 2), ("", 0)]:
        with subtests.test(token):
            assert columns_of(token) == columns


def test_a_cut_word_takes_no_more_columns_than_it_may(subtests):
    rows = [
        ("time", 4, "time"),
        ("times", 4, "tim…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
    ]
    for word, most, shown in [*rows, ("日本語", 4, "日…"), ("ab\u200dcde", 3, "ab…")]:
        with subtests.test(word, most=most):
            assert cut(word, most) == shown


def test_words_from_right_to_left_are_kept_apart():
    assert isolated("שלום") == "\u2068שלום\u2069"
    assert isolated("مرحبا") == "\u2068مرحبا\u2069"
    assert isolated("time") == "time"


def test_columns_of_a_text_are_as_wide_as_their_widest_entry():
    rows = [["", "b"], ["日本", "1.50"], ["a", "-12.25"]]
    assert aligned(rows).split("\n") == ["           b", "日本    1.50", "   a  -12.25"]
    with pytest.raises(ValueError, match="shorter than argument 1"):
        aligned([["a"], ["b", "c"]])


def test_a_table_names_its_rows_and_columns_and_escapes_both():
    html = table(["<h>", "x"], [["<r>", "<c>"]], caption="<&>", css="some")
    assert re.findall(r'<th scope="col">(.*?)</th>', html) == ["&lt;h&gt;", "x"]
    assert re.findall(r'<th scope="row">(.*?)</th>', html) == ["&lt;r&gt;"]
    assert re.findall("<td>(.*?)</td>", html) == ["&lt;c&gt;"]
    assert html.startswith('<table class="some"><caption>&lt;&amp;&gt;</caption>')


# --- parts of pictures


def test_a_figure_has_its_facts_as_a_table_and_as_text():
    drawn = picture([text(0, 0, "a")], 300, 100)
    view = figure(drawn, ["what", "number"], [["<b>", "1"]], name="A thing", caption="Below")
    assert str(view) == repr(view) == "Below\nwhat  number\n <b>       1"
    assert view._repr_html_() == view.html
    page = Reader(view.html)
    assert page.rows == [["what", "number"], ["<b>", "1"]]
    assert page.all("svg")[0]["aria-hidden"] == "true"
    assert {"A thing", "Below"} <= set(page.text)


def test_a_role_has_its_color_and_no_other_name_has_one():
    parts = [
        text(0, 0, "q", role="query"),
        arrow([(0, 0), (1, 1)], role="query"),
        box(0, 0, 9, 9, "q", role="query"),
        cells([[1.0]], 0, 0, 1.0, role="query"),
        legend([("query", "queries")], 0, 0),
    ]
    assert all('data-role="query"' in part for part in parts)
    with pytest.raises(ValueError, match="no color for the role 'querry'; the roles are positive"):
        text(0, 0, "q", role="querry")


def test_an_arrowhead_points_where_its_line_runs(subtests):
    for dx, dy in [(1, 0), (-1, 0), (0, 1), (0, -1), (0.6, 0.8)]:
        with subtests.test(dx=dx, dy=dy):
            line, head = re.findall(
                r' d="M([^"]+)"', arrow([(50, 50), (50 + 20 * dx, 50 + 20 * dy)])
            )
            points = [tuple(map(float, p.split())) for p in re.split("[Lz]", head)[:3]]
            apex, one, other = points
            assert apex == pytest.approx((50 + 20 * dx, 50 + 20 * dy))
            back = [float(n) for n in line.split("L")[1].split()]
            assert [(a + b) / 2 for a, b in zip(one, other, strict=True)] == pytest.approx(
                back, abs=0.1
            )
            assert math.dist(apex, back) == pytest.approx(7, abs=0.1)
            assert math.dist(one, other) == pytest.approx(7.2, abs=0.15)


def test_cells_say_their_sign_by_color_and_sign():
    html = cells([[0.5, -1.0], [float("nan"), float("inf")]], 0, 0, 1.0)
    colors = re.findall(r'class="([pn])"[^>]*fill-opacity="([\d.]+)"', html)
    assert colors == [("p", "0.500"), ("n", "1.000"), ("p", "0.000"), ("p", "0.000")]
    assert re.findall('class="number[^>]*>([^<]*)', html) == ["0.50", "−1.00", "nan", "∞"]


def test_words_are_never_markup_and_cut_ones_are_whole_in_their_tooltip():
    long = "</script>" * 5
    assert "</script>" not in text(0, 0, long, most=9)
    assert "&lt;/script&gt;" * 5 in text(0, 0, long, most=9)
    assert "</script>" not in box(0, 0, 9, 9, long, note=long, href='"><script>')


# --- steps


def in_steps(*parts, sentences=("First a.", "Then <b>.")):
    drawn = picture([step(k, part) for k, part in enumerate(parts, 1)], 300, 100)
    facts = [["a", "1"], ["<b>", "2"]]
    return stepped(drawn, sentences, ["what", "number"], facts, name="Two things")


def test_a_notebook_has_the_whole_picture_and_every_sentence_and_a_page_the_script():
    view = in_steps(text(9, 9, "one"), text(9, 30, "two"))
    html = view._repr_html_()
    assert "<script" not in html
    assert re.findall("<li>(.*?)</li>", html) == ["First a.", "Then &lt;b&gt;."]
    assert {">one<", ">two<"} <= set(re.findall(">(?:one|two)<", html))
    assert str(view).splitlines()[-2:] == ["1. First a.", "2. Then <b>."]
    html, assets = view._repr_page_()
    [name] = re.findall('src="asset://([^"]*)"', html)
    assert "data-step" in Path(assets[name]).read_text()


def test_steps_without_a_sentence_are_refused():
    with pytest.raises(ValueError, match=r"steps 1 to 2, but parts belong to \[3\]"):
        in_steps("", "", "")
    with pytest.raises(ValueError, match="there is none"):
        in_steps(sentences=())


# --- colors

PAPERS = ("#fdfcf9", "#15171b")
# Machado, Oliveira and Fernandes (2009), table 1: what a missing kind of cone does to linear RGB.
EYES = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
APART = 9  # of CIE 1976 differences; 2.3 can just be told


def linear(color):
    shares = [c / 255 for c in bytes.fromhex(color[1:])]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]


def luminance(rgb):
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), rgb, strict=True))


def lab(rgb):
    x = sum(w * c for w, c in zip((0.4124, 0.3576, 0.1805), rgb, strict=True)) / 0.9505
    z = sum(w * c for w, c in zip((0.0193, 0.1192, 0.9505), rgb, strict=True)) / 1.089
    fx, fy, fz = (
        max(v, 0) ** (1 / 3) if v > 0.008856 else 7.787 * v + 4 / 29 for v in (x, luminance(rgb), z)
    )
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def seen(color, eyes):
    rgb = linear(color)
    return lab([min(1, max(0, sum(m * c for m, c in zip(row, rgb, strict=True)))) for row in eyes])


def test_each_role_can_be_written_with_and_is_in_the_theme():
    for role, colors in ROLES.items():
        assert all(f"--{role}:{color};" in THEME for color in colors)
    found = {
        (role, paper): contrast(*(bytes.fromhex(one[1:]) for one in (color, paper)))
        for role, colors in ROLES.items()
        for color, paper in zip(colors, PAPERS, strict=True)
    }
    low = {place: ratio for place, ratio in found.items() if ratio < 4.5}
    assert not low, low


def test_roles_that_meet_are_told_apart_by_everybody():
    found = {
        (one, other, eyes, scheme): math.dist(
            *(seen(ROLES[role][scheme], EYES[eyes]) for role in (one, other))
        )
        for group, eyes, scheme in itertools.product(GROUPS.values(), EYES, (0, 1))
        for one, other in itertools.combinations(group, 2)
    }
    near = {pair: apart for pair, apart in found.items() if apart < APART}
    assert not near, near
