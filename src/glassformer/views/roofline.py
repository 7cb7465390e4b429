"""`roofline`: how fast programs run, compared with the two limits of their machine."""

import itertools
import math
from collections.abc import Iterable, Mapping

from glassformer.views.axes import Axis, along, short, tick_width, upward
from glassformer.views.drawing import GROWS, Number, cut, figure, line, picture, text, width_of
from glassformer.views.palette import SERIES, SMALL
from glassformer.views.plots import DASHES, HIGH, WIDTH, mark
from glassformer.views.view import View

DOT = 4.0  # radius of a point
APART = 15.0  # the least distance between two names in a column
LONGEST = 22  # the most letters of a name that are shown


def roofline(
    points: Mapping[str, tuple[Number, Number] | tuple[Number, Number, str]],
    *,
    rates: Mapping[str, Number],
    bandwidth: Number | Mapping[str, Number],
    caption: str | None = None,
) -> View:
    """Draw each program as a point below the machine's roof, with both axes logarithmic.

    A program that does `x` operations for each byte it moves can do at most `x · bandwidth`
    operations per second, and never more than the rate. The first limit is a slope and the second a
    level; they meet at the ridge. The roof of each further machine has a color and dashes of its
    own, and its points have that color and a mark of their own.

    Args:
        points: Each program's name, its operations per byte, and its billions of operations per
            second; with several machines, also the name of its rate, by default the first.
        rates: The machine's billions of operations per second, for each type of number.
        bandwidth: Its billions of bytes per second; for several machines, one number for each rate.
        caption: A line below the picture.

    Raises:
        ValueError: There is no point or no rate, a number isn't finite and above 0, a point's rate
            doesn't exist, or the bandwidths don't have the names of the rates, or are more than
            four.
    """
    given = dict(bandwidth) if isinstance(bandwidth, Mapping) else dict.fromkeys(rates, bandwidth)
    slopes = [*dict.fromkeys(given.values())]
    if [*given] != [*rates] or len(slopes) > len(DASHES):
        raise ValueError(
            f"bandwidths {given} must be for the rates {[*rates]}, and at most {len(DASHES)}"
        )
    places = {name: (float(one[0]), float(one[1])) for name, one in points.items()}
    owners = {
        name: one[2] if len(one) > 2 else next(iter(rates)) for name, one in points.items() if rates
    }
    if not {*owners.values()} <= {*rates}:
        raise ValueError(f"points are for the rates {owners}, but the rates are {[*rates]}")
    machines = {name: slopes.index(given[rate]) for name, rate in owners.items()}
    every = [*rates.values(), *slopes, *(number for pair in places.values() for number in pair)]
    if not points or not rates or not all(0 < number < math.inf for number in every):
        raise ValueError(
            "a roofline needs points and rates, all finite and above 0: "
            f"rates {dict(rates)}, bandwidth {given}, points {dict(points)}"
        )
    levels = {name: float(rate) for name, rate in rates.items()}
    ridges = {name: rate / given[name] for name, rate in levels.items()}
    right = decades([*(a for a, _ in places.values()), *ridges.values()])
    up = decades([*(b for _, b in places.values()), *levels.values()])
    y = Axis(*up, start=26.0 + HIGH, end=26.0, log=True)
    aside = max(wide(name) for name in points) + 12
    x = Axis(*right, start=tick_width(y), end=WIDTH - aside, log=True)
    parts = [
        upward(y, x.start, x.end, "billion operations a second"),
        along(x, y.start, "operations per byte"),
        *(
            roof(x, y, rate, float(given[name]), name, slopes.index(given[name]), len(slopes))
            for name, rate in levels.items()
        ),
        *named(places, x, y, levels, machines),
    ]
    rows = [[name, short(a), short(b)] for name, (a, b) in places.items()]
    rows += [[f"ridge, {name}", short(ridges[name]), short(levels[name])] for name in levels]
    header = ["", "operations per byte", "billion operations a second"]
    drawn = picture(parts, WIDTH, y.start + 42, grows=GROWS)
    return figure(drawn, header, rows, name="Programs below the roof", caption=caption)


def wide(name: str) -> float:
    """Return the width of a name, as it is shown."""
    return width_of(cut(name, LONGEST), SMALL)


def decades(values: Iterable[float]) -> tuple[float, float]:
    """Return the powers of ten around some numbers."""
    sizes = [math.log10(value) for value in values]
    return 10.0 ** math.floor(min(sizes) - 0.05), 10.0 ** math.ceil(max(sizes) + 0.05)


def roof(
    x: Axis, y: Axis, rate: float, bandwidth: float, name: str, machine: int, machines: int
) -> str:
    """Draw the part of the slope within the axes and the level that it meets, with a label."""
    role, css = SERIES[machine] if machines > 1 else "quiet", f"bold {DASHES[machine]}".strip()
    ridge, start = rate / bandwidth, max(x.low, y.low / bandwidth)
    corners = [(start, start * bandwidth), (ridge, rate), (x.high, rate)]
    drawn = line([(x.place(a), y.place(b)) for a, b in corners], role=role, css=css)
    above, owner = y.place(rate) - 5, role if machines > 1 else ""
    return drawn + text(
        x.end, above, name, role=owner, css="small over", anchor="end", most=LONGEST
    )


def named(
    points: Mapping[str, tuple[float, float]],
    x: Axis,
    y: Axis,
    levels: Mapping[str, float],
    machines: Mapping[str, int],
) -> list[str]:
    """Draw the points, with their names beside them, clear of points, levels, and all names.

    A line joins a point to a name that had to move up or down.
    """
    lines = [(x.start, x.end, y.place(level), APART / 2) for level in levels.values()]
    lines += [(x.end - wide(name), x.end, y.place(n) - 9, APART) for name, n in levels.items()]
    lines += [
        (x.place(a) - DOT, x.place(a) + DOT, y.place(b), APART / 2 + DOT)
        for a, b in points.values()
    ]
    parts: list[str] = []
    for name, (right, up) in sorted(points.items(), key=lambda one: one[1][1]):
        a, b, room = x.place(right), y.place(up), wide(name)
        sides = [(a + 8, "start"), (a - 8, "end")]
        moves = (sign * step for step in itertools.count(0, 3) for sign in (1, -1))
        options = ((b + move, *side) for move in moves for side in sides)
        middle, edge, anchor = next(
            option for option in options if fits(option, room, lines, x.start)
        )
        start = edge if anchor == "start" else edge - room
        lines.append((start, start + room, middle, APART))
        words = text(edge, middle + 4, name, css="small over", anchor=anchor, most=LONGEST)
        moved = abs(middle - b) > APART / 2
        leader = line([(a, b), (edge, middle)], role="quiet", css="thin") if moved else ""
        parts.append(leader + mark(a, b, machines[name]) + words)
    return parts


def fits(
    option: tuple[float, float, str],
    room: float,
    taken: Iterable[tuple[float, float, float, float]],
    left: float,
) -> bool:
    """Return whether a name fits at a height and an edge, to the right of the vertical axis."""
    middle, edge, anchor = option
    start = edge if anchor == "start" else edge - room
    return start > left and all(
        abs(middle - height) >= apart
        for first, last, height, apart in taken
        if first < start + room and start < last
    )
