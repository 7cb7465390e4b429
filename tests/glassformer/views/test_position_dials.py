"""Positions as hands of dials: angles, cosines, and curve, computed again without the table."""

import math
import re

import pytest
from drawings import facts, numbers, svgs, texts

from glassformer.layers.positions import SinusoidalPositions
from glassformer.views import position_dials

PLACES, PAIRS = 23, 5
TABLE = SinusoidalPositions(PLACES, 2 * PAIRS).table


def part(view, name):
    """All elements in the parts of a picture that have a name."""
    return [one for g in svgs(view)[0].iter("g") if g.get("data-part") == name for one in g]


def speed(pair):
    """By how many radians a pair turns from one position to the next."""
    return 10000 ** (-pair / PAIRS)


@pytest.mark.parametrize("at", [(3, 10), (17, 2), (5, 5)])
def test_hands_turn_clockwise_by_their_speed_and_cosines_are_of_the_angles_between(at):
    view = position_dials(TABLE, at=at)
    for name, place in enumerate(at):
        for pair, hand in enumerate(part(view, f"hand{name}")):
            turned = float(re.search(r"rotate\((.*)\)", hand.get("transform"))[1])
            away = (turned - math.degrees(place * speed(pair))) % 360
            assert min(away, 360 - away) < 0.01
    cosines = [math.cos((at[0] - at[1]) * speed(pair)) for pair in range(PAIRS)]
    shown = [f"{v:.2f}".replace("-", "−") for v in cosines]
    assert [one.text for one in part(view, "cosines")] == shown
    score = f"distance {abs(at[0] - at[1])}, score {sum(cosines):.2f}"
    assert [one.text for one in part(view, "told")] == [score]
    assert [one.text for one in part(view, "sum")] == [f"= {sum(cosines):.2f}"]
    assert facts(view)[-1] == ["score, their sum", f"{sum(cosines):.2f}"]


def test_the_curve_has_the_score_of_each_distance_and_the_mark_is_on_it():
    view = position_dials(TABLE, at=(3, 10))
    [curve] = [p for p in svgs(view)[0].iter("path") if p.get("d").count("L") == PLACES - 1]
    drawn = numbers(curve.get("d"))
    heights = dict(zip(range(PLACES), drawn[1::2], strict=True))
    scores = [sum(math.cos(k * speed(pair)) for pair in range(PAIRS)) for k in range(PLACES)]
    unit = (heights[7] - heights[0]) / (scores[7] - scores[0])
    for k, score in enumerate(scores):
        assert heights[k] == pytest.approx(heights[0] + unit * (score - scores[0]), abs=0.15)
    [group] = part(view, "mark")
    assert float(group[0].get("cx")) == pytest.approx(drawn[14], abs=0.06)
    assert float(group[0].get("cy")) == pytest.approx(heights[7], abs=0.06)


def test_a_step_on_the_line_of_positions_is_as_long_as_one_on_the_axis_of_distances():
    view = position_dials(TABLE, at=(3, 10))
    [first], [second] = (
        [numbers(one.get("transform"))[0] for one in part(view, f"place{k}")] for k in (0, 1)
    )
    [curve] = [p for p in svgs(view)[0].iter("path") if p.get("d").count("L") == PLACES - 1]
    drawn = numbers(curve.get("d"))
    assert second - first == pytest.approx(drawn[14] - drawn[0], abs=0.2)
    assert texts(view).count("pair 4") == 1
