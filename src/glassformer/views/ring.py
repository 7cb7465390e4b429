"""`ring`: an all-reduce, turn by turn: which process holds which sums."""

from collections.abc import Sequence
from itertools import pairwise

from glassformer.views.drawing import Number, arrow, line, panel, picture, text
from glassformer.views.palette import SERIES
from glassformer.views.steps import Stepped, step, stepped

CELL, HIGH = 30.0, 28.0  # of a piece
LEFT, APART = 42.0, 14.0  # room for the turns' names, and between processes
EDGE = APART / 2  # room at both sides, so that a line that leaves on the right enters on the left
TURN = 66.0  # from one turn to the next
TOP, KEY = 30.0, 30.0  # room above, and for the key below
Held = Sequence[Sequence[Number]]  # each process's pieces
Sums = list[list[frozenset[int]]]  # for each process and piece, whose numbers are in it
Moves = dict[tuple[int, int], bool]  # the pieces that came from the left, and whether to be added


def ring(turns: Sequence[Held], *, caption: str | None = None) -> Stepped:
    """Draw what each process of a ring holds after each turn of an all-reduce.

    A piece is filled as high as the share of processes whose numbers are in it, and an arrow shows
    where it came from. Each piece has its color in all processes.

    Args:
        turns: What each process held before the first turn and after each, (turn, process, piece).
        caption: A line below the picture.

    Raises:
        ValueError: There are not two to four processes, with as many pieces each, in two or more
            turns; a number is 0, so nobody could see it being added; or one changed that didn't
            come from the left neighbor, as it was or added.
    """
    size = len(turns[0]) if turns else 0
    shapes = {len(row) for held in turns for row in (held, *held)}
    if len(turns) < 2 or not 2 <= size <= len(SERIES) or shapes != {size}:
        raise ValueError(
            f"a ring needs two or more turns of 2 to {len(SERIES)} processes with as many pieces, "
            f"but got {len(turns)} turns of {size} processes with {sorted(shapes)}"
        )
    if not all(number for pieces in turns[0] for number in pieces):
        raise ValueError(f"a ring needs numbers other than 0, but got {turns[0]}")
    sums = [[frozenset({r})] * size for r in range(size)]
    parts, facts = [], [told("start", turns[0])]
    sentences = ["At first, each process has only its own numbers."]
    names = [text(middle(r, size), 14, f"process {r}", css="title") for r in range(size)]
    drawn = [step(1, *names, *row("start", turns[0], sums, 0, {}))]
    for turn, (before, after) in enumerate(pairwise(turns), 1):
        moves = moved(before, after)
        sums = joined(sums, moves)
        parts = [sent(r, piece, size, turn) for r, piece in moves]
        drawn.append(step(turn + 1, *parts, *row(f"turn {turn}", after, sums, turn, moves)))
        facts.append(told(f"turn {turn}", after))
        sentences.append(sentence(turn, sums, moves))
    wide = start_of(size, size) - EDGE + 2
    bottom = TOP + TURN * (len(turns) - 1) + HIGH
    shown = picture([*drawn, key(size, bottom + 18)], wide, bottom + KEY + 6, grows=1.3)
    header = ["", *(f"process {r}" for r in range(size))]
    return stepped(shown, sentences, header, facts, name="All-reduce in a ring", caption=caption)


def moved(before: Held, after: Held) -> Moves:
    """Return which pieces changed in a turn, and whether what came was added to what was there."""
    moves = {}
    for r, pieces in enumerate(after):
        for k, now in enumerate(pieces):
            mine, came = before[r][k], before[r - 1][k]
            if now not in (mine, came, mine + came):
                raise ValueError(
                    f"process {r} had {mine} and its left neighbor {came}: {now} is neither, "
                    "nor their sum"
                )
            if now != mine:
                moves[r, k] = now == mine + came
    return moves


def joined(sums: Sums, moves: Moves) -> Sums:
    """Return whose numbers are in each piece after a turn."""
    after = [[*row] for row in sums]
    for (r, k), added in moves.items():
        after[r][k] = sums[r - 1][k] | (sums[r][k] if added else frozenset())
    return after


def sentence(turn: int, sums: Sums, moves: Moves) -> str:
    """Return what a turn did, and how many whole sums each process has after it, if any."""
    size = len(sums)
    whole = sorted({sum(len(found) == size for found in row) for row in sums})
    does = "adds it to its own" if all(moves.values()) else "keeps it in place of its own"
    has = f" Each now has {' or '.join(map(str, whole))} of {size} sums." if max(whole) else ""
    return f"Turn {turn}: each sends one piece to its right neighbor, which {does}.{has}"


def start_of(r: int, size: int) -> float:
    """Return the left edge of a process's pieces."""
    return LEFT + EDGE + r * (size * CELL + APART)


def middle(r: int, size: int) -> float:
    """Return the middle of a process's pieces."""
    return start_of(r, size) + size * CELL / 2


def row(name: str, held: Held, sums: Sums, turn: int, moves: Moves) -> list[str]:
    """Draw all pieces after a turn; those that have just come have a thick edge."""
    size, y = len(held), TOP + TURN * turn
    parts = [text(0, y + 18, name, css="small", anchor="start")]
    for r, k in ((r, k) for r in range(size) for k in range(size)):
        x, full = start_of(r, size) + k * CELL, HIGH * len(sums[r][k]) / size
        css = "frame bold" if (r, k) in moves else "frame thin"
        color, below = SERIES[k], y + HIGH - full
        parts.append(panel(x, below, CELL - 3, full, role=color, css="tint", tint=0.3, corner=1))
        parts.append(panel(x, y, CELL - 3, HIGH, role=color, css=css, corner=3))
        parts.append(text(x + (CELL - 3) / 2, y + 18, f"{held[r][k]:g}"))
    return parts


def sent(r: int, k: int, size: int, turn: int) -> str:
    """Draw how a piece came to a process; between the last and the first, around the ring."""
    bottom, top, role = TOP + TURN * (turn - 1) + HIGH + 2, TOP + TURN * turn - 2, SERIES[k]
    half = k * CELL + (CELL - 3) / 2
    out, end = (start_of((r - 1) % size, size) + half, bottom), (start_of(r, size) + half, top)
    if r:
        return arrow([out, end], role=role)
    right, left = start_of(size, size) - EDGE, LEFT
    height = bottom + (top - bottom) * (right - out[0]) / (size * CELL + APART)
    return line([out, (right, height)], role=role, css="dotted") + arrow(
        [(left, height), end], role=role, css="dotted"
    )


def key(size: int, y: Number) -> str:
    """Draw what the filling of a piece means."""
    parts = []
    for k in range(size):
        x, full = LEFT + EDGE + 20 * k, 16 * (k + 1) / size
        parts.append(panel(x, y + 16 - full, 16, full, css="frame thin", tint=0.3, corner=1))
        parts.append(panel(x, y, 16, 16, css="frame thin", corner=2))
    words = f"in the sum so far: 1 to {size} processes"
    return "".join(parts) + text(
        LEFT + EDGE + 20 * size + 6, y + 12.5, words, css="small", anchor="start"
    )


def told(name: str, held: Held) -> list[str]:
    """Return a row of the table."""
    return [name, *(", ".join(f"{number:g}" for number in pieces) for pieces in held)]
