"""A part of the plane: its axes, and arrows from zero."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from glassformer.views.axes import Axis, tick
from glassformer.views.drawing import TIP, as_role, direction, line, panel, text, tip

Point = tuple[float, float]


@dataclass(frozen=True)
class Plane:
    """A square part of the plane.

    Attributes:
        left: The x of its left edge in the picture.
        top: The y of its top edge.
        side: The length of its sides in the picture.
        middle: The point in its middle.
        half: Half of the length of its sides, in its own numbers.
    """

    left: float
    top: float
    side: float
    middle: Point
    half: float

    def at(self, point: Sequence[float]) -> Point:
        """Return where a point is drawn."""
        unit, (x, y) = self.side / 2 / self.half, self.middle
        up = self.top + self.side / 2 - unit * (point[1] - y)
        return self.left + self.side / 2 + unit * (point[0] - x), up

    def axes(self) -> str:
        """Draw its frame, and its lines with their numbers: those of zero are stronger."""
        (x, y), half = self.middle, self.half
        across = Axis(x - half, x + half, self.left, self.left + self.side)
        up = Axis(y - half, y + half, self.top + self.side, self.top)
        parts = [panel(self.left, self.top, self.side, self.side, css="frame thin", corner=2)]
        for value in self.inner(across):
            place = across.place(value)
            css = "thin" if value else "base"
            parts.append(line([(place, self.top), (place, self.top + self.side)], css=css))
            parts.append(text(place, self.top + self.side + 14, tick(value), css="small"))
        for value in self.inner(up):
            place = up.place(value)
            css = "thin" if value else "base"
            parts.append(line([(self.left, place), (self.left + self.side, place)], css=css))
            if value:
                parts.append(
                    text(self.left + 4, place - 3, tick(value), css="small over", anchor="start")
                )
        return "".join(parts)

    def inner(self, axis: Axis) -> list[float]:
        """Return the round numbers along an axis that have room for their labels."""
        edge = 0.08 * self.half
        return [v for v in axis.ticks(5) if axis.low + edge < v < axis.high - edge]

    def arrow(self, point: Sequence[float], *, role: str, css: str = "") -> str:
        """Draw an arrow from zero to a point; its head is turned, so that a script can turn it."""
        start, (x, y) = self.at((0, 0)), self.at(point)
        dx, dy = direction(start, (x, y))
        back, turn = (x - TIP * dx, y - TIP * dy), math.degrees(math.atan2(dy, dx))
        head = tip(0, 0, 1, 0, role=role)
        return (
            line([start, back], role=role, css=css)
            + f'<g transform="translate({x:.1f} {y:.1f}) rotate({turn:.1f})">{head}</g>'
        )

    def name(self, point: Sequence[float], word: str, *, role: str) -> str:
        """Write a word beyond the head of its arrow."""
        x, y = self.at(point)
        dx, dy = direction(self.at((0, 0)), (x, y))
        anchor = "start" if dx > 0.4 else "end" if dx < -0.4 else "middle"
        beyond = (x + 9 * dx, y + (16 if abs(dx) <= 0.4 else 10) * dy + 4)
        return text(*beyond, word, role=role, css="label over", anchor=anchor, most=8)


def hull(points: Sequence[Point]) -> list[Point]:
    """Return the corners of the convex hull of some points, in order.

    Source: Andrew 1979, the monotone chain.
    """

    def chain(ordered: list[Point]) -> list[Point]:
        kept: list[Point] = []
        for x, y in ordered:
            while len(kept) > 1 and (kept[-1][0] - kept[-2][0]) * (y - kept[-2][1]) <= (
                kept[-1][1] - kept[-2][1]
            ) * (x - kept[-2][0]):
                kept.pop()
            kept.append((x, y))
        return kept

    ordered = sorted(set(points))
    return chain(ordered)[:-1] + chain(ordered[::-1])[:-1] or ordered


def between(points: Sequence[Point], *, role: str) -> str:
    """Tint everything between some points: every weighted average of them is there."""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in hull(points))
    return f'<g{as_role(role)}><path class="tint" style="fill-opacity:.14" d="M{path}z"/></g>'
