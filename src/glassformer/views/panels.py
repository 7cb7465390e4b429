"""`bar_panels` and `scatter_panels`: rows of small plots that share their axes."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from glassformer.views.axes import Axis, across_at, short, span, spread, tick
from glassformer.views.drawing import (
    GROWS,
    bar,
    circle,
    figure,
    line,
    panel,
    picture,
    text,
    width_of,
)
from glassformer.views.palette import SERIES, TITLE
from glassformer.views.plots import Point, finite, key, lay_out, mark, placed
from glassformer.views.view import View, minus, number

WIDTH = 400.0
LEFT, APART = 30.0, 8.0  # room for the vertical axis' numbers, and between panels
HIGHEST, HEADING, BELOW = 96.0, 24.0, 16.0  # of bars' panels, above a row, and below it
NAME = 18.0  # height of a row's name
MOST = 6  # panels in a row

Ends = tuple[float, float]
Draw = Callable[[str, str, Axis, Axis], str]  # of a row, a panel in it, and its two axes


def bar_panels(
    rows: Mapping[str, Mapping[str, Any]],
    *,
    x: str = "",
    y: str = "",
    levels: Mapping[str, float | int] | None = None,
    caption: str | None = None,
) -> View:
    """Draw rows of small plots of bars, all on one scale, each with its largest number.

    Args:
        rows: Each row's name and its panels: their names and numbers, `(bars,)`. At most four rows
            of at most six panels.
        x: What the bars of a panel are.
        y: What their heights are.
        levels: Dotted lines to compare with: their names and heights.
        caption: A line below the picture.

    Raises:
        ValueError: There are too few or too many rows or panels, a panel has no numbers, or no
            number is finite.
    """
    found = {
        row: {name: [p[1] for p in placed(name, one, None)] for name, one in inside.items()}
        for row, inside in rows.items()
    }
    check({row: list(inside) for row, inside in found.items()})
    marks = {name: float(level) for name, level in (levels or {}).items()}
    every = [v for inside in found.values() for values in inside.values() for v in values]
    up = span([*every, *([0.0, *marks.values()] if any(map(math.isfinite, every)) else [])])

    def draw(row: str, name: str, across: Axis, up: Axis) -> str:
        values, role = found[row][name], SERIES[list(found).index(row)]
        drawn = [tower(v, k, across, up, role) for k, v in enumerate(values) if math.isfinite(v)]
        for level in marks.values():
            ends = [(at, up.place(level)) for at in (across.start, across.end)]
            drawn.append(line(ends, css="dotted"))
        return "".join(drawn) + top_number(values, across, up)

    below = "; ".join(filter(None, [x and f"{x} →", *(f"dotted: {name}" for name in marks)]))
    panels = {row: list(inside) for row, inside in found.items()}
    longest = max(len(values) for inside in found.values() for values in inside.values())
    drawn = grid(panels, draw, (0.0, float(longest)), up, below, y, 0.0)
    facts = [
        [f"{row}, {name}", " ".join(map(short, values))]
        for row, inside in found.items()
        for name, values in inside.items()
    ]
    facts += [[f"{name} (dotted)", short(level)] for name, level in marks.items()]
    name = f"{y or 'numbers'} by {x or 'bar'}"
    return figure(drawn, ["", y or "numbers"], facts, name=name, caption=caption)


def tower(value: float, k: int, across: Axis, up: Axis, role: str) -> str:
    """Draw an upright bar from zero, the k-th of its panel."""
    left, right = across.place(k), across.place(k + 1)
    top, bottom = sorted((up.place(value), up.place(0.0)))
    return bar(left + 0.08 * (right - left), top, 0.84 * (right - left), bottom - top, role=role)


def top_number(values: list[float], across: Axis, up: Axis) -> str:
    """Write a panel's largest number above its bar, or beside it if the bar is that high."""
    known = [v for v in values if math.isfinite(v)]
    if not known:
        return ""
    k, y = values.index(max(known)), up.place(max(known))
    first = k < len(values) / 2
    place = across.place(k) if first else across.place(k + 1)
    anchor = "start" if first else "end"
    if y - up.end < 14:
        place, y = (across.place(k + 1) + 3 if first else across.place(k) - 3), y + 15
    return text(
        place,
        y - 4,
        minus(number(max(known), max(map(abs, known)))),
        css="small over",
        anchor=anchor,
    )


def scatter_panels(
    rows: Mapping[str, Mapping[str, Mapping[str, tuple[Any, Any]]]],
    *,
    x: str = "",
    y: str = "",
    joined: Mapping[int, Sequence[str]] | None = None,
    zero: bool = True,
    circle: bool = False,
    caption: str | None = None,
) -> View:
    """Draw rows of small plots of points, all on the same two scales.

    Args:
        rows: Each row's name and its panels: their names and groups, as `scatter` takes them. At
            most four rows of at most six panels, and four groups.
        x: The name of the horizontal axis.
        y: The name of the vertical axis.
        joined: Faint lines join the first points of all groups, the second points, and so on, and
            bold ones those with the numbers given here, from 0, each with a name for each of its
            points. A panel's groups must then have equally many points.
        zero: Whether a dotted line shows where the horizontal number is zero.
        circle: Whether each panel is a clock: the points are the ends of its hands, on a circle of
            radius one around zero, without axes.
        caption: A line below the picture.

    Raises:
        ValueError: There are too few or too many rows, panels, or groups, a group has no points or
            not as many horizontal as vertical numbers, joined groups differ in size, or no number
            is finite.
    """
    found = {
        row: {
            name: {group: placed(group, up, right) for group, (right, up) in groups.items()}
            for name, groups in inside.items()
        }
        for row, inside in rows.items()
    }
    check({row: list(inside) for row, inside in found.items()})
    panels = [groups for inside in found.values() for groups in inside.values()]
    names = list(dict.fromkeys(name for groups in panels for name in groups))
    if not 1 <= len(names) <= len(SERIES):
        raise ValueError(f"panels draw one to {len(SERIES)} groups, but got {len(names)}: {names}")
    sizes = [[len(run) for run in groups.values()] for groups in panels]
    if joined is not None and any(len(set(each)) > 1 for each in sizes):
        raise ValueError(f"a panel's joined groups must have equally many points, but got {sizes}")
    every = [p for groups in panels for run in groups.values() for p in run if finite(p)]
    every += [(-1.0, -1.0), (1.0, 1.0)] if circle and every else []
    across, up = (span([p[k] for p in every]) for k in (0, 1))

    def draw(row: str, name: str, across: Axis, up: Axis) -> str:
        inside = zero and across.low < 0 < across.high
        ends = [(across.place(0.0), y) for y in (up.start, up.end)] if inside else []
        middle = line(ends, css="dotted") if inside else ""
        for value in across.ticks(3) if x and not circle else ():
            middle += text(across.place(value), up.start + 14, tick(value), css="small")
        placed_at = [
            (names.index(group), (across.place(p[0]), up.place(p[1])))
            for group, run in found[row][name].items()
            for p in run
            if finite(p)
        ]
        followed, told = "", ""
        together = zip(*found[row][name].values(), strict=True) if joined is not None else ()
        for k, each in enumerate(together):
            if all(map(finite, each)):
                ends = [(across.place(p[0]), up.place(p[1])) for p in each]
                middle += f'<g opacity=".16">{line([*ends, ends[0]], css="base")}</g>'
                if joined and k in joined:
                    followed += line([*ends, ends[0]], css="bold")
                    told += circled(ends, joined[k], across, up)
        if circle:
            middle = face(across, up, placed_at)
        dots = (marked(at, group, hidden(at, group, placed_at)) for group, at in placed_at)
        return "".join([middle, followed, *dots, told])

    entries, top = lay_out(names) if len(names) > 1 else ([], 0.0)
    keys = [key(name, k, a, b, dashed=False) for k, (name, a, b) in enumerate(entries)]
    shown = {row: list(inside) for row, inside in found.items()}
    drawn = grid(
        shown,
        draw,
        across,
        up,
        x and f"{x} →",
        y,
        top,
        "".join(keys),
        highest=HIGHEST if circle else WIDTH,
        ruled=not circle,
    )
    told = clockwise if circle else lambda p: p[0]
    facts = [
        [f"{row}, {name}", group, " ".join(short(told(p)) for p in run)]
        for row, inside in found.items()
        for name, groups in inside.items()
        for group, run in groups.items()
    ]
    header = ["", "group", "degrees from the top" if circle else x or "horizontal"]
    name = ", ".join(found) if circle else f"{y or 'y'} by {x or 'x'}"
    return figure(drawn, header, facts, name=name, caption=caption)


def circled(points: Sequence[Point], names: Sequence[str], across: Axis, up: Axis) -> str:
    """Circle and name points; a name is on the side away from the middle if there's room."""
    named = sorted(zip(points, names, strict=True), key=lambda each: each[0][1])
    drawn = "".join(circle(*point, 6, css="line bold") for point in points)
    heights = spread([y for (_, y), _ in named], up.end + 10, up.start - 10)
    for ((x, _), name), y in zip(named, heights, strict=True):
        left = x < (across.start + across.end) / 2
        left ^= width_of(name, TITLE) > (x - across.start if left else across.end - x)
        at, anchor = (x - 9, "end") if left else (x + 9, "start")
        drawn += text(at, y + 4, name, css="title over", anchor=anchor)
    return drawn


def clockwise(end: Point) -> float:
    """Return the direction of a hand's end, in degrees from the top."""
    return math.degrees(math.atan2(*end)) % 360


def face(across: Axis, up: Axis, ends: list[tuple[int, Point]]) -> str:
    """Draw a circle of radius one around zero, and a hand from zero to each point."""
    (x, y), (right, top) = ((across.place(v), up.place(v)) for v in (0.0, 1.0))
    round_it = (
        f'<ellipse class="frame thin" cx="{x:.1f}" cy="{y:.1f}" rx="{right - x:.1f}" '
        f'ry="{y - top:.1f}"/>'
    )
    hands = [line([(x, y), place], role=SERIES[group], css="base") for group, place in ends]
    return round_it + "".join(hands)


def hidden(place: Point, group: int, every: list[tuple[int, Point]]) -> bool:
    """Return whether a point of a later group covers this one."""
    return any(other > group and math.dist(place, at) < 0.5 for other, at in every)


def marked(place: Point, group: int, wide: bool) -> str:
    """Draw a point; one that others cover is wide enough to be seen behind them."""
    if not wide:
        return mark(*place, group, css=" faint")
    x, y = place
    drawn = mark(0, 0, group, css=" faint")
    return f'<g transform="translate({x:.1f} {y:.1f}) scale(1.6)">{drawn}</g>'


def check(rows: dict[str, list[str]]) -> None:
    """Raise an error if there are no panels, or more than a reader can compare."""
    sizes = [len(names) for names in rows.values()]
    if not 1 <= len(sizes) <= len(SERIES) or not all(1 <= size <= MOST for size in sizes):
        raise ValueError(
            f"panels come in one to {len(SERIES)} rows of one to {MOST}, but got rows of {sizes}"
        )


def grid(
    rows: dict[str, list[str]],
    draw: Draw,
    across: Ends,
    up: Ends,
    x: str,
    y: str,
    top: float,
    above: str = "",
    *,
    highest: float = HIGHEST,
    ruled: bool = True,
) -> str:
    """Return the picture of all panels, between their names and, if ruled, frames and axes."""
    most = max(map(len, rows.values()))
    wide = (WIDTH - LEFT - APART * (most - 1)) / most
    high, parts = min(wide, highest), [above]
    if y:
        parts.append(text(0, top + 14, f"↑ {y}", css="small", anchor="start"))
        top += 18
    for row, names in rows.items():
        if row:
            parts.append(text(0, top + 16, row, css="title", anchor="start"))
            top += NAME
        for k, name in enumerate(names):
            left = LEFT + k * (wide + APART)
            right, bottom = left + wide, top + HEADING + high
            axes = Axis(*across, left, right), Axis(*up, bottom, top + HEADING)
            parts.append(text((left + right) / 2, top + HEADING - 6, name, css="small"))
            if ruled:
                parts.append(panel(left, top + HEADING, wide, high, css="frame thin", corner=2))
                ticks = axes[1].ticks(3)
                parts += [across_at(v, axes[1], left, right, 5.0 * (k == 0)) for v in ticks]
            parts.append(draw(row, name, *axes))
        top += HEADING + high + BELOW
    parts.append(text(LEFT + (WIDTH - LEFT) / 2, top + 12, x, css="small"))
    return picture(parts, WIDTH, top + (16 if x else 0), grows=GROWS)
