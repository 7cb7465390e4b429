"""Where a flow draws what: read back from its picture, and worked out by hand for small ones."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise, product
from xml.etree import ElementTree

import pytest
import torch
from torch import nn

from glassformer.models.config import TransformerConfig
from glassformer.models.transformer import Transformer
from glassformer.views import flow
from glassformer.views.flow import DEEPEST, down, draw, leave, lines, wire
from glassformer.views.plan import Box, lay_out, notes
from glassformer.views.trace import Node

TITLE, SMALL = 7.2, 6.2  # about how wide a letter of a title is, and one of a line below it
BESIDE = 11  # on each side of the widest line in a box


def node(label, kind, shape, *sources, **more):
    return Node(label, kind, shape, sources, **more)


# A way in, three modules, and a way past them. Boxes are as wide as their widest line and 11 on
# each side, 27 high and 15 for each line below the title; rows are 26 apart.
CHAIN = (
    node("hidden", "input", (2, 3)),
    node("up", "Linear", (2, 5), 0, parameters=20),
    node("act", "GELU", (2, 5), 1),
    node("down", "Linear", (2, 3), 2, parameters=18),
    node("+", "", (2, 3), 0, 3),
)
WIDE = 11 * SMALL / 2 + BESIDE  # half of the box with `Linear · 20` in it
NARROW = 4 * SMALL / 2 + BESIDE  # half of that with `GELU` in it


def whole(nodes, **more):
    return node("", "Model", nodes[-1].shape, inside=tuple(nodes), **more)


class Picture:
    """A flow's SVG: what is drawn, where it stands on the page, frames within frames."""

    def __init__(self, svg):
        svg = ElementTree.fromstring(re.search(r"<svg.*</svg>", svg)[0])
        self.viewbox = [float(n) for n in svg.get("viewBox").split()]
        self.style = svg.get("style")
        self.boxes, self.frames, self.rounds, self.inks = [], [], [], []
        self.texts, self.wires, self.tips = [], [], []
        self._walk(svg, 0.0, 0.0)

    def _walk(self, element, x, y):
        for one in element:
            if one.tag == "g":
                dx, dy = numbers(one.get("transform"))
                self._walk(one, x + dx, y + dy)
            elif one.tag == "rect":
                left, top, wide, high = (float(one.get(k)) for k in ("x", "y", "width", "height"))
                place = (x + left, y + top, x + left + wide, y + top + high)
                if one.get("class") == "ink":
                    self.inks.append((place, float(one.get("fill-opacity"))))
                else:
                    kinds = {"box": self.boxes, "frame": self.frames}
                    kinds[one.get("class")].append((place, float(one.get("rx"))))
            elif one.tag == "circle":
                self.rounds.append(
                    (x + float(one.get("cx")), y + float(one.get("cy")), float(one.get("r")))
                )
            elif one.tag == "text":
                kind = one.get("class", "title")
                if "start" in one.get("style", ""):
                    kind = "heading"
                at = x + float(one.get("x")), y + float(one.get("y"))
                self.texts.append((kind, *at, "".join(one.itertext())))
            else:
                flat = numbers(one.get("d"))
                points = [(x + a, y + b) for a, b in zip(flat[::2], flat[1::2], strict=True)]
                kinds = {"wire": self.wires, "tip": self.tips}
                css = one.get("class").split()
                kinds["tip" if "tip" in css else "wire"].append((points, "round" in css))

    def text(self, what):
        """Where the one text that says this stands."""
        [found] = [(x, y) for _, x, y, said in self.texts if said == what]
        return found


def numbers(text):
    """All numbers of an attribute; V of a path keeps the x of the point before."""
    text = re.sub(r"M([-\d.]+) ([-\d.]+)V([-\d.]+)", r"M\1 \2L\1 \3", text)
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", text)]


def near(*values):
    """Within what is left out of a coordinate with one decimal."""
    return pytest.approx(values if len(values) > 1 else values[0], abs=0.11)


def shown(nodes, **more):
    return Picture(draw(whole(nodes, **more)))


def placed(nodes):
    """Left, top, right and bottom of each node."""
    return [
        (box.x - box.left, box.y, box.x + box.right, box.y + box.height)
        for box in lay_out(nodes).boxes
    ]


# --- sizes and rows


def test_boxes_of_a_chain_stand_below_each_other_each_as_large_as_its_words():
    assert placed(CHAIN) == [
        near(-26.6, 0, 26.6, 35),  # 6 letters of a title, without a border: 6 less on each side
        near(-WIDE, 61, WIDE, 118),
        near(-NARROW, 144, NARROW, 186),  # the shape is that of `up`: one line less
        near(-WIDE, 212, WIDE, 269),
        near(-12, 295, 12, 319),
    ]
    picture = shown(CHAIN)
    assert [place for place, _ in picture.boxes] == [near(*p) for p in placed(CHAIN)[1:4]]
    assert picture.rounds == [(near(0), near(307), near(12))]


def test_a_title_that_is_wider_than_what_is_below_it_makes_the_box():
    [_, (left, _, right, _)] = placed([CHAIN[0], node("feed_forward", "GELU", (2, 3), 0)])
    assert right == -left == near(12 * TITLE / 2 + BESIDE)


def test_words_stand_in_their_boxes_line_by_line():
    picture = shown(CHAIN)
    assert picture.texts == [
        ("name", 0, 18, "hidden"),
        ("small", 0, 33, "2 × 3"),
        ("title", 0, 61 + 18, "up"),
        ("small", 0, 61 + 33, "Linear · 20"),
        ("small", 0, 61 + 48, "2 × 5"),
        ("title", 0, 144 + 18, "act"),
        ("small", 0, 144 + 33, "GELU"),
        ("title", 0, 212 + 18, "down"),
        ("small", 0, 212 + 33, "Linear · 18"),
        ("small", 0, 212 + 48, "2 × 3"),
        ("sign", 0, 307 + 5.5, "+"),  # its middle, and half of a sign
        ("small", 0, 319 + 26 + 14, "2 × 3"),  # what comes out, below its arrow
    ]


def test_a_picture_is_as_large_as_what_is_in_it_and_six_around():
    picture = shown(CHAIN)
    lane = WIDE + 14
    assert picture.viewbox == [near(-WIDE - 6), 0, near(WIDE + lane + 12), 319 + 26 + 20]
    assert re.findall(r"m..-width:(\d+)px", picture.style) == ["116", "93"]  # and 0.8 of it


def test_modules_have_corners_and_operations_have_round_ends():
    operation = node("scaled dot-product attention", "", (2, 3), 0)
    (_, corner), (_, end) = shown([CHAIN[0], node("norm", "Norm", (2, 3), 0), operation]).boxes
    assert (corner, end) == (5, 13)


def test_a_picture_that_stays_wider_than_a_phone_can_be_reached_by_keys(subtests):
    """It shrinks to 0.8 of its size, and a phone's column holds 300: 375 is just not too wide."""
    for letters, width in [(54, 368.8), (55, 375.0), (56, 381.2)]:
        with subtests.test(letters=letters, width=width):
            html = draw(whole([CHAIN[0], node("norm", "N" * letters, (2, 3), 0)]))
            assert letters * SMALL + 2 * BESIDE + 2 * 6 == near(width)
            assert float(re.search(r"min-width:(\d+)px", html)[1]) == pytest.approx(
                0.8 * width, abs=0.51
            )
            assert ("tabindex" in html) == (width > 375)


def test_no_frame_is_opened_unless_asked_for():
    model = nn.Sequential(nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 3)), nn.LayerNorm(3))
    hidden = torch.randn(2, 3)
    assert not Picture(flow(model, hidden).html).frames
    assert len(Picture(flow(model, hidden, depth=2).html).frames) == 1


def test_a_box_is_called_by_the_end_of_its_path_and_layers_by_that_of_their_list(subtests):
    rows = [
        ("encoder.norm", 1, "norm"),
        ("encoder.layers.0", 1, "layers.0"),
        ("encoder.layers.0", 2, "layers × 2"),
        ("encoder.layers.0", 3, "layers × 3"),
        ("0", 1, "0"),
        ("", 1, ""),
    ]
    for label, times, shown in rows:
        with subtests.test(label=label, times=times, shown=shown):
            one = node(label, "Linear", (2, 3), 0, times=times)
            titles = [text for kind, _, _, text in Picture(draw(whole([CHAIN[0], one]))).texts]
            assert titles[2] == shown


# --- arrows


def test_arrows_run_from_edge_to_edge_and_end_below_their_heads():
    """A head is 7 long and 7.2 wide; its line ends 1 inside it."""
    picture = shown(CHAIN)
    straight = [(points, round_) for points, round_ in picture.wires if len(points) == 2]
    assert straight == [
        ([(0, a), (0, b - 6)], False)
        for a, b in [(35, 61), (118, 144), (186, 212), (269, 295), (319, 345)]
    ]
    heads = [points for points, round_ in picture.tips if not round_]
    assert sorted(p[0][1] for p in heads) == [61, 144, 212, 295, 345]
    for apex, one, other in heads:
        assert sorted([one, other]) == [near(-3.6, apex[1] - 7), near(3.6, apex[1] - 7)]


def test_a_head_points_where_its_line_runs(subtests):
    for dx, dy in [(1, 0), (-1, 0), (0, 1), (0, -1)]:
        with subtests.test(dx=dx, dy=dy):
            end = 50.0 + 20 * dx, 50.0 + 20 * dy
            line, head = re.findall(r' d="([^"]+)"', wire([(50.0, 50.0), end]))
            assert numbers(line) == [50, 50, end[0] - 6 * dx, end[1] - 6 * dy]
            x, y = end[0] - 7 * dx, end[1] - 7 * dy
            apex, *base = zip(numbers(head)[::2], numbers(head)[1::2], strict=True)
            assert apex == end
            assert sorted(base) == [
                near(x - 3.6 * abs(dy), y - 3.6 * abs(dx)),
                near(x + 3.6 * abs(dy), y + 3.6 * abs(dx)),
            ]


def test_a_residual_leaves_below_its_box_and_comes_in_at_the_side_of_another():
    picture = shown(CHAIN)
    [points] = [points for points, round_ in picture.wires if round_]
    lane, out, back = WIDE + 14, 35 + 0.3 * 26, 307
    assert points == [
        near(0, out),
        *(near(lane - 7, out), near(lane, out), near(lane, out + 7)),  # a corner, 7 round
        *(near(lane, back - 7), near(lane, back), near(lane - 7, back)),
        near(12 + 6, back),
    ]
    [head] = [points for points, round_ in picture.tips if round_]
    assert sorted(head) == [near(12, back), near(19, back - 3.6), near(19, back + 3.6)]


def test_an_arrow_from_far_above_runs_straight_until_one_row_above_its_box(subtests):
    """Beyond two rows: it would else cross what stands between."""
    for between, straight in [(26, 0), (40, 0), (52, 0), (54, 28), (70, 44), (91, 65)]:
        with subtests.test(between=between, straight=straight):
            start = Box(5.0, 5.0, 10.0, x=3.0, y=20.0)
            end = Box(5.0, 5.0, 10.0, x=47.0, y=30.0 + between)
            points = numbers(re.search(r' d="([^"]+)"', down(start, end))[1])
            middle = (30 + straight + 30 + between - 6) / 2
            assert points == [
                *(3, 30, 3, 30 + straight),
                *(3, near(middle), 47, near(middle), 47, 30 + between - 6),
            ]


def test_boxes_that_are_nearly_below_each_other_are_joined_by_a_straight_line(subtests):
    for aside, commands in [(0.9, "ML"), (-0.9, "ML"), (1.0, "MVC"), (-3.0, "MVC")]:
        with subtests.test(aside=aside, commands=commands):
            made = down(Box(5.0, 5.0, 10.0, x=30.0), Box(5.0, 5.0, 10.0, x=30.0 + aside, y=36.0))
            assert re.sub("[^A-Z]", "", re.search(r' d="([^"]+)"', made)[1]) == commands


# --- beside each other


def test_boxes_in_a_row_are_fourteen_apart_around_what_they_come_from():
    names = ("query_projection", "k", "value_proj")
    parts = [node(name, "Linear", (2, 3), 0, parameters=9) for name in names]
    join = node("attention", "", (2, 3), 1, 2, 3)
    first, *row, last = lay_out([CHAIN[0], *parts, join]).boxes
    for one, other in pairwise(row):
        assert other.x - other.left - one.x - one.right == near(14)
    assert sum(box.x for box in row) == near(0)
    assert first.x == near(0)
    assert last.x == near(0)
    assert [box.y for box in row] == [61, 61 + (42 - 24) / 2, 61]  # a sign is 24 high: its middle


def test_two_ways_side_by_side_stand_on_both_sides_of_where_they_begin_and_end():
    nodes = [
        CHAIN[0],
        *(node(name, "Norm", (2, 3), 0) for name in ("left", "right")),
        *(node(name, "Norm", (2, 3), k) for k, name in enumerate(("left_two", "right_two"), 1)),
        node("+", "", (2, 3), 3, 4),
    ]
    first, a, b, c, d, join = lay_out(nodes).boxes
    assert (first.x, join.x) == near(0, 0)
    assert (a.x, b.x) == near(-b.x, (14 + (4 + 5) / 2 * TITLE + 2 * BESIDE) / 2)
    assert (c.x, d.x) == near(-d.x, (14 + (8 + 9) / 2 * TITLE + 2 * BESIDE) / 2)


def test_a_lower_box_stands_at_the_middle_of_its_row_and_a_frame_at_the_top():
    tall = node("tall", "Linear", (2, 5), 0, parameters=20)
    low = node("low", "Norm", (2, 3), 0)
    frame = node("frame", "Mlp", (2, 3), 0, inside=CHAIN)
    _, a, b, _ = placed([CHAIN[0], tall, low, node("+", "", (2, 3), 1, 2)])
    assert (a[1], b[1]) == (61, 61 + (57 - 42) / 2)
    _, a, b, _ = placed([CHAIN[0], frame, low, node("+", "", (2, 3), 1, 2)])
    assert a[1] == b[1] == 61


def test_what_comes_in_late_stands_left_of_what_takes_it():
    nodes = [
        CHAIN[0],
        node("up", "Linear", (2, 3), 0, parameters=20),
        node("mask", "input", (2, 3)),
        node("+", "", (2, 3), 1, 2),
    ]
    mask = 5 * SMALL / 2 + BESIDE - 6  # `2 × 3` is wider than its name
    hidden, up, late, plus = placed(nodes)
    assert (hidden[1], up[1]) == (0, 61)
    assert plus[1] == 61 + 42 + 26 + (35 - 24) / 2  # its row is as high as the input beside it
    assert late[2] == near(-12 - 1.6 * 14)
    assert late[0] == near(late[2] - 2 * mask)
    assert (late[1] + late[3]) / 2 == (plus[1] + plus[3]) / 2
    picture = shown(nodes)
    y = (late[1] + late[3]) / 2
    assert ([near(late[2], y), near(-12 - 6, y)], False) in picture.wires
    assert picture.viewbox[0] == near(late[0] - 6)


def test_inputs_of_the_first_row_stand_side_by_side():
    """None is late for it."""
    nodes = [CHAIN[0], node("mask", "input", (2, 3)), node("MatMul", "", (2, 3), 0, 1)]
    first, second, third = placed(nodes)
    assert first[1] == second[1] == 0
    assert second[0] - first[2] == near(14)
    assert third[1] == 61


# --- residuals


def lanes(*nodes):
    """How far to the right each residual runs beyond the widest box, in steps of 14."""
    plan = lay_out(nodes)
    widest = max(box.x + box.right for box in plan.boxes)
    assert plan.right == near(max(plan.lanes.values()))
    return {edge: round((lane - widest) / 14, 3) for edge, lane in plan.lanes.items()}


def module(*sources):
    return node("module", "Norm", (2, 3), *sources)


def plus(*sources):
    return node("+", "", (2, 3), *sources)


def test_residuals_one_after_another_share_a_lane():
    """The longer one first, and last."""
    start, one = CHAIN[0], module(0)
    assert lanes(start, one, module(1), plus(0, 2), module(3), plus(3, 4)) == {(0, 3): 1, (3, 5): 1}
    assert lanes(start, one, plus(0, 1), module(2), module(3), plus(2, 4)) == {(0, 2): 1, (2, 5): 1}


def test_of_residuals_within_each_other_the_inner_one_runs_inside():
    start, one = CHAIN[0], module(0)
    assert lanes(start, one, module(1), plus(1, 2), plus(0, 3)) == {(1, 3): 1, (0, 4): 2}
    assert lanes(start, one, module(1), plus(0, 2), plus(0, 3)) == {(0, 3): 1, (0, 4): 2}
    assert lanes(
        start, one, module(1), module(2), plus(2, 3), plus(1, 4), plus(0, 5)
    ) == {(2, 4): 1, (1, 5): 2, (0, 6): 3}  # fmt: skip


def test_a_lane_runs_beyond_the_boxes_it_passes_and_no_farther():
    nodes = [
        CHAIN[0],
        node("module_with_a_long_name", "Norm", (2, 3), 0),
        node("tiny", "Norm", (2, 3), 1),
        plus(1, 2),
    ]
    plan = lay_out(nodes)
    assert plan.lanes == {(1, 3): near(4 * TITLE / 2 + BESIDE + 14)}
    assert plan.right == near(23 * TITLE / 2 + BESIDE)


def test_an_edge_that_nothing_else_goes_around_is_no_residual():
    """Two inputs, one deep and one shallow: neither is a way past the other."""
    assert not lay_out([CHAIN[0], module(0), module(1), plus(2)]).lanes
    two = [CHAIN[0], module(0), module(0), module(2), plus(1, 3)]
    assert not lay_out(two).lanes


# --- frames

INSIDE = [
    CHAIN[0],
    node("block", "Mlp", (2, 3), 0, parameters=38, inside=CHAIN),
    node("norm", "LayerNorm", (2, 3), 1, parameters=6),
]


def test_a_frame_has_room_for_its_title_and_thirteen_around_what_is_in_it():
    """Where its first input is a point on its edge, the first row is 0.7 of the others' distance
    below, and the last one 0.7 above the lower edge."""
    high = 25 + 0.7 * 26 + 57 + 26 + 42 + 26 + 57 + 26 + 24 + 0.7 * 26
    picture = shown(INSIDE)
    [(frame, corner)] = picture.frames
    assert frame == near(-WIDE - 13, 61, WIDE + 14 + 13, 61 + high)
    assert corner == 8
    first = 61 + 25 + 0.7 * 26
    assert picture.boxes[0][0] == near(-WIDE, first, WIDE, first + 57)
    assert placed(INSIDE)[2][1] == near(61 + high + 26)


def test_the_way_into_a_frame_and_out_of_it_runs_through():
    picture = shown(INSIDE)
    [(frame, _)] = picture.frames
    wires = [points for points, _ in picture.wires]
    first = picture.boxes[0][0]
    assert [near(0, frame[1]), near(0, frame[1] + 25)] in wires  # beside the title
    assert [near(0, frame[1] + 25), near(0, first[1] - 6)] in wires
    [(x, middle, half)] = picture.rounds
    assert [near(x, middle + half), near(0, frame[3])] in wires


def test_a_frame_is_at_least_as_wide_as_its_title():
    inner = (CHAIN[0], node("act", "GELU", (2, 3), 0))
    frame = node("module_with_a_long_name", "Mlp", (2, 3), 0, inside=inner)
    [(place, _)] = shown([CHAIN[0], frame]).frames
    assert (place[0], place[2]) == near(-(23 * TITLE + 26) / 2, (23 * TITLE + 26) / 2)


def test_what_leaves_a_frame_leaves_it_below_where_it_came_in():
    """The last box stands aside: the line turns at half the way, twice."""
    inner = (
        CHAIN[0],
        node("left", "Norm", (2, 3), 0),
        node("right", "Norm", (2, 3), 0),
        node("last", "Norm", (2, 3), 2),
    )
    picture = shown([CHAIN[0], node("frame", "Mlp", (2, 3), 0, inside=inner)])
    [(frame, _)] = picture.frames
    (left, _, right, bottom), _ = picture.boxes[-1]
    x, turn = (left + right) / 2, (bottom + frame[3]) / 2
    assert x > 20
    reach = min(7, (turn - bottom) / 2)
    assert [points for points, _ in picture.wires if len(points) == 8] == [[
        near(x, bottom),
        *(near(x, turn - reach), near(x, turn), near(x - 7, turn)),
        *(near(7, turn), near(0, turn), near(0, turn + reach)),
        near(0, frame[3]),
    ]]  # fmt: skip


def test_what_stands_nearly_where_its_frame_is_left_goes_straight_down(subtests):
    for aside, turns in [(0.9, 0), (-0.9, 0), (1.0, 2), (1.9, 2), (-3.0, 2)]:
        with subtests.test(aside=aside, turns=turns):
            made = leave(Box(5.0, 5.0, 10.0, x=aside, y=20.0), 48.0)
            assert re.search(r' d="([^"]+)"', made)[1].count("Q") == turns


def test_a_title_stands_left_of_the_line_into_its_frame_or_right_where_it_is_too_long(subtests):
    """It keeps 4 from it, and the number of equal layers takes 24."""
    for times in [1, 3]:
        with subtests.test(times=times):
            sides = Counter()
            for letters, inner in product(range(2, 25), range(5, 120)):
                end = 13 + letters * TITLE + (24 if times > 1 else 0)
                room = 13 + inner * SMALL / 2 + BESIDE - 4
                if 0.11 < abs(end - room) < 3:
                    box = node("box", "N" * inner, (2, 3), 0)
                    label = "t" * letters + (".0" if times > 1 else "")
                    picture = shown(
                        [CHAIN[0], node(label, "M", (2, 3), 0, inside=(CHAIN[0], box), times=times)]
                    )
                    [(place, _)] = picture.frames
                    [(x, y)] = [(x, y) for kind, x, y, _ in picture.texts if kind == "heading"]
                    assert place[0] == near(-room - 4)
                    side = "right" if end > room else "left"
                    assert (x, y) == (near(9 if side == "right" else place[0] + 13), place[1] + 17)
                    sides[side] += 1
            assert min(sides.values()) > 10


def test_a_further_input_comes_in_at_the_side_of_its_frame():
    """Straight to what takes it, from beyond the frame."""
    inner = (
        CHAIN[0],
        node("memory", "input", (2, 3)),
        node("first", "Norm", (2, 3), 0),
        node("cross", "Attention", (2, 3), 2, 1),
    )
    nodes = [
        CHAIN[0],
        module(0),
        node("memory", "input", (2, 3)),
        node("frame", "Layer", (2, 3), 1, 2, inside=inner),
    ]
    picture = shown(nodes)
    [(frame, _)] = picture.frames
    cross, _ = picture.boxes[1]
    y = (cross[1] + cross[3]) / 2
    memory = placed(nodes)[2]
    assert ([near(frame[0], y), near(cross[0] - 6, y)], False) in picture.wires  # inside
    outside = (memory[1] + memory[3]) / 2
    assert ([near(memory[2], outside), near(frame[0], outside)], False) in picture.wires
    assert sum(points[0] == near(frame[0], y) for points, _ in picture.tips) == 0
    assert sum(points[0] == near(cross[0], y) for points, _ in picture.tips) == 1


def test_a_further_input_passes_through_a_frame_to_the_frame_within():
    inner = (CHAIN[0], node("memory", "input", (2, 3)), node("cross", "Attention", (2, 3), 0, 1))
    layer = node("layer", "Layer", (2, 3), 0, 1, inside=inner)
    memory = node("memory", "input", (2, 3))
    outer = node("decoder", "Decoder", (2, 3), 1, 2, inside=(CHAIN[0], memory, layer))
    picture = shown([CHAIN[0], module(0), memory, outer])
    (outside, _), (inside, _) = picture.frames
    cross, _ = picture.boxes[0]
    y = (cross[1] + cross[3]) / 2
    wires = [points for points, _ in picture.wires]
    assert [near(outside[0], y), near(inside[0], y)] in wires
    assert [near(inside[0], y), near(cross[0] - 6, y)] in wires
    # Beside the title of each, too, one line runs into the next.
    assert [near(0, inside[1] + 25), near(0, cross[1] - 6)] in wires


def test_from_frame_to_frame_an_arrow_runs_between_them_to_where_it_is_taken():
    source = (CHAIN[0], node("layer", "Norm", (2, 3), 0))
    target = (
        CHAIN[0],
        node("memory", "input", (2, 3)),
        node("own", "Norm", (2, 3), 0),
        node("cross", "Attention", (2, 3), 2, 1),
    )
    nodes = [
        node("src", "input", (2, 3)),
        node("tgt", "input", (2, 3)),
        node("encoder", "Encoder", (2, 3), 0, inside=source),
        node("decoder", "Decoder", (2, 3), 1, 2, inside=target),
    ]
    picture = shown(nodes)
    (left, _), (right, _) = picture.frames
    assert right[0] - left[2] == near(14)
    assert left[1] == right[1]
    cross, _ = picture.boxes[-1]
    y = (cross[1] + cross[3]) / 2
    [points] = [points for points, _ in picture.wires if len(points) == 11]
    between = right[0] - 7
    x = (picture.boxes[0][0][0] + picture.boxes[0][0][2]) / 2
    assert points[0] == near(x, left[3])
    assert points[2] == near(x, left[3] + 14)
    assert points[5] == near(between, left[3] + 14)
    assert points[8] == near(between, y)
    assert points[10] == near(right[0], y)
    assert not any(apex == near(right[0], y) for (apex, *_), _ in picture.tips)


# --- how blue


def test_the_bluest_box_holds_all_parameters_and_others_their_share():
    picture = shown(INSIDE, parameters=44)
    shares = [(opacity / DEEPEST) ** (1 / 0.7) for _, opacity in picture.inks]
    assert shares == [pytest.approx(n / 44, abs=0.005) for n in (20, 18, 6)]
    places = [place for place, _ in picture.boxes]
    assert [place for place, _ in picture.inks] == [places[0], places[2], places[3]]
    assert not shown(INSIDE).inks


def test_the_shares_of_all_boxes_make_one(subtests):
    """Layers that are drawn once count as often as there are; the table that is shared, twice."""
    for depth in [1, 2, 3, 4]:
        with subtests.test(depth=depth):
            small = TransformerConfig(
                vocab_size=23, d_model=14, num_heads=2, num_layers=3, d_ff=11, max_positions=7
            )
            model = Transformer(replace(small, decoder=replace(small, cross_attention=True)))
            ids = torch.randint(23, (1, 5)), torch.randint(23, (1, 3))
            picture = Picture(flow(model, *ids, depth=depth).html)
            shares = [(opacity / DEEPEST) ** (1 / 0.7) for _, opacity in picture.inks]
            count = sum(parameter.numel() for parameter in model.parameters())
            assert sum(shares) == pytest.approx(1 + 23 * 14 / count, abs=0.003)


# --- in words


def test_what_is_inside_is_told_two_further_in():
    assert lines(INSIDE) == [
        "  hidden: 2 × 3",
        "  block of hidden (Mlp, 38 parameters): 2 × 3",
        "    up of hidden (Linear, 20 parameters): 2 × 5",
        "    act of up (GELU): 2 × 5",
        "    down of act (Linear, 18 parameters): 2 × 3",
        "    + of hidden and down: 2 × 3",
        "  norm of block (LayerNorm, 6 parameters): 2 × 3",
    ]


def test_what_is_shared_says_so_in_words_and_in_the_picture():
    again = node("head", "Linear", (2, 7), 0, parameters=21, shared=True)
    assert lines([CHAIN[0], again])[1:] == [
        "  head of hidden (Linear, 21 parameters that an earlier step also has): 2 × 7"
    ]
    assert notes(again, [CHAIN[0], again]) == ["Linear · 21 shared", "2 × 7"]
    assert notes(replace(again, shared=False), [CHAIN[0]])[0] == "Linear · 21"


def test_steps_of_one_name_are_numbered_and_equal_layers_counted():
    layers = node("layers.0", "Layer", (2, 3), 0, parameters=5000, times=3)
    once = node("layers.3", "Layer", (2, 3), 1)
    assert lines([CHAIN[0], layers, once, plus(0, 2), plus(0, 3)])[1:] == [
        "  layers of hidden (Layer, 3 times, 5,000 parameters): 2 × 3",
        "  layers.3 of layers (Layer): 2 × 3",
        "  + (1) of hidden and layers.3: 2 × 3",
        "  + (2) of hidden and + (1): 2 × 3",
    ]
