"""`tree`: what comes from what, each with what sets it apart."""

import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate
from operator import add

from glassformer.views.drawing import (
    Number,
    box,
    column,
    cut,
    figure,
    legend,
    line,
    picture,
    text,
    width_of,
)
from glassformer.views.palette import SMALL, TITLE
from glassformer.views.view import View, visible

WIDTH, ROW, HIGH, INDENT = 340.0, 40.0, 28.0, 30.0
STEP, MOST = 14.0, 4  # height of a note's line, and the most of its lines
LONGEST = 24  # the most letters of a name that are shown
STYLE = """
.glassformer-tree .close{display:none}
.glassformer-tree a:not(:hover,:focus-visible){text-decoration:none}
@media screen and (max-width:39em){.glassformer-tree .apart{display:none}
.glassformer-tree .close{display:block}}
""".replace("\n", "")  # `beside` puts one tree below the other


def tree(
    nodes: Mapping[str, tuple[str | None, str]],
    *,
    links: Mapping[str, str] | None = None,
    role: str | Mapping[str, str] = "encoder",
    gaps: Mapping[str, int] | None = None,
    caption: str | None = None,
) -> View:
    """Draw a tree from the top down: each name in a box, below its parent, with a note beside it.

    Args:
        nodes: Each name with its parent's, which comes before it, or None, and a note.
        links: The addresses that some of the boxes lead to.
        role: The color of the boxes, or each name's; a legend names several roles.
        gaps: How many empty rows some of the boxes have above them, so that trees drawn beside
            each other can have their common boxes at the same height; a narrow screen, where one
            is below the other, shows none.
        caption: A line below the picture.

    Raises:
        ValueError: There are no names, or a parent doesn't come before its children.
    """
    if not nodes:
        raise ValueError("a tree needs at least one name, but got none")
    depth: dict[str | None, int] = {None: -1}
    for name, (parent, _) in nodes.items():
        if parent not in depth:
            raise ValueError(f"the parent of {name!r} must come before it: {parent!r}")
        depth[name] = depth[parent] + 1
    children: dict[str | None, list[str]] = {name: [] for name in depth}
    for name, (parent, _) in nodes.items():
        children[parent].append(name)
    order: list[str] = []
    waiting = children[None][::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += children[order[-1]][::-1]
    notes = {name: wrapped(name, nodes[name][1], INDENT * depth[name]) for name in order}
    used = [] if isinstance(role, str) else list(dict.fromkeys(role.values()))
    named = [each for each in used if each != "quiet"]
    ends = [
        beside(name, INDENT * depth[name])
        + max((width_of(told, SMALL) for told in notes[name]), default=-9)
        for name in order
    ]
    across = WIDTH if len(named) > 1 or gaps else min(WIDTH, max(ends) + 2)

    def drawn(gaps: Mapping[str, int]) -> str:
        above = [ROW * gaps.get(name, 0) for name in order]
        rows = [ROW + STEP * max(0, len(notes[name]) - 2) for name in order]
        rows = [each + gap for each, gap in zip(rows, above, strict=True)]
        tops = map(add, accumulate(rows, initial=0.0), above)
        place = {name: (INDENT * depth[name], top) for name, top in zip(order, tops, strict=False)}
        families = [(name, [place[child] for child in children[name]]) for name in order]
        parts = [branches(place[name], below) for name, below in families if below]
        for name in order:
            color = role if isinstance(role, str) else role[name]
            parts.append(node(name, notes[name], place[name], color, (links or {}).get(name, "")))
        bottom = sum(rows) - ROW + HIGH + 4
        if len(named) > 1:
            parts.append(legend([(each, each) for each in named], 1, bottom + 20))
            bottom += 26
        return picture(parts, across, bottom, grows=1.3)

    shown = drawn({})
    if gaps:
        shown = f'<div class="apart">{drawn(gaps)}</div><div class="close">{shown}</div>'
    facts = [[name, nodes[name][0] or "", nodes[name][1]] for name in order]
    header, css = ["name", "from", "note"], "glassformer-tree"
    return figure(shown, header, facts, name="A tree", caption=caption, css=css, style=STYLE)


def branches(parent: tuple[Number, Number], below: list[tuple[Number, Number]]) -> str:
    """Draw the lines from a box down to the sides of others."""
    x, y = parent[0] + INDENT / 2, 2 + HIGH / 2
    stem = line([(x, parent[1] + 2 + HIGH), (x, below[-1][1] + y)])
    return stem + "".join(line([(x, top + y), (left, top + y)]) for left, top in below)


def beside(name: str, x: Number) -> float:
    """Return where the note beside a box begins."""
    return x + width_of(cut(visible(name), LONGEST), TITLE) + 27


def wrapped(name: str, note: str, x: Number) -> list[str]:
    """Return a note in lines that fit beside its box."""
    most = max(8, int((WIDTH - beside(name, x)) / width_of("m", SMALL) * 1.05))
    return textwrap.wrap(visible(note), most, max_lines=MOST, placeholder=" …")


def node(name: str, note: Sequence[str], place: tuple[Number, Number], role: str, href: str) -> str:
    """Draw a box with its name, and its note on the right; a third line needs more room below."""
    (x, y), shown = place, cut(visible(name), LONGEST)
    wide = beside(name, x) - x - 9
    top = y + 2 + HIGH / 2 + 4 - STEP / 2 * (len(note) > 1)
    named = text(x + 1 + wide / 2, y + HIGH / 2 + 6.5, shown, role=role, css="title")
    boxed = box(x + 1, y + 2, wide, HIGH, role=role) + named
    boxed = f'<a href="{escape(href)}">{boxed}</a>' if href else boxed
    return boxed + column(note, beside(name, x), top, STEP, css="small", anchor="start")
