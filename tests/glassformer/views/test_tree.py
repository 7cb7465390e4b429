"""A tree: each name below its parent, with a line between them."""

import re

import pytest
from drawings import facts, near, numbers, svgs, texts

from glassformer.views import tree

NODES = {
    "a": (None, "the root"),
    "b": ("a", "one"),
    "c": ("a", ""),
    "d": ("b", "two"),
    "e": (None, ""),
}


def boxes(view):
    """Left and top edge of each name's box, from the top down."""
    found = [r for r in svgs(view)[0].iter("rect") if r.get("class") == "box"]
    return [(float(r.get("x")), float(r.get("y"))) for r in found]


def test_names_are_below_their_parents_and_farther_right():
    view = tree(NODES)
    order = [row[0] for row in facts(view)]
    assert order == ["a", "b", "d", "c", "e"]
    place = dict(zip(order, boxes(view), strict=True))
    assert [y for _, y in place.values()] == sorted(y for _, y in place.values())
    for name, (parent, _) in NODES.items():
        if parent:
            assert place[name][0] == place[parent][0] + 30
            assert place[name][1] > place[parent][1]
    assert place["e"][0] == place["a"][0]


def test_lines_lead_from_parents_to_the_sides_of_their_children():
    view = tree(NODES)
    lines = [numbers(path.get("d")) for path in svgs(view)[0].iter("path")]
    stems = [one for one in lines if one[0] == one[2]]
    sides = {(one[2] + 1, one[3] - 14) for one in lines if one[1] == one[3]}
    assert len(stems) == 2  # below a and b
    assert sides == {boxes(view)[k] for k in (1, 2, 3)}


def test_boxes_lead_where_they_are_told_and_long_notes_are_wrapped():
    view = tree({"<i>": (None, "many words " * 30)}, links={"<i>": "../a/?b&c"})
    assert 'href="../a/?b&amp;c"' in view.html
    assert "<i>" not in view.html
    assert len([line for line in texts(view) if "words" in line]) == 4
    assert re.search("…$", texts(view)[-1])
    assert str(view).count("many words") == 30


def test_gaps_are_empty_rows_above_their_boxes():
    tops, moved = (
        [y for _, y in boxes(view)] for view in (tree(NODES), tree(NODES, gaps={"d": 2}))
    )
    assert [b - a for a, b in zip(tops, moved, strict=True)] == [0, 0, 80, 80, 80]  # a, b, d, c, e


def test_a_narrow_screen_has_a_tree_without_gaps():
    heights = [numbers(svg.get("viewBox"))[3] for svg in svgs(tree(NODES, gaps={"d": 2}))]
    [plain] = svgs(tree(NODES))
    assert heights == near(numbers(plain.get("viewBox"))[3] + 80, numbers(plain.get("viewBox"))[3])


def test_a_note_of_three_lines_makes_room_below_itself():
    view = tree({"a": (None, "three of its lines " * 7), "b": ("a", "")})
    lines = [line for line in texts(view) if "three" in line or "lines" in line]
    assert len(lines) == 3
    assert boxes(view)[1][1] - boxes(view)[0][1] == 40 + 14


def test_each_name_can_have_its_own_color():
    view = tree({"a": (None, ""), "b": ("a", "")}, role={"a": "encoder", "b": "decoder"})
    framed = [r for r in svgs(view)[0].iter("g") if r.get("data-role")]
    assert [group.get("data-role") for group in framed] == ["encoder", "decoder"]
    assert texts(view)[-2:] == ["encoder", "decoder"]


def test_boxes_have_their_own_color_and_a_narrow_tree_is_no_wider_than_its_names():
    view = tree({"a": (None, ""), "b": ("a", "")}, role={"a": "decoder", "b": "quiet"})
    groups = [g for g in svgs(view)[0].iter("g") if len(g) and g[0].get("class") == "box"]
    assert [g.get("data-role") for g in groups] == ["decoder", "quiet"]
    wide = numbers(svgs(view)[0].get("viewBox"))[2]
    right = max(x for x, _ in boxes(view)) + float(groups[1][0].get("width"))
    assert right <= wide <= right + 10
    assert numbers(svgs(tree({"a": (None, "word " * 40)}))[0].get("viewBox"))[2] <= 340


def test_what_is_no_tree_is_refused():
    with pytest.raises(ValueError, match="at least one name"):
        tree({})
    with pytest.raises(ValueError, match="parent of 'b' must come before it: 'c'"):
        tree({"b": ("c", ""), "c": (None, "")})
