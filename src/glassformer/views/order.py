"""`reading_order`: a mask as the words that each word may read."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool
from torch import Tensor

from glassformer.views.drawing import (
    CHIP,
    Number,
    chip,
    cut,
    figure,
    line,
    panel,
    picture,
    text,
    width_of,
)
from glassformer.views.view import View, words

ROW, APART, LONGEST = 34.0, 6.0, 12


def reading_order(
    mask: Bool[Tensor, "words words"],
    tokens: Sequence[object],
    *,
    source: int = 0,
    caption: str | None = None,
) -> View:
    """Draw a mask as rows of words: each row shows the words that one of them may read.

    A word that may be read is a filled box, and a hidden word is a dashed outline. Each row's own
    word has a thick edge.

    Args:
        mask: True where the word of a row may attend to the word of a column.
        tokens: The words.
        source: How many words at the beginning are an encoder's; lines set them apart.
        caption: A line below the picture.

    Raises:
        ValueError: `mask` is not a matrix of booleans with a row and a column for each word.
    """
    mask, names = torch.as_tensor(mask), words(tokens)
    if tuple(mask.shape) != (len(names), len(names)) or mask.dtype.is_floating_point:
        raise ValueError(
            f"a mask of shape {tuple(mask.shape)} and {mask.dtype} must be boolean, with a row and "
            f"a column for each of {len(names)} words"
        )
    rows = mask.bool().tolist()
    left = 18 + max(width_of(f"{cut(name, LONGEST)} reads:") for name in names)
    places = place(names, left)
    parts = []
    for i, row in enumerate(rows):
        y = 8 + i * ROW
        parts.append(text(left - 12, y + 18, f"{cut(names[i], LONGEST)} reads:", anchor="end"))
        for j, may in enumerate(row):
            parts.append(word_box(names[j], places[j], places[j + 1], y, may=may, own=j == i))
    bottom = 8 + ROW * len(rows)
    if source:
        x, y = places[source] - APART / 2, 4 + ROW * source
        parts += [line([(x, 4), (x, bottom - 4)]), line([(left, y), (places[-1] - APART, y)])]
    meaning = "dashed: hidden; bold: the word itself"
    parts.append(text(left, bottom + 10, meaning, css="small", anchor="start"))
    drawn = picture(parts, max(places[-1], left + width_of(meaning)) + 4, bottom + 18)
    facts = [
        [names[i], " ".join(n for n, may in zip(names, row, strict=True) if may) or "nothing"]
        for i, row in enumerate(rows)
    ]
    return figure(
        drawn, ["word", "may read"], facts, name="What each word may read", caption=caption
    )


def place(names: list[str], left: Number) -> list[float]:
    """Return where each word's box begins, and where the last one ends."""
    places = [left]
    for name in names:
        places.append(places[-1] + max(30.0, width_of(cut(name, LONGEST)) + 14) + APART)
    return places


def word_box(name: str, x: Number, end: Number, y: Number, *, may: bool, own: bool) -> str:
    """Draw a word that may be read, or the outline of one that may not."""
    wide = end - x - APART
    if not may:
        return panel(x, y, wide, CHIP, css="frame dashed")
    return chip(name, x, y, wide, role="attention", most=LONGEST, bold=own)
