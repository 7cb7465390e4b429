"""Arcs: a line for each weight that can be seen, and all weights in words."""

import re
from xml.etree import ElementTree

import pytest
import torch

from glassformer.views import arcs
from glassformer.views.arcs import FAINTEST

TOKENS = ["[CLS]", "time", "<b>", "flies", "[SEP]"]


@pytest.fixture
def weights():
    return (3 * torch.randn(5, 5)).softmax(-1)


def read(view):
    """The markup as XML, which knows no attribute without a value and closes each tag."""
    html = view.html.replace(" data-search-exclude", "").replace(" checked", "")
    return ElementTree.fromstring(re.sub(r"(<input[^>]*)>", r"\1/>", html))


def test_each_weight_that_can_be_seen_is_one_line_as_wide_as_it_is_large(weights):
    lines = list(read(arcs({"one": weights}, TOKENS)).iter("path"))
    seen = [(i, w) for i, row in enumerate(weights.tolist()) for w in row if w >= FAINTEST]
    assert 5 <= len(seen) < 25
    assert [int(line.get("data-from")) for line in lines] == [i for i, _ in seen]
    widths = [float(line.get("stroke-width")) for line in lines]
    assert widths == [pytest.approx(1 + 8 * w, abs=0.051) for _, w in seen]


def test_lines_ahead_run_above_and_lines_back_below():
    weights = torch.zeros(3, 3)
    weights[0, 2] = weights[1, 1] = weights[2, 0] = 1.0
    ahead, itself, back = read(arcs({"one": weights}, ["a", "b", "c"])).iter("path")

    def ends(line):
        """Where a line begins, how far it swings up or down, and where it ends."""
        x, y, _, bend, _, _, end, _ = map(float, re.findall(r"-?\d+", line.get("d")))
        return x, bend - y, end

    (a, up, c), (_, loop, _), (z, down, d) = map(ends, (ahead, itself, back))
    assert a < c
    assert up < 0
    assert loop < 0
    assert z > d
    assert down > 0


def test_all_weights_stand_in_a_table_for_each_head_and_in_the_text(weights):
    view = arcs({"one": weights, "two": weights.T}, TOKENS)
    tables = list(read(view).iter("table"))
    assert [table.find("caption").text for table in tables] == ["one", "two"]
    for table, values in zip(tables, (weights, weights.T), strict=True):
        cells = [cell.text for cell in table.iter("td")]
        assert cells == [f"{w:.2f}" for row in values.tolist() for w in row]
    assert f"{weights[1, 3]:.2f}" in str(view)
    assert str(view).startswith("one\nfrom \\ to")


def test_a_word_says_where_its_weight_goes():
    weights = torch.tensor([[0.1, 0.7, 0.15, 0.05], *[[0.25] * 4] * 3])
    said = [g.get("data-says") for g in read(arcs({"one": weights}, TOKENS[:4])).iter("g")]
    assert said[0] == "[CLS] gives 0.70 to time, 0.15 to <b>, 0.10 to itself"


def test_several_heads_can_be_chosen_among_and_one_cannot(weights):
    several = read(arcs({"one": weights, "two": weights}, TOKENS))
    assert [option.get("value") for option in several.iter("input")] == ["0", "1"]
    assert len({option.get("name") for option in several.iter("input")}) == 1
    assert not list(read(arcs({"one": weights}, TOKENS)).iter("input"))


def test_what_cannot_be_drawn(weights, unhooked):
    with pytest.raises(ValueError, match="at least one head"):
        arcs({}, TOKENS)
    with pytest.raises(ValueError, match=r"one: weights of shape \(5, 5\) do not fit 4 words"):
        arcs({"one": weights}, TOKENS[:4])
