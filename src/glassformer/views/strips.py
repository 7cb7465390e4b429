"""`strips`: vectors as rows of coloured cells, one row a word, with each vector's length."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape

from torch import Tensor

from glassformer.views.grid import PHONE, STYLE, scale, shorten, strength, width, word
from glassformer.views.view import THEME, UNSEEN, View, aligned, table, words

CELL, ROW = 7.0, 15.0  # a cell is narrow and tall: the eye reads along a row
MOST = 48  # numbers drawn of a vector
LEVELS = 24  # steps of colour, so that cells of one step share a path
BEYOND = 0.98  # of the numbers drawn, how many the scale covers: one that sticks out hides no other
LISTED = 3  # numbers of a vector that the text tells

STRIPS = (
    ".glassformer-heatmap .strip path{fill:none}"
    ".glassformer-heatmap .strip .p{stroke:var(--cell)}"
    ".glassformer-heatmap .strip .n{stroke:var(--negative)}"
    ".glassformer-heatmap .name{font-size:13px;font-weight:600}"
)


def strips(
    tensors: Mapping[str, Tensor],
    rows: Sequence[object],
    *,
    caption: str | None = None,
    most: int = MOST,
) -> View:
    """Draws vectors as strips of coloured cells, a row for each word, one tensor below another.

    All tensors share one scale, so that what is added can be held against what it is added to.
    The scale ends below the few largest numbers, whose cells have its strongest colour.

    Args:
        tensors: What each tensor is, and the tensor: `(rows, width)`, all of one shape.
        rows: The words beside the rows.
        caption: A line below the picture.
        most: How many numbers of a vector are drawn; its length counts them all.

    Raises:
        ValueError: There is no tensor, one is not `(rows, width)`, shapes differ, or `most` is
            less than one.
    """
    row_words = words(rows)
    check(tensors, row_words, most)
    whole = {name: tensor.detach().cpu().double() for name, tensor in tensors.items()}
    drawn = {name: tensor[:, :most].tolist() for name, tensor in whole.items()}
    lengths = {name: tensor.norm(dim=-1).tolist() for name, tensor in whole.items()}
    count = next(iter(whole.values())).shape[1]
    title = caption or ", ".join(tensors)
    header = ["vector", "length", *(f"number {k}" for k in range(min(LISTED, count, most)))]
    facts = [
        [f"{name}: {row_words[i]}", f"{lengths[name][i]:.2f}"]
        + [f"{value:.2f}" for value in values[:LISTED]]
        for name, matrix in drawn.items()
        for i, values in enumerate(matrix)
    ]
    html = (
        f'<figure class="glassformer-heatmap" data-search-exclude><style>{THEME}{STYLE}{STRIPS}'
        f"</style>{draw(drawn, lengths, row_words, count)}"
        f'<div style="{UNSEEN}">{table(header, facts, caption=title, css="glassformer-cells")}'
        f"</div>{f'<figcaption>{escape(caption)}</figcaption>' if caption else ''}</figure>"
    )
    text = aligned([header, *facts])
    return View(html, f"{caption}\n{text}" if caption else text)


def check(tensors: Mapping[str, Tensor], rows: list[str], most: int) -> None:
    """Refuse what cannot be drawn as rows of one width."""
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if most < 1:
        raise ValueError(f"most ({most}) must be at least 1")
    if not shapes:
        raise ValueError("strips draw at least one tensor, but there is none")
    for name, shape in shapes.items():
        if len(shape) != 2 or shape[0] != len(rows) or 0 in shape:
            raise ValueError(
                f"{name!r} of shape {shape} must be (rows, width) with one row for each of the "
                f"{len(rows)} words"
            )
    if len(set(shapes.values())) > 1:
        raise ValueError(f"tensors share one scale and must share one shape, but have {shapes}")


def draw(
    drawn: dict[str, list[list[float]]],
    lengths: dict[str, list[float]],
    rows: list[str],
    count: int,
) -> str:
    """The picture: for each tensor its name, its rows and their lengths; below them the scale."""
    shown = [shorten(w) for w in rows]
    left = max(map(width, shown)) + 9
    columns = len(next(iter(drawn.values()))[0])
    right = left + CELL * columns
    most = scale_end(drawn)
    across = f"{columns} numbers" if columns == count else f"the first {columns} of {count} numbers"
    parts, y = [], 6.0
    for place, (name, matrix) in enumerate(drawn.items()):
        parts.append(heading(name, left, right, y + 12, "length" if place == 0 else ""))
        y += 20
        parts.append(strip(matrix, left, y, most))
        for i, (short, whole) in enumerate(zip(shown, rows, strict=True)):
            middle = y + (i + 0.5) * ROW + 4.5
            parts.append(word(short, whole, left - 7, middle, "end"))
            parts.append(
                word(length := f"{lengths[name][i]:.1f}", length, right + 44, middle, "end")
            )
        y += ROW * len(rows) + 8
    every = [row for matrix in drawn.values() for row in matrix]
    beyond = any(abs(value) > most for row in every for value in row)
    parts.append(scale(every, left, y + 4, most))
    across = f"{across}{', some beyond the scale' if beyond else ''}"
    parts.append(f'<text class="axis" x="{left:.1f}" y="{y + 33:.1f}">{across}</text>')
    wide, high = right + 48, y + 40
    return (
        f'<svg aria-hidden="true" viewBox="0 0 {wide:.0f} {high:.0f}" '
        f'style="width:100%;max-width:{1.2 * wide:.0f}px;min-width:{min(wide, PHONE):.0f}px">'
        f"{''.join(parts)}</svg>"
    )


def heading(name: str, left: float, right: float, y: float, length: str) -> str:
    """A tensor's name over its cells, and once what the numbers at the right are."""
    over = f'<text class="axis" x="{right + 44:.1f}" y="{y:.1f}" text-anchor="end">{length}</text>'
    return (
        f'<text class="name" x="{left:.1f}" y="{y:.1f}">{escape(name)}</text>'
        f"{over if length else ''}"
    )


def scale_end(drawn: dict[str, list[list[float]]]) -> float:
    """Where the scale ends: at a number that all but a few do not reach."""
    sizes = sorted(abs(v) for matrix in drawn.values() for row in matrix for v in row if v - v == 0)
    return sizes[round(BEYOND * (len(sizes) - 1))] if sizes else 0.0


def strip(matrix: list[list[float]], left: float, top: float, most: float) -> str:
    """The cells: in each row, neighbours of one sign and step of colour share a stroke."""
    paths: dict[tuple[str, int], list[str]] = defaultdict(list)
    for i, row in enumerate(matrix):
        looks = [("n" if v < 0 else "p", round(LEVELS * min(1, strength(v, most)))) for v in row]
        start = 0
        for j in range(1, len(looks) + 1):
            if j == len(looks) or looks[j] != looks[start]:
                if looks[start][1]:
                    paths[looks[start]].append(f"M{start} {i}h{j - start}")
                start = j
    inner = "".join(
        f'<path class="{sign}" stroke-opacity="{level / LEVELS:.2f}" d="{"".join(strokes)}"/>'
        for (sign, level), strokes in sorted(paths.items())
    )
    right, bottom = left + CELL * len(matrix[0]), top + ROW * len(matrix)
    lines = "".join(f"M{left:.1f} {top + i * ROW:.1f}H{right:.1f}" for i in range(len(matrix) + 1))
    return (
        f'<g class="strip" transform="translate({left:.1f} {top + ROW / 2:.1f}) '
        f'scale({CELL} {ROW})">{inner}</g>'
        f'<path class="g" d="{lines}M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}V{top:.1f}"/>'
    )
