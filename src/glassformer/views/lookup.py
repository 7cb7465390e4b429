"""`lookup`: cross-attention as a lookup, with a weight for each entry."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from glassformer.views.drawing import CHIP, Number, chip, figure, line, picture, text
from glassformer.views.view import View, minus, number, words

WIDTH, ROW, TOP = 400.0, 36.0, 46.0
KEY, VALUE, WIDE = 116.0, 240.0, 74.0


def lookup(
    weights: Float[Tensor, " source"],
    source: Sequence[object],
    writes: str,
    *,
    values: Float[Tensor, "source width"] | None = None,
    caption: str | None = None,
) -> View:
    """Draw how one query reads a memory: a weight for each entry, and the weighted average.

    Each entry of the memory has a key, which is compared with the query, and a value, which goes
    into the average. The larger an entry's weight, the thicker its line.

    Args:
        weights: The weights of one query over the source; they sum to one.
        source: The words of the source.
        writes: The word that the model is about to write.
        values: The values, a few numbers for each entry: their weighted average is written below
            the output.
        caption: A line below the picture.

    Raises:
        ValueError: There isn't one weight for each word, the weights don't sum to one, or there
            isn't one value for each word.
    """
    weights, names = torch.as_tensor(weights), words(source)
    if tuple(weights.shape) != (len(names),) or not abs(weights.sum().item() - 1) < 1e-3:
        raise ValueError(
            f"weights have shape {tuple(weights.shape)} and sum to {weights.sum():.3f}; expected "
            f"one for each of {len(names)} words, and a sum of 1"
        )
    if values is not None and (values.ndim != 2 or len(values) != len(names)):
        raise ValueError(f"values {tuple(values.shape)} must have a row for each of {names}")
    shares, average = weights.tolist(), ""
    if values is not None:
        average = ", ".join(number(v, 1.0) for v in (weights @ values).tolist())
    middle = TOP + ROW * len(names) / 2
    parts = [
        text(KEY + WIDE / 2, TOP - 14, "keys", role="key"),
        text(VALUE + WIDE / 2, TOP - 14, "values", role="value"),
        text(34, middle - 24, "query", role="query"),
        text(364, middle - 24, "output", role="attention"),
        text((KEY + WIDE + VALUE) / 2, TOP - 14, "weight", css="small"),
        entry("to write", 0, middle - CHIP / 2 - 2, 68, "query"),
        text(0, middle + 30, f"“{writes}”", css="title", anchor="start", most=12),
        entry("average", 334, middle - CHIP / 2 - 2, 64, "attention"),
    ]
    if average:
        parts.append(text(WIDTH, middle + 30, minus(f"({average})"), css="title", anchor="end"))
    for k, (name, share) in enumerate(zip(names, shares, strict=True)):
        y = TOP + ROW * k + CHIP / 2
        strong = f"stroke-width:{0.6 + 9 * share:.1f};stroke-opacity:{0.25 + 0.7 * share:.2f}"
        css = "title" if share == max(shares) else "label"
        into, out = (
            line(ends, role="attention").replace("<path ", f'<path style="{strong}" ')
            for ends in ([(68, middle - 2), (KEY, y)], [(VALUE + WIDE, y), (334, middle - 2)])
        )
        parts += [
            into,
            out,
            entry(name, KEY, y - CHIP / 2, WIDE, "key"),
            entry(name, VALUE, y - CHIP / 2, WIDE, "value"),
            text(
                (KEY + WIDE + VALUE) / 2,
                y + 4.5,
                number(share, 1.0),
                css=css,
            ),
        ]
    facts = [[name, number(share, 1.0)] for name, share in zip(names, shares, strict=True)]
    drawn = picture(parts, WIDTH, TOP + ROW * len(names) + 4)
    facts += [["average of the values", minus(average)]] if average else []
    header = ["entry", f"weight for “{writes}”"]
    return figure(drawn, header, facts, name="A lookup in the source", caption=caption)


def entry(word: str, x: Number, y: Number, wide: Number, role: str) -> str:
    """Draw a word in a box, which hides the lines behind it."""
    return chip(word, x, y, wide, role=role, most=9, css="box")
