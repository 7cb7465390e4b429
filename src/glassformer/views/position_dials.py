"""`position_dials`: two positions as clock hands, and their score against their distance."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from glassformer.views.axes import Axis, along, span, tick_width, upward
from glassformer.views.drawing import GROWS, as_role, bar, circle, line, picture, text, tip
from glassformer.views.scripted import Scripted, Slider, data, part, scripted, sliders
from glassformer.views.view import minus, number

SCRIPT = "glassformer-dials.js"
WIDTH, MOST = 400.0, 6  # width of the picture, and the most pairs that fit side by side
FACE, HIGH = 40.0, 110.0  # the largest radius of a dial, and the height of the curve
ASIDE = 52.0  # room for the sum of the cosines
ROLES = ("query", "key")
NAMES = ("first position", "second position")


def position_dials(
    table: Float[Tensor, "positions width"], at: tuple[int, int], *, caption: str | None = None
) -> Scripted:
    """Draw two rows of sinusoidal positions as clock hands, and how well the hands agree.

    A dial for each pair of numbers has a hand for each of two positions; below it is the cosine
    of the angle between the hands. The sum of the cosines is the product of the two rows, the
    score. A curve shows the mean score for each distance, with a mark at the two positions'. On a
    page, readers can move each position, or both together.

    Args:
        table: One row for each position, (positions, width): pairs of a sine and a cosine.
        at: The two positions, from 0.
        caption: A line below the picture.

    Raises:
        ValueError: The table doesn't have one to six pairs of length one in each of two or more
            rows, or it has no row for a position.
    """
    table = torch.as_tensor(table).detach().double()
    pairs = table.shape[-1] // 2
    if table.ndim != 2 or len(table) < 2 or table.shape[1] != 2 * pairs or not 1 <= pairs <= MOST:
        raise ValueError(
            f"a table of shape {tuple(table.shape)} must have two rows or more, of one to {MOST} "
            "pairs of numbers"
        )
    turned = table.view(len(table), pairs, 2)
    if not (turned.norm(dim=-1) - 1).abs().max() < 1e-3:
        raise ValueError("each pair must be a finite sine and cosine, of length one")
    if len(at) != 2 or not all(0 <= place < len(table) for place in at):
        raise ValueError(f"at {at} must be two positions from 0 to {len(table) - 1}")
    cosines = (turned[at[0]] * turned[at[1]]).sum(-1).tolist()
    products = table @ table.mT
    curve = [products.diagonal(k).mean().item() for k in range(len(table))]
    radius = min(FACE, (WIDTH - ASIDE) / pairs / 2 - 5)
    ruler, top = 2 * radius + 78, 2 * radius + 142
    up = Axis(*span(curve), start=top + HIGH, end=top)
    across = Axis(0, len(table) - 1, tick_width(up), WIDTH - 10)
    parts = [
        *(dial(k, turned[list(at), k].tolist(), cosines[k], pairs, radius) for k in range(pairs)),
        total(sum(cosines), 2 * radius + 42),
        ruler_of(at, across, ruler),
        curve_of(curve, at, sum(cosines), across, up),
        script_data(turned, across, up),
    ]
    drawn = picture(parts, WIDTH, top + HIGH + 42, grows=GROWS)
    last = len(table) - 1
    moved = [
        *(Slider(f"at{k}", NAMES[k], at[k], (0, last), 1) for k in (0, 1)),
        Slider("both", "both together", min(at), (0, last), 1),
    ]
    facts = [[f"pair {k}", number(cosine, 1.0)] for k, cosine in enumerate(cosines)]
    facts.append(["score, their sum", number(sum(cosines), 1.0)])
    name = f"Positions {at[0]} and {at[1]} as hands of dials"
    drawn += sliders(moved)
    return scripted(drawn, SCRIPT, ["", "cosine"], facts, name=name, caption=caption)


def angle(pair: list[float]) -> float:
    """Return by how many degrees a hand is turned clockwise from above."""
    return math.degrees(math.atan2(pair[0], pair[1]))


def dial(k: int, hands: list[list[float]], cosine: float, pairs: int, radius: float) -> str:
    """Draw the dial of a pair with its two hands: the second one is dashed."""
    wide = (WIDTH - ASIDE) / pairs
    x, y = wide * (k + 0.5), radius + 24
    drawn = [
        text(x, 14, f"pair {k}", css="small"),
        circle(x, y, radius, css="frame thin"),
    ]
    for name, hand in enumerate(hands):
        up = line([(0, 0), (0, 6 - radius)], role=ROLES[name], css="bold" + " dashed" * name)
        turn = f'transform="translate({x:.1f} {y:.1f}) rotate({angle(hand):.2f})"'
        head = tip(0, -radius, 0, -1, role=ROLES[name])
        drawn.append(part(f"hand{name}", f"<g {turn}>{up}{head}</g>"))
    drawn.append(part("cosines", text(x, y + radius + 18, minus(number(cosine, 1.0)))))
    if k < pairs - 1:
        drawn.append(text(x + wide / 2, y + radius + 18, "+"))
    return "".join(drawn)


def total(score: float, y: float) -> str:
    """Write the sum of the cosines, which is the score, behind the last one."""
    written = f"= {minus(number(score, 1.0))}"
    at = WIDTH - ASIDE - 5
    return part("sum", text(at, y, written, role="attention", anchor="start"))


def ruler_of(at: tuple[int, int], across: Axis, y: float) -> str:
    """Draw all positions on a line with a handle for each of the two, and their distance."""
    drawn = [
        line([(across.start, y), (across.end, y)], css="base"),
        text(0, y - 12, "two positions", css="small", anchor="start"),
    ]
    for value in across.ticks(8):
        x = across.place(value)
        drawn.append(text(x, y + 22, f"{value:g}", css="small"))
        drawn.append(line([(x, y - 3), (x, y + 3)], css="base"))
    ends = [across.place(place) for place in at]
    bridge = [(x, y) for x in ends]
    held = line(bridge, css="handle").replace("<path", '<path data-moves="both"')
    drawn.append(part("between", line(bridge, role="attention", css="wide"), held))
    for k, x in enumerate(ends):
        shape = bar(-6, y - 6, 12, 12, role="") if k else circle(0, y, 6.5)
        held = circle(0, y, 16, css="handle", more=f' data-moves="at{k}"')
        handle = f'<g{as_role(ROLES[k])} transform="translate({x:.1f} 0)">{shape}{held}</g>'
        drawn.append(part(f"place{k}", handle))
    return "".join(drawn)


def curve_of(curve: list[float], at: tuple[int, int], score: float, across: Axis, up: Axis) -> str:
    """Draw the score against the distance, with a mark at that of the two positions."""
    distance = abs(at[0] - at[1])
    written = f"distance {distance}, score {minus(number(score, 1.0))}"
    x, y = across.place(distance), up.place(score)
    points = [(across.place(k), up.place(v)) for k, v in enumerate(curve)]
    return "".join(
        [
            upward(up, across.start, across.end, "score: the sum of the cosines"),
            along(across, up.start, "distance"),
            line(points, role="attention"),
            part("mark", f"<g{as_role('attention')}>{circle(x, y, 5.5)}</g>"),
            part("told", text(across.end, up.end - 11, written, role="attention", anchor="end")),
        ]
    )


def script_data(turned: Tensor, across: Axis, up: Axis) -> str:
    """Return what the script computes with, and where it draws."""
    places = [[across.place(k) for k in (0, 1)], [up.place(v) for v in (0, 1)]]
    rows = [[round(v, 6) for v in row] for row in turned.flatten(1).tolist()]
    return f"<g {data('numbers', {'rows': rows, 'places': places})}></g>"
