"""A server's slots: bars as long as their answers, and shares counted again."""

import pytest
from drawings import facts, near, svgs, texts

from glassformer.views import slots

STATIC = [[(0, 3), (7, 2)], [(0, 7), (7, 5)]]  # each waits for the longest, 7 and then 5
REFILLED = [[(0, 3), (3, 5)], [(0, 7), (7, 2)]]


def rectangles(view, css):
    """Left edge, top edge, and width of each rectangle of a class."""
    found = (rect for rect in svgs(view)[0].iter("rect") if rect.get("class") == css)
    return [tuple(float(rect.get(name)) for name in ("x", "y", "width")) for rect in found]


def test_answers_are_where_and_as_long_as_they_were_written():
    view = slots({"static": STATIC, "continuous": REFILLED})
    scale = (356 - 10 - 20) / 12
    answers = [one for schedule in (STATIC, REFILLED) for slot in schedule for one in slot]
    bars = rectangles(view, "bar")
    assert [(x, wide) for x, _, wide in bars] == [
        near(20 + scale * first, scale * count - 1) for first, count in answers
    ]
    heights = [y for _, y, _ in bars]
    assert heights[0] == heights[1] < heights[2] == heights[3] < heights[4]
    ends = [wide for *_, wide in rectangles(view, "frame thin")]
    assert ends == [*2 * [near(scale * 12)], *2 * [near(scale * 9)]]


def test_a_short_answer_can_be_seen_and_stays_apart_from_its_neighbors():
    view = slots({"static": [[(0, 1), (1, 1), (2, 998)]]})
    [(first, wide), (second, _), (third, longest)] = [(x, w) for x, _, w in rectangles(view, "bar")]
    assert (first, wide) == near(20, 1.2)
    assert second == near(first + wide + 1)
    assert third == near(second + wide + 1)
    assert third + longest == near(356 - 10 - 1)


def test_the_shares_are_those_of_all_passes_in_all_slots():
    view = slots({"static": STATIC, "continuous": REFILLED})
    assert facts(view) == [
        ["static", "2", "12", f"{17 / 24:.0%}"],
        ["continuous", "2", "9", f"{17 / 18:.0%}"],
    ]
    assert {"12 passes, 71% of slots used", "9 passes, 94% of slots used"} <= {*texts(view)}


def test_what_is_no_schedule_is_refused():
    for wrong in ({}, {"a": []}, {"a": [[]]}):
        with pytest.raises(ValueError, match="schedules with answers"):
            slots(wrong)
    with pytest.raises(ValueError, match=r"'a' has an answer of 2 passes at pass 3, .* pass 4 on"):
        slots({"a": [[(0, 4), (3, 2)]]})
    with pytest.raises(ValueError, match="an answer of 0 passes"):
        slots({"a": [[(0, 0)]]})
