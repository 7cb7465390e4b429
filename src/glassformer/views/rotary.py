"""`hands` and `dials`: pairs of numbers that turn with their positions, as in RoPE."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from jaxtyping import Float
from torch import Tensor

from glassformer.layers.positions import RotaryPositions
from glassformer.views.drawing import (
    GROWS,
    Number,
    arrow,
    as_role,
    figure,
    picture,
    text,
    width_of,
)
from glassformer.views.plots import numbers
from glassformer.views.view import View, minus, number

STEP, ROW = 30.0, 40.0  # from one position to the next, and from one row to the next
LONG = 12.0  # half of the longest arrow
LONGEST = 16  # the most letters of a name that are shown

WIDTH, RADIUS, HIGH = 400.0, 58.0, 205.0
FACE = 36.0  # height of the labels above a dial
ACROSS = 3  # dials side by side


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
    return minus(f"{math.degrees(math.atan2(pair[1], pair[0])):.0f}°")


def dials(
    rotary: RotaryPositions,
    query: Float[Tensor, " head_dim"],
    key: Float[Tensor, " head_dim"],
    places: Sequence[tuple[int, int]],
    *,
    pair: int = 0,
    caption: str | None = None,
) -> View:
    """Draw a coordinate pair of a query and of a key, rotated by position, as a dial's hands.

    Each dial shows the query at one position and the key at another. If two dials' positions are
    equally far apart, so are their hands, and the products are the same.

    Args:
        rotary: The rotary positions.
        query: Two numbers: the pair of the query.
        key: Two numbers: the same pair of the key.
        places: Positions of the query and of the key, for each dial.
        pair: The pair's index in the head; pair 0 rotates fastest.
        caption: A line below the picture.

    Raises:
        ValueError: The query or the key isn't two finite numbers or is all zero, or there are no
            positions.
    """
    query, key = query.detach().float(), key.detach().float()
    for name, hand in (("query", query), ("key", key)):
        if tuple(hand.shape) != (2,) or not 0 < hand.norm().item() < math.inf:
            raise ValueError(f"{name} {hand.tolist()} must be two finite numbers, not both zero")
    if not places:
        raise ValueError("dials needs at least one pair of positions, but places is empty")
    parts, facts = [], []
    longest = max(query.norm().item(), key.norm().item())
    for k, (i, j) in enumerate(places):
        hands = [turned(rotary, hand, at, pair) for hand, at in ((query, i), (key, j))]
        x, y = WIDTH / ACROSS * (k % ACROSS + 0.5), HIGH * (k // ACROSS)
        (a, b), (c, d) = hands
        product, angle = a * c + b * d, math.degrees(math.atan2(a * d - b * c, a * c + b * d))
        parts.append(dial(x, y, hands, longest))
        parts.append(text(x, y + 12, f"query at {i}", css="title", role="query"))
        parts.append(text(x, y + 28, f"key at {j}", css="title", role="key"))
        told = minus(number(product, longest**2))
        apart, base = f"{away(j - i)}: {abs(angle):.0f}°", y + FACE + 18 + 2 * RADIUS
        parts.append(text(x, base, apart, role="attention"))
        parts.append(text(x, base + 19, f"product {told}", css="title"))
        facts.append(
            [f"query at {i}, key at {j}", away(j - i), f"{angle:.0f}°", number(product, longest**2)]
        )
    rows = math.ceil(len(places) / ACROSS)
    header = ["positions", "distance", "angle between", "product"]
    name = "Query and key, turned by their positions"
    drawn = picture(parts, WIDTH, HIGH * rows, grows=GROWS)
    return figure(drawn, header, facts, name=name, caption=caption)


def away(distance: int) -> str:
    """Say where a key is, as its query sees it: `2 back`."""
    return f"{abs(distance)} {'back' if distance < 0 else 'ahead'}" if distance else "same place"


def turned(
    rotary: RotaryPositions, hand: Tensor, position: int, pair: int
) -> tuple[Number, Number]:
    """Rotate one pair of a head's numbers by a position; the others are zero."""
    half = rotary.head_dim // 2
    at = [2 * pair, 2 * pair + 1] if rotary.interleaved else [pair, pair + half]
    head = hand.new_zeros(1, rotary.head_dim)
    head[0, at] = hand
    x, y = rotary(head, hand.new_tensor([position]).long())[0, at].tolist()
    return x, y


def dial(x: Number, top: Number, hands: list[tuple[Number, Number]], longest: Number) -> str:
    """Draw a dial with two hands, and the angle between them."""
    y = top + FACE + RADIUS
    face = f'<circle class="frame" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}"/>'
    points = [(x + RADIUS * 0.92 * a / longest, y - RADIUS * 0.92 * b / longest) for a, b in hands]
    (a, b), (c, d) = hands
    wide = 1 if a * d - b * c < 0 else 0  # clockwise on the page
    starts = [
        (x + 0.42 * RADIUS * p / math.hypot(p, q), y - 0.42 * RADIUS * q / math.hypot(p, q))
        for p, q in hands
    ]
    between = (
        f'<path class="tint" style="fill-opacity:.3" d="M{x:.1f} {y:.1f}'
        f"L{starts[0][0]:.1f} {starts[0][1]:.1f}"
        f"A{0.42 * RADIUS:.1f} {0.42 * RADIUS:.1f} 0 0 {wide} {starts[1][0]:.1f} "
        f'{starts[1][1]:.1f}z"/>'
    )
    drawn = [
        arrow([(x, y), point], role=role, css="bold")
        for point, role in zip(points, ("query", "key"), strict=True)
    ]
    return f"{face}<g{as_role('attention')} >{between}</g>{''.join(drawn)}"
