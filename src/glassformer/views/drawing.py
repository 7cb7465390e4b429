"""Parts of pictures: words, lines, arrows, boxes, cells, and the figure around them.

Each function returns SVG in the units of its picture; at full size, one unit is a pixel. An element
with a role, named as in `palette.ROLES`, has that role's color.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import groupby
from typing import Any

from glassformer.views.palette import (
    BOLD,
    LABEL,
    LINE,
    RADIUS,
    ROLES,
    SHADOWS,
    SMALL,
    THEME,
    THIN,
    TITLE,
    WIDE,
)
from glassformer.views.view import JOINERS, UNSEEN, View, aligned, columns_of, minus, number, table

PHONE = 280.0  # width of a phone's column
SHRUNK = 0.72  # smallest share of its full size; below that, a picture scrolls
UNGROWN = 0.8  # the same for a picture whose words don't grow on a phone
TIP = 7.0  # length of an arrowhead
CHIP = 26.0  # height of a word in a box
GROWS = 1.5  # how much larger than full size a drawing of lines may be on a wide page

STYLE = f"""
.glassformer-drawing{{position:relative;margin:1em 0 1.4em;color:inherit;font-family:inherit;
--line:color-mix(in srgb,currentColor 62%,transparent);--role:var(--line)}}
.glassformer-drawing .scroll{{overflow-x:auto;scrollbar-width:thin;
scrollbar-color:var(--line) transparent;{SHADOWS}}}
.glassformer-drawing svg{{display:block;margin:auto;width:100%;height:auto;overflow:visible;
direction:ltr;font-family:inherit}}
.glassformer-drawing text{{fill:currentColor;font-size:{LABEL:g}px;
font-variant-numeric:tabular-nums}}
.glassformer-drawing .title{{font-size:{TITLE:g}px;font-weight:600}}
.glassformer-drawing .small{{font-size:{SMALL:g}px;opacity:.82}}
.glassformer-drawing text[data-role]{{fill:var(--role);font-weight:600;opacity:1}}
.glassformer-drawing .paper{{fill:var(--surface);opacity:1}}
.glassformer-drawing .over{{paint-order:stroke;stroke:var(--surface);stroke-width:4px;
stroke-linejoin:round}}
.glassformer-drawing .line{{fill:none;stroke:var(--role);stroke-width:{LINE:g};
stroke-linecap:round;stroke-linejoin:round}}
.glassformer-drawing .box{{fill:var(--surface);stroke:var(--role);stroke-width:{LINE:g}}}
.glassformer-drawing .frame{{fill:none;stroke:var(--role);stroke-width:{LINE:g}}}
.glassformer-drawing .thin{{stroke-width:{THIN:g};stroke:var(--edge)}}
.glassformer-drawing .bold{{stroke-width:{BOLD:g}}}
.glassformer-drawing .wide{{stroke-width:{WIDE:g}}}
.glassformer-drawing .faded{{stroke-opacity:.7;stroke-width:{THIN:g}}}
.glassformer-drawing .dashed{{stroke-dasharray:6 4}}
.glassformer-drawing .dotted{{stroke-dasharray:1 4}}
.glassformer-drawing .dash-dot{{stroke-dasharray:8 4 1 4}}
.glassformer-drawing .base{{stroke-width:{THIN:g}}}.glassformer-drawing .faint{{fill-opacity:.65}}
.glassformer-drawing .tint{{fill:var(--role);fill-opacity:.1}}
.glassformer-drawing :is(.tip,.bar,.dot){{fill:var(--role)}}
.glassformer-drawing .p{{fill:var(--cell)}}.glassformer-drawing .n{{fill:var(--negative-cell)}}
.glassformer-drawing path.p{{fill:none;stroke:var(--cell)}}
.glassformer-drawing path.n{{fill:none;stroke:var(--negative-cell)}}
.glassformer-drawing .number{{fill:var(--number);font-size:{SMALL:g}px;text-anchor:middle;
pointer-events:none}}
.glassformer-drawing fieldset{{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:0;padding:0;
border:0;font-size:.9rem}}
.glassformer-drawing label{{display:flex;gap:.4em;align-items:center;min-height:28px;
cursor:pointer}}
.glassformer-drawing input{{margin:0;accent-color:var(--pos)}}
.glassformer-drawing a:is(:hover,:focus-visible) .box{{stroke-width:{BOLD:g}}}
.glassformer-drawing figcaption{{max-width:none;margin:.5em auto 0;text-align:center;
font-size:.9em;opacity:.85;font-style:normal}}
{"".join(f'.glassformer-drawing [data-role="{r}"]{{--role:var(--{r})}}' for r in ROLES)}
@media screen and (max-width:30em){{.glassformer-drawing text{{font-size:14px}}
.glassformer-drawing .title{{font-size:14.5px}}
.glassformer-drawing :is(.small,.number){{font-size:13.25px}}}}
@media print{{.glassformer-drawing{{break-inside:avoid;print-color-adjust:exact;
-webkit-print-color-adjust:exact}}}}
""".replace("\n", "")

Number = float | int
Point = tuple[Number, Number]


def as_role(role: str) -> str:
    """Return the attribute that gives an element, and everything in it, the color of a role.

    Raises:
        ValueError: There is no such role.
    """
    if not role:
        return ""
    if role not in ROLES:
        raise ValueError(f"no color for the role {role!r}; the roles are {', '.join(ROLES)}")
    return f' data-role="{role}"'


def text(
    x: Number,
    y: Number,
    words: str,
    *,
    role: str = "",
    css: str = "",
    anchor: str = "middle",
    turn: Number = 0,
    most: int = 0,
) -> str:
    """Write words; with a role, they are bold and have its color.

    Args:
        x: The x of the part of the words that `anchor` names.
        y: Their baseline.
        words: Any text; markup in it is escaped.
        role: A role of `palette.ROLES`.
        css: `title`, `small`, or nothing for the size of a label.
        anchor: The part of the words that is at `x`: `start`, `middle`, or `end`.
        turn: Degrees, clockwise.
        most: The most columns shown; a longer text is cut, and its tooltip has it in full. 0 means
            no limit.
    """
    shown = cut(words, most) if most else words
    tooltip = f"<title>{escape(words)}</title>" if shown != words else ""
    turned = f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{css or "label"}"'
        f"{as_role(role)}{turned}>{escape(shown)}{tooltip}</text>"
    )


def column(entries: Iterable[str], x: Number, y: Number, step: Number, **look: Any) -> str:
    """Write words below each other, the first at `y`; the look is that of `text`."""
    return "".join(text(x, y + step * k, entry, **look) for k, entry in enumerate(entries))


def cut(words: str, most: int) -> str:
    """Return words, cut if they take more than `most` columns; wide letters take two."""
    if columns_of(words) <= most:
        return words
    kept = words[: most - 1]
    while columns_of(kept) > most - 1:
        kept = kept[:-1]
    return kept.rstrip(JOINERS) + "…"


def width_of(words: str, size: Number = LABEL) -> float:
    """Return the approximate width of words; wide letters (CJK, emoji) count twice."""
    return 0.57 * size * columns_of(words)


def line(points: Sequence[Point], *, role: str = "", css: str = "") -> str:
    """Draw a line through points; `css` can be any of `thin`, `bold`, `dashed`, and `dotted`."""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path class="{f"line {css}".strip()}"{as_role(role)} d="M{path}"/>'


def direction(start: Point, end: Point) -> tuple[float, float]:
    """Return the way from a point to another, with a length of 1, or of 0 if there is no way."""
    far = math.dist(start, end) or 1.0
    return (end[0] - start[0]) / far, (end[1] - start[1]) / far


def arrow(points: Sequence[Point], *, role: str = "", css: str = "") -> str:
    """Draw a line through points, with an arrowhead at the last one."""
    (x, y), (dx, dy) = points[-1], direction(*points[-2:])
    back = (x - TIP * dx, y - TIP * dy)
    return line([*points[:-1], back], role=role, css=css) + tip(x, y, dx, dy, role=role)


def tip(x: Number, y: Number, dx: Number, dy: Number, *, role: str = "", css: str = "") -> str:
    """Draw an arrowhead with its tip at a point, in a direction of length 1."""
    back, half = (x - TIP * dx, y - TIP * dy), 3.6
    a = f"{back[0] - half * dy:.1f} {back[1] + half * dx:.1f}"
    b = f"{back[0] + half * dy:.1f} {back[1] - half * dx:.1f}"
    return f'<path class="{f"tip {css}".strip()}"{as_role(role)} d="M{x:.1f} {y:.1f}L{a}L{b}z"/>'


def panel(
    x: Number,
    y: Number,
    width: Number,
    height: Number,
    *,
    role: str = "",
    css: str = "frame",
    tint: Number = 0.0,
    corner: Number = RADIUS,
) -> str:
    """Draw a rectangle.

    Args:
        x: The left edge.
        y: The top edge.
        width: The width.
        height: The height.
        role: The role of its color.
        css: `box`, which hides what is behind it, or `frame`, which doesn't; a frame can also be
            `thin`, `bold`, or `dashed`.
        tint: The opacity of its color inside.
        corner: The radius of its corners.
    """
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{corner:g}"'
    tinted = f'<rect class="tint" style="fill-opacity:{tint:g}" {place}/>' if tint else ""
    return f'<g{as_role(role)}><rect class="{css}" {place}/>{tinted}</g>'


def box(
    x: Number,
    y: Number,
    width: Number,
    height: Number,
    label: str = "",
    *,
    note: str = "",
    role: str = "",
    href: str = "",
) -> str:
    """Draw a box with a label in its middle, optionally with a smaller note below and a link."""
    middle, down = x + width / 2, y + height / 2 + (-3 if note else 4.5)
    drawn = panel(x, y, width, height, role=role, css="box", tint=0.1 if role else 0)
    drawn += text(middle, down, label, css="title") if label else ""
    drawn += text(middle, down + 15, note, css="small") if note else ""
    return f'<a href="{escape(href)}">{drawn}</a>' if href else drawn


def chip(
    word: str,
    x: Number,
    y: Number,
    width: Number,
    *,
    role: str,
    most: int,
    css: str = "frame",
    bold: bool = False,
) -> str:
    """Draw a word in a tinted box of its role's color, cut if it takes more than `most` columns."""
    edge = f"{css} bold" if bold else css
    drawn = panel(x, y, width, CHIP, role=role, css=edge, tint=0.1)
    label = "title" if bold else "label"
    return drawn + text(x + width / 2, y + 17.5, word, css=label, most=most)


def cells(
    rows: Sequence[Sequence[Number]],
    x: Number,
    y: Number,
    end: Number,
    *,
    size: tuple[Number, Number] = (42.0, 26.0),
    numbered: bool = True,
    role: str = "",
) -> str:
    """Draw a matrix as cells: blue if positive, orange if negative, stronger if larger.

    Args:
        rows: The numbers.
        x: The left edge.
        y: The top edge.
        end: The number with the strongest color; use the same one in matrices you compare.
        size: Width and height of a cell.
        numbered: Whether each cell contains its number.
        role: The role of the matrix; its frame has that color.
    """
    wide, high = size
    inside = squares(rows, x, y, end, size) + (
        cell_numbers(rows, x, y, end, size) if numbered else ""
    )
    right, bottom = x + wide * len(rows[0]), y + high * len(rows)
    lines = "".join(f"M{x:.1f} {y + i * high:.1f}H{right:.1f}" for i in range(1, len(rows)))
    lines += "".join(f"M{x + j * wide:.1f} {y:.1f}V{bottom:.1f}" for j in range(1, len(rows[0])))
    between = f'<path class="line thin" d="{lines}"/>' if lines else ""
    return inside + between + panel(x, y, right - x, bottom - y, role=role, corner=2)


def squares(
    rows: Sequence[Sequence[Number]],
    x: Number,
    y: Number,
    end: Number,
    size: tuple[Number, Number],
    tooltip: Callable[[int, int], str] | None = None,
) -> str:
    """Draw a matrix as colored squares; `tooltip` returns what a square's tooltip says."""
    wide, high = size
    return "".join(
        f'<rect class="{"n" if value < 0 else "p"}" x="{x + j * wide:.1f}" '
        f'y="{y + i * high:.1f}" width="{wide:.1f}" height="{high:.1f}" '
        f'fill-opacity="{strength(value, end):.3f}"'
        + (f"><title>{escape(tooltip(i, j))}</title></rect>" if tooltip else "/>")
        for i, row in enumerate(rows)
        for j, value in enumerate(row)
    )


def cell_numbers(
    rows: Sequence[Sequence[Number]],
    x: Number,
    y: Number,
    end: Number,
    size: tuple[Number, Number],
    *,
    without: Sequence[tuple[int, int]] = (),
) -> str:
    """Write the number in each square, but in those `without` one."""
    wide, high = size
    return "".join(
        f'<text class="number" x="{x + (j + 0.5) * wide:.1f}" y="{y + (i + 0.5) * high + 4:.1f}">'
        f"{minus(number(value, end))}</text>"
        for i, row in enumerate(rows)
        for j, value in enumerate(row)
        if (i, j) not in without
    )


def mosaic(
    rows: Sequence[Sequence[Number]],
    x: Number,
    y: Number,
    end: Number,
    size: tuple[Number, Number],
    *,
    shades: int,
) -> str:
    """Draw a matrix of many cells as strokes in units of one cell: a path for each sign and shade.

    The pen's moves are relative: small numbers, which take half the bytes when compressed.
    """
    paths: dict[tuple[str, int], str] = defaultdict(str)
    pens: dict[tuple[str, int], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for i, row in enumerate(rows):
        looks = [("n" if v < 0 else "p", round(shades * strength(v, end))) for v in row]
        j = 0
        for look, run in groupby(looks):
            count = len(list(run))
            if look[1]:
                across, down = pens[look]
                paths[look] += f"m{j - across} {i - down}h{count}"
                pens[look] = (j + count, i)
            j += count
    strokes = "".join(
        f'<path class="{sign}" stroke-opacity="{shade / shades:.3f}" d="{path}"/>'
        for (sign, shade), path in sorted(paths.items())
    )
    wide, high = size
    place = f"translate({x:.1f} {y + high / 2:.1f}) scale({wide:.3f} {high:.3f})"
    return f'<g shape-rendering="crispEdges" transform="{place}">{strokes}</g>'  # no seams


def strength(value: Number, end: Number) -> float:
    """Return the strength of a cell's color, from 0 to 1; if the value isn't finite, 0."""
    return min(1.0, abs(value) / end) if end and math.isfinite(value) else 0.0


def largest(*matrices: Sequence[Sequence[Number]]) -> float:
    """Return the largest finite absolute value in some matrices: the end of their shared scale."""
    sizes = (abs(v) for rows in matrices for row in rows for v in row if math.isfinite(v))
    return max(sizes, default=0.0)


def bar(x: Number, y: Number, width: Number, height: Number, *, role: str) -> str:
    """Draw a bar."""
    return (
        f'<rect class="bar"{as_role(role)} x="{x:.1f}" y="{y:.1f}" width="{max(0, width):.1f}" '
        f'height="{max(0, height):.1f}"/>'
    )


def circle(
    x: Number, y: Number, radius: Number, *, css: str = "dot", role: str = "", more: str = ""
) -> str:
    """Draw a circle; `more` are further attributes."""
    place = f'cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"'
    return f'<circle class="{css}"{as_role(role)}{more} {place}/>'


def legend(entries: Sequence[tuple[str, str]], x: Number, y: Number) -> str:
    """Draw a legend of the colors in one line, from pairs of a role and its meaning."""
    parts = []
    for role, words in entries:
        parts.append(bar(x, y - 9, 11, 11, role=role))
        parts.append(text(x + 16, y, words, css="small", anchor="start"))
        x += 16 + width_of(words, SMALL) + 18
    return "".join(parts)


def picture(
    parts: Sequence[str],
    width: Number,
    height: Number,
    *,
    left: Number = 0.0,
    shrinks: Number = SHRUNK,
    grows: Number = 1.0,
) -> str:
    """Put parts into one SVG, which shrinks with its column, but scrolls before it gets too small.

    Args:
        parts: The parts, drawn from `left` to `left + width` and from 0 to `height`.
        width: In pixels at full size; a picture wider than a phone's column can shrink.
        height: In pixels at full size.
        left: The x of its left edge.
        shrinks: The smallest share of its full size.
        grows: How much larger than full size it may be in a wide column.
    """
    width, height, widest = float(width), float(height), float(grows * width)
    narrowest = min(width, max(PHONE, float(shrinks * width)))
    reach = ' tabindex="0"' if narrowest > PHONE else ""  # keys can scroll it
    # With its sizes as properties, a page can reserve room for it.
    sizes = (
        f"--narrowest:{narrowest:.0f}px;--widest:{widest:.0f}px;--shape:{height:.1f}/{width:.1f}"
    )
    return (
        f'<div class="scroll" style="{sizes}"{reach}><svg aria-hidden="true" '
        f'viewBox="{left:g} 0 {width:.1f} {height:.1f}" style="max-width:{widest:.0f}px;'
        f'min-width:{narrowest:.0f}px">{"".join(parts)}</svg></div>'
    )


def choice(group: str, names: Sequence[str]) -> str:
    """Return one radio button for each name, the first one pressed."""
    return "".join(
        f'<label><input type="radio" name="{group}" value="{k}"{" checked" * (k == 0)}>'
        f"{escape(name)}</label>"
        for k, name in enumerate(names)
    )


def figure(
    drawn: str,
    header: list[str],
    rows: list[list[str]],
    *,
    name: str,
    caption: str | None = None,
    css: str = "",
    style: str = "",
) -> View:
    """Return a view: a picture, and its facts as a table for screen readers and as text.

    Args:
        drawn: What `picture` returned, or several of them.
        header: The table's header.
        rows: The table's rows: what each one is about, and its facts.
        name: The table's caption: what the picture shows.
        caption: A line below the picture.
        css: Classes of the figure.
        style: CSS that only this kind of view needs.
    """
    facts = table(header, rows, caption=name, css="glassformer-cells")
    return View(framed(drawn, facts, caption, css, style), told(header, rows, caption))


def framed(drawn: str, facts: str, caption: str | None, css: str = "", style: str = "") -> str:
    """Return the figure around a picture, with its facts as HTML for screen readers."""
    own = f"<style>{style}</style>" if style else ""
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return (
        f'<figure class="{f"glassformer-drawing {css}".strip()}" data-search-exclude>'
        f'<style>{THEME}{STYLE}</style>{own}{drawn}<div style="{UNSEEN}">{facts}</div>'
        f"{below}</figure>"
    )


def told(header: list[str], rows: list[list[str]], caption: str | None) -> str:
    """Return the facts of a picture as text."""
    body = aligned([header, *rows])
    return f"{caption}\n{body}" if caption else body
