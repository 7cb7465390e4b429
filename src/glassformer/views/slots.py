"""`slots`: which answer a server writes in which slot of its batch, pass after pass."""

from collections.abc import Mapping, Sequence

from glassformer.views.axes import Axis, along
from glassformer.views.drawing import GROWS, Number, bar, figure, panel, picture, text
from glassformer.views.view import View, visible

WIDTH, ROW, HIGH = 356.0, 13.0, 10.0  # of the picture, and a slot's row and bar
TITLE, APART, LEFT = 22.0, 10.0, 20.0  # a schedule's name, between schedules, slots' numbers
GAP, LEAST = 1.0, 1.2  # between two answers, and the width of the shortest one's bar

Answers = Sequence[tuple[int, int]]  # a slot's: the pass at which each begins, and its passes


def slots(schedules: Mapping[str, Sequence[Answers]], *, caption: str | None = None) -> View:
    """Draw each answer as a bar in its slot, from its first pass to its last, on one scale.

    A slot is framed until the last answer of its schedule ends, so what's empty in it is idle.

    Args:
        schedules: Each schedule's name and, for each slot, its answers in their order: the pass at
            which an answer begins, from 0, and how many passes it takes.
        caption: A line below the picture.

    Raises:
        ValueError: There is no schedule, one has no answers, or an answer takes no pass or begins
            before the previous one of its slot ends.
    """
    if not schedules or not all(any(map(len, found)) for found in schedules.values()):
        raise ValueError(f"slots needs schedules with answers, but got {dict(schedules)}")
    for name, found in schedules.items():
        for answers in found:
            check(name, answers)
    ends = {
        name: max(a + n for each in found for a, n in each) for name, found in schedules.items()
    }
    axis = Axis(0.0, float(max(ends.values())), LEFT, WIDTH - 10, whole=True)
    parts, facts, y = [], [], 0.0
    for name, found in schedules.items():
        passes, busy = ends[name], sum(n for each in found for _, n in each)
        used = f"{busy / passes / len(found):.0%}"
        parts.append(text(0, y + 14, visible(name), css="title", anchor="start", most=24))
        told = f"{passes:,} passes, {used} of slots used"
        parts.append(text(WIDTH, y + 14, told, css="small", anchor="end"))
        y += TITLE
        for k, answers in enumerate(found, 1):
            parts.append(row(k, answers, passes, axis, y))
            y += ROW
        y += APART
        facts.append([name, str(len(found)), f"{passes:,}", used])
    parts.append(along(axis, y - APART + 4, "pass"))
    header = ["schedule", "slots", "passes", "of slots used"]
    drawn = picture(parts, WIDTH, y - APART + 46, grows=GROWS)
    return figure(drawn, header, facts, name="Answers in the slots of a batch", caption=caption)


def check(name: str, answers: Answers) -> None:
    """Raise an error if an answer takes no pass, or begins too early."""
    free = 0
    for first, count in answers:
        if first < free or count < 1:
            raise ValueError(
                f"{name!r} has an answer of {count} passes at pass {first}, but each takes at "
                f"least one, and its slot is free from pass {free} on"
            )
        free = first + count


def row(number: int, answers: Answers, passes: int, axis: Axis, y: Number) -> str:
    """Draw a slot with its answers, whose color alternates."""
    end = axis.place(passes)
    parts = [text(LEFT - 7, y + 9, str(number), css="small", anchor="end")]
    parts.append(panel(LEFT, y, end - LEFT, HIGH, css="frame thin", corner=0))
    free = LEFT
    for k, (first, count) in enumerate(answers):
        start = max(axis.place(first), free)
        wide = max(axis.place(first + count) - GAP - start, LEAST)
        role = "series-3" if k % 2 else "series-1"
        parts.append(bar(start, y, wide, HIGH, role=role))
        free = start + wide + GAP
    return "".join(parts)
