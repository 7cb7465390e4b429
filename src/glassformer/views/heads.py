"""`heads_apart` and `shared_heads`: how a tensor is split into heads, and what heads share."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from glassformer.layers.multihead import merge_heads, split_heads
from glassformer.models.config import TransformerConfig
from glassformer.views.drawing import (
    Number,
    arrow,
    bar,
    cells,
    column,
    figure,
    largest,
    line,
    panel,
    picture,
    text,
)
from glassformer.views.palette import SERIES
from glassformer.views.steps import Stepped, step, stepped
from glassformer.views.view import View, words

WIDTH, LEFT, HIGH = 400.0, 64.0, 18.0
MOST = 48  # numbers in a row: with more, a reader couldn't tell them apart
BLOCK, BOX = 178.0, 26.0  # height of one kind of sharing, and the largest side of a head


def heads_apart(
    wide: Float[Tensor, "words d_model"],
    tokens: Sequence[object],
    *,
    num_heads: int,
    caption: str | None = None,
) -> Stepped:
    """Draw how a tensor is split into heads and merged again, number by number.

    Each head keeps its color and its numbers, because neither step computes anything.

    Args:
        wide: The output of a projection, (words, d_model).
        tokens: The words.
        num_heads: The number of heads.
        caption: A line below the picture.

    Raises:
        ValueError: `wide` doesn't have one row for each word or is too wide to draw, or
            `num_heads` doesn't divide its width.
    """
    wide, names = torch.as_tensor(wide), words(tokens)
    if wide.ndim != 2 or len(wide) != len(names) or not 1 <= wide.shape[1] <= MOST:
        raise ValueError(
            f"wide of shape {tuple(wide.shape)} must be (words, d_model), with a row for each of "
            f"{len(names)} words and at most {MOST} numbers in a row"
        )
    if num_heads < 1 or wide.shape[1] % num_heads:
        raise ValueError(f"num_heads ({num_heads}) must divide the width ({wide.shape[1]})")
    apart = split_heads(wide.detach()[None], num_heads)[0]  # (heads, words, head_dim)
    merged = merge_heads(apart[None])[0]  # (words, d_model)
    end = largest(wide.tolist())
    high = HIGH * len(names)
    middle = text(WIDTH / 2, 100 + 2 * high, "attention goes here", css="small")
    drawn = [
        step(1, *side_by_side(wide, names, num_heads, 30, end, "one wide row for each word")),
        step(2, *between(30 + high, num_heads), *cut(apart, 84 + high, end, len(names))),
        step(3, middle, *between(104 + 2 * high, num_heads, back=True)),
        step(3, *side_by_side(merged, names, num_heads, 174 + 2 * high, end, "side by side again")),
    ]
    size = wide.shape[1] // num_heads
    sentences = [
        f"One projection gives each word {wide.shape[1]} numbers.",
        f"They are cut into {num_heads} heads of {size}: each head has its own small matrix, "
        "with one row for each word.",
        "Each head attends by itself, which is left out here. Then the heads are put side by side "
        "again, in the same order.",
    ]
    facts = [
        ["wide", f"{len(names)} × {wide.shape[1]}"],
        *([f"head {k}", f"{len(names)} × {size}"] for k in range(num_heads)),
        ["merged", f"{len(names)} × {merged.shape[1]}"],
    ]
    image = picture(drawn, WIDTH, 184 + 3 * high)
    name = "Splitting into heads, and merging"
    return stepped(image, sentences, ["tensor", "shape"], facts, name=name, caption=caption)


def role(head: int) -> str:
    """Return the color of a head."""
    return SERIES[head % len(SERIES)]


def side_by_side(
    rows: Tensor, names: list[str], heads: int, top: Number, end: Number, title: str
) -> list[str]:
    """Draw the wide tensor, with its heads side by side."""
    across = (WIDTH - LEFT - 8) / rows.shape[1]
    parts = [text(LEFT, top - 10, title, css="title", anchor="start")]
    parts.append(column(names, LEFT - 8, top + HIGH / 2 + 4, HIGH, anchor="end", most=8))
    for k, part in enumerate(rows.chunk(heads, dim=1)):
        x = LEFT + k * part.shape[1] * across
        size = (across, HIGH)
        parts.append(cells(part.tolist(), x, top, end, size=size, numbered=False, role=role(k)))
    return parts


def cut(apart: Tensor, top: Number, end: Number, count: int) -> list[str]:
    """Draw the heads as separate matrices."""
    heads, _, size = apart.shape
    slot = (WIDTH - 8) / heads
    across = min(slot * 0.8 / size, (WIDTH - LEFT - 8) / (heads * size))
    parts = []
    for k, matrix in enumerate(apart.tolist()):
        x = k * slot + (slot - across * size) / 2
        parts.append(text(x + across * size / 2, top - 6, f"head {k}", role=role(k)))
        parts.append(cells(matrix, x, top, end, size=(across, HIGH), numbered=False, role=role(k)))
    return parts


def between(top: Number, heads: int, *, back: bool = False) -> list[str]:
    """Draw arrows from the wide tensor to its heads, or back."""
    parts = []
    for k in range(heads):
        wide = LEFT + (k + 0.5) * (WIDTH - LEFT - 8) / heads
        slot = (k + 0.5) * (WIDTH - 8) / heads
        points = [(wide, top + 4), (slot, top + 34)]
        if back:
            points = [(slot, top + 4), (wide, top + 40)]
        parts.append(arrow(points, role=role(k)))
    return parts


def shared_heads(configs: Mapping[str, TransformerConfig], *, caption: str | None = None) -> View:
    """Draw the query heads of a layer, and lines to the keys and values that each of them reads.

    Args:
        configs: Each kind's name and configuration.
        caption: A line below the picture.

    Raises:
        ValueError: There is no configuration.
    """
    if not configs:
        raise ValueError("shared_heads needs at least one configuration, but got none")
    parts, facts = [], []
    for k, (name, config) in enumerate(configs.items()):
        heads, kept = config.num_heads, config.num_kv_heads or config.num_heads
        numbers = 2 * kept * (config.head_dim or config.d_model // heads)
        most = 2 * heads * (config.head_dim or config.d_model // heads)
        parts.append(rows(name, heads, kept, numbers, most, BLOCK * k))
        facts.append([name, str(heads), str(kept), str(heads // kept), f"{numbers:,}"])
    header = [
        "kind",
        "query heads",
        "key-value heads",
        "queries per key",
        "numbers kept per token and layer",
    ]
    drawn = picture(parts, WIDTH, BLOCK * len(configs) - 6)
    return figure(drawn, header, facts, name="Shared keys and values", caption=caption)


def rows(name: str, heads: int, kept: int, numbers: int, most: int, top: Number) -> str:
    """Draw one kind: query heads above, the keys and values that they share below.

    A bar shows how many numbers are kept, as a share of those that heads of their own would keep.
    """
    left, across = 70.0, (WIDTH - 72) / heads
    size, long = min(BOX, across - 3), (WIDTH - left - 120) * numbers / most
    parts = [
        text(0, top + 16, name, css="title", anchor="start"),
        bar(left, top + 139, long, 13, role="quiet"),
        text(left - 8, top + 150, "kept", css="small", anchor="end"),
        text(left + long + 6, top + 150, f"{numbers:,} numbers", css="title", anchor="start"),
        text(left - 8, top + 46, "queries", role="query", anchor="end"),
        text(left - 8, top + 110, "keys", role="key", anchor="end"),
        text(left - 8, top + 126, "values", role="value", anchor="end"),
    ]
    group = heads // kept
    for h in range(heads):
        x, shared = left + (h + 0.5) * across, left + (h // group + 0.5) * group * across
        parts.append(line([(x, top + 30 + size), (shared, top + 96)]))
        parts.append(panel(x - size / 2, top + 30, size, size, role="query", css="box", tint=0.35))
    for k in range(kept):
        x = left + (k + 0.5) * group * across - size / 2
        parts.append(panel(x, top + 96, size, 16, role="key", css="box", tint=0.35))
        parts.append(panel(x, top + 114, size, 16, role="value", css="box", tint=0.35))
    return "".join(parts)
