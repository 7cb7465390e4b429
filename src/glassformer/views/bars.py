"""`bars` and `dots`: a number for each name, as a length or as a position on an axis."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from glassformer.views.axes import Axis, Range, along, short, span
from glassformer.views.drawing import GROWS, bar, circle, figure, line, picture, text, width_of
from glassformer.views.palette import SERIES
from glassformer.views.plots import check, key, lay_out, mark, numbers
from glassformer.views.view import View, columns_of

WIDTH = 356.0
ROW = 24.0  # height of a name with its bar or dot
TOP = 20.0  # room for names above
LONGEST = 26  # the most letters of a name that are shown
BEHIND_BARS, BEHIND_DOTS = 46.0, 14.0  # room past the end of the axis


def bars(
    values: Mapping[str, Any],
    *,
    x: str = "",
    levels: Mapping[str, float | int] | None = None,
    caption: str | None = None,
) -> View:
    """Draw numbers as bars from zero, one below the other, each with its number.

    Args:
        values: Each bar's name and number; negative bars point to the left. For groups of bars:
            each group's name and its bars. Groups that share a name have a color for each
            place, and others a color for each group.
        x: The name of the axis.
        levels: Dotted lines to compare with: their names and numbers.
        caption: A line below the picture.

    Raises:
        ValueError: There is no number, or none is finite.
    """
    rows = listed(values)
    found = [value for _, value, _ in rows if value is not None]
    if not any(map(math.isfinite, found)):
        raise ValueError(f"there is no finite number to draw: {dict(values)}")
    marks = {name: float(level) for name, level in (levels or {}).items()}
    every = [0.0, *(v for v in (*found, *marks.values()) if math.isfinite(v))]
    low, high = min(every), max(every)
    names = [name for name, value, _ in rows if value is not None]
    axis = sideways(names, (low, high if high > low else low + 1.0), BEHIND_BARS)
    drawn = [
        draw_bar(value, k, axis, role) + write_number(value, k, axis)
        for k, (_, value, role) in enumerate(rows)
        if value is not None
    ]
    told = [(name, "" if value is None else short(value)) for name, value, _ in rows]
    return finished(told, axis, drawn, marks, x, caption, BEHIND_BARS)


def dots(
    values: Mapping[str, Any],
    *,
    x: str = "",
    x_range: Range | None = None,
    log: bool = False,
    levels: Mapping[str, float | int] | None = None,
    intervals: Mapping[str, Range | Mapping[str, Range]] | None = None,
    caption: str | None = None,
) -> View:
    """Draw numbers as dots along one axis, one name below the other.

    Args:
        values: Each row's name and its number; or several numbers, which are drawn faintly, or at
            most four with names, each of which has a color and a mark.
        x: The name of the axis.
        x_range: The ends of the axis; use the same ones in pictures you compare.
        log: Whether the axis is logarithmic. If so, a row's only number is beside its dot.
        levels: Dotted lines to compare with: their names and numbers.
        intervals: The ends of a thick line behind a row's dot, for the rows that have one; in a row
            of numbers with names, each name's ends.
        caption: A line below the picture.

    Raises:
        ValueError: There is no number, none is finite, one isn't above 0 on a logarithmic axis, an
            interval belongs to no dot, numbers have more than four names, or the range doesn't go
            from a smaller to a larger number.
    """
    found = {str(name): several(each) for name, each in values.items()}
    marks = {name: float(level) for name, level in (levels or {}).items()}
    given = {
        name: ends if isinstance(ends, Mapping) else {"": ends}
        for name, ends in (intervals or {}).items()
    }
    around = {name: {n: numbers(ends) for n, ends in each.items()} for name, each in given.items()}
    if not {*around} <= {*found}:
        raise ValueError(f"intervals of {[*around]} don't all belong to a dot: {[*found]}")
    thick = [ends for each in around.values() for ends in each.values()]
    every = [v for row in (*found.values(), *thick) for v in row]
    across = span([*every, *marks.values()], x_range, log=log)
    behind = BEHIND_BARS if log else BEHIND_DOTS
    axis = sideways(found, across, behind, log=log)
    whole = {name: around.get(name, {}).get("") for name in found}
    drawn = [draw_dots(row, whole[name], k, axis) for k, (name, row) in enumerate(found.items())]
    told = {name: in_words(row, whole[name]) for name, row in found.items()}
    named = {
        str(name): dict(zip(each, found[str(name)], strict=True))
        for name, each in values.items()
        if isinstance(each, Mapping)
    }
    kinds = list(dict.fromkeys(kind for row in named.values() for kind in row))
    if kinds:
        check({kind: [] for kind in kinds}, "dots")
    for k, name in enumerate(found):
        if row := named.get(name):
            ends = around.get(name, {})
            drawn[k] = draw_named(row, ends, kinds, k, axis)
            told[name] = ", ".join(f"{n} {in_words([v], ends.get(n))}" for n, v in row.items())
    for k, (value, *more) in enumerate(found.values() if log else []):
        if not more and axis.low <= value <= axis.high:
            drawn[k] += write_number(value, k, axis, 10)
    return finished([*told.items()], axis, drawn, marks, x, caption, behind, kinds)


def several(values: Any) -> list[float]:
    """Return one number or several as a list."""
    if isinstance(values, Mapping):
        return numbers(values.values())
    many = isinstance(values, Sequence) or getattr(values, "ndim", 0) > 0
    return numbers(values if many else [values])


def in_words(row: Sequence[float], interval: Sequence[float] | None) -> str:
    """Return a row's number, with its interval, or how many numbers there are and their ends."""
    if len(row) == 1:
        return short(row[0]) + (" ({} to {})".format(*map(short, interval)) if interval else "")
    known = [v for v in row if math.isfinite(v)] or [math.nan]
    return f"{len(row)} numbers, {short(min(known))} to {short(max(known))}"


def listed(values: Mapping[str, Any]) -> list[tuple[str, float | None, str]]:
    """Return each row's name, number, and color; the name of a group has no number."""
    rows: list[tuple[str, float | None, str]] = []
    groups = [{*one} for one in values.values() if isinstance(one, Mapping)]
    alike = len(groups) < 2 or bool(set.intersection(*groups))
    for group, (name, one) in enumerate(values.items()):
        inside = one if isinstance(one, Mapping) else {name: one}
        rows += [(str(name), None, "")] if inside is one else []
        found = zip(inside, numbers(inside.values()), strict=True)
        colors = [SERIES[(k if alike else group) % 4] for k in range(len(inside))]
        rows += [(str(n), value, role) for (n, value), role in zip(found, colors, strict=True)]
    return rows


def sideways(
    names: Iterable[str], across: tuple[float, float], behind: float, *, log: bool = False
) -> Axis:
    """Return the axis beside the names, with room for the bars' numbers beyond both ends."""
    left = max(min(columns_of(name), LONGEST) for name in names) * width_of("m") + 10
    before = behind if behind == BEHIND_BARS and across[0] < 0 else 0.0
    return Axis(*across, start=left + before, end=max(WIDTH, left + 200) - behind, log=log)


def row_middle(k: int) -> float:
    """Return the height of the middle of a row."""
    return TOP + ROW * (k + 0.5)


def draw_bar(value: float, k: int, axis: Axis, role: str) -> str:
    """Draw a bar from zero; a negative one has the color of negative numbers."""
    if not math.isfinite(value):
        return ""
    start, end = axis.place(0.0), axis.place(value)
    role = "negative" if value < 0 else role
    return bar(min(start, end), row_middle(k) - 8, abs(end - start), 16, role=role)


def write_number(value: float, k: int, axis: Axis, apart: float = 6) -> str:
    """Write a number past its bar or dot; a dotted line behind the number breaks."""
    shown = value if math.isfinite(value) else 0.0
    anchor, away = ("end", -6.0) if shown < 0 else ("start", apart)
    place = axis.place(shown) + away, row_middle(k) + 4
    return text(*place, short(value), css="small over", anchor=anchor)


def draw_dots(row: Sequence[float], interval: Sequence[float] | None, k: int, axis: Axis) -> str:
    """Draw a row's dots on a thin line, or write its only number if that is off the axis."""
    y = row_middle(k)
    drawn = line([(axis.start, y), (axis.end, y)], css="thin")
    drawn += stroke(interval, y, axis, SERIES[0]) if interval else ""
    known = [v for v in row if math.isfinite(v) and axis.low <= v <= axis.high]
    if len(row) == 1 and not known:
        return drawn + text(axis.start + 6, y + 4, short(row[0]), css="small", anchor="start")
    if len(row) == 1:
        return drawn + circle(axis.place(known[0]), y, 4.5, role=SERIES[0])
    places = [(axis.place(v), y + (i % 5 - 2) * 2.5) for i, v in enumerate(known)]
    return drawn + "".join(circle(*at, 3.2, css="dot faint", role=SERIES[0]) for at in places)


def draw_named(
    row: Mapping[str, float],
    around: Mapping[str, Sequence[float]],
    kinds: Sequence[str],
    k: int,
    axis: Axis,
) -> str:
    """Draw a row's numbers on a thin line, with a mark and a height for each kind."""
    drawn, top = draw_dots([], None, k, axis), row_middle(k) - 3 * (len(row) - 1)
    for place, kind in enumerate(sorted(row, key=kinds.index)):
        value, number, y = row[kind], kinds.index(kind), top + 6 * place
        drawn += stroke(around[kind], y, axis, SERIES[number]) if kind in around else ""
        if axis.low <= value <= axis.high:
            drawn += mark(axis.place(value), y, number)
    return drawn


def stroke(interval: Sequence[float], y: float, axis: Axis, role: str) -> str:
    """Draw an interval as a thick line, as far as it's on the axis."""
    ends = [(axis.place(min(max(end, axis.low), axis.high)), y) for end in interval]
    return line(ends, role=role, css="bold")


def finished(
    told: Sequence[tuple[str, str]],
    axis: Axis,
    drawn: Sequence[str],
    levels: Mapping[str, float],
    x: str,
    caption: str | None,
    behind: float,
    kinds: Sequence[str] = (),
) -> View:
    """Return the view: the drawing with names, axis, levels, and a legend of the kinds."""
    bottom = TOP + ROW * len(told) + 4
    names = [
        text(
            0,
            row_middle(k) + 4,
            name,
            css="" if said else "title over",
            anchor="start",
            most=LONGEST,
        )
        for k, (name, said) in enumerate(told)
    ]
    dotted = [level(name, axis, value, bottom) for name, value in levels.items()]
    parts = [*dotted, *names, *drawn, along(axis, bottom, x)]
    wide, high = max(WIDTH, axis.end + behind), bottom + (42 if x else 24)
    entries, more = lay_out(list(kinds)) if kinds else ([], 0.0)
    parts += [key(n, i, at, high + y, dashed=False) for i, (n, at, y) in enumerate(entries)]
    high += more
    rows = [[*row] for row in told]
    rows += ([f"{name} (dotted)", short(value)] for name, value in levels.items())
    shown = picture(parts, wide, high, grows=GROWS)
    return figure(shown, ["", x or "number"], rows, name=x or "numbers", caption=caption)


def level(name: str, axis: Axis, value: float, bottom: float) -> str:
    """Draw a dotted line with its name above."""
    x = axis.place(value)
    dotted = line([(x, TOP), (x, bottom)], role="quiet", css="dotted")
    return dotted + text(x, TOP - 5, name, css="small")
