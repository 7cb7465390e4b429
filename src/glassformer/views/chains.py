"""`chains`: several ways from an input to an output, each as a row of boxes."""

from collections.abc import Mapping, Sequence

from glassformer.views.drawing import Number, arrow, figure, legend, panel, picture, text
from glassformer.views.palette import SERIES
from glassformer.views.plots import DASHES
from glassformer.views.view import View, visible

WIDTH, HIGH, APART, ROW, TOP = 400.0, 46.0, 16.0, 84.0, 26.0
MOST = 4  # boxes in a row

Box = tuple[str, str, str]  # its name, a note, and its kind


def chains(ways: Mapping[str, Sequence[Box]], *, caption: str | None = None) -> View:
    """Draw each way as a row of boxes from left to right, with a color for each kind of box.

    Args:
        ways: Each way's name and its boxes: a name, a note below it, and a kind. At most four
            boxes in a row, and four kinds in all.
        caption: A line below the picture.

    Raises:
        ValueError: There are no ways, or a row has too few or too many boxes, or there are too many
            kinds.
    """
    sizes = [len(boxes) for boxes in ways.values()]
    kinds = list(dict.fromkeys(kind for boxes in ways.values() for *_, kind in boxes))
    if not sizes or not all(1 <= size <= MOST for size in sizes) or len(kinds) > len(SERIES):
        raise ValueError(
            f"chains draws rows of one to {MOST} boxes of at most {len(SERIES)} kinds, but got "
            f"rows of {sizes} and the kinds {kinds}"
        )
    parts = [legend(list(zip(SERIES, kinds, strict=False)), 0, 12)]
    facts = []
    for k, (name, boxes) in enumerate(ways.items()):
        parts.append(row(name, boxes, kinds, TOP + ROW * k))
        listed = [f"{label} ({kind}): {note}" for label, note, kind in boxes]
        facts.append([name, *listed, *[""] * (max(sizes) - len(boxes))])
    drawn = picture(parts, WIDTH, TOP + ROW * len(ways) - 8)
    header = ["way", *(f"step {k + 1}" for k in range(max(sizes)))]
    return figure(drawn, header, facts, name="Ways, step by step", caption=caption)


def row(name: str, boxes: Sequence[Box], kinds: list[str], y: Number) -> str:
    """Draw one way: its name, its boxes, and the arrows between them."""
    wide, top = (WIDTH - 2 - APART * (len(boxes) - 1)) / len(boxes), y + 22
    parts = [text(0, y + 14, visible(name), css="title", anchor="start", most=56)]
    for k, (label, note, kind) in enumerate(boxes):
        x, number = 1 + k * (wide + APART), kinds.index(kind)
        css, most = f"box {DASHES[number]}".strip(), int(wide / 6.4)
        parts.append(panel(x, top, wide, HIGH, role=SERIES[number], css=css, tint=0.12))
        down = top + HIGH / 2 + (-3 if note else 4.5)
        parts.append(text(x + wide / 2, down, visible(label), css="title", most=most))
        parts.append(text(x + wide / 2, down + 16, note, css="small", most=most + 2))
        if k:
            parts.append(arrow([(x - APART + 1, top + HIGH / 2), (x - 1, top + HIGH / 2)]))
    return "".join(parts)
