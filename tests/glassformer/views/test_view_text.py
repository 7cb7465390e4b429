"""How views write numbers, words and tables."""

import importlib
import math
import pkgutil
import re
from dataclasses import is_dataclass

import pytest

from glassformer import views
from glassformer.views.view import View, aligned, columns_of, isolated, number, table, visible

FAMILY = "👩\u200d👩\u200d👧\u200d👦"


def test_beside_larger_numbers_there_are_fewer_decimals(subtests):
    rows = [
        (1.0, "0.43"),
        (9.9, "0.43"),
        (9.99, "0.43"),
        (10.0, "0.4"),
        (10.5, "0.4"),
        (99.9, "0.4"),
        (100.0, "0"),
        (100.5, "0"),
        (1e6, "0"),
    ]
    for largest, written in rows:
        with subtests.test(largest=largest, written=written):
            assert number(0.43, largest) == written


def test_counts_have_no_decimals(subtests):
    rows = [
        (3.0, 9.0, "3.00"),  # few, and so perhaps no counts
        (3.0, 10.0, "3"),
        (3.0, 11.0, "3"),
        (3.0, 11.5, "3.0"),
        (3.5, 11.0, "3.5"),
        (3.0, 99.0, "3"),
    ]
    for value, largest, written in rows:
        with subtests.test(value=value, largest=largest, written=written):
            assert number(value, largest) == written


def test_what_is_no_number_has_a_word():
    assert [number(x, 1.0) for x in (math.nan, math.inf, -math.inf)] == ["nan", "∞", "-∞"]


def test_zero_has_no_sign():
    assert [number(x, 1.0) for x in (-0.0, -0.004, -0.006, 0.004)] == [
        *("0.00", "0.00", "-0.01", "0.00"),
    ]


def test_signs_that_join_others_are_seen_where_they_join_nothing():
    """At the beginning and at the end of a word, and of two letters at any place."""
    assert visible(FAMILY) == FAMILY
    assert visible("می\u200cخواهم") == "می\u200cخواهم"
    assert visible("a\u200cb") == "a\u200cb"
    assert visible("\u200cab") == "\\u200cab"
    assert visible("ab\u200c") == "ab\\u200c"
    assert visible("\u200d") == "\\u200d"


def test_white_space_and_what_cannot_be_seen_is_written_out():
    assert visible("Ġtime") == visible("▁time") == visible(" time") == "␣time"
    assert visible("time ") == "time␣"
    assert visible(" one head  only ") == "␣one head␣␣only␣"
    assert visible("a\u200bb\n") == "a\\u200bb\\n"


def test_columns_are_counted_as_a_terminal_does():
    assert columns_of("time") == 4
    assert columns_of("日本") == columns_of("ＡＢ") == 4
    assert columns_of("e\u0301") == columns_of("e\u20dd") == 1  # set above, and around
    assert columns_of("a\u200bb") == 2
    assert columns_of(FAMILY) == columns_of("👩") == 2
    assert columns_of("") == 0


def test_words_from_right_to_left_are_kept_apart():
    assert isolated("שלום") == "\u2068שלום\u2069"
    assert isolated("مرحبا") == "\u2068مرحبا\u2069"
    assert isolated("time") == "time"


def test_columns_of_a_text_are_as_wide_as_their_widest_entry():
    rows = [["", "b"], ["日本", "1.50"], ["a", "-12.25"]]
    assert aligned(rows).split("\n") == ["           b", "日本    1.50", "   a  -12.25"]


def test_a_row_with_more_entries_than_the_header_is_refused():
    with pytest.raises(ValueError, match="shorter than argument 1"):
        aligned([["a"], ["b", "c"]])


def test_a_table_names_its_rows_and_columns_and_escapes_both():
    html = table(["<h>", "x"], [["<r>", "<c>"]], caption="<&>", css="some")
    assert re.findall(r'<th scope="col">(.*?)</th>', html) == ["&lt;h&gt;", "x"]
    assert re.findall(r'<th scope="row">(.*?)</th>', html) == ["&lt;r&gt;"]
    assert re.findall("<td>(.*?)</td>", html) == ["&lt;c&gt;"]
    assert html.startswith('<table class="some"><caption>&lt;&amp;&gt;</caption>')


def test_a_view_is_html_for_a_page_and_text_for_a_terminal():
    view = View("<b>1</b>", "one")
    assert view._repr_html_() == "<b>1</b>"
    assert str(view) == repr(view) == "one"


def test_only_what_is_built_step_by_step_can_be_changed():
    """Boxes that move as they are laid out, and steps of a run that goes on."""
    parts = [
        getattr(importlib.import_module(module.name), name)
        for module in pkgutil.iter_modules(views.__path__, "glassformer.views.")
        for name in vars(importlib.import_module(module.name))
    ]
    classes = {part for part in parts if isinstance(part, type) and is_dataclass(part)}
    changing = {one.__name__ for one in classes if not one.__dataclass_params__.frozen}
    assert changing == {"Box", "Plan", "Step", "Level"}
    assert {"View", "Viewer", "Picture", "Node", "Row", "Panel"} <= {c.__name__ for c in classes}
