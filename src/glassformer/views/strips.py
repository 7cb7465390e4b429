"""`strips` and `growth`: vectors as rows of colored cells, one row per word."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

import torch
from torch import Tensor

from glassformer.views.drawing import PHONE, UNGROWN, figure, mosaic, picture, text
from glassformer.views.grid import STYLE, scale, word, word_width
from glassformer.views.view import View, isolated, words

CELL, ROW = 7.0, 15.0  # cells are narrow and tall, so the eye follows a row
SHADES = 24  # steps of color
BEYOND = 0.98  # the share of nonzero numbers that the scale covers: outliers don't dim the rest
LENGTHS = 44  # width of the column of lengths
LISTED = 3  # numbers of each vector in the text
APART = 12.0  # the space between two steps
ABOVE = 40.0  # room above the cells of a step for their name and the number of the step
LEGEND = 260.0  # width of the legend of what grows
ROUNDING = 1e-5  # numbers that differ by less count as equal
DRAWN, DRAWN_EACH = 48, 5  # numbers drawn for each vector: of strips, and of each step

CSS = "glassformer-heatmap glassformer-strips"
STRIPS = f"""{STYLE}
.glassformer-strips .word{{font-size:12.7px}}
.glassformer-strips .kept{{opacity:.42}}
.glassformer-strips .fresh{{fill:none;stroke:var(--pos);stroke-width:1.8}}
""".replace("\n", "")  # rows on a narrow phone are low

Rows = list[list[float]]


def strips(
    tensors: Mapping[str, Tensor], rows: Sequence[object], *, caption: str | None = None
) -> View:
    """Draw vectors as strips of colored cells, a row for each word, one tensor below another.

    All tensors share one scale, so you can compare vectors with those they're added to. The
    scale ends below the few largest numbers, whose cells have its strongest color. At most 48
    numbers of each vector are drawn; the length beside it is the whole vector's.

    Args:
        tensors: Each tensor's name, and the tensor: `(rows, width)`, all of the same shape.
        rows: The words beside the rows.
        caption: A line below the picture.

    Raises:
        ValueError: There is no tensor, one isn't `(rows, width)`, or shapes differ.
    """
    names = words(rows)
    tensors = {name: torch.as_tensor(tensor) for name, tensor in tensors.items()}
    check("strips", {name: [tensor] for name, tensor in tensors.items()}, names, every_row=True)
    values = {name: as_rows(tensor) for name, tensor in tensors.items()}
    lengths = {name: [math.hypot(*row) for row in rows] for name, rows in values.items()}
    facts = [
        [f"{title}: {name}", f"{length:.2f}", *(f"{value:.2f}" for value in row[:LISTED])]
        for title, matrix in values.items()
        for name, length, row in zip(names, lengths[title], matrix, strict=True)
    ]
    header = ["vector", "length", *(f"number {k}" for k in range(len(facts[0]) - 2))]
    drawn, name = draw_strips(values, lengths, names), caption or ", ".join(tensors)
    return figure(drawn, header, facts, name=name, caption=caption, css=CSS, style=STRIPS)


def growth(
    steps: Mapping[str, Sequence[Tensor]], rows: Sequence[object], *, caption: str | None = None
) -> View:
    """Draw vectors that are added step by step: a column for each step, a row for each word.

    A row with the same numbers as in the step before, up to rounding, is faint. A row that is new
    or has changed is framed. Each step's size is written below it. All steps share one scale. At
    most five numbers of each vector are drawn.

    Args:
        steps: The vectors' name, and their values at each step: `(rows, width)`, one row for each
            of the first words. All names have the same number of steps.
        rows: The words beside the rows.
        caption: A line below the picture.

    Raises:
        ValueError: There is no step, one isn't `(rows, width)` or has more rows than there are
            words, or the numbers of steps or the widths differ.
    """
    names = words(rows)
    steps = {name: [torch.as_tensor(step) for step in each] for name, each in steps.items()}
    check("growth", steps, names, every_row=False)
    same = {name: unchanged(each) for name, each in steps.items()}
    facts = [
        [
            f"{title}, step {k}",
            " ".join(isolated(row) for row, old in zip(names, kept, strict=False) if not old)
            or "nothing",
            str(sum(kept)),
            size(step),
        ]
        for title, each in steps.items()
        for k, (step, kept) in enumerate(zip(each, same[title], strict=True), 1)
    ]
    header, name = ["vectors", "new", "rows kept", "size"], caption or ", ".join(steps)
    drawn = draw_steps(steps, same, names)
    return figure(drawn, header, facts, name=name, caption=caption, css=CSS, style=STRIPS)


def check(
    kind: str, tensors: Mapping[str, Sequence[Tensor]], names: list[str], *, every_row: bool
) -> None:
    """Raise an error if the tensors can't be drawn as rows of the same width."""
    shapes = {name: [tuple(each.shape) for each in several] for name, several in tensors.items()}
    if not all([shapes, *shapes.values()]):
        raise ValueError(f"{kind} needs at least one tensor of each name, but got {shapes}")
    for name, several in shapes.items():
        for shape in several:
            fewer = len(shape) == 2 and shape[0] < len(names) and every_row
            if len(shape) != 2 or 0 in shape or shape[0] > len(names) or fewer:
                raise ValueError(
                    f"{name!r} of shape {shape} must be (rows, width), with "
                    f"{'a' if every_row else 'at most one'} row for each of {len(names)} words"
                )
    kinds = {(len(several), shape[1]) for several in shapes.values() for shape in several}
    if len(kinds) > 1:
        raise ValueError(
            f"all tensors must have the same width, and all names as many of them, but {shapes}"
        )


def as_rows(tensor: Tensor) -> Rows:
    """Return the numbers of a tensor, row by row."""
    rows: Rows = tensor.detach().cpu().double().tolist()
    return rows


def unchanged(steps: Sequence[Tensor]) -> list[list[bool]]:
    """Return, for each row of each step, whether it's the same as in the step before."""
    before, found = steps[0][:0], []
    for now in steps:
        both = min(len(before), len(now))
        alike = torch.isclose(now[:both], before[:both], atol=ROUNDING).all(-1).tolist()
        found.append([*alike, *[False] * (len(now) - both)])
        before = now
    return found


def size(step: Tensor) -> str:
    """Return the number of rows, and of numbers in each: `7 × 16`."""
    return " × ".join(map(str, step.shape))


def draw_strips(
    values: Mapping[str, Rows], lengths: Mapping[str, list[float]], names: list[str]
) -> str:
    """Draw one tensor below another, each vector with its length, and the scale below them all."""
    every = [row[:DRAWN] for matrix in values.values() for row in matrix]
    columns, count = len(every[0]), len(next(iter(values.values()))[0])
    end, high = scale_end(every), ROW * len(names) + 28
    left = max(map(word_width, names)) + 9
    right, bottom = left + CELL * columns, 6 + high * len(values)
    parts = [text(right + LENGTHS, 18, "length", css="small", anchor="end")]
    for k, (title, matrix) in enumerate(values.items()):
        top = 26 + high * k
        parts += [*beside(title, names, left, top, top - 8), strip(matrix, DRAWN, left, top, end)]
        written = [f"{length:.1f}" for length in lengths[title]]
        parts += column_of(written, right + LENGTHS, top)
    across = f"{columns} numbers" if columns == count else f"the first {columns} of {count} numbers"
    if any(abs(value) > end for row in every for value in row):
        across += ", some beyond the scale"
    legend, legend_end = scale(every, left, bottom + 4, end)
    parts += [legend, text(left, bottom + 33, across, css="small", anchor="start")]
    wide = max(right + LENGTHS + 4, legend_end)
    return picture(parts, wide, bottom + 40, shrinks=PHONE / wide, grows=1.2)


def draw_steps(
    steps: Mapping[str, Sequence[Tensor]], same: Mapping[str, list[list[bool]]], names: list[str]
) -> str:
    """Draw one name below another, each with its steps side by side, and the scale below all."""
    every = [row[:DRAWN_EACH] for each in steps.values() for step in each for row in as_rows(step)]
    first = next(iter(steps.values()))
    columns, count = len(every[0]), first[0].shape[1]
    end, high = scale_end(every), ROW * len(names) + ABOVE + 22
    left, wide = max(map(word_width, names)) + 9, CELL * columns
    parts = []
    for i, (title, each) in enumerate(steps.items()):
        top = high * i + ABOVE
        parts += beside(title, names, left, top, top - 24)
        for k, (step, kept) in enumerate(zip(each, same[title], strict=True)):
            x = left + (wide + APART) * k
            below = top + ROW * len(kept) + 14
            parts.append(text(x + wide / 2, top - 6, f"step {k + 1}", css="small"))
            parts += blocks(as_rows(step), kept, x, top, end)
            parts.append(text(x + wide / 2, below, size(step), css="small"))
    bottom = high * len(steps) + 6
    drawn = "all" if columns == count else f"the first {columns} of"
    told = ("framed: new; faint: as in the step before", f"{drawn} {count} numbers of a vector")
    parts.append(scale(every, left, bottom, end)[0])
    for k, line in enumerate(told):
        parts.append(text(left, bottom + 27 + 16 * k, line, css="small", anchor="start"))
    across = max(left + (wide + APART) * len(first), left + LEGEND)
    return picture(parts, across, bottom + 50, shrinks=UNGROWN, grows=1.4)


def beside(title: str, names: list[str], left: float, top: float, above: float) -> list[str]:
    """Write the vectors' name above them, and a word beside each row."""
    heading = text(left, above, title, css="title", anchor="start")
    return [heading, *column_of(names, left - 7, top)]


def column_of(entries: list[str], x: float, top: float) -> list[str]:
    """Write a word or a number for each row, all ending at `x`."""
    return [word(each, x, top + (i + 0.5) * ROW + 4.5, "end") for i, each in enumerate(entries)]


def blocks(matrix: Rows, kept: list[bool], left: float, top: float, end: float) -> list[str]:
    """Draw the cells of one step; neighboring rows that are all kept or all new are grouped."""
    parts, start = [], 0
    for old, run in groupby(kept):
        count, y = len(list(run)), top + ROW * start
        rows = matrix[start : start + count]
        cells, wide = strip(rows, DRAWN_EACH, left, y, end), CELL * len(rows[0][:DRAWN_EACH])
        place = f'x="{left:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{ROW * count:.1f}"'
        frame = f'<rect class="fresh" {place}/>'
        parts.append(f'<g class="kept">{cells}</g>' if old else f"<g>{cells}{frame}</g>")
        start += count
    return parts


def scale_end(rows: Rows) -> float:
    """Return the end of the scale: a number that only a few exceed."""
    sizes = sorted(abs(value) for row in rows for value in row if value and math.isfinite(value))
    return sizes[round(BEYOND * (len(sizes) - 1))] if sizes else 0.0


def strip(matrix: Rows, most: int, left: float, top: float, end: float) -> str:
    """Draw the cells of some rows, at most `most` of each, with lines between the rows."""
    rows = [row[:most] for row in matrix]
    right, bottom = left + CELL * len(rows[0]), top + ROW * len(rows)
    lines = "".join(f"M{left:.1f} {top + i * ROW:.1f}H{right:.1f}" for i in range(len(rows) + 1))
    lines += f"M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}V{top:.1f}"
    drawn = mosaic(rows, left, top, end, (CELL, ROW), shades=SHADES)
    return f'{drawn}<path class="line thin" d="{lines}"/>'
