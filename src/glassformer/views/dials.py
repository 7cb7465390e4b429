"""`dials`: rotary positions as the hands of a clock."""

import math
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from glassformer.layers.positions import RotaryPositions
from glassformer.views.drawing import Number, arrow, as_role, figure, picture, text
from glassformer.views.view import View, number

WIDTH, RADIUS, HIGH = 400.0, 52.0, 188.0
FACE = 36.0  # height of the labels above a dial
ACROSS = 3  # dials side by side


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
        told = number(product, longest**2).replace("-", "−")
        parts.append(text(x, y + FACE + 16 + 2 * RADIUS, f"product {told}", css="label"))
        facts.append(
            [f"query at {i}, key at {j}", str(j - i), f"{angle:.0f}°", number(product, longest**2)]
        )
    rows = math.ceil(len(places) / ACROSS)
    header = ["positions", "distance", "angle between", "product"]
    name = "Query and key, turned by their positions"
    return figure(picture(parts, WIDTH, HIGH * rows), header, facts, name=name, caption=caption)


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
