"""`lines` and `scatter`: numbers as places between two axes, in the look of all views."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from torch import Tensor

from glassformer.views.axes import Axis, Range, across, along, short, span, tick, tick_width, upward
from glassformer.views.drawing import figure, line, picture, text, width_of
from glassformer.views.palette import SERIES, SMALL
from glassformer.views.view import View

Point = tuple[float, float]

WIDTH, HIGH = 380.0, 180.0  # of a plot, and of what is between its axes
GROWS = 1.4  # at most, on a wide page
MARKED = 24  # points of a line, if each has a mark
TOLD = 12  # points that are told one by one; of more, the first, the last and the extremes
FINEST = 400  # columns a long line is drawn in: of each, its lowest and its highest point
DASHES = ("", "dashed", "dotted", "dash-dot")
ENTRY = 17.0  # a line of the legend


def lines(
    curves: Mapping[str, Any],
    *,
    at: Sequence[float | int] | Tensor | None = None,
    x: str = "",
    y: str = "",
    x_range: Range | None = None,
    y_range: Range | None = None,
    levels: Mapping[str, float | int] | None = None,
    caption: str | None = None,
) -> View:
    """Draws how numbers change, one line for each name, or one for each of several runs.

    Args:
        curves: What each line is, and its numbers: a sequence or tensor `(points,)`, or a list of
            them, which share a color. At most four names.
        at: Where the points stand, `(points,)`; without it, at 0, 1, 2 and so on.
        x: The name of the axis to the right.
        y: The name of the upward axis.
        x_range: Where the axis to the right begins and ends; without it, all points fit.
        y_range: Where the upward axis begins and ends. Pictures that are compared share it.
        levels: Dotted lines to compare with: their names and heights.
        caption: A line below the picture.

    Raises:
        ValueError: There are no lines or more than four, one has no point or not as many as `at`,
            no number is finite, or a range is none.
    """
    points = {name: [placed(name, run, at) for run in runs_of(c)] for name, c in curves.items()}
    check(points, "lines")
    frame = Frame.around(points, x_range, y_range, levels or {}, margin=False)
    marked = max(len(run) for runs in points.values() for run in runs) <= MARKED
    drawn = "".join(
        draw_line(run, frame, number, marked)
        for number, runs in enumerate(points.values())
        for run in runs
    )
    header, rows = told(points, x or "point")
    rows += [[f"{name} (dotted)", *[""] * (len(header) - 2), short(v)] for name, v in frame.levels]
    name = f"{y or 'numbers'} by {x or 'point'}"
    return figure(frame.picture(drawn, x, y, dashed=True), header, rows, name=name, caption=caption)


def scatter(
    groups: Mapping[str, tuple[Any, Any]],
    *,
    x: str = "",
    y: str = "",
    x_range: Range | None = None,
    y_range: Range | None = None,
    caption: str | None = None,
) -> View:
    """Draws points by two numbers each, one color and mark for each name.

    Args:
        groups: What the points are, and their two numbers: two sequences or tensors `(points,)`,
            to the right and upwards. At most four names.
        x: The name of the axis to the right.
        y: The name of the upward axis.
        x_range: Where the axis to the right begins and ends; without it, all points fit.
        y_range: Where the upward axis begins and ends. Pictures that are compared share it.
        caption: A line below the picture.

    Raises:
        ValueError: There are no points or more than four names, the two sequences of one differ
            in length, no number is finite, or a range is none.
    """
    points = {name: [placed(name, up, right)] for name, (right, up) in groups.items()}
    check(points, "scatter")
    frame = Frame.around(points, x_range, y_range, {}, margin=True)
    drawn = "".join(
        mark(*frame.at(point), number, css=" faint")
        for number, [run] in enumerate(points.values())
        for point in run
        if frame.holds(point)
    )
    header, rows = told(points, x or "x")
    name = f"{y or 'y'} by {x or 'x'}"
    return figure(
        frame.picture(drawn, x, y, dashed=False), header, rows, name=name, caption=caption
    )


def runs_of(curve: Any) -> list[Any]:
    """Return the runs of a curve: itself, or those in the list that it is."""
    if isinstance(curve, Tensor):
        return [curve] if curve.ndim < 2 else list(curve)
    nested = [run for run in curve if isinstance(run, Sequence) or getattr(run, "ndim", False)]
    return nested or [list(curve)]


def placed(name: str, run: Any, at: Any) -> list[Point]:
    """Return the points of a run, as pairs of where they stand and how high."""
    up = numbers(run)
    right = [float(k) for k in range(len(up))] if at is None else numbers(at)
    if len(right) != len(up) or not up:
        raise ValueError(f"{name!r} has {len(up)} numbers for {len(right)} places on the axis")
    return list(zip(right, up, strict=True))


def numbers(values: Any) -> list[float]:
    """Return a sequence or a tensor as a list of numbers."""
    values = values.detach().cpu().double() if isinstance(values, Tensor) else values
    return [float(v.detach() if isinstance(v, Tensor) else v) for v in values]


def check(points: Mapping[str, list[list[Point]]], kind: str) -> None:
    """Refuse nothing at all, and more kinds than a reader can tell apart."""
    if not 1 <= len(points) <= len(SERIES):
        raise ValueError(
            f"{kind} draw one to {len(SERIES)} kinds in one picture, but got {len(points)}: "
            f"{', '.join(points) or 'none'}"
        )


@dataclass(frozen=True)
class Frame:
    """What is around the points: two axes, levels across, and a legend.

    Attributes:
        x: The axis to the right.
        y: The upward axis.
        levels: Names and heights of dotted lines.
        entries: Names of what is drawn, if there are several, with the places of their legend.
    """

    x: Axis
    y: Axis
    levels: list[tuple[str, float]]
    entries: list[tuple[str, float, float]]

    @classmethod
    def around(
        cls,
        points: Mapping[str, list[list[Point]]],
        x_range: Range | None,
        y_range: Range | None,
        levels: Mapping[str, float | int],
        *,
        margin: bool,
    ) -> "Frame":
        """Find the axes on which all points have a place, or those within the ranges."""
        every = [p for runs in points.values() for run in runs for p in run if all(map(finite, p))]
        low, high = x_range or (None, None)
        every = [
            p for p in every if (low is None or low <= p[0]) and (high is None or p[0] <= high)
        ]
        right = span([p[0] for p in every], x_range)
        if not margin and x_range is None and len({p[0] for p in every}) > 1:
            right = min(p[0] for p in every), max(p[0] for p in every)
        heights = {name: float(level) for name, level in levels.items()}
        up = span([*(p[1] for p in every), *heights.values()], y_range)
        entries, top = lay_out(list(points)) if len(points) > 1 else ([], 0.0)
        y = Axis(*up, start=top + 26 + HIGH, end=top + 26)
        aside = max((width_of(name, SMALL) + 10 for name in levels), default=14.0)
        x = Axis(*right, start=tick_width(y), end=WIDTH - aside)
        return cls(x, y, list(heights.items()), entries)

    def at(self, point: Point) -> Point:
        """Return where a point is drawn."""
        return self.x.place(point[0]), self.y.place(point[1])

    def holds(self, point: Point) -> bool:
        """Tell whether a point is finite and between both ends of both axes."""
        return all(map(finite, point)) and all(
            axis.low <= value <= axis.high
            for axis, value in zip((self.x, self.y), point, strict=True)
        )

    def picture(self, drawn: str, x: str, y: str, *, dashed: bool) -> str:
        """Put axes, levels and legend around what is drawn."""
        left, right, bottom = self.x.start, self.x.end, self.y.start
        keys = [
            key(name, number, place, height, dashed=dashed)
            for number, (name, place, height) in enumerate(self.entries)
        ]
        parts = [
            *keys,
            upward(self.y, left, right, y),
            along(self.x, bottom, x),
            across(dict(self.levels), self.y, left, right),
            drawn,
        ]
        return picture(parts, WIDTH, bottom + (42 if x else 24), grows=GROWS)


def finite(value: float) -> bool:
    """Tell whether a number can have a place."""
    return math.isfinite(value)


def lay_out(names: list[str]) -> tuple[list[tuple[str, float, float]], float]:
    """Return names with the places of their entries in the legend, and how high it is."""
    entries, x, y = [], 4.0, 12.0
    for name in names:
        wide = 34 + width_of(name, SMALL) + 14
        if x + wide > WIDTH and x > 4.0:
            x, y = 4.0, y + ENTRY
        entries.append((name, x, y))
        x += wide
    return entries, y + 6


def key(name: str, number: int, x: float, y: float, *, dashed: bool) -> str:
    """Draw an entry of the legend: a piece of the line or a mark, and its name."""
    role, middle = SERIES[number], (x + 14, y - 4)
    sample = line([(x, y - 4), (x + 28, y - 4)], role=role, css=f"bold {DASHES[number]}")
    shown = sample if dashed else mark(*middle, number)
    return shown + text(x + 34, y, name, css="small", anchor="start", most=48)


def draw_line(run: list[Point], frame: Frame, number: int, marked: bool) -> str:
    """Draw a line as far as its points have a place, with marks if they are few."""
    weight = "" if len(run) > FINEST else "bold"  # a thin line shows noise as noise
    css = f"{weight} {DASHES[number]}".strip()
    pieces = [[frame.at(p) for p in piece] for piece in whole(run, frame)]
    drawn = [line(thinned(p), role=SERIES[number], css=css) for p in pieces if len(p) > 1]
    alone = [mark(*p[0], number) for p in pieces if len(p) == 1 and not marked]
    marks = [mark(*point, number) for piece in pieces for point in piece] if marked else alone
    return "".join([*drawn, *marks])


def whole(run: list[Point], frame: Frame) -> Iterator[list[Point]]:
    """Split a run where a point is missing: not finite, or beyond an axis."""
    piece: list[Point] = []
    for point in run:
        if frame.holds(point):
            piece.append(point)
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def thinned(places: list[Point]) -> list[Point]:
    """Keep of a long line the lowest and the highest point of each column of pixels."""
    if len(places) <= 2 * FINEST:
        return places
    size = math.ceil(len(places) / FINEST)
    kept = []
    for start in range(0, len(places), size):
        column = places[start : start + size]
        ends = {column.index(pick(column, key=itemgetter(1))) for pick in (min, max)}
        kept += [column[k] for k in sorted(ends)]
    return kept


def mark(x: float, y: float, number: int, *, css: str = "") -> str:
    """Draw a point: a disk, or for further lines a square, a triangle or a diamond."""
    path = (
        f"M{x - 3.2:.1f} {y:.1f}a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z",
        f"M{x - 3:.1f} {y - 3:.1f}h6v6h-6z",
        f"M{x:.1f} {y - 4:.1f}l4 7h-8z",
        f"M{x:.1f} {y - 4.4:.1f}l4.4 4.4l-4.4 4.4l-4.4 -4.4z",
    )[number]
    return f'<path class="dot{css}" data-role="{SERIES[number]}" d="{path}"/>'


def told(points: Mapping[str, list[list[Point]]], x: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table: every point of short runs, the ends of long."""
    named = [
        (name if len(runs) == 1 else f"{name}, run {number}", run)
        for name, runs in points.items()
        for number, run in enumerate(runs, 1)
    ]
    places = [p[0] for p in named[0][1]]
    if len(places) <= TOLD and all([p[0] for p in run] == places for _, run in named):
        header = ["", *(f"{x} {tick(place)}" for place in places)]
        return header, [[name, *(short(p[1]) for p in run)] for name, run in named]
    header = ["", "points", "first", "lowest", "highest", "last"]
    return header, [[name, str(len(run)), *ends(run)] for name, run in named]


def ends(run: list[Point]) -> list[str]:
    """Return the first, lowest, highest and last height of a run."""
    heights = [p[1] for p in run]
    known = [height for height in heights if finite(height)] or heights
    return [short(v) for v in (heights[0], min(known), max(known), heights[-1])]
