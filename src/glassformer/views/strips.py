"""`strips`: vectors as rows of colored cells, one row per word, with each vector's length."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from torch import Tensor

from glassformer.views.grid import PHONE, STYLE, scale, shorten, strength, width, word
from glassformer.views.palette import THEME
from glassformer.views.view import UNSEEN, View, aligned, table, words

CELL, ROW = 7.0, 15.0  # cells are narrow and tall, so the eye follows a row
LENGTHS = 44  # width of the column of lengths
LEVELS = 24  # steps of color; cells of the same step share a path
BEYOND = 0.98  # the share of nonzero numbers that the scale covers: outliers don't dim the rest
LISTED = 3  # numbers of each vector in the text

STRIPS = (
    ".glassformer-heatmap .strip path{fill:none}"
    ".glassformer-heatmap .strip .p{stroke:var(--cell)}"
    ".glassformer-heatmap .strip .n{stroke:var(--negative-cell)}"
    ".glassformer-heatmap .name{font-size:13px;font-weight:600}"
    ".glassformer-heatmap:has(.strip) .word{font-size:12.7px}"  # rows on a narrow phone are low
)


def strips(
    tensors: Mapping[str, Tensor],
    rows: Sequence[object],
    *,
    caption: str | None = None,
    most: int = 48,
) -> View:
    """Draw vectors as strips of colored cells, a row for each word, one tensor below another.

    All tensors share one scale, so you can compare vectors with those they're added to. The
    scale ends below the few largest numbers, whose cells have its strongest color.

    Args:
        tensors: Each tensor's name, and the tensor: `(rows, width)`, all of the same shape.
        rows: The words beside the rows.
        caption: A line below the picture.
        most: The most numbers drawn for each vector; the length beside it is the whole vector's.

    Raises:
        ValueError: There is no tensor, one isn't `(rows, width)`, shapes differ, or `most` is
            less than one.
    """
    row_words = words(rows)
    check(tensors, row_words, most)
    panels = [panel(name, tensor, most) for name, tensor in tensors.items()]
    count = next(iter(tensors.values())).shape[1]
    header, facts = listed(panels, row_words)
    hidden = table(header, facts, caption=caption or ", ".join(tensors), css="glassformer-cells")
    html = (
        f'<figure class="glassformer-heatmap" data-search-exclude><style>{THEME}{STYLE}{STRIPS}'
        f'</style>{draw(panels, row_words, count)}<div style="{UNSEEN}">{hidden}</div>'
        f"{f'<figcaption>{escape(caption)}</figcaption>' if caption else ''}</figure>"
    )
    text = aligned([header, *facts])
    return View(html, f"{caption}\n{text}" if caption else text)


@dataclass(frozen=True)
class Panel:
    """One tensor in a picture: its name, the numbers drawn, and the lengths of its full rows."""

    name: str
    values: list[list[float]]
    lengths: list[float]


def panel(name: str, tensor: Tensor, most: int) -> Panel:
    """Return the panel of a tensor, with at most `most` numbers of each row."""
    whole = tensor.detach().cpu().double()
    return Panel(name, whole[:, :most].tolist(), whole.norm(dim=-1).tolist())


def listed(panels: list[Panel], rows: list[str]) -> tuple[list[str], list[list[str]]]:
    """Return a table's header and rows: each vector, its length, and its first numbers."""
    header = [
        "vector",
        "length",
        *(f"number {k}" for k in range(len(panels[0].values[0][:LISTED]))),
    ]
    facts = [
        [f"{one.name}: {row}", f"{length:.2f}", *(f"{value:.2f}" for value in values[:LISTED])]
        for one in panels
        for row, length, values in zip(rows, one.lengths, one.values, strict=True)
    ]
    return header, facts


def check(tensors: Mapping[str, Tensor], rows: list[str], most: int) -> None:
    """Raise an error if the tensors can't be drawn as rows of the same width."""
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if most < 1:
        raise ValueError(f"most ({most}) must be at least 1")
    if not shapes:
        raise ValueError("strips needs at least one tensor, but got none")
    for name, shape in shapes.items():
        if len(shape) != 2 or shape[0] != len(rows) or 0 in shape:
            raise ValueError(
                f"{name!r} of shape {shape} must be (rows, width) with one row for each of the "
                f"{len(rows)} words"
            )
    if len(set(shapes.values())) > 1:
        raise ValueError(f"all tensors must have the same shape, but have {shapes}")


def draw(panels: list[Panel], rows: list[str], count: int) -> str:
    """Draw one panel below another, and the scale below them all."""
    shown = [shorten(w) for w in rows]
    left = max(map(width, shown)) + 9
    columns = len(panels[0].values[0])
    end, high = scale_end(panels), ROW * len(rows) + 28
    right, bottom = left + CELL * columns, 6 + high * len(panels)
    drawn = [
        names(one, shown, rows, left, right, 6 + high * k)
        + strip(one.values, left, 26 + high * k, end)
        for k, one in enumerate(panels)
    ]
    across = f"{columns} numbers" if columns == count else f"the first {columns} of {count} numbers"
    every = [row for one in panels for row in one.values]
    if any(abs(value) > end for row in every for value in row):
        across += ", some beyond the scale"
    legend, legend_end = scale(every, left, bottom + 4, end)
    wide = max(right + LENGTHS + 4, legend_end)
    return (
        f'<svg aria-hidden="true" viewBox="0 0 {wide:.0f} {bottom + 40:.0f}" '
        f'style="width:100%;max-width:{1.2 * wide:.0f}px;min-width:{min(wide, PHONE):.0f}px">'
        f'<text class="axis" x="{right + LENGTHS:.1f}" y="18" text-anchor="end">length</text>'
        f"{''.join(drawn)}{legend}"
        f'<text class="axis" x="{left:.1f}" y="{bottom + 33:.1f}">{across}</text></svg>'
    )


def names(
    one: Panel, shown: list[str], rows: list[str], left: float, right: float, top: float
) -> str:
    """Draw a tensor's name over its cells, a word beside each row, and the row's length."""
    parts = [f'<text class="name" x="{left:.1f}" y="{top + 12:.1f}">{escape(one.name)}</text>']
    for i, (short, whole) in enumerate(zip(shown, rows, strict=True)):
        y, length = top + 20 + (i + 0.5) * ROW + 4.5, f"{one.lengths[i]:.1f}"
        parts.append(word(short, whole, left - 7, y, "end"))
        parts.append(word(length, length, right + LENGTHS, y, "end"))
    return "".join(parts)


def scale_end(panels: list[Panel]) -> float:
    """Return the end of the scale: a number that only a few exceed."""
    values = (value for one in panels for row in one.values for value in row)
    sizes = sorted(abs(value) for value in values if value and math.isfinite(value))
    return sizes[round(BEYOND * (len(sizes) - 1))] if sizes else 0.0


def strip(matrix: list[list[float]], left: float, top: float, end: float) -> str:
    """Draw the cells: in each row, neighbors of the same sign and color step share a stroke."""

    def look(value: float) -> tuple[str, int]:
        return "n" if value < 0 else "p", round(LEVELS * min(1, strength(value, end)))

    paths: dict[tuple[str, int], list[str]] = defaultdict(list)
    for i, row in enumerate(matrix):
        start = 0
        for (sign, level), cells in groupby(map(look, row)):
            count = len(list(cells))
            if level:
                paths[sign, level].append(f"M{start} {i}h{count}")
            start += count
    strokes = "".join(
        f'<path class="{sign}" stroke-opacity="{level / LEVELS:.2f}" d="{"".join(d)}"/>'
        for (sign, level), d in sorted(paths.items())
    )
    right, bottom = left + CELL * len(matrix[0]), top + ROW * len(matrix)
    lines = "".join(f"M{left:.1f} {top + i * ROW:.1f}H{right:.1f}" for i in range(len(matrix) + 1))
    return (
        f'<g class="strip" transform="translate({left:.1f} {top + ROW / 2:.1f}) '
        f'scale({CELL} {ROW})">{strokes}</g>'
        f'<path class="g" d="{lines}M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}V{top:.1f}"/>'
    )
