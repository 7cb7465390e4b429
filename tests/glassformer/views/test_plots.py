"""What a reader sees of plots: which color is what, where a number stands, and what is refused."""

import math
import re
from itertools import pairwise

import pytest
import torch
from drawings import facts, texts

from glassformer.views import bars, dots, hands, lines, roofline, scatter
from glassformer.views.axes import Axis, short, tick

POINTS = {"slow": (0.5, 5.0), "fast": (50.0, 70.0)}  # below a roof


def drawn(view, css):
    """The places of each line or mark of a kind, by its role."""
    found = re.findall(rf'<path class="{css}[^"]*" data-role="([^"]*)" d="([^"]*)"', view.html)
    return [
        (role, [tuple(map(float, p.split())) for p in re.findall(r"-?[\d.]+ -?[\d.]+", path)])
        for role, path in found
    ]


def places(view, css):
    return [points for _, points in drawn(view, css)]


def curves(view):
    """Each line of the plot, without those of the legend, which is level."""
    return [(role, p) for role, p in drawn(view, "line") if role != "quiet" and len(p) > 2]


def test_a_line_rises_where_its_numbers_do_and_one_scale_serves_all():
    view = lines({"a": [0.0, 1.0, 4.0], "b": [4.0, 1.0, 0.0]}, x="step", y="loss")
    (one, a), (two, b) = curves(view)
    assert (one, two) == ("series-1", "series-2")
    assert [x for x, _ in a] == [x for x, _ in b] == sorted(x for x, _ in a)
    assert [y for _, y in a] == [y for _, y in b][::-1]
    assert a[0][1] - a[1][1] == pytest.approx((a[1][1] - a[2][1]) / 3, abs=0.2)
    assert {"a", "b", "step", "loss"} <= set(texts(view))


def test_the_legend_names_lines_in_the_order_and_with_the_colors_that_are_drawn():
    view = lines({f"{name}, much too long for a margin": torch.rand(50) for name in "wxyz"})
    named = re.findall(r'data-role="(series-\d)"[^>]*/><text[^>]*>([wxyz]),', view.html)
    assert named == [("series-1", "w"), ("series-2", "x"), ("series-3", "y"), ("series-4", "z")]
    assert [role for role, _ in curves(view)] == [role for role, _ in named]
    assert "alone" not in texts(lines({"alone": torch.rand(5)}))


def test_the_main_line_is_wide_and_in_front_of_thin_ones():
    numbers = {"a": [1.0, 2.0], "b": [2.0, 1.0], "c": [0.0, 3.0]}
    view = lines(numbers, main="a")
    looks = re.findall(r'class="line (wide|faded)[^"]*" data-role="(series-\d)"', view.html)
    assert looks == [("faded", "series-2"), ("faded", "series-3"), ("wide", "series-1")]
    assert not re.search(r'class="line (wide|faded)', lines(numbers).html)
    with pytest.raises(ValueError, match="main 'd' must be one of a, b, c"):
        lines(numbers, main="d")


def beside(view):
    """The names at the right ends of lines and levels: each with its role, x, and height."""
    found = re.findall(
        r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="start" class="small"'
        r'(?: data-role="([^"]+)")?>([^<]+)<',
        view.html,
    )
    return {name: (role, float(x), float(y) - 4) for x, y, role, name in found if float(x) > 20}


def test_short_names_stand_in_their_colors_at_the_right_ends_of_their_lines():
    view = lines({"up": [0.0, 4.0, 10.0], "down": [10.0, 8.0, 2.0]}, y_range=(0, 10))
    (_, up), (_, down) = curves(view)
    names = beside(view)
    assert [names[name][0] for name in ("up", "down")] == ["series-1", "series-2"]
    assert [names[name][2] for name in ("up", "down")] == pytest.approx([up[-1][1], down[-1][1]])
    assert names["up"][1] == names["down"][1] > up[-1][0]
    assert "up" not in beside(lines({"up": [0.0, 1.0]}))


def test_of_several_runs_the_middle_one_is_named():
    view = lines({"a": [[0.0, 1.0], [0.0, 9.0], [0.0, 4.0]], "b": [0.0, 0.0]}, y_range=(0, 10))
    heights = sorted(p[-1][1] for role, p in drawn(view, "line") if role == "series-1")
    assert beside(view)["a"][2] == pytest.approx(heights[1], abs=0.1)


def test_names_at_right_ends_are_apart_near_their_lines_and_joined_to_them():
    curves = {"low": [9.0, 0.0], "middle": [8.0, 0.1], "high": [0.0, 6.0]}
    view = lines(curves, levels={"level": 0.2}, y_range=(0, 10))
    names = beside(view)
    order = [names[name][2] for name in ("high", "level", "middle", "low")]
    assert all(b - a >= 13.9 for a, b in pairwise(order))
    bottom = 26 + 168  # of the plot: the name of the axis is above it
    assert order == pytest.approx([bottom - 0.6 * 168, bottom - 28, bottom - 14, bottom], abs=0.1)
    joined = [(role, p[1][1]) for role, p in drawn(view, "line base")]
    assert joined == [("quiet", order[1]), ("series-2", order[2])]


def test_a_legend_has_the_names_where_they_would_not_fit_or_say_less(subtests):
    rise = [0.0, 1.0, 2.0]
    rows = [
        ("a long name", {"a": rise, "sixteen letters.": [3.0, 2.0, 1.0]}, None, True),
        ("a longer name", {"a": rise, "seventeen letters": [3.0, 2.0, 1.0]}, None, False),
        ("one place", {"a": rise, "b": [1.0, 2.0, 2.0]}, None, False),
        ("an early end", {"a": rise, "b": [1.0, 1.0, math.nan]}, None, False),
        ("an end beyond the picture", {"a": rise, "b": [1.0, 1.0, 3.0]}, (0, 2.5), False),
    ]
    for name, curves, y_range, fits in rows:
        with subtests.test(name):
            view = lines(curves, y_range=y_range)
            assert ("series-1" in [role for role, *_ in beside(view).values()]) == fits
            assert set(curves) <= set(texts(view))


def test_a_mark_is_a_named_line_at_its_place():
    view = lines({"a": [0.0, 3.0, 1.0]}, at=[0, 40, 100], x="step", marks={"full": 20, "end": 120})
    [(_, (start, middle, _))] = curves(view)
    wide = (middle[0] - start[0]) / 40
    marks = places(view, "line base")
    expected = [start[0] + 20 * wide, start[0] + 120 * wide]
    assert [p[0][0] for p in marks] == pytest.approx(expected, abs=0.3)
    assert all(p[0][1] == start[1] and p[1][1] < middle[1] for p in marks)
    assert [[row[0], row[-1]] for row in facts(view)[-2:]] == [
        ["full", "step 20"],
        ["end", "step 120"],
    ]
    assert {"full", "end"} <= set(texts(view))


def test_runs_of_one_kind_share_a_color():
    view = lines({"a": [torch.rand(30), torch.rand(40)], "b": torch.rand(2, 30)})
    assert [role for role, _ in curves(view)] == ["series-1"] * 2 + ["series-2"] * 2
    assert [row.split()[0] + row.split()[2] for row in str(view).splitlines()[1:]] == [
        "a,1",
        "a,2",
        "b,1",
        "b,2",
    ]


def test_pictures_that_are_compared_share_a_scale():
    low, high = (lines({"a": [0.0, top, 0.0]}, y_range=(0, 8)) for top in (2.0, 8.0))
    base, peak = curves(low)[0][1][0][1], curves(low)[0][1][1][1]
    assert curves(high)[0][1][0][1] == base
    assert base - curves(high)[0][1][1][1] == pytest.approx(4 * (base - peak), abs=0.3)
    assert curves(high)[0][1][1][1] < peak


def test_an_end_of_a_range_may_be_left_open():
    high = [50.0, 60.0, 70.0]
    assert "0" in texts(lines({"a": high}, at=[1, 2, 3], y_range=(0, None)))
    assert "0" not in texts(lines({"a": high}, at=[1, 2, 3]))


def test_a_line_is_broken_where_a_number_is_none_and_at_the_edge_of_a_range():
    gap = [0.0, 1.0, 2.0, math.nan, 4.0, 5.0, math.inf, 7.0, 8.0, 9.0, -math.inf]
    assert [len(p) for _, p in drawn(lines({"a": gap}), "line") if len(p) > 1] == [3, 2, 3]
    assert [len(p) for _, p in curves(lines({"a": range(30)}, y_range=(0, 12)))] == [13]


def test_a_long_line_keeps_its_extremes():
    noise = torch.rand(20_011)
    noise[7001], noise[13_007] = 3.0, -2.0
    [(_, places)] = curves(lines({"a": noise}))
    assert len(places) < 2000
    [(_, flat)] = curves(lines({"a": [-2.0, 3.0, -2.0]}))
    assert max(y for _, y in places) == pytest.approx(flat[0][1], abs=0.1)
    assert min(y for _, y in places) == pytest.approx(flat[1][1], abs=0.1)


def test_levels_are_named_and_never_on_top_of_each_other():
    view = lines({"a": [0.0, 9.0]}, levels={"low": 4.0, "middle": 4.1, "high": 4.2})
    places = [
        float(re.search(rf'y="([\d.]+)"[^>]*>{name}<', view.html)[1])
        for name in ("high", "middle", "low")
    ]
    assert all(b - a >= 13 for a, b in pairwise(places))


def test_a_few_points_are_marked_and_told_and_of_many_the_ends():
    few = lines({"a": [1.0, 3.0, 2.0]}, at=[16, 32, 64], x="length")
    assert len(drawn(few, "dot")) == 3
    assert str(few) == "   length 16  length 32  length 64\na          1          3          2"
    many = lines({"a": [5.0, *range(1, 60), 2.0]})
    assert not drawn(many, "dot")
    assert " ".join(str(many).split()) == "points first lowest highest last a 61 5 1 59 2"


def test_points_stand_by_both_numbers():
    view = scatter({"a": ([0, 1], [0.0, 1.0]), "b": ([0, 1], [1.0, 0.0])}, x="grade", y="cosine")
    marks = [(role, p[0]) for role, p in drawn(view, "dot faint")]
    assert [role for role, _ in marks] == ["series-1"] * 2 + ["series-2"] * 2
    (_, (x0, y0)), (_, (x1, y1)), *_ = marks
    assert x0 < x1
    assert y0 > y1


def test_dashes_stand_at_their_numbers_in_their_groups_color():
    points = {"a": ([0, 2], [0.0, 1.0]), "b": ([0, 2], [1.0, 0.5])}
    view = scatter(points, dashes={"b": ([1, 2], [0.5, 0.5])})
    (_, [(left, low), *_]), (_, [(right, high), *_]), *_ = drawn(view, "dot faint")
    left, right = left + 3.2, right + 3.2  # from the disk's edge to its middle
    (one, [(x0, y0), (x1, y1)]), (two, [(x2, y2), (x3, y3)]) = drawn(view, "line bold")
    assert one == two == "series-2"
    assert (x0 + x1) / 2 == pytest.approx((left + right) / 2, abs=0.2)
    assert (x2 + x3) / 2 == pytest.approx(right, abs=0.2)
    assert [y0, y1, y2, y3] == pytest.approx([(low + high) / 2] * 4, abs=0.2)
    assert "b (dashes)" in str(view)
    with pytest.raises(ValueError, match=r"dashes of \['c'\] don't all belong to points"):
        scatter(points, dashes={"c": ([1], [1])})


def test_bars_begin_at_zero_and_negative_ones_have_the_color_of_negative_numbers():
    view = bars({"a": 1.0, "b": 2.0, "c": -1.0}, x="share")
    found = re.findall(r'class="bar" data-role="([^"]*)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"',
                       view.html)  # fmt: skip
    (one, x1, w1), (two, x2, w2), (three, x3, w3) = [(r, float(x), float(w)) for r, x, w in found]
    assert (one, two, three) == ("series-1", "series-1", "negative")
    assert w2 == pytest.approx(2 * w1, abs=0.2) == pytest.approx(2 * w3, abs=0.2)
    assert x1 == x2 == pytest.approx(x3 + w3, abs=0.2)
    assert [w for w in texts(view) if w in "abc"] == ["a", "b", "c"]
    assert "−1" in texts(view)
    assert str(view) == "   share\na      1\nb      2\nc     −1"


def test_bars_in_groups_have_a_color_for_each_name_or_else_for_each_group():
    place = re.compile(r'class="bar" data-role="([^"]*)" x="[\d.]+" y="([\d.]+)"')
    view = bars({"[CLS]": {"hidden": 2.0, "zeroed": 1.0}, "[SEP]": {"hidden": 1.0}})
    found = place.findall(view.html)
    assert [role for role, _ in found] == ["series-1", "series-2", "series-1"]
    apart = place.findall(bars({"words": {"cat": 2.0, "mat": 1.0}, "others": {"on": 1.0}}).html)
    assert [role for role, _ in apart] == ["series-1", "series-1", "series-2"]
    first, second, third = (float(y) for _, y in found)
    assert third - second == pytest.approx(2 * (second - first), abs=0.2)  # a name is between
    assert re.findall(r'class="title over"[^>]*>([^<]*)<', view.html) == ["[CLS]", "[SEP]"]
    lines = [line.split() for line in str(view).splitlines()[1:]]
    assert lines == [["[CLS]"], ["hidden", "2"], ["zeroed", "1"], ["[SEP]"], ["hidden", "1"]]


def test_dots_of_equal_ratios_are_equally_far_apart():
    view = dots(
        {"a": 1e-6, "b": 1e-3, "c": 1.0}, log=True, x_range=(1e-7, None), levels={"zeros": 1}
    )
    a, b, c = (float(x) for x in re.findall(r'<circle class="dot"[^>]*cx="([\d.]+)"', view.html))
    assert b - a == pytest.approx(c - b, abs=0.2)
    assert {"zeros", "10⁻⁷"} <= set(texts(view))


def test_a_row_of_several_dots_draws_each_and_tells_how_many():
    view = dots({"a": torch.tensor([1.0, 3.0]), "b": [2.0, math.nan, 2.0]}, levels={"none": 2})
    found = re.findall(r'class="dot faint"[^>]*cx="([\d.]+)" cy="([\d.]+)"', view.html)
    one, three, two, again = ((float(x), float(y)) for x, y in found)
    assert two[0] == pytest.approx((one[0] + three[0]) / 2, abs=0.1)
    assert two[0] == again[0]
    assert two[1] != again[1]  # equal numbers don't hide each other
    assert "2 numbers, 1 to 3" in str(view)


def test_a_rows_named_numbers_have_a_color_a_mark_and_a_legend():
    view = dots({"a": {"x": 1.0, "y": 3.0}, "b": {"y": 2.0, "x": math.nan}, "c": 2.5}, x="share")
    (one, [(x1, y1), *_]), (two, [(x2, y2), *_]), (three, [(x3, y3), *_]), *keys = drawn(
        view, "dot"
    )
    assert [one, two, three] == ["series-1", "series-2", "series-2"]
    assert x1 + 3.2 < x3 + 3 == pytest.approx((x1 + 3.2 + x2 + 3) / 2, abs=0.2)
    assert y1 < y2 < y3
    assert [role for role, _ in keys] == ["series-1", "series-2"]
    assert {"x", "y"} <= set(texts(view))
    assert "x 1, y 3" in str(view)
    with pytest.raises(ValueError, match="one to 4 names"):
        dots({"a": dict.fromkeys("vwxyz", 1.0)})


def test_numbers_beside_an_axis_are_round(subtests):
    rows = [
        (0, 1, False, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (-0.4, 2, False, ["0", "0.5", "1", "1.5", "2"]),
        (0, 2999, False, ["0", "500", "1,000", "1,500", "2,000", "2,500"]),
        (0.9, 9, True, ["1", "2", "4", "8"]),
        (1e-7, 20, True, ["10⁻⁷", "10⁻⁵", "10⁻³", "0.1", "10"]),
        (-3e-7, 3e-7, False, ["−3·10⁻⁷", "−2·10⁻⁷", "−10⁻⁷", "0", "10⁻⁷", "2·10⁻⁷", "3·10⁻⁷"]),
    ]
    for low, high, log, expected in rows:
        with subtests.test(low=low, high=high, log=log, expected=expected):
            axis = Axis(float(low), float(high), 0.0, 100.0, log)
            assert [tick(v, log=log) for v in axis.ticks()] == expected
            places = [axis.place(v) for v in axis.ticks()]
            assert all(-1e-6 <= place <= 100 + 1e-6 for place in places)


def test_whole_numbers_have_no_halves_between_them(subtests):
    for last, expected in [(1, "01"), (3, "0123"), (8, "02468"), (13, ["0", "5", "10"])]:
        with subtests.test(last=last):
            axis = Axis(0.0, float(last), 0.0, 100.0, whole=True)
            assert [tick(v) for v in axis.ticks()] == list(expected)
    high = {"a": [70.0, 80.0, 75.0]}
    assert "0.5" not in texts(lines(high))
    assert "0.5" in texts(lines(high, at=[0, 0.4, 2]))


def test_equal_ratios_are_equally_high_on_a_logarithmic_axis():
    view = lines({"rank": [1.0, 10.0, 100.0, 1000.0]}, log=True)
    [(_, points)] = curves(view)
    steps = [a - b for (_, a), (_, b) in pairwise(points)]
    assert steps == pytest.approx([steps[0]] * 3, abs=0.2)
    assert {"1", "10", "100", "1,000"} <= set(texts(view))
    with pytest.raises(ValueError, match="0 is not on a logarithmic axis"):
        lines({"rank": [0.0, 1.0]}, log=True)


def test_what_was_measured_has_three_digits(subtests):
    for value, written in [
        (0.12345, "0.123"),
        (1234.5, "1,234"),
        (-2.0, "−2"),
        (math.nan, "nan"),
        (-math.inf, "−∞"),
    ]:
        with subtests.test(value=value, written=written):
            assert short(value) == written


def test_refused(subtests):
    rows = [
        (lambda: lines({}), "lines draws one to 4 names in one picture, but got 0: none"),
        (lambda: lines({name: [1, 2] for name in "abcde"}), "but got 5: a, b, c, d, e"),
        (lambda: lines({"a": []}), "'a' has 0 numbers for 0 positions"),
        (lambda: lines({"a": [1, 2]}, at=[1, 2, 3]), "'a' has 2 numbers for 3 positions"),
        (lambda: lines({"a": [math.nan, math.inf]}), "no finite number"),
        (lambda: lines({"a": [1, 2]}, y_range=(2, 1)), r"range \(2, 1\) must"),
        (lambda: lines({"a": [1, 2]}, y_range=(0, math.inf)), r"range \(0, inf\) must"),
        (lambda: scatter({"a": ([1], [1, 2])}), "'a' has 2 numbers for 1 positions"),
        (lambda: bars({}), "no finite number"),
        (lambda: bars({"a": math.nan}), "no finite number"),
        (lambda: dots({"a": 1.0}, x_range=(2, 1)), r"range \(2, 1\) must"),
        (lambda: hands({}), "of the same length, but got {}"),
        (lambda: hands({"a": torch.ones(3, 2), "b": torch.ones(2, 2)}), "got {'a': 3, 'b': 2}"),
        (lambda: hands({"a": torch.ones(3, 3)}), r"rows of \(places, 2\)"),
        (lambda: hands({"a": torch.zeros(3, 2)}), "no finite, nonzero pair of numbers"),
        (lambda: roofline({}, rates={"r": 1.0}, bandwidth=1.0), r"points \{\}"),
        (lambda: roofline(POINTS, rates={}, bandwidth=1.0), r"rates \{\}"),
        (lambda: roofline(POINTS, rates={"r": 1.0}, bandwidth=0.0), r"bandwidth \{'r': 0.0\}"),
        (lambda: roofline({"a": (-1.0, 2.0)}, rates={"r": 1.0}, bandwidth=1.0), r"\(-1.0, 2.0\)"),
        (lambda: dots({"a": 0.0, "b": 1.0}, log=True), "0 is not on a logarithmic axis"),
    ]
    for draw, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            draw()


def test_hands_point_where_their_numbers_do():
    view = hands({"a": torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])}, x="position")
    assert str(view).splitlines()[1].split() == ["a", "0°", "90°", "180°"]
    right, up, left = ((b[0] - a[0], b[1] - a[1]) for _, (a, b) in drawn(view, "line"))
    assert right[0] > 0 > left[0]
    assert up[1] < 0 == pytest.approx(up[0], abs=0.1)


def test_a_dotted_line_breaks_behind_a_number():
    html = bars({"a": 0.02, "b": 0.9}, levels={"even": 0.1}).html
    [line] = re.findall(r'class="line dotted"[^>]* d="M([\d.]+) ', html)
    number = r'<text x="([\d.]+)"[^>]* text-anchor="start" class="small over"[^>]*>0\.02<'
    [short] = re.findall(number, html)
    assert float(short) < float(line) + 3
    assert html.index("line dotted") < html.index(">0.02<")
    assert re.findall(number, bars({"a": 0.02, "b": 0.9}).html) == [short]


def test_a_number_or_a_groups_name_covers_a_dotted_line():
    html = bars({"one": {"a": 0.02}, "other": {"b": 0.9}}, levels={"even": 0.1}).html
    for words in ("0.02", "other"):
        [over] = re.finditer(rf'<text [^>]*class="[a-z]+ over"[^>]*>{words}<', html)
        assert over.start() > html.index("line dotted")


def test_the_legend_shows_a_line_that_covers_another_as_it_looks():
    view = lines({"a" * 20: [1, 2, 3], "b": [1, 2, 3], "c": [3, 2, 1]})
    keys = re.findall(r'data-role="(series-\d)" d="M[\d.]+ 8\.0L[\d.]+ 8\.0"', view.html)
    assert keys == ["series-1", "series-1", "series-2", "series-3"]


# --- the roofline


def test_points_are_as_far_apart_as_their_ratios_and_below_the_roof():
    view = roofline({"a": (1, 1), "b": (10, 10), "c": (100, 10)}, rates={"r": 20}, bandwidth=2)
    a, b, c = sorted(mark[0] for mark in places(view, "dot"))
    assert b[0] - a[0] == pytest.approx(c[0] - b[0], abs=0.3)
    assert a[1] > b[1] == c[1]
    [(start, ridge, end)] = places(view, "line bold")
    assert start[1] > ridge[1] == end[1] < b[1]
    assert ridge[0] == pytest.approx(b[0] + 3.2, abs=0.2)  # 20 / 2 is 10; a mark begins at its left


def test_each_rate_has_a_level_and_a_name():
    view = roofline(POINTS, rates={"float32": 100, "bfloat16": 200}, bandwidth=10)
    levels = places(view, "line bold")
    assert levels[0][1][1] > levels[1][1][1]
    assert levels[0][0] == levels[1][0]
    assert {"float32", "bfloat16", "slow", "fast", "operations per byte"} <= set(texts(view))
    assert facts(view)[-2:] == [["ridge, float32", "10", "100"], ["ridge, bfloat16", "20", "200"]]
    apart = roofline(POINTS, rates=dict.fromkeys("ab", 100), bandwidth={"a": 10, "b": 20})
    assert [row[1] for row in facts(apart)[-2:]] == ["10", "5"]
    assert apart.html.count('class="line bold"') == 1
    assert apart.html.count('class="line bold dashed"') == 1
    with pytest.raises(ValueError, match=r"for the rates \['a', 'b'\]"):
        roofline(POINTS, rates=dict.fromkeys("ab", 100), bandwidth={"a": 10})


def test_a_point_has_the_mark_and_the_color_of_its_machine():
    points = {"p": (1, 2), "q": (3, 4, "b"), "r": (5, 6, "c")}
    widths = {"a": 10, "b": 20, "c": 10}  # a and c are one machine
    view = roofline(points, rates=dict.fromkeys("abc", 100), bandwidth=widths)
    roles = re.findall(r'class="dot" data-role="([^"]*)"', view.html)
    assert sorted(roles) == ["series-1", "series-1", "series-2"]
    roofs = re.findall(r'class="line bold( dashed)?" data-role="([^"]*)"', view.html)
    assert roofs == [("", "series-1"), (" dashed", "series-2"), ("", "series-1")]
    with pytest.raises(ValueError, match=r"points are for the rates .*'d'"):
        roofline({"p": (1, 2, "d")}, rates={"a": 1}, bandwidth=2)


def test_names_of_near_points_do_not_overlap():
    view = roofline({f"n{k}": (3.0, 5.0 + k / 100) for k in range(5)}, rates={"r": 9}, bandwidth=2)
    sides: dict[str, list[float]] = {}  # all points are at 3: names begin or end beside it
    for tag in re.findall(r"<text([^>]*)>n\d<", view.html):
        anchor = re.search(r'text-anchor="(\w+)"', tag)
        sides.setdefault(anchor[1] if anchor else "", []).append(
            float(re.search(r' y="([\d.]+)"', tag)[1])
        )
    assert sum(map(len, sides.values())) == 5
    assert all(abs(a - b) >= 14 for side in sides.values() for a, b in pairwise(sorted(side)))


def test_a_name_that_had_to_move_is_joined_to_its_point():
    alone = roofline({"a": (3.0, 5.0)}, rates={"r": 9}, bandwidth=2)
    assert places(alone, "line thin") == []
    crowded = roofline({f"n{k}": (3.0, 5.0) for k in range(5)}, rates={"r": 9}, bandwidth=2)
    words = [float(y) - 4 for y in re.findall(r' y="([\d.]+)"[^>]*>n\d<', crowded.html)]
    leaders = places(crowded, "line thin")
    [height] = {leader[0][1] for leader in leaders}  # all points are in one place
    ends = sorted(leader[1][1] for leader in leaders)
    assert ends == pytest.approx(sorted(y for y in words if abs(y - height) > 7.5), abs=0.1)
    assert len(ends) >= 3


def test_a_point_below_others_has_its_name_at_its_right_away_from_the_slope():
    points = {"decode 8": (3.8, 30.0), "decode 64": (19.0, 80.0), "prefill": (110.0, 121.0)}
    points |= {"decode 1": (0.5, 7.0), "decode 1, H100": (1.02, 143.0)}
    rates, widths = {"slow": 176.0, "fast": 8e5}, {"slow": 28.0, "fast": 3e3}
    view = roofline(points, rates=rates, bandwidth=widths)
    assert re.findall(r'text-anchor="(\w+)"[^>]*>decode 8', view.html) == ["start"]


def test_a_point_near_a_roof_is_named_clear_of_the_name_of_the_roof():
    points = {"a long name here": (400.0, 200.0), "prefill": (110.0, 121.0)}
    rates, widths = {"two slow cores": 176.0, "fast": 1e6}, {"two slow cores": 28.0, "fast": 3e3}
    view = roofline(points, rates=rates, bandwidth=widths)
    heights = {
        name: float(re.search(rf' y="([\d.]+)"[^>]*>{name}<', view.html)[1])
        for name in ("a long name here", "two slow cores")
    }
    assert abs(heights["a long name here"] - heights["two slow cores"]) >= 14


def test_shares_of_the_roof_are_written_after_the_names_and_drawn_as_gaps():
    points = {"a": (1, 5), "b": (100, 50), "c": (2, 10, "fast")}  # of 10, of 100, of 80
    rates, widths = {"slow": 100, "fast": 1000}, {"slow": 10, "fast": 40}
    view = roofline(points, rates=rates, bandwidth=widths, shares=True)
    assert {"a, 50%", "b, 50%", "c, 12%"} <= set(texts(view))
    assert [row[-1] for row in facts(view)[:3]] == ["50%", "50%", "12%"]
    gaps = re.findall(
        r'class="line dotted" data-role="series-\d" d="M(.*?) (.*?)L(.*?) (.*?)"', view.html
    )
    (_, low, _, high), _, (_, far_low, _, far_high) = [[*map(float, gap)] for gap in gaps]
    assert {gap[0] == gap[2] for gap in gaps} == {True}
    factor = math.log10(80 / 10) / math.log10(10 / 5)  # on a logarithmic axis
    assert far_low - far_high == pytest.approx(factor * (low - high), abs=0.4)
    plain = roofline(points, rates=rates, bandwidth=widths)
    assert {"a", "b", "c"} <= set(texts(plain))
    assert len(facts(plain)[0]) == 3


def test_each_ridge_has_a_tick_and_its_operations_per_byte():
    rates, widths = {"slow": 100, "fast": 9e6}, {"slow": 10, "fast": 50_000}
    view = roofline({"a": (1, 5)}, rates=rates, bandwidth=widths)
    ridges = [places(view, css)[0][1] for css in ("line bold", "line bold dashed")]
    assert {*ridges} <= {stroke[0] for stroke in places(view, "line")}
    assert {"10", "180", "1 G", "100 G", "10 T", "1 P"} <= set(texts(view))


def test_names_stay_on_their_points_side_of_each_roof():
    points = {"64": (19.0, 80.0), "prefill": (110.0, 121.0), "other": (19.0, 190.0, "fast")}
    rates, widths = {"slow": 176.0, "fast": 8e5}, {"slow": 28.0, "fast": 3e3}
    view = roofline(points, rates=rates, bandwidth=widths, shares=True)
    (_, (_, level), _), _ = places(view, "line bold")
    heights = {n: float(re.search(rf' y="([\d.]+)"[^>]*>{n}, ', view.html)[1]) for n in points}
    assert heights["other"] - 4 < level < min(heights["64"], heights["prefill"]) - 4


def test_each_named_number_of_a_row_can_have_its_interval():
    around = {"a": {"x": (0.2, 0.4), "y": (0.5, 0.9)}}
    view = dots({"a": {"x": 0.3, "y": 0.7}, "b": {"x": 0.1}}, x_range=(0, 1), intervals=around)
    assert [row[1] for row in facts(view)] == ["x 0.3 (0.2 to 0.4), y 0.7 (0.5 to 0.9)", "x 0.1"]
    bold = re.findall(r'<path class="line bold" data-role="(\S+)" d="M\S+ (\S+)L', view.html)
    assert [role for role, _ in bold] == ["series-1", "series-2"]
    assert float(bold[0][1]) == float(bold[1][1]) - 6


def test_an_interval_goes_from_end_to_end_of_its_dot():
    view = dots({"a": 0.5, "b": 0.75}, x_range=(0, 1), intervals={"b": (0.5, 1.0)})
    (first, *_), (second, *_) = sorted(
        [float(x) for x in re.findall(r'cx="([\d.]+)"', tag)]
        for tag in re.findall(r"<circle[^>]*>", view.html)
    )
    [(start, end)] = places(view, "line bold")
    assert start[0] == pytest.approx(first, abs=0.1)
    assert end[0] - second == pytest.approx(second - start[0], abs=0.2)
    assert "0.5 to 1" in str(view)
    clipped = dots({"b": 0.75}, x_range=(0, 1), intervals={"b": (-3.0, 1.0)})
    [(low, high)] = places(clipped, "line bold")
    assert high[0] - low[0] == pytest.approx(2 * (end[0] - start[0]), abs=0.3)
    with pytest.raises(ValueError, match=r"intervals of \['c'\]"):
        dots({"a": 1.0}, intervals={"c": (0, 1)})


def test_a_rows_only_number_is_written_on_a_logarithmic_axis():
    values = {"one": 0.03, "named": {"a": 7.0}, "several": [2.0, 5.0]}
    assert {"0.03", "7"} <= set(texts(dots(values, log=True))) - set(texts(dots(values)))
