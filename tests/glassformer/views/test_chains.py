"""Ways as rows of boxes: a color and dashes for each kind, and arrows between neighbors."""

import re
from itertools import pairwise

import pytest
from drawings import facts, svgs, texts

from glassformer.views import chains

WAYS = {
    "one": [("a", "first", "frozen"), ("b", "", "trained")],
    "other": [("c", "", "written"), ("a", "first", "frozen"), ("d", "last", "written")],
}


def test_each_kind_has_its_color_and_dashes_in_all_ways():
    svg = svgs(chains(WAYS))[0]
    found = [
        (group.get("data-role"), group[0].get("class"))
        for group in svg.iter("g")
        if group.get("data-role") and group[0].get("class", "").startswith("box")
    ]
    kinds = [kind for boxes in WAYS.values() for *_, kind in boxes]
    looks = {
        "frozen": ("series-1", "box"),
        "trained": ("series-2", "box dashed"),
        "written": ("series-3", "box dotted"),
    }
    assert found == [looks[kind] for kind in kinds]
    assert texts(chains(WAYS))[:3] == ["frozen", "trained", "written"]


def test_boxes_of_a_row_fill_it_and_arrows_join_neighbors():
    view = chains(WAYS)
    assert view.html.count('class="tip"') == 1 + 2
    boxes = [r for r in svgs(view)[0].iter("rect") if (r.get("class") or "").startswith("box")]
    rows = [boxes[:2], boxes[2:]]
    for row in rows:
        ends = [(float(r.get("x")), float(r.get("x")) + float(r.get("width"))) for r in row]
        assert ends[0][0] == 1
        assert ends[-1][1] == pytest.approx(399, abs=0.2)
        assert all(b[0] - a[1] == pytest.approx(16, abs=0.2) for a, b in pairwise(ends))
    assert facts(view)[0] == ["one", "a (frozen): first", "b (trained):"]


def test_what_does_not_fit_is_refused():
    for wrong in ({}, {"a": []}, {"a": [("b", "", "c")] * 5}):
        with pytest.raises(ValueError, match="rows of one to 4 boxes"):
            chains(wrong)
    kinds = [[("b", "", str(k))] for k in range(5)]
    with pytest.raises(ValueError, match=re.escape("['0', '1', '2', '3', '4']")):
        chains(dict(zip("abcde", kinds, strict=True)))
