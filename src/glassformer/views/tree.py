"""`tree`: what comes from what, each with what sets it apart."""

import textwrap
from collections.abc import Mapping

from glassformer.views.drawing import Number, box, column, cut, figure, line, picture, width_of
from glassformer.views.palette import SMALL, TITLE
from glassformer.views.view import View, visible

WIDTH, ROW, HIGH, INDENT = 400.0, 40.0, 28.0, 30.0
LONGEST = 24  # the most letters of a name that are shown


def tree(
    nodes: Mapping[str, tuple[str | None, str]],
    *,
    links: Mapping[str, str] | None = None,
    role: str = "encoder",
    roles: Mapping[str, str] | None = None,
    caption: str | None = None,
) -> View:
    """Draw a tree from the top down: each name in a box, below its parent, with a note beside it.

    Args:
        nodes: Each name with its parent's, which comes before it, or None, and a note.
        links: The addresses that some of the boxes lead to.
        role: The color of the boxes.
        roles: The colors of the boxes that have another.
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
    place = {name: (INDENT * depth[name], ROW * k) for k, name in enumerate(order)}
    families = [(name, [place[child] for child in children[name]]) for name in order]
    parts = [branches(place[name], below) for name, below in families if below]
    for name in order:
        look = (roles or {}).get(name, role), (links or {}).get(name, "")
        parts.append(node(name, nodes[name][1], place[name], *look))
    facts = [[name, nodes[name][0] or "", nodes[name][1]] for name in order]
    ends = [place[name][0] + reach(name, note) for name, (_, note) in nodes.items()]
    across = min(WIDTH, max(ends) + 2)
    drawn = picture(parts, across, ROW * len(order) - ROW + HIGH + 4)
    return figure(drawn, ["name", "from", "note"], facts, name="A tree", caption=caption)


def branches(parent: tuple[Number, Number], below: list[tuple[Number, Number]]) -> str:
    """Draw the lines from a box down to the sides of others."""
    x, y = parent[0] + INDENT / 2, 2 + HIGH / 2
    stem = line([(x, parent[1] + 2 + HIGH), (x, below[-1][1] + y)])
    return stem + "".join(line([(x, top + y), (left, top + y)]) for left, top in below)


def reach(name: str, note: str) -> float:
    """Return how wide a box and the note beside it are in one line."""
    boxed = width_of(cut(visible(name), LONGEST), TITLE) + 18
    return boxed + (9 + width_of(visible(note), SMALL) if note else 0)


def node(name: str, note: str, place: tuple[Number, Number], role: str, href: str) -> str:
    """Draw a box with its name, and its note on the right, in one line or two."""
    (x, y), shown = place, cut(visible(name), LONGEST)
    wide = width_of(shown, TITLE) + 18
    start = x + wide + 9
    most = max(8, int((WIDTH - start) / width_of("m", SMALL) * 1.12))
    told = textwrap.wrap(visible(note), most, max_lines=2, placeholder=" …")
    top = y + 2 + HIGH / 2 + 4 - 7 * (len(told) > 1)
    boxed = box(x + 1, y + 2, wide, HIGH, shown, role=role, href=href)
    return boxed + column(told, start, top, 14, css="small", anchor="start")
