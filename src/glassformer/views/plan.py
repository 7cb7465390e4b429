"""The layout of a flow: boxes in rows from the top down, residuals in lanes beside them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from glassformer.views.trace import Node
from glassformer.views.view import columns_of, minus

LINE = 15.0  # height of a line of small text
GAP = 26.0  # from row to row
APART = 14.0  # from box to box, and from lane to lane
ROUND = 24.0  # diameter of a sign such as +
TITLE = 25.0  # height of a frame's title
PAD = 13.0  # between a frame and its contents


@dataclass
class Box:
    """A node on the page: `x` is where its arrows enter and leave, `y` is its upper edge."""

    left: float  # how far it reaches from x
    right: float
    height: float
    plan: "Plan | None" = None
    x: float = 0.0
    y: float = 0.0

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height

    @property
    def middle(self) -> float:
        """The y of the center."""
        return self.y + self.height / 2


@dataclass
class Plan:
    """Boxes beside and below each other, and the edges that don't run straight down.

    Attributes:
        boxes: One for each node.
        lanes: The x of each residual's lane, by its source and target.
        sides: The edges that enter from the left, such as those from a frame's other inputs.
        across: The edges from a frame to the frame beside it.
    """

    boxes: list[Box]
    lanes: dict[tuple[int, int], float] = field(default_factory=dict)
    sides: list[tuple[int, int]] = field(default_factory=list)
    across: list[tuple[int, int]] = field(default_factory=list)
    left: float = 0.0
    right: float = 0.0
    height: float = 0.0


def lay_out(nodes: Sequence[Node], *, framed: bool = False) -> Plan:
    """Find a place for each node; within a frame, inputs are points on its edge."""
    sizes = [size(node, nodes, framed=framed) for node in nodes]
    plan = Plan(sizes)
    for i, node in enumerate(nodes):
        for source in node.sources:
            if framed and source and nodes[source].kind == "input":
                plan.sides.append((source, i))
            elif node.inside and nodes[source].inside and source != node.sources[0]:
                plan.across.append((source, i))
    aside = {source for source, _ in plan.sides}
    edges = [(s, t) for t, node in enumerate(nodes) for s in node.sources if s not in aside]
    edges = [edge for edge in edges if edge not in plan.across]
    rows = rank([i for i in range(len(nodes)) if i not in aside], edges)
    late = {s: t for s, t in edges if s and not nodes[s].sources and rows[t] > 1}
    edges = [edge for edge in edges if edge[0] not in late]
    for i in late:
        del rows[i]
    residual = {(s, t) for s, t in edges if bypasses(s, t, edges)}
    straighten(plan, rows, [edge for edge in edges if edge not in residual])
    stack(plan, rows, late, framed=framed)
    for source, target in sorted(residual, key=lambda e: rows[e[1]] - rows[e[0]]):
        passed = [b for b, row in rows.items() if rows[source] < row <= rows[target]]
        lane = max(sizes[b].x + sizes[b].right for b in passed) + APART
        while any(
            lane == other and rows[s] < rows[target] and rows[source] < rows[t]
            for (s, t), other in plan.lanes.items()
        ):
            lane += APART
        plan.lanes[source, target] = lane
    for source, target in late.items():
        box, end = sizes[source], sizes[target]
        box.x, box.y = end.x - end.left - APART * 1.6 - box.right, end.middle - box.height / 2
        plan.sides.append((source, target))
    shown = [sizes[i] for i in (*rows, *late)]
    plan.left = min(box.x - box.left for box in shown)
    plan.right = max([box.x + box.right for box in shown] + list(plan.lanes.values()))
    for source, target in plan.sides:
        if source in aside:
            box, end = sizes[source], sizes[target]
            box.x, box.y = plan.left - PAD, side_of(end, nodes[target], source)
    return plan


def size(node: Node, nodes: Sequence[Node], *, framed: bool) -> Box:
    """Return a box with the size that a node needs."""
    if node.kind == "input" and framed:
        return Box(0.0, 0.0, 0.0)
    if node.inside:
        plan = lay_out(node.inside, framed=True)
        half = (wide(title(node), 7.2) + 2 * PAD) / 2
        left, right = max(PAD - plan.left, half), max(PAD + plan.right, half)
        return Box(left, right, plan.height + TITLE, plan)
    if len(title(node)) == 1:
        return Box(ROUND / 2, ROUND / 2, ROUND)
    small = notes(node, nodes)
    half = max([wide(title(node), 7.2), *(wide(line, 6.2) for line in small)]) / 2 + 11
    if node.kind == "input":
        return Box(half - 6, half - 6, 23 + LINE * len(small))
    return Box(half, half, 27 + LINE * len(small))


def wide(text: str, letter: float) -> float:
    """Return the approximate width of a text."""
    return letter * columns_of(text)


def title(node: Node) -> str:
    """Return the last name in a module's path; for an item of a list, `layers.3`."""
    if node.kind in ("", "input"):
        return node.label
    *_, outer, name = ("", *node.label.split("."))
    if not name.isdigit() or not outer:
        return name
    return outer if node.times > 1 else f"{outer}.{name}"


def notes(node: Node, nodes: Sequence[Node]) -> list[str]:
    """Return the lines below the title: kind and parameters, and the shape if it has changed.

    If the numbers are kept, they are the only line.
    """
    if node.values:
        return [written(node)]
    small = []
    if node.kind not in ("", "input"):
        count = f" · {node.parameters:,}" if node.parameters else ""
        count += " shared" if node.shared else ""
        small.append(f"{node.kind}{count}")
    before = [nodes[i].shape for i in node.sources]
    if not before or node.shape != before[0]:
        small.append(" × ".join(map(str, node.shape)))
    return small


def written(node: Node) -> str:
    """Write the numbers of a result, or else its shape."""
    if not node.values:
        return " × ".join(map(str, node.shape))
    return minus(", ".join(f"{round(value, 2) + 0.0:g}" for value in node.values))


def rank(shown: list[int], edges: list[tuple[int, int]]) -> dict[int, int]:
    """Return the row of each node: below all of its sources."""
    rows: dict[int, int] = {}
    for i in shown:
        rows[i] = max((rows[s] + 1 for s, t in edges if t == i), default=0)
    return rows


def bypasses(source: int, target: int, edges: list[tuple[int, int]]) -> bool:
    """Return whether another path leads from source to target, which makes this edge a residual."""
    reached = {t for s, t in edges if s == source and t != target}
    for s, t in sorted(edges):
        if s in reached:
            reached.add(t)
    return target in reached


def straighten(plan: Plan, rows: dict[int, int], edges: list[tuple[int, int]]) -> None:
    """Put boxes side by side in their rows, each as near as possible to those connected to it."""
    boxes = plan.boxes
    near: dict[int, list[int]] = {i: [] for i in rows}
    for s, t in edges:
        near[s].append(t)
        near[t].append(s)
    lines = [[i for i in rows if rows[i] == row] for row in range(max(rows.values()) + 1)]
    for _ in range(12):
        for line in lines:
            wanted = [sum(boxes[j].x for j in near[i]) / max(1, len(near[i])) for i in line]
            for i, x in zip(line, wanted, strict=True):
                boxes[i].x = x
            for i, j in pairwise(line):
                least = boxes[i].x + boxes[i].right + APART + boxes[j].left
                boxes[j].x = max(boxes[j].x, least)
            shift = sum(x - boxes[i].x for i, x in zip(line, wanted, strict=True)) / len(line)
            for i in line:
                boxes[i].x += shift


def stack(plan: Plan, rows: dict[int, int], late: dict[int, int], *, framed: bool) -> None:
    """Put the rows below each other, with room for the boxes to their left."""
    y = 0.0
    for row in range(max(rows.values()) + 1):
        line = [plan.boxes[i] for i in rows if rows[i] == row]
        aside = [plan.boxes[i] for i, target in late.items() if rows[target] == row]
        tallest = max(box.height for box in line + aside)
        for box in line:
            box.y = y + (0.0 if any(b.plan for b in line) else (tallest - box.height) / 2)
        y += tallest + GAP * (0.7 if framed and not tallest else 1)
    plan.height = y - GAP * (0.3 if framed else 1)


def side_of(box: Box, node: Node, source: int) -> float:
    """Return the y at which an edge from the left enters a box."""
    if box.plan is None:
        return box.middle
    return box.y + TITLE + box.plan.boxes[node.sources.index(source)].y  # inputs come first
