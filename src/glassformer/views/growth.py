"""`growth`: vectors that are added step by step, such as the keys and values in a cache."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby

import torch
from torch import Tensor

from glassformer.views.grid import PHONE, STYLE, scale, shorten, width, word
from glassformer.views.palette import THEME
from glassformer.views.strips import CELL, ROW, STRIPS, Panel, panel, scale_end, strip
from glassformer.views.view import UNSEEN, View, aligned, isolated, room, table, words

APART = 12.0  # the space between two steps
ABOVE = 40.0  # room above the cells for their name and the numbers of the steps
LEGEND = 260.0  # width of the legend
ROUNDING = 1e-5  # numbers that differ by less count as equal

GROWTH = (
    ".glassformer-heatmap .kept{opacity:.42}"
    ".glassformer-heatmap .fresh{fill:none;stroke:var(--pos);stroke-width:1.8}"
)


def growth(
    steps: Mapping[str, Sequence[Tensor]],
    rows: Sequence[object],
    *,
    caption: str | None = None,
    most: int = 5,
) -> View:
    """Draw vectors that are added step by step: a column for each step, a row for each word.

    A row with the same numbers as in the step before, up to rounding, is faint. A row that is new
    or has changed is framed. Each step's size is written below it. All steps share one scale.

    Args:
        steps: The vectors' name, and their values at each step: `(rows, width)`, one row for each
            of the first words. All names have the same number of steps.
        rows: The words beside the rows.
        caption: A line below the picture.
        most: The most numbers drawn for each vector.

    Raises:
        ValueError: There is no step, one isn't `(rows, width)` or has more rows than there are
            words, the numbers of steps or the widths differ, or `most` is less than one.
    """
    row_words = words(rows)
    check(steps, row_words, most)
    same = {name: unchanged(each) for name, each in steps.items()}
    header, facts = listed(steps, same, row_words)
    hidden = table(header, facts, caption=caption or ", ".join(steps), css="glassformer-cells")
    html = (
        f'<figure class="glassformer-heatmap" data-search-exclude><style>{THEME}{STYLE}{STRIPS}'
        f"{GROWTH}</style>{draw(steps, same, row_words, most)}"
        f'<div style="{UNSEEN}">{hidden}</div>'
        f"{f'<figcaption>{escape(caption)}</figcaption>' if caption else ''}</figure>"
    )
    text = aligned([header, *facts])
    return View(html, f"{caption}\n{text}" if caption else text)


def check(steps: Mapping[str, Sequence[Tensor]], rows: list[str], most: int) -> None:
    """Raise an error if the steps can't be drawn."""
    shapes = {name: [tuple(step.shape) for step in each] for name, each in steps.items()}
    if most < 1:
        raise ValueError(f"most ({most}) must be at least 1")
    if not all([shapes, *shapes.values()]):
        raise ValueError(f"growth needs at least one step of each name, but got {shapes}")
    for name, each in shapes.items():
        for shape in each:
            if len(shape) != 2 or shape[0] > len(rows) or 0 in shape:
                raise ValueError(
                    f"{name!r} of shape {shape} must be (rows, width), with at most one row for "
                    f"each of the {len(rows)} words"
                )
    if len({len(each) for each in shapes.values()}) > 1:
        raise ValueError(f"numbers of steps differ: { {k: len(v) for k, v in shapes.items()} }")
    if len({shape[1] for each in shapes.values() for shape in each}) > 1:
        raise ValueError(f"all steps must have the same width, but have {shapes}")


def unchanged(steps: Sequence[Tensor]) -> list[list[bool]]:
    """Return, for each row of each step, whether it's the same as in the step before."""
    before, found = steps[0][:0], []
    for now in steps:
        both = min(len(before), len(now))
        alike = torch.isclose(now[:both], before[:both], atol=ROUNDING).all(-1).tolist()
        found.append([*alike, *[False] * (len(now) - both)])
        before = now
    return found


def listed(
    steps: Mapping[str, Sequence[Tensor]], same: Mapping[str, list[list[bool]]], rows: list[str]
) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table: each step, what is new in it, and its size."""
    facts = [
        [
            f"{name}, step {k}",
            " ".join(isolated(row) for row, kept in zip(rows, flags, strict=False) if not kept)
            or "nothing",
            str(sum(flags)),
            size(step),
        ]
        for name, each in steps.items()
        for k, (step, flags) in enumerate(zip(each, same[name], strict=True), 1)
    ]
    return ["vectors", "new", "rows kept", "size"], facts


def size(step: Tensor) -> str:
    """Return the number of rows, and of numbers in each: `7 × 16`."""
    return " × ".join(map(str, step.shape))


def draw(
    steps: Mapping[str, Sequence[Tensor]],
    same: Mapping[str, list[list[bool]]],
    rows: list[str],
    most: int,
) -> str:
    """Draw one name below another, each with its steps side by side, and the scale below all."""
    panels = {
        name: [panel(size(step), step, most) for step in each] for name, each in steps.items()
    }
    every = [one for each in panels.values() for one in each]
    end, count = scale_end(every), len(every) // len(panels)
    left = max(width(shorten(row)) for row in rows) + 9
    across = max(left + (CELL * len(every[0].values[0]) + APART) * count, left + LEGEND)
    high = ROW * len(rows) + ABOVE + 22
    drawn = "".join(
        named(name, rows, left, high * k)
        + "".join(columns(each, same[name], left, high * k + ABOVE, end))
        for k, (name, each) in enumerate(panels.items())
    )
    bottom = high * len(panels) + 6
    told = legend(every, next(iter(steps.values()))[0].shape[1], left, bottom, end)
    place = room(across, bottom + 50, across / 1.3, 1.4 * across)
    reach = ' tabindex="0"' if across > 1.3 * PHONE else ""  # keys can scroll it
    return (
        f'<div class="scroll" {place}{reach}><svg aria-hidden="true" '
        f'viewBox="0 0 {across:.0f} {bottom + 50:.0f}" style="width:100%;'
        f'max-width:{1.4 * across:.0f}px;min-width:{across / 1.3:.0f}px">{drawn}{told}</svg></div>'
    )


def named(name: str, rows: list[str], left: float, top: float) -> str:
    """Write the vectors' name, and a word beside each row."""
    heading = f'<text class="name" x="{left:.1f}" y="{top + 16:.1f}">{escape(name)}</text>'
    return heading + "".join(
        word(shorten(row), row, left - 7, top + ABOVE + (i + 0.5) * ROW + 4.5, "end")
        for i, row in enumerate(rows)
    )


def columns(
    each: list[Panel], same: list[list[bool]], left: float, top: float, end: float
) -> Iterator[str]:
    """Draw the steps of one name: their cells, with their number above and their size below."""
    wide = CELL * len(each[0].values[0])
    for k, (one, kept) in enumerate(zip(each, same, strict=True)):
        x = left + (wide + APART) * k
        yield small(x + wide / 2, top - 6, f"step {k + 1}")
        yield blocks(one, kept, x, top, end)
        yield small(x + wide / 2, top + ROW * len(kept) + 14, one.name)


def blocks(one: Panel, kept: list[bool], left: float, top: float, end: float) -> str:
    """Draw the cells of one step; neighboring rows that are all kept or all new are grouped."""
    parts, start, across = [], 0, CELL * len(one.values[0])
    for old, run in groupby(kept):
        count, y = len(list(run)), top + ROW * start
        cells = strip(one.values[start : start + count], left, y, end)
        frame = (
            f'<rect class="fresh" x="{left:.1f}" y="{y:.1f}" width="{across:.1f}" '
            f'height="{ROW * count:.1f}"/>'
        )
        parts.append(f'<g class="kept">{cells}</g>' if old else f"<g>{cells}{frame}</g>")
        start += count
    return "".join(parts)


def legend(every: list[Panel], numbers: int, left: float, top: float, end: float) -> str:
    """Draw the scale, and write what a frame means and how much of each vector is drawn."""
    drawn = len(every[0].values[0])
    first = "all" if drawn == numbers else f"the first {drawn} of"
    lines = ("framed: new; faint: as in the step before", f"{first} {numbers} numbers of a vector")
    legend, _ = scale([row for one in every for row in one.values], left, top, end)
    return legend + "".join(
        f'<text class="axis" x="{left:.1f}" y="{top + 27 + 16 * k:.1f}">{line}</text>'
        for k, line in enumerate(lines)
    )


def small(x: float, y: float, text: str) -> str:
    """Draw a line of small text above or below a step."""
    return f'<text class="axis" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{text}</text>'
