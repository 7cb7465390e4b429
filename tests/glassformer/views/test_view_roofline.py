"""The roofline: where its points, slope and levels are, and what it refuses."""

import re
from itertools import pairwise

import pytest

from glassformer.views import roofline

POINTS = {"slow": (0.5, 5.0), "fast": (50.0, 70.0)}


def paths(view, css):
    """The places of each line or mark of a kind."""
    found = re.findall(rf'<path class="{css}"[^>]* d="([^"]*)"', view.html)
    return [
        [tuple(map(float, p.split())) for p in re.findall(r"-?[\d.]+ -?[\d.]+", d)] for d in found
    ]


def test_points_are_as_far_apart_as_their_ratios_and_below_the_roof():
    view = roofline({"a": (1, 1), "b": (10, 10), "c": (100, 10)}, rates={"r": 20}, bandwidth=2)
    a, b, c = sorted(mark[0] for mark in paths(view, "dot"))
    assert b[0] - a[0] == pytest.approx(c[0] - b[0], abs=0.3)
    assert a[1] > b[1] == c[1]
    [(start, ridge, end)] = paths(view, "line bold")
    assert start[1] > ridge[1] == end[1] < b[1]
    assert ridge[0] == pytest.approx(b[0] + 3.2, abs=0.2)  # 20 / 2 is 10; a mark begins at its left


def test_the_slope_climbs_by_as_much_as_it_goes_to_the_right():
    small, large = (roofline(POINTS, rates={"r": 100}, bandwidth=w) for w in (10, 20))
    slopes = []
    for view in (small, large):
        [(start, ridge, _)] = paths(view, "line bold")
        slopes.append((start[1] - ridge[1]) / (ridge[0] - start[0]))
    assert slopes[0] > 0
    [(_, ridge, _)], [(_, earlier, _)] = paths(small, "line bold"), paths(large, "line bold")
    assert earlier[0] < ridge[0]


def test_each_rate_has_a_level_and_a_name():
    view = roofline(POINTS, rates={"float32": 100, "bfloat16": 200}, bandwidth=10)
    levels = paths(view, "line bold")
    assert levels[0][1][1] > levels[1][1][1]
    assert levels[0][0] == levels[1][0]
    words = re.findall(r"<text[^>]*>([^<]*)", re.search(r"<svg.*?</svg>", view.html)[0])
    assert {"float32", "bfloat16", "slow", "fast", "operations per byte"} <= set(words)
    assert [row.split() for row in str(view).splitlines()[-2:]] == [
        ["ridge,", "float32", "10", "100"],
        ["ridge,", "bfloat16", "20", "200"],
    ]


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


def test_what_has_no_place_is_refused(subtests):
    rows = [
        ({}, {"r": 1.0}, 1.0, r"points \{\}"),
        (POINTS, {}, 1.0, r"rates \{\}"),
        (POINTS, {"r": 1.0}, 0.0, "bandwidth 0.0"),
        ({"a": (-1.0, 2.0)}, {"r": 1.0}, 1.0, r"'a': \(-1.0, 2.0\)"),
    ]
    for points, rates, bandwidth, said in rows:
        with subtests.test(said), pytest.raises(ValueError, match=said):
            roofline(points, rates=rates, bandwidth=bandwidth)
