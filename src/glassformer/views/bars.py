"""`bars` and `dots`: a number for each name, as a length or as a place on an axis."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from glassformer.views.axes import Axis, Range, along, short, span
from glassformer.views.drawing import bar, figure, line, picture, text, width_of
from glassformer.views.palette import SERIES
from glassformer.views.plots import numbers
from glassformer.views.view import View, columns_of

WIDTH = 380.0
GROWS = 1.4  # at most, on a wide page
ROW = 24.0  # of a name with its bar or dot
TOP = 20.0  # room for names above
LONGEST = 26  # letters shown of a name
BEHIND_BARS, BEHIND_DOTS = 46.0, 14.0  # room behind the axis


def bars(
    values: Mapping[str, Any],
    *,
    x: str = "",
    x_range: Range | None = None,
    levels: Mapping[str, float | int] | None = None,
    role: str = "series-1",
    caption: str | None = None,
) -> View:
    """Draws numbers as bars from zero, one below the other, each with its number.

    Args:
        values: What each bar is, and its number; negative ones lead to the left.
        x: What the numbers are.
        x_range: Where the axis begins and ends. Pictures that are compared share it.
        levels: Dotted lines to compare with: their names and numbers.
        role: Whose color the bars have. Negative bars are in that of negative numbers.
        caption: A line below the picture.

    Raises:
        ValueError: There is no number, none is finite, or a range is none.
    """
    found = checked(values)
    marks = {name: float(level) for name, level in (levels or {}).items()}
    every = [0.0, *(v for v in (*found.values(), *marks.values()) if math.isfinite(v))]
    low, high = min(every), max(every)
    across = x_range or (low, high if high > low else low + 1.0)
    axis = sideways(found, span([], across), BEHIND_BARS)
    drawn = [draw_bar(value, k, axis, role) for k, value in enumerate(found.values())]
    return finished(found, axis, drawn, marks, {}, x, caption, BEHIND_BARS)


def dots(
    values: Mapping[str, Any],
    *,
    x: str = "",
    x_range: Range | None = None,
    log: bool = False,
    levels: Mapping[str, float | int] | None = None,
    bands: Mapping[str, tuple[float, float]] | None = None,
    caption: str | None = None,
) -> View:
    """Draws numbers as dots along one axis, one name below the other.

    Args:
        values: What each dot is, and its number.
        x: What the numbers are.
        x_range: Where the axis begins and ends. Pictures that are compared share it.
        log: Whether equal ratios, rather than equal differences, are equally far apart.
        levels: Dotted lines to compare with: their names and numbers.
        bands: Shaded ranges: their names, and where they begin and end.
        caption: A line below the picture.

    Raises:
        ValueError: There is no number, none is finite, one is not above 0 on a logarithmic axis,
            or a range is none.
    """
    found = checked(values)
    marks = {name: float(level) for name, level in (levels or {}).items()}
    shades = {name: (float(low), float(high)) for name, (low, high) in (bands or {}).items()}
    edges = [edge for shade in shades.values() for edge in shade]
    across = span([*found.values(), *marks.values(), *edges], x_range, log=log)
    axis = sideways(found, across, BEHIND_DOTS, log=log)
    drawn = [draw_dot(value, k, axis) for k, value in enumerate(found.values())]
    return finished(found, axis, drawn, marks, shades, x, caption, BEHIND_DOTS)


def checked(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers, of which there must be one."""
    found = dict(zip(map(str, values), numbers(values.values()), strict=True))
    if not any(map(math.isfinite, found.values())):
        raise ValueError(f"there is no finite number to draw: {found}")
    return found


def sideways(
    names: Iterable[str], across: tuple[float, float], behind: float, *, log: bool = False
) -> Axis:
    """Return the axis beside the names, with room for the numbers of bars behind both ends."""
    left = max(min(columns_of(name), LONGEST) for name in names) * width_of("m") + 10
    before = behind if behind == BEHIND_BARS and across[0] < 0 else 0.0
    return Axis(*across, start=left + before, end=max(WIDTH, left + 200) - behind, log=log)


def row_middle(k: int) -> float:
    """Return the height of the middle of a row."""
    return TOP + ROW * (k + 0.5)


def draw_bar(value: float, k: int, axis: Axis, role: str) -> str:
    """Draw a bar from zero, or from the axis's end that is nearer to zero, and its number."""
    y = row_middle(k)
    if not math.isfinite(value):
        return text(axis.place(max(0.0, axis.low)) + 6, y + 4, short(value), anchor="start")
    start, end = (axis.place(min(max(v, axis.low), axis.high)) for v in (0.0, value))
    wide = bar(min(start, end), y - 8, abs(end - start), 16, role="negative" if value < 0 else role)
    if value < 0:
        return wide + text(end - 6, y + 4, short(value), css="small", anchor="end")
    return wide + text(end + 6, y + 4, short(value), css="small", anchor="start")


def draw_dot(value: float, k: int, axis: Axis) -> str:
    """Draw a dot on a thin line; what has no place on the axis is written."""
    y = row_middle(k)
    across = line([(axis.start, y), (axis.end, y)], css="thin")
    if not (math.isfinite(value) and axis.low <= value <= axis.high):
        return across + text(axis.start + 6, y + 4, short(value), css="small", anchor="start")
    place = f'cx="{axis.place(value):.1f}" cy="{y:.1f}" r="4.5"'
    return f'{across}<circle class="dot" data-role="{SERIES[0]}" {place}/>'


def finished(
    found: Mapping[str, float],
    axis: Axis,
    drawn: Sequence[str],
    levels: Mapping[str, float],
    bands: Mapping[str, tuple[float, float]],
    x: str,
    caption: str | None,
    behind: float,
) -> View:
    """Put names, axis, levels and bands around what is drawn."""
    bottom = TOP + ROW * len(found) + 4
    names = [
        text(0, row_middle(k) + 4, name, anchor="start", most=LONGEST)
        for k, name in enumerate(found)
    ]
    shades = [band(name, axis, ends, bottom) for name, ends in bands.items()]
    dotted = [level(name, axis, value, bottom) for name, value in levels.items()]
    parts = [*shades, *names, *drawn, *dotted, along(axis, bottom, x)]
    wide, high = max(WIDTH, axis.end + behind), bottom + (42 if x else 24)
    rows = [[name, short(value)] for name, value in found.items()]
    rows += [[f"{name} (dotted)", short(value)] for name, value in levels.items()]
    rows += [[f"{name} (shaded)", " to ".join(map(short, ends))] for name, ends in bands.items()]
    shown = picture(parts, wide, high, grows=GROWS)
    return figure(shown, ["", x or "number"], rows, name=x or "numbers", caption=caption)


def band(name: str, axis: Axis, ends: tuple[float, float], bottom: float) -> str:
    """Draw a shaded range with its name above."""
    low, high = (axis.place(min(max(end, axis.low), axis.high)) for end in ends)
    place = f'x="{low:.1f}" y="{TOP:.1f}" width="{high - low:.1f}" height="{bottom - TOP:.1f}"'
    return f'<rect class="band" {place}/>' + text((low + high) / 2, TOP - 5, name, css="small")


def level(name: str, axis: Axis, value: float, bottom: float) -> str:
    """Draw a dotted line with its name above."""
    x = axis.place(value)
    dotted = line([(x, TOP), (x, bottom)], role="quiet", css="dotted")
    return dotted + text(x, TOP - 5, name, css="small")
