"""`heatmap`: a matrix of weights or scores as colored cells."""

import math
from collections import defaultdict
from collections.abc import Sequence
from html import escape
from itertools import groupby

import torch
from jaxtyping import Shaped
from torch import Tensor

from glassformer.views.drawing import Number
from glassformer.views.palette import SHADOWS, THEME
from glassformer.views.view import (
    JOINERS,
    UNSEEN,
    View,
    aligned,
    columns_of,
    isolated,
    number,
    room,
    table,
    words,
)

SMALLEST = 12.0  # a cell without its number
WIDEST = 660.0  # width of a page's column
PHONE = 300.0  # width of a phone's column
NARROWEST = 0.8  # share of its full size; in a narrower window, it scrolls
LONGEST_WORD = 14  # letters; a longer word is cut, and its tooltip has it in full
WHITE_FROM = 0.76  # strength from which a number is white: all have a contrast of 4.5 to 1
MOST_CELLS = 1024  # above this many, cells of the same strength share a path
MOST_NUMBERS = 100  # cells: in a larger matrix, few people read the numbers
NEAR = 20  # distances from the diagonal that are listed one by one
FIELD = 240.0  # width of a matrix whose rows and columns are numbered
APART = 26.0  # the least distance between the numbers beside its rows and columns

STYLE = """
.glassformer-heatmap{position:relative;margin:1em 0 1.6em;color:inherit;font-family:inherit}
@media print{.glassformer-heatmap{break-inside:avoid;print-color-adjust:exact;
-webkit-print-color-adjust:exact}}
.glassformer-heatmap .scroll{overflow-x:auto;{SHADOWS}}
.glassformer-heatmap svg{display:block;margin:auto;height:auto;direction:ltr;overflow:visible;
font-family:inherit}
.glassformer-heatmap text{fill:currentColor}
.glassformer-heatmap .p{fill:var(--cell)}.glassformer-heatmap .n{fill:var(--negative-cell)}
.glassformer-heatmap path.p{fill:none;stroke:var(--cell)}
.glassformer-heatmap path.n{fill:none;stroke:var(--negative-cell)}
.glassformer-heatmap .g{stroke:var(--edge);fill:none}
.glassformer-heatmap .axis{opacity:.7;font-size:12px;letter-spacing:.04em}
.glassformer-heatmap .word{font-size:13px}
.glassformer-heatmap .number{fill:var(--number);font-size:12px;text-anchor:middle;
font-variant-numeric:tabular-nums;pointer-events:none}
.glassformer-heatmap .number.on{fill:#fff}
.glassformer-heatmap figcaption{max-width:none;margin:.3em auto 0;text-align:center;font-size:.9em;
opacity:.85;font-style:normal}
""".replace("\n", "").replace("{SHADOWS}", SHADOWS)


def heatmap(
    weights: Shaped[Tensor, "rows columns"],
    rows: Sequence[object],
    columns: Sequence[object],
    *,
    caption: str | None = None,
    axes: tuple[str, str] = ("query", "key"),
    end: float | int | None = None,
    numbers: bool | None = None,
) -> View:
    r"""Draw a matrix as a grid of cells, one row per query word and one column per key word.

    The larger a value is compared with the largest one, the stronger its cell's color. Negative
    values (scores) have a different hue. Small matrices have a number in each cell, if it fits.

    Args:
        weights: `(rows, columns)`: weights, scores, or a mask; `-inf` and `nan` are written out.
        rows: The words beside the rows; for a large matrix, a `range` is drawn as an axis.
        columns: The words above the columns; for a large matrix, a `range` is drawn as an axis.
        caption: A line below the picture.
        axes: The names of the rows and the columns.
        end: The value with the strongest color, by default the largest. Use the same one in
            pictures you compare.
        numbers: Whether the cells contain their numbers, if they fit; by default, only if there
            are at most 100 cells.

    Raises:
        ValueError: `weights` isn't a matrix, there isn't one word for each row and column, or
            `end` isn't a number above 0.

    >>> print(heatmap(torch.tensor([[0.75, 0.25]]), ["flies"], ["time", "arrow"]))
    query \ key  time  arrow
          flies  0.75   0.25
    """
    row_words, column_words = words(rows), words(columns)
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
    counts = not weights.is_floating_point()
    values = weights.detach().cpu().to(torch.long if counts else torch.double).tolist()
    largest = max((abs(v) for row in values for v in row if math.isfinite(v)), default=0.0)
    largest = largest if end is None else end if counts else float(end)
    cell, numbered = cell_size(values, max(map(width, map(shorten, column_words))), largest)
    numbered = numbered and (weights.numel() <= MOST_NUMBERS if numbers is None else numbers)
    if isinstance(rows, range) and isinstance(columns, range) and weights.numel() > MOST_CELLS:
        cell = FIELD / max(weights.shape)
    title = caption or f"{axes[0]} rows, {axes[1]} columns"
    told = tell(values, row_words, column_words, axes, largest, words_step(cell))
    html = (
        f'<figure class="glassformer-heatmap" data-search-exclude><style>{THEME}{STYLE}</style>'
        f"{draw(values, row_words, column_words, axes, largest, cell, numbered)}"
        f'<div style="{UNSEEN}">{table(told[0], told[1:], caption=title, css="glassformer-cells")}'
        f"</div>{f'<figcaption>{escape(caption)}</figcaption>' if caption else ''}</figure>"
    )
    return View(html, f"{caption}\n{aligned(told)}" if caption else aligned(told))


def draw(
    values: list[list[Number]],
    rows: list[str],
    columns: list[str],
    axes: tuple[str, str],
    largest: Number,
    cell: float,
    numbered: bool,
) -> str:
    """Draw words, cells, numbers, and the scale below them."""
    shown_rows, shown_columns = [shorten(w) for w in rows], [shorten(w) for w in columns]
    row_width, column_width = max(map(width, shown_rows)), max(map(width, shown_columns))
    step = words_step(cell)  # rows and columns per word
    tilted = column_width > cell * (step if cell < SMALLEST else 1) - 6
    left = 20 + row_width + 8
    top = 22 + (0.71 * column_width + 12 if tilted else 20.0)
    right = max(8.0, 0.71 * width(shown_columns[-1]) - cell / 2 + 8) if tilted else 8.0
    grid_width, grid_height = cell * len(columns), cell * len(rows)
    parts = [axis_names(axes, left, top, grid_width, grid_height)]
    for i in range(0, len(rows), step):
        y = top + (i + 0.5) * cell
        parts.append(word(shown_rows[i], rows[i], left - 7, y + 4.5, "end"))
    for j in range(0, len(columns), step):
        x = left + (j + 0.5) * cell
        if tilted:
            parts.append(word(shown_columns[j], columns[j], x, top - 8, "start", turn=-45))
        else:
            parts.append(word(shown_columns[j], columns[j], x, top - 9, "middle"))
    parts.append(cells(values, rows, columns, cell, left, top, largest))
    if numbered:
        parts.append(numbers(values, cell, left, top, largest))
    between = numbered or cell > 2 * SMALLEST
    parts.append(grid_lines(len(rows), len(columns), cell, left, top, between))
    bottom = top + grid_height + 14
    legend, legend_end = scale(values, left, bottom, largest)
    parts.append(legend)
    total_width, total_height = max(left + grid_width + right, legend_end), bottom + 26
    worded = numbered or cell >= SMALLEST  # its rows and columns have words, not axes
    narrowest = NARROWEST * total_width if worded else min(total_width, PHONE)
    place = room(total_width, total_height, narrowest, total_width)
    reach = ' tabindex="0"' if narrowest > PHONE else ""  # keys can scroll it
    return (
        f'<div class="scroll" {place}{reach}><svg aria-hidden="true" '
        f'viewBox="0 0 {total_width:.0f} {total_height:.0f}" '
        f'style="width:100%;max-width:{total_width:.0f}px;min-width:{narrowest:.0f}px">'
        f"{''.join(parts)}</svg></div>"
    )


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


def axis_names(axes: tuple[str, str], left: float, top: float, across: float, down: float) -> str:
    """Write `key →` above the columns, and `← query` up the side of the rows."""
    x, y = 12, top + down / 2
    return (
        f'<text class="axis" x="{left + across / 2:.1f}" y="13" text-anchor="middle">'
        f"{escape(axes[1])} →</text>"
        f'<text class="axis" x="{x}" y="{y:.1f}" text-anchor="middle" '
        f'transform="rotate(-90 {x} {y:.1f})">← {escape(axes[0])}</text>'
    )


def word(shown: str, whole: str, x: float, y: float, anchor: str, *, turn: int = 0) -> str:
    """Draw a row's or column's word; if it's cut, its tooltip has it in full."""
    rotate = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
    tooltip = f"<title>{escape(whole)}</title>" if shown != whole else ""
    return (
        f'<text class="word" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{rotate}>'
        f"{escape(shown)}{tooltip}</text>"
    )


def cells(
    values: list[list[Number]],
    rows: list[str],
    columns: list[str],
    cell: float,
    left: float,
    top: float,
    largest: Number,
) -> str:
    """Draw the colored squares; in a large matrix, cells of the same strength share a path."""
    if len(rows) * len(columns) > MOST_CELLS:
        return many_cells(values, cell, left, top, largest)
    squares = []
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            tooltip = f"{isolated(rows[i])} → {isolated(columns[j])}: {number(value, largest)}"
            squares.append(
                f'<rect class="{"n" if value < 0 else "p"}" x="{left + j * cell:.1f}" '
                f'y="{top + i * cell:.1f}" width="{cell:.1f}" height="{cell:.1f}" '
                f'fill-opacity="{strength(value, largest):.3f}">'
                f"<title>{escape(tooltip)}</title></rect>"
            )
    return "".join(squares)


def many_cells(
    values: list[list[Number]], cell: float, left: float, top: float, largest: Number
) -> str:
    """Draw cells as strokes in units of one cell: a path for each sign and 64th of the scale.

    The pen's moves are relative: small numbers, which take half the bytes when compressed.
    """
    paths: dict[tuple[str, int], str] = defaultdict(str)
    pens: dict[tuple[str, int], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for i, row in enumerate(values):
        levels = [("n" if v < 0 else "p", round(strength(v, largest) * 64)) for v in row]
        j = 0
        for kind, run in groupby(levels):
            count = len(list(run))
            if kind[1]:
                x, y = pens[kind]
                paths[kind] += f"m{j - x} {i - y}h{count}"
                pens[kind] = (j + count, i)
            j += count
    inner = "".join(
        f'<path class="{sign}" stroke-opacity="{level / 64:.3f}" d="{path}"/>'
        for (sign, level), path in sorted(paths.items())
    )
    middle = top + cell / 2  # of the first row
    place = f"translate({left:.1f} {middle:.1f}) scale({cell:.3f})"
    return f'<g shape-rendering="crispEdges" transform="{place}">{inner}</g>'  # no seams


def numbers(
    values: list[list[Number]], cell: float, left: float, top: float, largest: Number
) -> str:
    """Write the value in each cell, in white if the cell is too dark for the page's text color."""
    return "".join(
        f'<text class="number{" on" if strength(value, largest) > WHITE_FROM else ""}" '
        f'x="{left + (j + 0.5) * cell:.1f}" y="{top + (i + 0.5) * cell + 4:.1f}">'
        f"{number(value, largest).replace('-', '−')}</text>"
        for i, row in enumerate(values)
        for j, value in enumerate(row)
    )


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
    return f'<path class="g" d="{lines}"/>'


def scale(values: list[list[Number]], left: float, y: float, largest: Number) -> tuple[str, float]:
    """Return the legend, from the lowest value's color to the largest's, and where it ends."""
    negative = any(v < 0 and math.isfinite(v) for row in values for v in row)
    steps = [i / 4 for i in range(-4 if negative else 0, 5)]
    low = number(-largest, largest).replace("-", "−") if negative else "0"
    high = number(largest, largest)
    if any(largest < value < math.inf for row in values for value in row):
        high = f"≥ {high}"  # larger values have the same color
    x = left + width(low) + 6
    squares = "".join(
        f'<rect class="{"n" if step < 0 else "p"}" x="{x + 16 * k:.1f}" y="{y:.1f}" width="16" '
        f'height="9" fill-opacity="{abs(step):.2f}"/>'
        for k, step in enumerate(steps)
    )
    end = x + 16 * len(steps)
    drawn = (
        f'<text class="axis" x="{left:.1f}" y="{y + 8.5:.1f}">{low}</text>{squares}'
        f'<path class="g" d="M{x:.1f} {y:.1f}H{end:.1f}v9H{x:.1f}z"/>'
        f'<text class="axis" x="{end + 6:.1f}" y="{y + 8.5:.1f}">{high}</text>'
    )
    return drawn, end + 6 + width(high)


def strength(value: Number, largest: Number) -> float:
    """Return the strength of a cell's color, from 0 to 1; if the value isn't finite, 0."""
    return min(1.0, abs(value) / largest) if largest and math.isfinite(value) else 0.0


def shorten(token: str) -> str:
    """Return a word, cut if it has too many letters."""
    if len(token) <= LONGEST_WORD:
        return token
    return token[: LONGEST_WORD - 1].rstrip(JOINERS) + "…"


def width(token: str) -> float:
    """Return a word's approximate width at 13 pixels; wide letters (CJK, emoji) count twice."""
    return 7.4 * columns_of(token)


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
