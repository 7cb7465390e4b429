"""`strips`: vectors as rows of colored cells, one row per word."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from glassformer.views.drawing import PHONE, figure, mosaic, picture, text
from glassformer.views.grid import STYLE, scale, word, word_width
from glassformer.views.view import View, words

CELL, ROW = 5.5, 15.0  # cells are narrow and tall, so the eye follows a row
SHADES = 24  # steps of color
BEYOND = 0.98  # the share of nonzero numbers that the scale covers: outliers don't dim the rest
FAR = 10  # a number more than ten times as large as the scale's end has a dot
LENGTHS = 44  # width of the column of lengths
LISTED = 3  # numbers of each vector in the text
DRAWN = 48  # numbers drawn for each vector

CSS = "glassformer-heatmap glassformer-strips"
STRIPS = f"""{STYLE}
.glassformer-strips .word{{font-size:12.7px}}
.glassformer-strips .far{{stroke:var(--surface);stroke-width:4;stroke-linecap:round}}
""".replace("\n", "")  # rows on a narrow phone are low

Rows = list[list[float]]


def strips(
    tensors: Mapping[str, Tensor],
    rows: Sequence[object],
    *,
    first: int = 0,
    caption: str | None = None,
) -> View:
    """Draw vectors as strips of colored cells, a row for each word, one tensor below another.

    All tensors share one scale, so you can compare vectors with those they're added to. The
    scale ends below the few largest numbers, whose cells have its strongest color, with a dot
    where a number is more than ten times as large. At most 48 numbers of each vector are drawn;
    the length beside it is the whole vector's.

    Args:
        tensors: Each tensor's name, and the tensor: `(rows, width)`, all of the same shape.
        rows: The words beside the rows.
        first: The first number of each vector that is drawn.
        caption: A line below the picture.

    Raises:
        ValueError: There is no tensor, one isn't `(rows, width)`, shapes differ, or no vector has
            a number `first`.
    """
    names = words(rows)
    tensors = {name: torch.as_tensor(tensor) for name, tensor in tensors.items()}
    check(tensors, names, first)
    values = {name: as_rows(tensor) for name, tensor in tensors.items()}
    lengths = {name: [math.hypot(*row) for row in rows] for name, rows in values.items()}
    drawn = slice(first, first + DRAWN)
    facts = [
        [f"{title}: {name}", f"{length:.2f}", *(f"{value:.2f}" for value in row[drawn][:LISTED])]
        for title, matrix in values.items()
        for name, length, row in zip(names, lengths[title], matrix, strict=True)
    ]
    header = ["vector", "length", *(f"number {first + k}" for k in range(len(facts[0]) - 2))]
    svg, name = draw_strips(values, lengths, names, drawn), caption or ", ".join(tensors)
    return figure(svg, header, facts, name=name, caption=caption, css=CSS, style=STRIPS)


def check(tensors: Mapping[str, Tensor], names: list[str], first: int) -> None:
    """Raise an error if the tensors can't be drawn as rows of the same width."""
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if not shapes:
        raise ValueError("strips needs at least one tensor, but got {}")
    for name, shape in shapes.items():
        if len(shape) != 2 or 0 in shape or shape[0] != len(names):
            raise ValueError(
                f"{name!r} of shape {shape} must be (rows, width), "
                f"with a row for each of {len(names)} words"
            )
    if len({width for _, width in shapes.values()}) > 1:
        raise ValueError(f"all tensors must have the same width, but their shapes are {shapes}")
    if not 0 <= first < (width := next(iter(shapes.values()))[1]):
        raise ValueError(f"first must be from 0 to {width - 1}, but is {first}")


def as_rows(tensor: Tensor) -> Rows:
    """Return the numbers of a tensor, row by row."""
    rows: Rows = tensor.detach().cpu().double().tolist()
    return rows


def draw_strips(
    values: Mapping[str, Rows], lengths: Mapping[str, list[float]], names: list[str], drawn: slice
) -> str:
    """Draw one tensor below another, each vector with its length, and the scale below them all."""
    cells = {title: [row[drawn] for row in matrix] for title, matrix in values.items()}
    every = [row for matrix in cells.values() for row in matrix]
    columns, count = len(every[0]), len(next(iter(values.values()))[0])
    end, high = scale_end(every), ROW * len(names) + 28
    left = max(map(word_width, names)) + 9
    right, bottom = left + CELL * columns, 6 + high * len(values)
    whole = "length" if columns == count else f"length of all {count}"
    parts = [text(right + LENGTHS, 18, whole, css="small", anchor="end")]
    for k, (title, matrix) in enumerate(cells.items()):
        top = 26 + high * k
        parts += [*beside(title, names, left, top, top - 8), strip(matrix, left, top, end)]
        written = [f"{length:.1f}" for length in lengths[title]]
        parts += column_of(written, right + LENGTHS, top)
    across = f"{columns} numbers" if columns == count else f"first {columns} of {count} numbers"
    if drawn.start:
        across = f"numbers {drawn.start} to {drawn.start + columns - 1} of {count}"
    far = {drawn.start + j for row in every for j, v in enumerate(row) if abs(v) > FAR * end}
    note = ""
    if far:
        which = f"number {min(far)}, " if len(far) == 1 else ""
        note = f"dot: {which}over {FAR} × the scale"
    elif any(abs(value) > end for row in every for value in row):
        across += ", some beyond the scale"
    legend, legend_end = scale(every, left, bottom + 4, end)
    parts += [legend, text(left, bottom + 33, across, css="small", anchor="start")]
    parts += [text(left, bottom + 49, note, css="small", anchor="start")] if note else []
    wide = max(right + LENGTHS + 4, legend_end)
    return picture(parts, wide, bottom + (56 if note else 40), shrinks=PHONE / wide, grows=1.2)


def beside(title: str, names: list[str], left: float, top: float, above: float) -> list[str]:
    """Write the vectors' name above them, and a word beside each row."""
    heading = text(left, above, title, css="title", anchor="start")
    return [heading, *column_of(names, left - 7, top)]


def column_of(entries: list[str], x: float, top: float) -> list[str]:
    """Write a word or a number for each row, all ending at `x`."""
    return [word(each, x, top + (i + 0.5) * ROW + 4.5, "end") for i, each in enumerate(entries)]


def scale_end(rows: Rows) -> float:
    """Return the end of the scale: a number that only a few exceed."""
    sizes = sorted(abs(value) for row in rows for value in row if value and math.isfinite(value))
    return sizes[round(BEYOND * (len(sizes) - 1))] if sizes else 0.0


def strip(rows: Rows, left: float, top: float, end: float) -> str:
    """Draw the cells of some rows, with lines between the rows."""
    right, bottom = left + CELL * len(rows[0]), top + ROW * len(rows)
    lines = "".join(f"M{left:.1f} {top + i * ROW:.1f}H{right:.1f}" for i in range(len(rows) + 1))
    lines += f"M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}V{top:.1f}"
    far = "".join(
        f"M{left + (j + 0.5) * CELL:.1f} {top + (i + 0.5) * ROW:.1f}h0"
        for i, row in enumerate(rows)
        for j, value in enumerate(row)
        if abs(value) > FAR * end
    )
    cells = mosaic(rows, left, top, end, (CELL, ROW), shades=SHADES)
    dots = f'<path class="far" d="{far}"/>' if far else ""
    return f'{cells}<path class="line thin" d="{lines}"/>{dots}'
