"""`traffic`: what a computation moves between slow and fast memory, as bands to scale."""

from collections.abc import Mapping, Sequence

from glassformer.views.axes import short
from glassformer.views.drawing import (
    GROWS,
    TIP,
    Number,
    as_role,
    bar,
    cut,
    figure,
    legend,
    panel,
    picture,
    text,
)
from glassformer.views.view import View

WIDTH, NAME, MEMORY, BETWEEN = 356.0, 24.0, 24.0, 96.0  # heights: a name, a memory, and the gap
APART, GAP = 18.0, 20.0  # between two computations, and before each band
LONGEST = 13  # letters of a name and its amount
ROOMY = 24.0  # width from which a band has room for its name; else it's in the gap
READ, WRITTEN = "series-1", "series-2"

Move = tuple[str, Number]  # what is moved, and how much: above 0 if it's read, below if written


def traffic(
    ways: Mapping[str, Sequence[Move]], *, unit: str = "", caption: str | None = None
) -> View:
    """Draw what each computation moves between slow and fast memory, in the order of its moves.

    A band is as wide as what it moves, on one scale for all computations, and has its amount.

    Args:
        ways: Each computation's name and its moves: what is moved, and how much, above 0 if it's
            read from slow memory and below 0 if it's written there.
        unit: The unit of the amounts.
        caption: A line below the picture.

    Raises:
        ValueError: There is no computation, one has no moves, or an amount is 0 or not finite.
    """
    if not ways or not all(ways.values()):
        raise ValueError(f"each computation needs at least one move: {dict(ways)}")
    sizes = [abs(float(size)) for moves in ways.values() for _, size in moves]
    if not all(0 < size < float("inf") for size in sizes):
        raise ValueError(f"amounts must be finite and not 0: {dict(ways)}")
    most = max(sum(abs(float(size)) for _, size in moves) for moves in ways.values())
    count = max(map(len, ways.values()))
    scale = (WIDTH - GAP * (count + 1)) / most
    parts, facts, y = [], [], 0.0
    for name, moves in ways.items():
        total = sum(abs(float(size)) for _, size in moves)
        parts += [
            text(0, y + 14, name, css="title", anchor="start", most=34),
            text(WIDTH, y + 14, f"{short(total)} {unit}".strip(), css="title", anchor="end"),
            memory("slow memory", y + NAME),
            memory("fast memory", y + NAME + MEMORY + BETWEEN),
        ]
        x = GAP
        for what, size in moves:
            parts.append(band(what, float(size), x, y + NAME + MEMORY, scale))
            facts.append([name, what, "read" if size > 0 else "written", short(abs(float(size)))])
            x += scale * abs(float(size)) + GAP
        y += NAME + 2 * MEMORY + BETWEEN + APART
    parts.append(legend([(READ, "read ↓"), (WRITTEN, "written ↑")], WIDTH / 2 - 74, y + 8))
    drawn = picture(parts, WIDTH, y + 14, grows=GROWS)
    header = ["computation", "what", "", unit or "amount"]
    name = "Traffic between slow and fast memory"
    return figure(drawn, header, facts, name=name, caption=caption)


def memory(name: str, y: Number) -> str:
    """Draw a memory."""
    edge = panel(0.5, y, WIDTH - 1, MEMORY, role="quiet", tint=0.12, corner=3)
    return edge + text(WIDTH / 2, y + 16, name, css="small")


def band(what: str, size: float, x: Number, y: Number, scale: Number) -> str:
    """Draw a move: a band to scale, and its arrowhead, downward if it's read."""
    wide, role = max(0.6, scale * abs(size)), READ if size > 0 else WRITTEN
    middle, half = x + wide / 2, max(wide, TIP) / 2
    start, end = (y + 2, y + BETWEEN - 2) if size > 0 else (y + BETWEEN - 2, y + 2)
    neck = end - TIP if size > 0 else end + TIP
    head = f"M{middle - half:.1f} {neck:.1f}h{2 * half:.1f}L{middle:.1f} {end:.1f}z"
    place, css = (middle + 4, "small paper") if wide > ROOMY else (x - 5, "small")
    amount = f": {short(abs(size))}"
    words = cut(what, max(3, LONGEST - len(amount))) + amount
    name = text(place, y + BETWEEN / 2, words, css=css, turn=-90)
    drawn = bar(x, min(start, neck) - 0.3, wide, abs(start - neck) + 0.6, role=role)  # no seam
    return f'{drawn}<path class="tip"{as_role(role)} d="{head}"/>{name}'
