"""`reading_order`: a mask as the words that each word may read."""

from collections.abc import Sequence

from jaxtyping import Bool
from torch import Tensor

from glassformer.views.drawing import Number, as_role, figure, picture, text, width_of
from glassformer.views.view import View, words

ROW, HIGH, APART, LONGEST = 34.0, 26.0, 6.0, 12


def reading_order(
    mask: Bool[Tensor, "readers read"],
    tokens: Sequence[object],
    *,
    readers: Sequence[object] | None = None,
    caption: str | None = None,
) -> View:
    """Draw a mask as rows of words: each row shows the words that one reader may read.

    A word that may be read is a filled box, and a hidden word is a dashed outline. If the words
    themselves are the readers, each row's own word has a thick edge.

    Args:
        mask: True where the reader of a row may attend to the word of a column.
        tokens: The words that are read.
        readers: The words that read them; by default, the words themselves.
        caption: A line below the picture.

    Raises:
        ValueError: `mask` is not a matrix of booleans with a row for each reader and a column for
            each word.
    """
    names, askers = words(tokens), words(tokens if readers is None else readers)
    if (
        mask.ndim != 2
        or tuple(mask.shape) != (len(askers), len(names))
        or mask.dtype.is_floating_point
    ):
        raise ValueError(
            f"a mask of shape {tuple(mask.shape)} and {mask.dtype} must be boolean, with a row for "
            f"each of {len(askers)} readers and a column for each of {len(names)} words"
        )
    rows = mask.bool().tolist()
    left = 18 + max(width_of(f"{name[:LONGEST]} reads:") for name in askers)
    places = place(names, left)
    parts = []
    for i, row in enumerate(rows):
        y = 8 + i * ROW
        parts.append(text(left - 12, y + 18, f"{askers[i][:LONGEST]} reads:", anchor="end"))
        own = i if readers is None else -1
        for j, may in enumerate(row):
            parts.append(word_box(names[j], places[j], places[j + 1], y, may=may, own=j == own))
    bottom = 8 + ROW * len(rows)
    meaning = "dashed: hidden" if readers else "dashed: hidden; bold: the word itself"
    parts.append(text(left, bottom + 10, meaning, css="small", anchor="start"))
    drawn = picture(parts, max(places[-1], left + width_of(meaning)) + 4, bottom + 18)
    facts = [
        [askers[i], " ".join(n for n, may in zip(names, row, strict=True) if may) or "nothing"]
        for i, row in enumerate(rows)
    ]
    return figure(
        drawn, ["word", "may read"], facts, name="What each word may read", caption=caption
    )


def place(names: list[str], left: Number) -> list[float]:
    """Return where each word's box begins, and where the last one ends."""
    places = [left]
    for name in names:
        places.append(places[-1] + max(30.0, width_of(name[:LONGEST]) + 14) + APART)
    return places


def word_box(name: str, x: Number, end: Number, y: Number, *, may: bool, own: bool) -> str:
    """Draw a word that may be read, or the outline of one that may not."""
    wide = end - x - APART
    edge = f'x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{HIGH}" rx="5"'
    if not may:
        return f'<rect class="frame thin" {edge} stroke-dasharray="3 4"/>'
    css = "frame bold" if own else "frame"
    return (
        f'<g{as_role("attention")}><rect class="tint" {edge}/><rect class="{css}" {edge}/></g>'
        + text(x + wide / 2, y + 18, name, css="title" if own else "label", most=LONGEST)
    )
