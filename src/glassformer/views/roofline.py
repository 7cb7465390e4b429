"""`roofline`: how fast programs run, compared with the two limits of their machine."""

import itertools
import math
from collections.abc import Iterable, Mapping

from glassformer.views.axes import Axis, along, short, tick_width, upward
from glassformer.views.drawing import GROWS, Number, cut, figure, line, picture, text, width_of
from glassformer.views.palette import SERIES, SMALL
from glassformer.views.plots import DASHES, WIDTH, mark
from glassformer.views.view import View

DOT = 4.0  # radius of a point
APART = 15.0  # the least distance between two names in a column
LONGEST = 20  # the most letters of a name that are shown
TALL = 216.0  # height between the axes
PREFIXES = "GTPE"  # giga, a billion; and each is a thousand times the one before


def roofline(
    points: Mapping[str, tuple[Number, Number] | tuple[Number, Number, str]],
    *,
    rates: Mapping[str, Number],
    bandwidth: Number | Mapping[str, Number],
    shares: bool = False,
    caption: str | None = None,
) -> View:
    """Draw each program as a point below the machine's roof, with both axes logarithmic.

    A program that does `x` operations for each byte it moves can do at most `x · bandwidth`
    operations per second, and never more than the rate. The first limit is a slope and the second a
    level; they meet at the ridge, where a tick has its operations per byte. Left of its machine's
    ridge, a program is memory-bound, and right of it compute-bound. The roof of each further
    machine has a color and dashes of its own, and its points have that color and a mark of their
    own.

    Args:
        points: Each program's name, its operations per byte, and its billions of operations per
            second; with several machines, also the name of its rate, by default the first.
        rates: The machine's billions of operations per second, for each type of number.
        bandwidth: Its billions of bytes per second; for several machines, one number for each rate.
        shares: Whether to write after a point's name how much of its roof it reaches, and to join
            the point and the roof.
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
    y = Rates(*up, start=26.0 + TALL, end=26.0, log=True)
    x = Axis(*right, start=tick_width(y), end=WIDTH - 20, log=True)
    roofs = {n: min(levels[r], places[n][0] * given[r]) for n, r in owners.items()}
    reached = {n: f"{places[n][1] / roofs[n]:.0%}" for n in points} if shares else {}
    parts = [
        upward(y, x.start, x.end, "operations a second (1 G: a billion)"),
        along(x, y.start, "operations per byte"),
        *(
            roof(x, y, rate, float(given[name]), name, slopes.index(given[name]), len(slopes))
            for name, rate in levels.items()
        ),
        *(gap(x, y, *places[n], roofs[n], machines[n]) for n in reached),
        *named(
            places, x, y, {n: (level, given[n]) for n, level in levels.items()}, machines, reached
        ),
    ]
    more = {n: [share] for n, share in reached.items()}
    rows = [[n, short(a), short(b), *more.get(n, [])] for n, (a, b) in places.items()]
    blank = [""] if shares else []
    rows += [[f"ridge, {n}", short(ridges[n]), short(levels[n]), *blank] for n in levels]
    header = ["", "operations per byte", "billion operations a second"]
    header += ["share of the roof"] if shares else []
    drawn = picture(parts, WIDTH, y.start + 42, grows=GROWS)
    return figure(drawn, header, rows, name="Programs below the roof", caption=caption)


class Rates(Axis):
    """An axis of billions of operations a second."""

    def write(self, value: float) -> str:
        """Format a rate with the prefix of its unit, such as `100 G` or `10 T`."""
        power = min(max(math.floor(math.log10(value) / 3), 0), len(PREFIXES) - 1)
        return f"{value / 1000**power:g} {PREFIXES[power]}"


def wide(name: str) -> float:
    """Return the width of a name, as it is shown."""
    return width_of(cut(name, LONGEST), SMALL)


def gap(x: Axis, y: Axis, a: float, b: float, limit: float, machine: int) -> str:
    """Draw a dotted line from a point up to its roof."""
    ends = [(x.place(a), y.place(b)), (x.place(a), y.place(limit))]
    return line(ends, role=SERIES[machine], css="dotted")


def decades(values: Iterable[float]) -> tuple[float, float]:
    """Return the powers of ten around some numbers."""
    sizes = [math.log10(value) for value in values]
    return 10.0 ** math.floor(min(sizes) - 0.05), 10.0 ** math.ceil(max(sizes) + 0.05)


def roof(
    x: Axis, y: Axis, rate: float, bandwidth: float, name: str, machine: int, machines: int
) -> str:
    """Draw the part of the slope within the axes, the level, and the ridge, with a label."""
    role, css = SERIES[machine] if machines > 1 else "quiet", f"bold {DASHES[machine]}".strip()
    ridge, start = rate / bandwidth, max(x.low, y.low / bandwidth)
    corners = [(start, start * bandwidth), (ridge, rate), (x.high, rate)]
    drawn = line([(x.place(a), y.place(b)) for a, b in corners], role=role, css=css)
    (a, b), owner = (x.place(ridge), y.place(rate)), role if machines > 1 else ""
    drawn += line([(a, b), (a, b + 14)], role=role) + text(
        a + 4, b + 16, short(ridge), role=owner, css="small over", anchor="start"
    )
    return drawn + text(
        x.end, b - 5, name, role=owner, css="small over", anchor="end", most=LONGEST
    )


def named(
    points: Mapping[str, tuple[float, float]],
    x: Axis,
    y: Axis,
    roofs: Mapping[str, tuple[float, float]],
    machines: Mapping[str, int],
    reached: Mapping[str, str],
) -> list[str]:
    """Draw the points, with their names beside them, clear of points, roofs, and all names.

    A line joins a point to a name that had to move up or down.
    """
    lines = [(x.end - wide(name), x.end, y.place(n) - 9, APART) for name, (n, _) in roofs.items()]
    lines += [
        (x.place(n / w), x.place(n / w) + 4 + wide(short(n / w)), y.place(n) + 12, APART)
        for n, w in roofs.values()
    ]
    lines += [
        (x.place(a) - DOT, x.place(a) + DOT, y.place(b), APART / 2 + DOT)
        for a, b in points.values()
    ]
    parts: list[str] = []
    for name, (right, up) in sorted(points.items(), key=lambda one: -one[1][1]):
        share = f", {reached[name]}" if name in reached else ""
        label = cut(name, LONGEST - len(share)) + share
        a, b, room = x.place(right), y.place(up), wide(label)
        sides = [(a + 8, "start"), (a - 8, "end")]
        far = itertools.count(0, 3)
        options = ((b + move, *side) for step in far for move in (step, -step) for side in sides)
        middle, edge, anchor = next(
            option
            for option in options
            if fits(option, room, lines, x.start)
            and (
                abs(option[0] - b) > TALL / 3 or beside_roofs(option, room, b, x, y, roofs.values())
            )
        )
        start = edge if anchor == "start" else edge - room
        lines.append((start, start + room, middle, APART))
        words = text(edge, middle + 4, label, css="small over", anchor=anchor)
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
    """Return whether a name fits at a height and an edge, inside the picture."""
    middle, edge, anchor = option
    start = edge if anchor == "start" else edge - room
    return (
        left < start
        and start + room <= WIDTH
        and all(
            abs(middle - height) >= apart
            for first, last, height, apart in taken
            if first < start + room and start < last
        )
    )


def beside_roofs(
    option: tuple[float, float, str],
    room: float,
    height: float,
    x: Axis,
    y: Axis,
    roofs: Iterable[tuple[float, float]],
) -> bool:
    """Return whether a name is on the same side of each roof as its point, and crosses none."""
    middle, edge, anchor = option
    sign = 1 if anchor == "start" else -1
    sizes = [
        x.low * (x.high / x.low) ** ((place - x.start) / (x.end - x.start))
        for place in (edge - 8 * sign, *sorted((edge, edge + sign * room)))
    ]
    heights = [[y.place(min(rate, size * width)) for size in sizes] for rate, width in roofs]
    return all(
        middle > low + APART / 2 if height >= here else middle < high - APART / 2
        for here, low, high in heights
    )
