"""`heatmap`: a matrix of weights or scores as colored cells."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Shaped
from torch import Tensor

from glassformer.views.drawing import (
    GROWS,
    PHONE,
    UNGROWN,
    Number,
    as_role,
    cell_numbers,
    cut,
    figure,
    line,
    mosaic,
    picture,
    squares,
    text,
    width_of,
)
from glassformer.views.view import View, isolated, minus, number, words

SMALLEST = 10.5  # a cell without its number
BARE = 18.0  # a cell of a matrix that is drawn without numbers
WIDEST = 660.0  # width of a page's column
LONGEST_WORD = 14  # columns; a longer word is cut, and its tooltip has it in full
MOST_CELLS = 1024  # above this many, cells of the same strength share a path
MOST_NUMBERS = 100  # cells: in a larger matrix, few people read the numbers
NEAR = 20  # distances from the diagonal that are listed one by one
TIGHTER = 11.0  # how much narrower cells with numbers are, if their rows and columns have no words
FIELD = 240.0  # width of a matrix whose rows and columns are numbered
APART = 26.0  # the least distance between the numbers beside its rows and columns
ROUNDING = 1 + 1e-6  # a value so far beyond the end of a scale is at its end

Places = list[tuple[int, int]]  # rows and columns of cells

# On a phone, too, words keep their size: rows and columns have no more room there.
STYLE = (
    ".glassformer-heatmap .word{font-size:13px}"
    ".glassformer-heatmap :is(.small,.number){font-size:12px}"
)


def heatmap(
    weights: Shaped[Tensor, "rows columns"],
    rows: Sequence[object],
    columns: Sequence[object],
    *,
    caption: str | None = None,
    axes: tuple[str, str] = ("query", "key"),
    end: float | int | None = None,
    numbered: bool = True,
    signed: bool = False,
    hidden: Bool[Tensor, "rows columns"] | None = None,
    outlined: Bool[Tensor, "rows columns"] | None = None,
) -> View:
    r"""Draw a matrix as a grid of cells, one row per query word and one column per key word.

    The larger a value is compared with the largest one, the stronger its cell's color. Negative
    values (scores) have a different hue. A matrix of at most 100 cells has a number in each cell,
    if it fits.

    Args:
        weights: `(rows, columns)`: weights, scores, or a mask; `-inf` and `nan` are written out.
        rows: The words beside the rows; for a large matrix, a `range` is drawn as an axis.
        columns: The words above the columns; for a large matrix, a `range` is drawn as an axis.
        caption: A line below the picture.
        axes: The names of the rows and the columns; without a name, rows have only their words.
        end: The value with the strongest color, by default the largest. Use the same one in
            pictures you compare.
        numbered: Whether a small matrix has its numbers; without them, its cells are small.
        signed: Whether the scale shows both signs, even if all values have the same one.
        hidden: True for cells that are crossed out, such as those of keys out of view.
        outlined: True for the cells that the text speaks of; a bold line runs around them.

    Raises:
        ValueError: `weights` isn't a matrix, there isn't one word for each row and column, `end`
            isn't a number above 0, or `hidden` or `outlined` has another shape than `weights`.

    >>> print(heatmap(torch.tensor([[0.75, 0.25]]), ["flies"], ["time", "arrow"]))
    query \ key  time  arrow
          flies  0.75   0.25
    """
    weights, row_words, column_words = torch.as_tensor(weights), words(rows), words(columns)
    if weights.ndim != 2:
        raise ValueError(
            f"a heatmap draws one matrix (rows, columns), but weights have shape "
            f"{tuple(weights.shape)}: choose the batch and the head first"
        )
    if tuple(weights.shape) != (len(row_words), len(column_words)):
        raise ValueError(
            f"weights of shape {tuple(weights.shape)} do not fit "
            f"{len(row_words)} row words and {len(column_words)} column words"
        )
    if not weights.numel():
        raise ValueError(f"weights of shape {tuple(weights.shape)} have nothing to draw")
    if end is not None and not 0 < end < math.inf:
        raise ValueError(f"end ({end}) must be a number above 0")
    for name, mask in (("hidden", hidden), ("outlined", outlined)):
        if mask is not None and mask.shape != weights.shape:
            raise ValueError(
                f"{name} has shape {tuple(mask.shape)}, but the weights {tuple(weights.shape)}"
            )
    counts = not weights.is_floating_point()
    values = weights.detach().cpu().to(torch.long if counts else torch.double).tolist()
    largest = max((abs(v) for row in values for v in row if math.isfinite(v)), default=0.0)
    largest = largest if end is None else end if counts else float(end)
    longest = max(map(word_width, column_words))
    cell, fits = cell_size(values, longest, largest)
    many = weights.numel() > MOST_CELLS
    axes_of_numbers = isinstance(rows, range) and isinstance(columns, range)
    grown = axes_of_numbers and not many and len(rows) > 1 and len(columns) * cell > PHONE
    if axes_of_numbers and many:
        cell = FIELD / max(weights.shape)
    elif grown:
        cell = cell - TIGHTER if fits else SMALLEST
    if not numbered:
        cell = min(cell, BARE)
    numbered = numbered and fits and weights.numel() <= MOST_NUMBERS
    header, *facts = tell(values, row_words, column_words, axes, largest, words_step(cell))
    if hidden is not None and not many:
        for i, j in places(hidden):
            facts[i][j + 1] = "hidden"
    marks = places(hidden), places(outlined)
    return figure(
        draw(
            values,
            row_words,
            column_words,
            axes,
            largest,
            cell,
            numbered,
            signed,
            marks,
            grown,
        ),
        header,
        facts,
        name=caption or f"{axes[0]} rows, {axes[1]} columns",
        caption=caption,
        css="glassformer-heatmap",
        style=STYLE,
    )


def draw(
    values: list[list[Number]],
    rows: list[str],
    columns: list[str],
    axes: tuple[str, str],
    largest: Number,
    cell: float,
    numbered: bool,
    signed: bool,
    marks: tuple[Places, Places],
    grown: bool,
) -> str:
    """Draw words, cells, numbers, and the scale below them."""
    row_width, column_width = max(map(word_width, rows)), max(map(word_width, columns))
    step = words_step(cell)  # rows and columns per word
    tilted = column_width > cell * (step if grown or cell < SMALLEST else 1) - 6
    left = (20 if axes[0] else 0) + row_width + 8
    top = 22 + (0.71 * column_width + 12 if tilted else 20.0)
    right = max(8.0, 0.71 * word_width(columns[-1]) - cell / 2 + 8) if tilted else 8.0
    across, down, size = cell * len(columns), cell * len(rows), (cell, cell)
    parts = axis_names(axes, left, top, across, down)
    for i in range(0, len(rows), step):
        parts.append(word(rows[i], left - 7, top + (i + 0.5) * cell + 4.5, "end"))
    for j in range(0, len(columns), step):
        x = left + (j + 0.5) * cell
        if tilted:
            parts.append(word(columns[j], x, top - 8, "start", turn=-45))
        else:
            parts.append(word(columns[j], x, top - 9, "middle"))

    hidden, outlined = marks
    for i, j in hidden:
        values[i][j] = math.nan  # without a color

    def tooltip(i: int, j: int) -> str:
        pair = f"{isolated(rows[i])} → {isolated(columns[j])}"
        return f"{pair}: {'hidden' if (i, j) in hidden else number(values[i][j], largest)}"

    if len(rows) * len(columns) > MOST_CELLS:
        parts.append(mosaic(values, left, top, largest, size, shades=64))
    else:
        parts.append(squares(values, left, top, largest, size, tooltip))
    if numbered:
        parts.append(cell_numbers(values, left, top, largest, size, without=hidden))
    between = numbered or cell > 24
    parts.append(grid_lines(len(rows), len(columns), cell, left, top, between))
    corners = [(left + j * cell, top + i * cell) for i, j in hidden]
    parts += [line([(x, y + cell), (x + cell, y)], css="thin") for x, y in corners]
    parts.append(outline(outlined, cell, left, top))
    legend, legend_end = scale(values, left, top + down + 14, largest, signed)
    width = max(left + across + right, legend_end)
    worded = numbered or cell >= SMALLEST  # its rows and columns have words, not axes
    shrinks = UNGROWN if worded else PHONE / width
    grows = GROWS if grown else 1.0
    return picture([*parts, legend], width, top + down + 40, shrinks=shrinks, grows=grows)


def outline(cells: Places, cell: float, left: float, top: float) -> str:
    """Draw a line around cells, but not between two of them."""
    edges = "".join(
        f"M{left + cell * (j + (right > 0)):.1f} {top + cell * (i + (down > 0)):.1f}"
        f"{'h' if down else 'v'}{cell:.1f}"
        for i, j in cells
        for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1))
        if (i + down, j + right) not in cells
    )
    return f'<path class="line bold"{as_role("series-2")} d="{edges}"/>' if cells else ""


def places(mask: Tensor | None) -> Places:
    """Return the row and column of each cell where a mask is True."""
    return [] if mask is None else [(i, j) for i, j in mask.nonzero().tolist()]


def cell_size(
    values: list[list[Number]], column_width: float, largest: Number
) -> tuple[float, bool]:
    """Return the width of a cell, and whether its number fits: with many columns, it doesn't."""
    columns = len(values[0])
    roomy = max(34.0, 7.0 * max(len(number(v, largest)) for row in values for v in row) + 9)
    if columns * (column_width + 8) <= PHONE:
        roomy = max(roomy, column_width + 8)
    if columns * roomy <= WIDEST:
        return roomy, True
    return min(roomy, max(SMALLEST, WIDEST / columns)), False


def words_step(cell: float) -> int:
    """Return how many rows or columns share a word; if they're numbered, it's a round number."""
    if cell >= SMALLEST:
        return max(1, math.ceil(15 / cell))
    return next(k for k in (5, 10, 20, 50, 100, 200, 500, 1000) if k * cell >= APART)


def axis_names(
    axes: tuple[str, str], left: float, top: float, across: float, down: float
) -> list[str]:
    """Write `key →` above the columns, and `← query` up the side of the rows."""
    above = text(left + across / 2, 13, f"{axes[1]} →", css="small")
    side = text(12, top + down / 2, f"← {axes[0]}", css="small", turn=-90)
    return [above, side] if axes[0] else [above]


def word(name: str, x: float, y: float, anchor: str, *, turn: int = 0) -> str:
    """Draw a row's or column's word; if it's cut, its tooltip has it in full."""
    return text(x, y, name, css="word", anchor=anchor, turn=turn, most=LONGEST_WORD)


def word_width(name: str) -> float:
    """Return the approximate width of a row's or column's word, as it is shown."""
    return width_of(cut(name, LONGEST_WORD))


def grid_lines(rows: int, columns: int, cell: float, left: float, top: float, between: bool) -> str:
    """Draw thin lines between the cells; for a dense matrix, only the frame."""
    right, bottom = left + columns * cell, top + rows * cell
    if not between:
        lines = f"M{left:.1f} {top:.1f}H{right:.1f}V{bottom:.1f}H{left:.1f}z"
    else:
        lines = "".join(f"M{left:.1f} {top + i * cell:.1f}H{right:.1f}" for i in range(rows + 1))
        lines += "".join(
            f"M{left + j * cell:.1f} {top:.1f}V{bottom:.1f}" for j in range(columns + 1)
        )
    return f'<path class="line thin" d="{lines}"/>'


def scale(
    values: list[list[Number]], left: float, y: float, largest: Number, signed: bool = False
) -> tuple[str, float]:
    """Return the legend, from the lowest value's color to the largest's, and where it ends.

    Unless it's signed, it ends at zero if no value is above zero.
    """
    negative = signed or any(v < 0 and math.isfinite(v) for row in values for v in row)
    positive = signed or not negative or any(0 < v < math.inf for row in values for v in row)
    steps = [i / 4 for i in range(-4 if negative else 0, 5 if positive else 1)]
    low = minus(number(-largest, largest)) if negative else "0"
    high = number(largest, largest) if positive else "0"
    every = [value for row in values for value in row if math.isfinite(value)]
    if any(value > largest * ROUNDING for value in every):
        high = f"≥ {high}"  # larger values have the same color
    if any(value < -largest * ROUNDING for value in every):
        low = f"≤ {low}"
    x = left + width_of(low) + 6
    end = x + 16 * len(steps)
    drawn = (
        text(left, y + 8.5, low, css="small", anchor="start")
        + squares([steps], x, y, 1.0, (16, 9))
        + f'<path class="line thin" d="M{x:.1f} {y:.1f}H{end:.1f}v9H{x:.1f}z"/>'
        + text(end + 6, y + 8.5, high, css="small", anchor="start")
    )
    return drawn, end + 6 + width_of(high)


def tell(
    values: list[list[Number]],
    rows: list[str],
    columns: list[str],
    axes: tuple[str, str],
    largest: Number,
    step: int,
) -> list[list[str]]:
    """Return the matrix as a table, header first; a large matrix is summarized.

    For a large symmetric matrix, the table has the mean at each distance from the diagonal. For
    any other large matrix, it has the largest value in each row that has a word.
    """
    if len(rows) * len(columns) <= MOST_CELLS:
        cells = zip(rows, values, strict=True)
        return [[" \\ ".join(axes), *columns]] + [
            [name, *(number(v, largest) for v in row)] for name, row in cells
        ]
    if rows == columns and symmetric(values):
        return [["distance", "mean"], *by_distance(values, largest)]
    numbered = peaks(values, rows, columns, largest)[::step]
    return [[axes[0], f"largest at {axes[1]}", "value"], *numbered]


def symmetric(values: list[list[Number]]) -> bool:
    """Return whether a square matrix is its own transpose, up to rounding."""
    return all(
        math.isclose(value, values[j][i], abs_tol=1e-5)
        for i, row in enumerate(values)
        for j, value in enumerate(row[:i])
    )


def by_distance(values: list[list[Number]], largest: Number) -> list[list[str]]:
    """Return the mean of each diagonal near the main one, and then of every tenth."""
    told = []
    for k in range(len(values)):
        if k < NEAR or k % 10 == 0:
            diagonal = [row[i + k] for i, row in enumerate(values[: len(values) - k])]
            told.append([str(k), number(sum(diagonal) / len(diagonal), largest)])
    return told


def peaks(
    values: list[list[Number]], rows: list[str], columns: list[str], largest: Number
) -> list[list[str]]:
    """Return, for each row, the column of its largest value, and the value."""
    best = [max(range(len(row)), key=row.__getitem__) for row in values]
    return [
        [name, columns[j], number(row[j], largest)]
        for name, row, j in zip(rows, values, best, strict=True)
    ]
