"""`lines` and `scatter`: numbers as points between two axes, in the look of all views."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import median_low
from typing import Any

from torch import Tensor

from glassformer.views.axes import (
    WORDS_APART,
    Axis,
    Range,
    across,
    along,
    downward,
    short,
    span,
    tick,
    tick_width,
    upward,
)
from glassformer.views.drawing import GROWS, figure, line, picture, text, width_of
from glassformer.views.palette import SERIES, SMALL
from glassformer.views.view import View, columns_of

Point = tuple[float, float]

WIDTH, HIGH = 356.0, 168.0  # width of a plot, and height between its axes
MARKED = 24  # the most points that a line with marks may have
TOLD = 12  # the most points listed one by one; of a longer run, only the first, last, and extremes
FINEST = 400  # columns of a long line: each is drawn by its lowest and its highest point
DASHES = ("", "dashed", "dotted", "dash-dot")
ENTRY = 17.0  # height of a line of the legend
LONGEST = 16  # the most characters of a name that stands at a line's end
COVERED = 1.5  # a line covers another if all their points are nearer than this


def lines(
    curves: Mapping[str, Any],
    *,
    at: Sequence[float | int] | Tensor | None = None,
    x: str = "",
    y: str = "",
    y_range: Range | None = None,
    levels: Mapping[str, float | int] | None = None,
    marks: Mapping[str, float | int] | None = None,
    log: bool = False,
    main: str | None = None,
    caption: str | None = None,
) -> View:
    """Draw how numbers change, with one line for each name, or one for each of its runs.

    Short names stand at the lines' right ends. A legend has them if one is longer than 16
    characters, all lines end in one place, or one ends earlier or beyond `y_range`.

    Args:
        curves: Each line's name and numbers: a sequence or tensor `(points,)`, or a list of these,
            which share a color. At most four names.
        at: The points' positions on the horizontal axis, `(points,)`; by default 0, 1, 2, and so
            on.
        x: The name of the horizontal axis.
        y: The name of the vertical axis.
        y_range: The ends of the vertical axis; use the same ones in pictures you compare. By
            default, all points fit.
        levels: Dotted lines to compare with: their names and heights.
        marks: Vertical lines: their names and places on the horizontal axis.
        log: Whether the vertical axis is logarithmic: equal ratios are equally high.
        main: The line that matters most: it's wide and in front, and the others are thin.
        caption: A line below the picture.

    Raises:
        ValueError: There are no lines or more than four, `main` isn't one of them, a line has no
            points or not as many as `at`, no number is finite, one isn't above 0 on a logarithmic
            axis, or `y_range` doesn't go from a smaller to a larger number.
    """
    points = {name: [placed(name, run, at) for run in runs_of(c)] for name, c in curves.items()}
    check(points, "lines")
    if main is not None and main not in points:
        raise ValueError(f"main {main!r} must be one of {', '.join(points)}")
    frame = Frame.around(points, y_range, levels or {}, marks or {}, margin=False, log=log)
    marked = max(len(run) for runs in points.values() for run in runs) <= MARKED
    drawn = "".join(
        draw_line(run, frame, number, marked, None if main is None else name == main)
        for number, (name, runs) in sorted(
            enumerate(points.items()), key=lambda item: item[1][0] == main
        )
        for run in runs
    )
    header, rows = told(points, x or "point")
    rest = [""] * (len(header) - 2)
    rows += [[f"{name} (dotted)", *rest, short(v)] for name, v in frame.levels.items()]
    rows += [[name, *rest, f"{x or 'point'} {tick(v)}"] for name, v in frame.marks.items()]
    name = f"{y or 'numbers'} by {x or 'point'}"
    shown = frame.picture(drawn, x, y, dashed=True, over=covering(points, frame))
    return figure(shown, header, rows, name=name, caption=caption)


def scatter(
    groups: Mapping[str, tuple[Any, Any]],
    *,
    x: str = "",
    y: str = "",
    dashes: Mapping[str, tuple[Any, Any]] | None = None,
    caption: str | None = None,
) -> View:
    """Draw points by their two coordinates, with a color and a mark for each name.

    Args:
        groups: The points' name and their coordinates: two sequences or tensors `(points,)`,
            horizontal and vertical. At most four names.
        x: The name of the horizontal axis.
        y: The name of the vertical axis.
        dashes: Short level strokes in the color of their group, such as means: the group's name and
            the strokes' coordinates, given like the points'.
        caption: A line below the picture.

    Raises:
        ValueError: There are no points or more than four names, a name's two sequences differ in
            length, no number is finite, or dashes belong to no points.
    """
    points = {name: [placed(name, up, right)] for name, (right, up) in groups.items()}
    check(points, "scatter")
    strokes = {name: placed(name, up, right) for name, (right, up) in (dashes or {}).items()}
    if not {*strokes} <= {*points}:
        raise ValueError(f"dashes of {[*strokes]} don't all belong to points: {[*points]}")
    frame = Frame.around(points, None, {}, {}, margin=True)
    drawn = "".join(
        mark(*frame.at(point), number, css=" faint")
        for number, [run] in enumerate(points.values())
        for point in run
        if frame.holds(point)
    )
    for name, run in strokes.items():
        for x0, y0 in map(frame.at, filter(frame.holds, run)):
            role = SERIES[[*points].index(name)]
            drawn += line([(x0 - 14, y0), (x0 + 14, y0)], role=role, css="bold")
    header, rows = told(points | {f"{n} (dashes)": [run] for n, run in strokes.items()}, x or "x")
    name = f"{y or 'y'} by {x or 'x'}"
    return figure(
        frame.picture(drawn, x, y, dashed=False), header, rows, name=name, caption=caption
    )


def finite(point: Point) -> bool:
    """Return whether a point can be drawn."""
    return all(map(math.isfinite, point))


def runs_of(curve: Any) -> list[Any]:
    """Return the runs of a curve: the curve itself, or the runs in it if it's a list of runs."""
    if isinstance(curve, Tensor):
        return [curve] if curve.ndim < 2 else list(curve)
    nested = [run for run in curve if isinstance(run, Sequence) or getattr(run, "ndim", False)]
    return nested or [list(curve)]


def placed(name: str, run: Any, at: Any) -> list[Point]:
    """Return the points of a run as pairs of coordinates."""
    up = numbers(run)
    right = [float(k) for k in range(len(up))] if at is None else numbers(at)
    if len(right) != len(up) or not up:
        raise ValueError(f"{name!r} has {len(up)} numbers for {len(right)} positions on the axis")
    return list(zip(right, up, strict=True))


def numbers(values: Any) -> list[float]:
    """Return a sequence or a tensor as a list of numbers."""
    values = values.detach().cpu().double() if isinstance(values, Tensor) else values
    return [float(v.detach() if isinstance(v, Tensor) else v) for v in values]


def check(points: Mapping[str, list[list[Point]]], kind: str) -> None:
    """Raise an error if there are no names, or more than a reader can tell apart."""
    if not 1 <= len(points) <= len(SERIES):
        raise ValueError(
            f"{kind} draws one to {len(SERIES)} names in one picture, but got {len(points)}: "
            f"{', '.join(points) or 'none'}"
        )


@dataclass(frozen=True)
class Frame:
    """The frame around the points: two axes, levels across, marks, and names or a legend.

    Attributes:
        x: The horizontal axis.
        y: The vertical axis.
        levels: Names and heights of dotted lines.
        marks: Names and places of vertical lines.
        ends: The names at the lines' right ends, if they fit: each name, height, and role.
        entries: Otherwise, if there are several names, the legend's: each name and its coordinates.
    """

    x: Axis
    y: Axis
    levels: dict[str, float]
    marks: dict[str, float]
    ends: list[tuple[str, float, str]]
    entries: list[tuple[str, float, float]]

    @classmethod
    def around(
        cls,
        points: Mapping[str, list[list[Point]]],
        y_range: Range | None,
        levels: Mapping[str, float | int],
        marks: Mapping[str, float | int],
        *,
        margin: bool,
        log: bool = False,
    ) -> "Frame":
        """Find axes that contain all points, or those within the range."""
        every = [p for runs in points.values() for run in runs for p in run if finite(p)]
        places = [*(p[0] for p in every), *map(float, marks.values())]
        right = span(places)
        if not margin and len(set(places)) > 1:
            right = min(places), max(places)
        heights = {name: float(level) for name, level in levels.items()}
        up = span([*(p[1] for p in every), *heights.values()], y_range, log=log)
        ends = [] if margin else right_ends(points, right[1], up)
        entries, top = lay_out(list(points)) if len(points) > 1 and not ends else ([], 0.0)
        top += 26 + WORDS_APART * len(marks)
        y = Axis(*up, start=top + HIGH, end=top, log=log)
        beside = [width_of(name, SMALL) + 14 for name in [*levels, *(end[0] for end in ends)]]
        whole = all(place % 1 == 0 for place in places)
        x = Axis(*right, start=tick_width(y), end=WIDTH - max(beside, default=14.0), whole=whole)
        return cls(x, y, heights, {name: float(v) for name, v in marks.items()}, ends, entries)

    def at(self, point: Point) -> Point:
        """Return where a point is drawn."""
        return self.x.place(point[0]), self.y.place(point[1])

    def holds(self, point: Point) -> bool:
        """Return whether a point is finite and within both axes."""
        return finite(point) and all(
            axis.low <= value <= axis.high
            for axis, value in zip((self.x, self.y), point, strict=True)
        )

    def picture(
        self, drawn: str, x: str, y: str, *, dashed: bool, over: Mapping[int, int] | None = None
    ) -> str:
        """Put axes, levels, marks, and names around the drawing; `over` has lines over others."""
        left, right, bottom = self.x.start, self.x.end, self.y.start
        keys = [
            key(name, number, place, height, dashed=dashed, over=(over or {}).get(number))
            for number, (name, place, height) in enumerate(self.entries)
        ]
        parts = [
            *keys,
            upward(self.y, left, right, y, len(self.marks)),
            along(self.x, bottom, x),
            downward(self.marks, self.x, self.y, WIDTH),
            across(self.levels, self.y, left, right, self.ends),
            drawn,
        ]
        return picture(parts, WIDTH, bottom + (42 if x else 24), grows=GROWS)


def right_ends(
    points: Mapping[str, list[list[Point]]], right: float, up: Point
) -> list[tuple[str, float, str]]:
    """Return each line's name, right end, and role, or nothing if a legend is clearer."""
    ends = {
        name: [p[1] for run in runs for p in run if p[0] == right and up[0] <= p[1] <= up[1]]
        for name, runs in points.items()
    }
    if len(ends) < 2 or not all(ends.values()) or max(map(columns_of, ends)) > LONGEST:
        return []
    at = [median_low(heights) for heights in ends.values()]
    apart = max(at) - min(at) > (up[1] - up[0]) / 20
    return [*zip(ends, at, SERIES, strict=False)] if apart else []


def lay_out(names: list[str]) -> tuple[list[tuple[str, float, float]], float]:
    """Return the legend's entries, each a name and its coordinates, and the legend's height."""
    entries, x, y = [], 4.0, 12.0
    for name in names:
        wide = 34 + width_of(name, SMALL) + 14
        if x + wide > WIDTH and x > 4.0:
            x, y = 4.0, y + ENTRY
        entries.append((name, x, y))
        x += wide
    return entries, y + 6


def covering(points: Mapping[str, list[list[Point]]], frame: Frame) -> dict[int, int]:
    """Map each line that covers an earlier one to that line, both by number.

    The earlier line shows through the dashes of the one drawn over it.
    """
    drawn = [[frame.at(p) for run in runs for p in run] for runs in points.values()]
    return {
        upper: lower
        for upper, above in enumerate(drawn)
        for lower, below in enumerate(drawn[:upper])
        if len(above) == len(below)
        and all(math.dist(*p) < COVERED for p in zip(above, below, strict=True))
    }


def key(
    name: str, number: int, x: float, y: float, *, dashed: bool, over: int | None = None
) -> str:
    """Draw an entry of the legend: a piece of the line or a mark, and its name."""
    ends, middle = [(x, y - 4), (x + 28, y - 4)], (x + 14, y - 4)
    sample = line(ends, role=SERIES[number], css=f"bold {DASHES[number]}")
    if over is not None:
        sample = line(ends, role=SERIES[over], css=f"bold {DASHES[over]}") + sample
    shown = sample if dashed else mark(*middle, number)
    return shown + text(x + 34, y, name, css="small", anchor="start", most=48)


def draw_line(
    run: list[Point], frame: Frame, number: int, marked: bool, main: bool | None = None
) -> str:
    """Draw a line through the points that are within the axes, with marks if there are few."""
    weight = "" if len(run) > FINEST else "bold"  # a thin line shows noise as noise
    weight = weight if main is None else "wide" if main else "faded"
    css = f"{weight} {DASHES[number]}".strip()
    pieces = [[frame.at(p) for p in piece] for piece in whole(run, frame)]
    drawn = [line(thinned(p), role=SERIES[number], css=css) for p in pieces if len(p) > 1]
    alone = [mark(*p[0], number) for p in pieces if len(p) == 1 and not marked]
    marks = [mark(*point, number) for piece in pieces for point in piece] if marked else alone
    return "".join([*drawn, *marks])


def whole(run: list[Point], frame: Frame) -> Iterator[list[Point]]:
    """Split a run wherever a point isn't finite or is beyond an axis."""
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
    """Keep only the lowest and the highest point in each column of a long line."""
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
    """Draw a point: a disk, or for the lines after the first, a square, triangle, or diamond."""
    path = (
        f"M{x - 3.2:.1f} {y:.1f}a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z",
        f"M{x - 3:.1f} {y - 3:.1f}h6v6h-6z",
        f"M{x:.1f} {y - 4:.1f}l4 7h-8z",
        f"M{x:.1f} {y - 4.4:.1f}l4.4 4.4l-4.4 4.4l-4.4 -4.4z",
    )[number]
    return f'<path class="dot{css}" data-role="{SERIES[number]}" d="{path}"/>'


def told(points: Mapping[str, list[list[Point]]], x: str) -> tuple[list[str], list[list[str]]]:
    """Return a table's header and rows: all points of short runs, the extremes of long ones."""
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
    """Return the first, lowest, highest, and last height of a run."""
    heights = [p[1] for p in run]
    known = [height for height in heights if math.isfinite(height)] or heights
    return [short(v) for v in (heights[0], min(known), max(known), heights[-1])]
