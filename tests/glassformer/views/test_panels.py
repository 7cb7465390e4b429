"""Rows of small plots: the bars and points are where the numbers say, on one scale for all."""

import pytest
import torch
from drawings import facts, near, numbers, svgs, texts

from glassformer.views import bar_panels, scatter_panels

SHARPER = {
    "undivided": {"d = 3": [0.5, 0.25, 0.25], "d = 7": [0.875, 0.125, 0.0]},
    "divided": {"d = 3": [0.4, 0.3, 0.3], "d = 7": [0.4, 0.35, 0.25]},
}


def bars_of(view):
    """Each bar's left edge, top, width, and height."""
    drawn = [r for r in svgs(view)[0].iter("rect") if r.get("class") == "bar"]
    return torch.tensor([[float(r.get(k)) for k in ("x", "y", "width", "height")] for r in drawn])


def dotted(view):
    """Where each dotted line begins, from the left."""
    lines = [p for p in svgs(view)[0].iter("path") if "dotted" in p.get("class")]
    return [numbers(p.get("d"))[0] for p in lines]


def test_all_bars_have_one_scale_and_stand_on_zero():
    drawn = bars_of(bar_panels(SHARPER, levels={"even": 1 / 3}))
    values = torch.tensor([v for row in SHARPER.values() for panel in row.values() for v in panel])
    unit = drawn[0, 3] / 0.5
    assert drawn[:, 3].tolist() == near(*(unit * values).tolist())
    feet = (drawn[:, 1] + drawn[:, 3]).view(4, 3)
    assert feet.std(dim=1).max() < 0.1
    assert feet[0, 0] == pytest.approx(feet[1, 0].item(), abs=0.1)
    assert feet[2, 0] > feet[0, 0] + 120  # the next row
    [below], [above] = bars_of(bar_panels({"a": {"b": [-1.0, 2.0]}})).split(1)
    assert below[1].item() == near((above[1] + above[3]).item())  # it hangs from zero
    assert above[3].item() == pytest.approx(2 * below[3].item(), abs=0.2)


def test_each_panel_has_its_name_and_its_largest_number():
    view = bar_panels(SHARPER, x="key", y="weight")
    written = texts(view)
    for name in ("undivided", "divided", "key →", "↑ weight"):
        assert written.count(name) == 1
    assert written.count("d = 3") == written.count("d = 7") == 2
    assert [w for w in written if w in ("0.50", "0.88", "0.40")] == ["0.50", "0.88", "0.40", "0.40"]
    assert ["undivided, d = 7", "0.875 0.125 0"] in facts(view)


def test_levels_are_at_their_height_in_every_panel():
    view = bar_panels(SHARPER, x="key", levels={"even": 0.25})
    assert "key →; dotted: even" in texts(view)
    drawn = bars_of(view)
    dotted = [p for p in svgs(view)[0].iter("path") if "dotted" in p.get("class")]
    assert len(dotted) == 4
    level = numbers(dotted[0].get("d"))[1]
    assert level == pytest.approx(drawn[1, 1].item(), abs=0.11)  # a bar of 0.25


def test_points_have_the_same_two_scales_in_all_panels():
    places = {"one": torch.tensor([[0.0, 0.0], [2.0, 1.0]]), "two": torch.tensor([[-1.0, 3.0]])}
    panels = {name: {"g": (p[:, 0], p[:, 1])} for name, p in places.items()}
    drawn = scatter_panels({"a": panels, "b": panels})
    marks = [p for p in svgs(drawn)[0].iter("path") if p.get("class") == "dot faint"]
    points = torch.tensor([numbers(p.get("d"))[:2] for p in marks])
    across, up = (points[1] - points[0]).tolist()
    panel = points[2] - points[0] - torch.tensor([-across / 2, 3 * up])  # the way to the next one
    assert panel[1].abs() < 0.3 < 100 < panel[0]
    assert (points[3:, 0] - points[:3, 0]).abs().max() < 0.1  # the second row is below the first
    assert (points[3:, 1] - points[:3, 1]).std() < 0.1
    named = scatter_panels({"a": panels, "b": panels}, x="left to right")
    zeros = [float(t.get("x")) for t in svgs(named)[0].iter("text") if t.text == "0"]
    assert [x for x in zeros if x > 30] == near(*dotted(named))  # without those of vertical axes
    assert texts(drawn).count("0") == 2  # nothing says what is horizontal


def test_lines_join_what_belongs_together_in_all_groups():
    """The second points of three groups are the corners of the second triangle."""
    groups = {"a": ([1, 0], [1, 0]), "b": ([1, 2], [2, 0]), "c": ([2, 0], [1, 4])}
    view = scatter_panels({"row": {"x": groups}}, joined={1: ("e", "f", "g")})
    svg = svgs(view)[0]
    thin = [p for p in svg.iter("path") if p.get("class") == "line base"]
    triangles = [numbers(p.get("d")) for p in thin[-2:]]
    marks = [numbers(p.get("d"))[:2] for p in svg.iter("path") if p.get("class") == "dot faint"]
    middles = [
        (x + dx, y + dy)
        for (x, y), (dx, dy) in zip(
            marks, [(3.2, 0), (3.2, 0), (3, 3), (3, 3), (0, 4), (0, 4)], strict=True
        )
    ]
    for k, triangle in enumerate(triangles):
        corners = [*middles[k::2], middles[k]]
        assert triangle == pytest.approx([v for corner in corners for v in corner], abs=0.11)
    [bold] = [numbers(p.get("d")) for p in svg.iter("path") if p.get("class") == "line bold"]
    assert bold == triangles[1]
    rings = [(float(c.get("cx")), float(c.get("cy"))) for c in svg.iter("circle")]
    assert [v for ring in rings for v in ring] == near(*bold[:6])
    assert {"e", "f", "g"} <= set(texts(view))
    with pytest.raises(ValueError, match=r"equally many points, but got \[\[1, 2\]\]"):
        scatter_panels({"row": {"x": {"a": ([1], [1]), "b": ([1, 2], [1, 2])}}}, joined={})


def test_the_line_at_zero_can_be_left_out():
    panels = {"x": {"g": ([-1.0, 1.0], [0.0, 1.0])}}
    with_it, without = (scatter_panels({"a": panels}, x="x", zero=zero) for zero in (True, False))
    assert len(dotted(with_it)) == 1
    assert not dotted(without)


def test_groups_keep_their_color_when_one_is_missing():
    two = {"first": {"x": ([0.0], [1.0]), "y": ([2.0], [3.0])}, "second": {"y": ([1.0], [1.0])}}
    drawn = scatter_panels({"a": two})
    marks = [p for p in svgs(drawn)[0].iter("path") if p.get("class") == "dot faint"]
    assert [p.get("data-role") for p in marks] == ["series-1", "series-2", "series-2"]


def test_a_point_that_a_later_group_covers_is_seen_around_it():
    two = {"first": ([0.0, 1.0], [1.0, 1.0]), "second": ([0.0, 2.0], [1.0, 1.0])}
    svg = svgs(scatter_panels({"a": {"x": two}}))[0]
    [wide] = [g for g in svg.iter("g") if "scale(1.6)" in g.get("transform", "")]
    x, y, _ = numbers(wide.get("transform"))
    assert [one.get("data-role") for one in wide] == ["series-1"]
    marks = [p for p in svg.iter("path") if p.get("class") == "dot faint"]
    square = next(p for p in marks if p.get("data-role") == "series-2")
    left, top = numbers(square.get("d"))[:2]
    assert (left + 3, top + 3) == pytest.approx((x, y), abs=0.1)
    assert len(marks) == 4


def test_a_circle_of_hands_has_no_axes_and_tells_directions():
    hands = {"known": ([0.0, 1.0], [1.0, 0.0]), "new": ([0.0], [-1.0])}  # up, right, and down
    view = scatter_panels({"a": {"clock": hands}}, circle=True)
    assert "<caption>a</caption>" in view.html
    svg = svgs(view)[0]
    [clock] = svg.iter("ellipse")
    x, y, across, up = (float(clock.get(name)) for name in ("cx", "cy", "rx", "ry"))
    lines = [p for p in svg.iter("path") if p.get("class") == "line base"]
    ends = [numbers(p.get("d")) for p in lines]
    expected = [[x, y, x, y - up], [x, y, x + across, y], [x, y, x, y + up]]
    assert torch.tensor(ends).allclose(torch.tensor(expected), atol=0.11)
    assert [p.get("data-role") for p in lines] == ["series-1", "series-1", "series-2"]
    assert "0" not in texts(view)  # no axis
    assert facts(view) == [["a, clock", "known", "0 90"], ["a, clock", "new", "180"]]
