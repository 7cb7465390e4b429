"""Axes of a plot: coordinates of numbers, the numbers beside an axis, and the lines."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from glassformer.views.drawing import line, text, width_of
from glassformer.views.palette import SMALL
from glassformer.views.view import minus, number

ROOM = 0.06  # margin at both ends, as a share of the difference between the extremes
WORDS_APART = 14.0  # the least distance between two labels below each other
End = float | int | None  # of an axis; None: all numbers fit
Range = tuple[End, End]
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """One direction of a plot.

    Attributes:
        low: The number at its start.
        high: The number at its end.
        start: The coordinate of `low`; more than `end` on a vertical axis, since y grows downward.
        end: The coordinate of `high`.
        log: Whether the axis is logarithmic.
        whole: Whether only whole numbers are marked: steps, layers, or grades.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    whole: bool = False

    def place(self, value: float) -> float:
        """Return the coordinate of a number."""
        low, high, value = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (value - low) / (high - low)

    def write(self, value: float) -> str:
        """Format a number for the axis."""
        return tick(value, log=self.log)

    def ticks(self, most: int = 6) -> list[float]:
        """Return round numbers along the axis, about `most` or fewer."""
        if self.log:
            base, log = (2.0, math.log2) if self.high < 32 * self.low else (10.0, math.log10)
            low, high = math.ceil(log(self.low)), math.floor(log(self.high))
            apart = max(1, math.ceil((high - low + 1) / most))
            return [base**k for k in range(low, high + 1, apart)]
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        steps = [power * k for k in (1, 2, 2.5, 5, 10) if not (self.whole and power * k % 1)]
        step = next((s for s in steps if s >= rough * 0.999), 1.0)
        first = math.ceil(self.low / step - 1e-9)
        count = math.floor(self.high / step + 1e-9) - first
        return [round((first + k) * step, 12) for k in range(count + 1)]


def tick(value: float, *, log: bool = False) -> str:
    """Format a number for an axis: `1,000`, `−0.5`, or `10⁻⁵` for a tiny or huge one."""
    if value and not (1e-2 if log else 1e-3) <= abs(value) < (2e3 if log else 1e6):
        digits, power = f"{value:.1e}".split("e")
        times = {"1.0": "", "-1.0": "−"}.get(digits, minus(f"{float(digits):g}·"))
        return f"{times}10{str(int(power)).translate(SUPERSCRIPT)}"
    return minus(f"{value:,.6g}")


def short(value: float) -> str:
    """Format a measured number with three digits, or from 1,000 up as a whole number."""
    if not math.isfinite(value):
        return minus(number(value, 1.0))
    written = f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"
    return minus(written)


def span(
    values: Iterable[float], given: Range | None = None, *, log: bool = False
) -> tuple[float, float]:
    """Return the ends of an axis: as given, or around all finite numbers.

    Raises:
        ValueError: No number is finite, one isn't above 0 on a logarithmic axis, or the range
            doesn't go from a smaller to a larger finite number.
    """
    low, high = given or (None, None)
    finite = [float(v) for v in values if math.isfinite(v)] + [
        float(v) for v in (low, high) if v is not None
    ]
    if not finite:
        raise ValueError("there is no finite number to draw")
    around = apart(min(finite), max(finite), log=log)
    start = around[0] if low is None else float(low)
    end = around[1] if high is None else float(high)
    if not -math.inf < start < end < math.inf:
        raise ValueError(f"range {given} must go from a smaller to a larger finite number")
    return start, end


def apart(low: float, high: float, *, log: bool) -> tuple[float, float]:
    """Return the ends of an axis: a little below the smallest number and above the largest."""
    if log and low <= 0:
        raise ValueError(f"{low:g} is not on a logarithmic axis: its numbers must be above 0")
    if log:
        margin = (high / low) ** ROOM if high > low else 2.0
        return low / margin, high * margin
    room = ROOM * (high - low) or abs(low) / 2 or 1.0
    return low - room if low < 0 or low >= room else 0.0, high + room


def upward(axis: Axis, left: float, right: float, name: str, rows: int = 0) -> str:
    """Draw a vertical axis: thin lines across, numbers on the left, a name some rows above."""
    start, y = left - tick_width(axis), axis.end - 11 - WORDS_APART * rows
    parts = [text(start, y, name, css="small", anchor="start")]
    parts += [across_at(value, axis, left, right) for value in axis.ticks()]
    return "".join(parts)


def across_at(value: float, axis: Axis, left: float, right: float, apart: float = 7.0) -> str:
    """Draw a thin line across a plot at a number, which is written so far beside it, if at all."""
    y = axis.place(value)
    drawn = line([(left, y), (right, y)], css="thin")
    beside = (
        text(left - apart, y + 4, axis.write(value), css="small", anchor="end") if apart else ""
    )
    return drawn + beside


def tick_width(axis: Axis) -> float:
    """Return the width that the numbers of a vertical axis take."""
    return max(width_of(axis.write(v), SMALL) for v in axis.ticks()) + 9


def along(axis: Axis, bottom: float, name: str) -> str:
    """Draw a horizontal axis: a line, its numbers below, and a name below those."""
    parts = [line([(axis.start, bottom), (axis.end, bottom)], css="base")]
    for value in axis.ticks():
        x = axis.place(value)
        parts.append(line([(x, bottom), (x, bottom + 4)], css="base"))
        parts.append(text(x, bottom + 17, axis.write(value), css="small"))
    middle = (axis.start + axis.end) / 2
    return "".join(parts) + (text(middle, bottom + 35, name, css="small") if name else "")


def across(
    levels: Mapping[str, float | int],
    axis: Axis,
    left: float,
    right: float,
    ends: Iterable[tuple[str, float, str]] = (),
) -> str:
    """Draw dotted lines across a plot, each with its name at the right end.

    `ends` are the names that stand there for curves, with their heights and roles. A name that had
    to move is joined to its line.
    """
    named = [(axis.place(float(level)), name, "") for name, level in levels.items()]
    parts = [line([(left, y), (right, y)], role="quiet", css="dotted") for y, *_ in named]
    named = sorted([*named, *((axis.place(height), name, role) for name, height, role in ends)])
    moved = spread([y for y, *_ in named], axis.end, axis.start)
    for (y, name, role), at in zip(named, moved, strict=True):
        if abs(at - y) > WORDS_APART / 3:
            parts.append(line([(right + 2, y), (right + 8, at)], role=role or "quiet", css="base"))
        parts.append(text(right + 10, at + 4, name, role=role, css="small", anchor="start"))
    return "".join(parts)


def spread(places: Sequence[float], top: float, bottom: float) -> list[float]:
    """Move sorted labels far enough apart to be read, and between two ends if they fit."""
    down = accumulate(places, lambda last, y: max(y, last + WORDS_APART))
    up = [*accumulate(reversed(places), lambda last, y: min(y, last - WORDS_APART))][::-1]
    room = [bottom - WORDS_APART * k for k in range(len(places))][::-1]
    middles = [min((a + b) / 2, most) for a, b, most in zip(down, up, room, strict=True)]
    return [max(y, top + WORDS_APART * k) for k, y in enumerate(middles)]


def downward(marks: Mapping[str, float | int], x: Axis, y: Axis, wide: float) -> str:
    """Draw thin vertical lines through a plot, each with its name above it in a row of its own."""
    parts = []
    for row, (name, value) in enumerate(marks.items()):
        at, half = x.place(float(value)), width_of(name, SMALL) / 2
        top = y.end - 4 - WORDS_APART * row
        parts.append(line([(at, y.start), (at, top)], role="quiet", css="base"))
        parts.append(text(min(max(at, half), wide - half), top - 4, name, css="small over"))
    return "".join(parts)
