"""Parts of pictures: words, lines, arrows, boxes, cells, and the figure around them.

Each function returns SVG in the units of its picture; at full size, one unit is a pixel. An element
with a role, named as in `palette.ROLES`, has that role's color.
"""

import math
from collections.abc import Sequence
from html import escape

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
)
from glassformer.views.view import UNSEEN, View, aligned, columns_of, number, room, table

PHONE = 280.0  # width of a phone's column
SHRUNK = 0.73  # smallest share of its full size; below that, a picture scrolls
WHITE_FROM = 0.76  # color strength from which a cell's number is white
TIP = 7.0  # length of an arrowhead

STYLE = """
.glassformer-drawing{position:relative;margin:1em 0 1.4em;color:inherit;font-family:inherit}
.glassformer-drawing .scroll{overflow-x:auto;{SHADOWS}}
.glassformer-drawing svg{display:block;margin:auto;width:100%;height:auto;overflow:visible;
direction:ltr;font-family:inherit}
.glassformer-drawing{--line:color-mix(in srgb,currentColor 62%,transparent);--role:var(--line)}
.glassformer-drawing text{fill:currentColor;font-size:{LABEL}px;font-variant-numeric:tabular-nums}
.glassformer-drawing .title{font-size:{TITLE}px;font-weight:600}
.glassformer-drawing .small{font-size:{SMALL}px;opacity:.82}
.glassformer-drawing text[data-role]{fill:var(--role);font-weight:600;opacity:1}
.glassformer-drawing .over{paint-order:stroke;stroke:var(--surface);stroke-width:4px;
stroke-linejoin:round}
.glassformer-drawing .line{fill:none;stroke:var(--role);stroke-width:{LINE};
stroke-linecap:round;stroke-linejoin:round}
.glassformer-drawing .thin{stroke-width:{THIN};stroke:var(--edge)}
.glassformer-drawing .bold{stroke-width:{BOLD}}
.glassformer-drawing .dashed{stroke-dasharray:6 4}.glassformer-drawing .dotted{stroke-dasharray:1 4}
.glassformer-drawing .dash-dot{stroke-dasharray:8 4 1 4}
.glassformer-drawing .base{stroke-width:{THIN}}.glassformer-drawing .faint{fill-opacity:.65}
.glassformer-drawing .band{fill:var(--quiet);fill-opacity:.16}
.glassformer-drawing .tip{fill:var(--role)}
.glassformer-drawing .box{fill:var(--surface);stroke:var(--role);stroke-width:{LINE}}
.glassformer-drawing .tint{fill:var(--role);fill-opacity:.1}
.glassformer-drawing .bar,.glassformer-drawing .dot{fill:var(--role)}
.glassformer-drawing .p{fill:var(--cell)}.glassformer-drawing .n{fill:var(--negative-cell)}
.glassformer-drawing .frame{fill:none;stroke:var(--role);stroke-width:{LINE}}
.glassformer-drawing .number{fill:var(--number);font-size:12px;text-anchor:middle;
pointer-events:none}
.glassformer-drawing .number.on{fill:#fff}
.glassformer-drawing a:is(:hover,:focus-visible) .box{stroke-width:{BOLD}}
.glassformer-drawing figcaption{max-width:none;margin:.5em auto 0;text-align:center;
font-size:.9em;opacity:.85;font-style:normal}
{ROLES}
@media screen and (max-width:30em){.glassformer-drawing text{font-size:14px}
.glassformer-drawing .title{font-size:14.5px}
.glassformer-drawing :is(.small,.number){font-size:13px}}
@media print{.glassformer-drawing{break-inside:avoid;print-color-adjust:exact;
-webkit-print-color-adjust:exact}}
""".replace("\n", "")
OWN = "".join(f'.glassformer-drawing [data-role="{r}"]{{--role:var(--{r})}}' for r in ROLES)
SIZES = {"LABEL": LABEL, "TITLE": TITLE, "SMALL": SMALL, "THIN": THIN, "LINE": LINE, "BOLD": BOLD}
STYLE = STYLE.replace("{SHADOWS}", SHADOWS).replace("{ROLES}", OWN)
for size, units in SIZES.items():
    STYLE = STYLE.replace(f"{{{size}}}", f"{units:g}")

Number = float | int


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
        most: The most letters shown; a longer text is cut, and its tooltip has it in full. 0 means
            no limit.
    """
    shown = words if not most or columns_of(words) <= most else words[: most - 1] + "…"
    tooltip = f"<title>{escape(words)}</title>" if shown != words else ""
    turned = f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{css or "label"}"'
        f"{as_role(role)}{turned}>{escape(shown)}{tooltip}</text>"
    )


def width_of(words: str, size: Number = LABEL) -> float:
    """Return the approximate width of words; wide letters (CJK, emoji) count twice."""
    return 0.57 * size * columns_of(words)


def line(points: Sequence[tuple[Number, Number]], *, role: str = "", css: str = "") -> str:
    """Draw a line through points; `css` can be any of `thin`, `bold`, `dashed`, and `dotted`."""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path class="{f"line {css}".strip()}"{as_role(role)} d="M{path}"/>'


def arrow(points: Sequence[tuple[Number, Number]], *, role: str = "", css: str = "") -> str:
    """Draw a line through points, with an arrowhead at the last one."""
    (x0, y0), (x, y) = points[-2:]
    far = math.hypot(x - x0, y - y0) or 1.0
    dx, dy = (x - x0) / far, (y - y0) / far
    back = (x - TIP * dx, y - TIP * dy)
    a = f"{back[0] - 3.6 * dy:.1f} {back[1] + 3.6 * dx:.1f}"
    b = f"{back[0] + 3.6 * dy:.1f} {back[1] - 3.6 * dx:.1f}"
    tip = f'<path class="tip"{as_role(role)} d="M{x:.1f} {y:.1f}L{a}L{b}z"/>'
    return line([*points[:-1], back], role=role, css=css) + tip


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
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{RADIUS:g}"'
    tint = f'<rect class="tint" {place}/>' if role else ""
    middle, down = x + width / 2, y + height / 2 + (-3 if note else 4.5)
    words = text(middle, down, label, css="title") if label else ""
    words += text(middle, down + 15, note, css="small") if note else ""
    drawn = f'<g{as_role(role)}><rect class="box" {place}/>{tint}{words}</g>'
    return f'<a href="{escape(href)}">{drawn}</a>' if href else drawn


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
    parts = []
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            left, top, strong = x + j * wide, y + i * high, strength(value, end)
            parts.append(
                f'<rect class="{"n" if value < 0 else "p"}" x="{left:.1f}" y="{top:.1f}" '
                f'width="{wide:.1f}" height="{high:.1f}" fill-opacity="{strong:.3f}"/>'
            )
            if numbered:
                on = " on" if strong > WHITE_FROM else ""
                written = number(float(value), float(end)).replace("-", "−")
                parts.append(
                    f'<text class="number{on}" x="{left + wide / 2:.1f}" '
                    f'y="{top + high / 2 + 4:.1f}">{written}</text>'
                )
    right, bottom = x + wide * len(rows[0]), y + high * len(rows)
    lines = "".join(f"M{x:.1f} {y + i * high:.1f}H{right:.1f}" for i in range(1, len(rows)))
    lines += "".join(f"M{x + j * wide:.1f} {y:.1f}V{bottom:.1f}" for j in range(1, len(rows[0])))
    inner = f'<path class="line thin" d="{lines}"/>' if lines else ""
    frame = (
        f'<rect class="frame" x="{x:.1f}" y="{y:.1f}" width="{right - x:.1f}" '
        f'height="{bottom - y:.1f}" rx="2"/>'
    )
    return f"<g{as_role(role)}>{''.join(parts)}{inner}{frame}</g>"


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


def legend(entries: Sequence[tuple[str, str]], x: Number, y: Number) -> str:
    """Draw a legend of the colors in one line, from pairs of a role and its meaning."""
    parts = []
    for role, words in entries:
        parts.append(
            f'<rect class="bar"{as_role(role)} x="{x}" y="{y - 9}" width="11" height="11"/>'
        )
        parts.append(text(x + 16, y, words, css="small", anchor="start"))
        x += 16 + width_of(words, SMALL) + 18
    return "".join(parts)


def picture(
    parts: Sequence[str], width: Number, height: Number, name: str = "", *, grows: Number = 1.0
) -> str:
    """Put parts into one SVG, which shrinks with its column, but scrolls before it gets too small.

    Args:
        parts: The parts, drawn from 0 to `width` and from 0 to `height`.
        width: In pixels at full size; a picture wider than a phone's column can shrink.
        height: In pixels at full size.
        name: The picture's accessible name; needed only if there are links in it.
        grows: How much larger than full size it may be in a wide column.
    """
    width, height, grows = float(width), float(height), float(grows)
    narrowest = min(width, max(PHONE, SHRUNK * width))
    reach = ' tabindex="0"' if narrowest > PHONE else ""  # keys can scroll it
    named = f'role="group" aria-label="{escape(name)}"' if name else 'aria-hidden="true"'
    widest = grows * width
    return (
        f'<div class="scroll" {room(width, height, narrowest, widest)}{reach}><svg {named} '
        f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:{widest:.0f}px;'
        f'min-width:{narrowest:.0f}px">{"".join(parts)}</svg></div>'
    )


def figure(
    drawn: str, header: list[str], rows: list[list[str]], *, name: str, caption: str | None = None
) -> View:
    """Return a view: a picture, and its facts as a table for screen readers and as text.

    Args:
        drawn: What `picture` returned, or several of them.
        header: The table's header.
        rows: The table's rows: what each one is about, and its facts.
        name: The table's caption: what the picture shows.
        caption: A line below the picture.
    """
    return View(framed(drawn, header, rows, name, caption), told(header, rows, caption))


def framed(
    drawn: str, header: list[str], rows: list[list[str]], name: str, caption: str | None
) -> str:
    """Return the figure around a picture."""
    facts = table(header, rows, caption=name, css="glassformer-cells")
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return (
        f'<figure class="glassformer-drawing" data-search-exclude><style>{THEME}{STYLE}</style>'
        f'{drawn}<div style="{UNSEEN}">{facts}</div>{below}</figure>'
    )


def told(header: list[str], rows: list[list[str]], caption: str | None) -> str:
    """Return the facts of a picture as text."""
    body = aligned([header, *rows])
    return f"{caption}\n{body}" if caption else body
