"""`hands`: pairs of numbers as arrows that turn from position to position, as in RoPE."""

import math
from collections.abc import Mapping
from typing import Any

from glassformer.views.drawing import arrow, figure, picture, text, width_of
from glassformer.views.plots import numbers
from glassformer.views.view import View

STEP, ROW = 30.0, 40.0  # from one position to the next, and from one row to the next
LONG = 12.0  # half of the longest arrow
LONGEST = 16  # the most letters of a name that are shown


def hands(rows: Mapping[str, Any], *, x: str = "", caption: str | None = None) -> View:
    """Draw a row of arrows for each name: one arrow per position, in the direction of a pair.

    Args:
        rows: Each row's name and its pairs: `(places, 2)`, with the first number to the right and
            the second upward. The longest arrow of all sets the scale.
        x: The name of the axis.
        caption: A line below the picture.

    Raises:
        ValueError: There is no row, one isn't `(places, 2)`, rows differ in length, or no pair is
            finite and nonzero.
    """
    found = {str(name): [numbers(pair) for pair in pairs] for name, pairs in rows.items()}
    counts = {name: len(pairs) for name, pairs in found.items()}
    if len(set(counts.values())) != 1 or any(len(p) != 2 for ps in found.values() for p in ps):
        raise ValueError(f"hands needs rows of (places, 2) of the same length, but got {counts}")
    lengths = [math.hypot(*pair) for pairs in found.values() for pair in pairs]
    longest = max((length for length in lengths if math.isfinite(length)), default=0.0)
    if not longest:
        raise ValueError("there is no finite, nonzero pair of numbers to draw")
    left = min(LONGEST, max(map(len, found))) * width_of("m") + STEP
    parts = []
    for row, (name, pairs) in enumerate(found.items()):
        y = 8 + ROW * (row + 0.5)
        parts.append(text(0, y + 4, name, anchor="start", most=LONGEST))
        parts += [hand(left + STEP * k, y, pair, longest) for k, pair in enumerate(pairs)]
    places, bottom = max(counts.values()), 8 + ROW * len(found)
    parts += [text(left + STEP * k, bottom + 14, str(k), css="small") for k in range(places)]
    parts.append(text(left + STEP * (places - 1) / 2, bottom + 32, x, css="small"))
    header = ["", *(f"{x or 'place'} {k}" for k in range(places))]
    body = [[name, *map(direction, pairs)] for name, pairs in found.items()]
    drawn = picture(parts, left + STEP * places, bottom + 38)
    return figure(drawn, header, body, name=f"Directions by {x or 'place'}", caption=caption)


def hand(x: float, y: float, pair: list[float], longest: float) -> str:
    """Draw an arrow centered on a point, or a dash if its numbers aren't finite."""
    if not all(map(math.isfinite, pair)):
        return text(x, y + 4, "–")
    across, up = (LONG * value / longest for value in pair)
    return arrow([(x - across, y + up), (x + across, y - up)], role="series-1")


def direction(pair: list[float]) -> str:
    """Return an arrow's direction: `30°`, counted counterclockwise from the right."""
    if not all(map(math.isfinite, pair)):
        return "none"
    return f"{math.degrees(math.atan2(pair[1], pair[0])):.0f}°".replace("-", "−")
