"""Pictures in steps: whole in a notebook, with a script on a page, and one sentence a step."""

import re
from pathlib import Path

import pytest

from glassformer.views.drawing import arrow, box, cells, legend, picture, text
from glassformer.views.steps import step, stepped


def drawn(*parts):
    return picture([step(k, part) for k, part in enumerate(parts, 1)], 300, 100)


def view(*parts, sentences=("First a.", "Then <b>.")):
    facts = [["a", "1"], ["<b>", "2"]]
    return stepped(drawn(*parts), sentences, ["what", "number"], facts, name="Two things")


def test_a_notebook_has_the_whole_picture_and_every_sentence_and_no_script():
    html = view(text(9, 9, "one"), text(9, 30, "two"))._repr_html_()
    assert "<script" not in html
    assert re.findall("<li>(.*?)</li>", html) == ["First a.", "Then &lt;b&gt;."]
    assert not re.search('class="[^"]*(later|past)', html)
    assert ">one<" in html
    assert ">two<" in html


def test_a_page_gets_the_script_by_name():
    html, assets = view(text(9, 9, "one"))._repr_page_()
    [name] = re.findall('src="asset://([^"]*)"', html)
    assert Path(assets[name]).read_text().count("data-step") >= 1


def test_as_text():
    assert str(view("")) == "what  number\n   a       1\n <b>       2\n1. First a.\n2. Then <b>."


def test_refused_are_steps_without_a_sentence():
    with pytest.raises(ValueError, match=r"steps 1 to 2, but parts belong to \[3\]"):
        view("", "", "")
    with pytest.raises(ValueError, match="there is none"):
        view(sentences=())


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
