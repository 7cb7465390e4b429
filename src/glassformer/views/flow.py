"""`flow`: what a model did in one run, drawn as boxes and arrows."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any

from glassformer.views import drawing
from glassformer.views.axis_words import Axes
from glassformer.views.drawing import TIP, UNGROWN, as_role, framed, panel, picture
from glassformer.views.plan import (
    APART,
    GAP,
    LINE,
    PAD,
    ROUND,
    TITLE,
    Box,
    Plan,
    lay_out,
    notes,
    title,
    wide,
    written,
)
from glassformer.views.scripted import Scripted
from glassformer.views.trace import Node, trace
from glassformer.views.view import View

EDGE = 6.0  # room around the picture
BLUER = "bluer: more parameters"
TOGETHER = ", all layers together"  # where one box stands for several
NONE: Mapping[str, Sequence[str]] = MappingProxyType({})  # no marks
MARK = "series-2"  # the role of what is marked
DEEPEST = 0.42  # opacity of the blue in a box that holds all parameters; text on it stays readable

# Words have the same size on a phone: boxes have no more room there.
STYLE = """
.glassformer-flow text{text-anchor:middle;font-size:13.5px;font-weight:600}
.glassformer-flow .small{font-size:12px;font-weight:400}
.glassformer-flow .sign{font-size:17px;font-weight:400}
.glassformer-flow .name{font-weight:400;font-style:italic}
.glassformer-flow .ink{fill:var(--deep)}
.glassformer-flow .frame{fill:var(--line);fill-opacity:.05;stroke-opacity:.5}
.glassformer-flow .aside svg{margin-left:max(0px,min(50% - var(--column),100% - var(--widest)))}
.glassformer-flow .round{--role:var(--pos)}
""".replace("\n", "")


def flow(
    model: Callable[..., Any],
    *inputs: Any,
    depth: int = 1,
    caption: str | None = None,
    marks: Mapping[str, Sequence[str]] = NONE,
    lead: int = 0,
    numbers: bool = False,
) -> View:
    """Run a module or a function once, and draw what it did to the tensors, from the top down.

    Each box is a module: the more of the model's parameters it holds, the bluer it is, and it's
    marked `shared` if an earlier box has the same parameters. A sign is an operation outside any
    module. A blue line leads around a module to the addition after it. The picture shows only what
    ran: it's drawn from the calls themselves. The model's mode is restored.

    Args:
        model: Any module, or a function of tensors.
        inputs: The model's inputs.
        depth: 1 draws the model's modules, and 2 also draws the modules inside those.
        caption: A line below the picture, instead of the names of the axes. What the blue means
            follows.
        marks: Boxes to outline, by their names, and the words to write beside each.
        lead: How many boxes lower everything after the inputs begins, so that it's level with a
            picture beside it.
        numbers: Whether to write the numbers of each result instead of shapes and parameters: for
            inputs of a few numbers.

    Raises:
        ValueError: The model does not take these inputs, `depth` is less than 1, or there is no box
            with a marked name.
    """
    if depth < 1:
        raise ValueError(f"depth ({depth}) must be at least 1")
    axes = Axes(model)
    whole = trace(model, inputs, depth, axes, numbers=numbers)
    if unknown := sorted({*marks} - {title(node) for node in whole.inside}):
        raise ValueError(f"no box to mark has the name {unknown[0]!r}")
    legend = caption or sizes(whole, axes)
    blue = BLUER + TOGETHER * repeated(whole.inside) if whole.parameters and not numbers else ""
    legend = " · ".join(filter(None, [legend, blue]))
    steps = lines(whole.inside)
    steps += [f"{name}: {', '.join(words)}" for name, words in marks.items()]
    told = "".join(f"<li>{escape(step.strip())}</li>" for step in steps)
    name = f"What {whole.kind} did, step by step"
    facts = f"<p>{name}:</p><ol>{told}</ol>"
    html = framed(draw(whole, marks, lead), facts, legend, "glassformer-flow", STYLE)
    return View(html, "\n".join([f"{whole.kind} {count(whole)}".strip(), *steps]))


def beside(*views: View, least: float = 14) -> View:
    """Place pictures side by side, or one below the other if there's little room.

    Args:
        views: The pictures.
        least: The least width of each, in `rem`.
    """
    flex = f"flex:1 1 {least:g}rem;min-width:0"
    cells = "".join(f'<div style="{flex}">{view.html}</div>' for view in views)
    row = "display:flex;flex-wrap:wrap;gap:0 1.5rem;align-items:flex-start"
    html, told = f'<div style="{row}">{cells}</div>', "\n\n".join(view.text for view in views)
    scripts = {view.script for view in views if isinstance(view, Scripted)}
    return Scripted(html, told, scripts.pop()) if scripts else View(html, told)


def sizes(whole: Node, axes: Axes) -> str:
    """Return the axes whose length is always the same: `batch 1 · seq 7 · d_model 384`."""
    found: dict[str, set[int]] = {}
    for shape in shapes_of(whole.inside):
        for word, length in zip(axes.of(shape), shape, strict=True):
            found.setdefault(word, set()).add(length)
    sure = {word: lengths.pop() for word, lengths in found.items() if word and len(lengths) == 1}
    return " · ".join(f"{word} {length}" for word, length in sure.items())


def shapes_of(nodes: Sequence[Node]) -> list[tuple[int, ...]]:
    """Return the shapes of all nodes, and of those inside them."""
    return [shape for node in nodes for shape in (node.shape, *shapes_of(node.inside))]


def repeated(nodes: Sequence[Node]) -> bool:
    """Return whether a box, or one inside it, represents several equal layers."""
    return any(node.times > 1 or repeated(node.inside) for node in nodes)


def draw(whole: Node, marks: Mapping[str, Sequence[str]] = NONE, lead: int = 0) -> str:
    """Draw the picture."""
    plan = lay_out(whole.inside)
    down = lead * (27 + LINE + GAP)
    plan.height += down
    for node, box in zip(whole.inside, plan.boxes, strict=True):
        box.y += down * (node.kind != "input")
    last, shape = plan.boxes[-1], written(whole)
    out = wire([(last.x, last.bottom), (last.x, plan.height + GAP)])
    css = "title" if whole.values else "small"
    label = drawing.text(last.x, plan.height + GAP + 14, shape, css=css)
    parts = [paint(plan, whole.inside, 0.0 if whole.values else float(whole.parameters))]
    parts += [out, label]
    left = plan.left - EDGE
    for node, box in zip(whole.inside, plan.boxes, strict=True):
        words = marks.get(title(node), ())
        parts.append(mark(box, words) if words else "")
        left = min([left, *(box.x - box.left - 10 - wide(word, 6.7) for word in words)])
    width, height = plan.right - left + EDGE, plan.height + GAP + 20
    drawn = picture(parts, width, height, left=left, shrinks=UNGROWN)
    if not plan.sides:
        return drawn
    # Other boxes are on the left: the column in the middle, if there's room.
    return f'<div class="aside" style="--column:{last.x - left:.0f}px">{drawn}</div>'


def mark(box: Box, words: Sequence[str]) -> str:
    """Outline a box, and write words on its left."""
    x, y = box.x - box.left, box.middle + 4 - LINE * (len(words) - 1) / 2
    width = box.left + box.right
    edge = panel(x, box.y, width, box.height, role=MARK, css="line bold", corner=5)
    return edge + "".join(
        f'<text x="{x - 8:.1f}" y="{y + LINE * k:.1f}" class="small"{as_role(MARK)} '
        f'style="text-anchor:end">{escape(word)}</text>'
        for k, word in enumerate(words)
    )


def paint(plan: Plan, nodes: Sequence[Node], all_parameters: float) -> str:
    """Draw all boxes of a plan, and the arrows between them."""
    frames, wires, boxes = [], [], []
    for target, (node, box) in enumerate(zip(nodes, plan.boxes, strict=True)):
        if box.plan:
            frames.append(paint_frame(box, node, all_parameters))
        else:
            boxes.append(paint_box(box, node, nodes, all_parameters))
        for source in node.sources:
            wires.append(arrow(plan, source, target, nodes))
    return "".join(frames + wires + boxes)


def arrow(plan: Plan, source: int, target: int, nodes: Sequence[Node]) -> str:
    """Draw the arrow or the line from one box to another."""
    start, end = plan.boxes[source], plan.boxes[target]
    if (source, target) in plan.lanes:
        return past(start, end, plan.lanes[source, target])
    if (source, target) in plan.sides:
        tip = end.plan is None  # into a frame, the line continues
        return wire(
            [(start.x + start.right, start.middle), (end.x - end.left, start.middle)], tip=tip
        )
    if (source, target) in plan.across:
        return over(start, end, nodes, source, nodes[target])
    return down(start, end)


def paint_box(box: Box, node: Node, nodes: Sequence[Node], all_parameters: float) -> str:
    """Draw a module, an operation, or an input."""
    if not box.height:
        return ""
    name, width = title(node), box.left + box.right
    if len(name) == 1:
        circle = f'cx="{box.x:.1f}" cy="{box.middle:.1f}" r="{box.height / 2:.1f}"'
        sign = drawing.text(box.x, box.middle + 5.5, name, css="sign")
        beside = f'x="{box.x - ROUND / 2 - 7:.1f}" y="{box.middle + 4:.1f}"'
        result = f'<text style="text-anchor:end" {beside}>{written(node)}</text>'
        return f'<circle class="box" {circle}/>{sign}{result if node.values else ""}'
    below = notes(node, nodes)
    light = ' class="small"' if node.values and node.kind != "input" else ""
    small = "title" if node.values else "small"
    place = f'x="{box.x:.1f}" y="{box.y + 18:.1f}"{light}'
    texts = [f"<text {place}>{escape(name)}{times(node)}</text>"]
    texts += [
        drawing.text(box.x, box.y + 18 + 15 * (k + 1), line, css=small)
        for k, line in enumerate(below)
    ]
    if node.kind == "input":
        return "".join(texts).replace("<text x", '<text class="name" x', 1)
    place = (
        f'x="{box.x - box.left:.1f}" y="{box.y:.1f}" width="{width:.1f}" '
        f'height="{box.height:.1f}" rx="{5 if node.kind else 13}"'
    )
    share = node.times * node.parameters / all_parameters if all_parameters else 0
    ink = f'<rect class="ink" {place} fill-opacity="{DEEPEST * share**0.7:.3f}"/>' if share else ""
    return f'<rect class="box" {place}/>{ink}{"".join(texts)}'


def paint_frame(box: Box, node: Node, all_parameters: float) -> str:
    """Draw a module with what is inside it."""
    assert box.plan is not None
    plan, width = box.plan, box.left + box.right
    inner = plan.boxes[-1]
    beyond = wide(title(node), 7.2) + (24 if node.times > 1 else 0) + PAD > box.left - 4
    x = box.x + 9 if beyond else box.x - box.left + PAD
    heading = (
        f'<text x="{x:.1f}" y="{box.y + 17:.1f}" style="text-anchor:start">'
        f"{escape(title(node))}{times(node)}</text>"
    )
    rest = leave(inner, plan.height)
    lead = wire([(0.0, -TITLE), (0.0, 0.0)], tip=False)
    return (
        f'<rect class="frame" x="{box.x - box.left:.1f}" y="{box.y:.1f}" width="{width:.1f}" '
        f'height="{box.height:.1f}" rx="8"/>{heading}'
        f'<g transform="translate({box.x:.1f} {box.y + TITLE:.1f})">{lead}{rest}'
        f"{paint(plan, node.inside, all_parameters / node.times)}</g>"
    )


def leave(last: Box, bottom: float) -> str:
    """Draw the line from the last box in a frame to the frame's exit, straight below its entry."""
    if abs(last.x) < 1:
        return wire([(last.x, last.bottom), (0.0, bottom)], tip=False)
    turn = (last.bottom + bottom) / 2
    corners = [(last.x, last.bottom), (last.x, turn), (0.0, turn), (0.0, bottom)]
    return wire(corners, tip=False)


def times(node: Node) -> str:
    """Write how many equal layers a box represents, if there are several."""
    return f' <tspan class="small">× {node.times}</tspan>' if node.times > 1 else ""


def down(start: Box, end: Box) -> str:
    """Draw an arrow to a box in a row below."""
    if abs(start.x - end.x) < 1:
        return wire([(start.x, start.bottom), (end.x, end.y)])
    bend = end.y - GAP if end.y - start.bottom > 2 * GAP else start.bottom
    middle = (bend + end.y - TIP) / 2
    path = (
        f"M{start.x:.1f} {start.bottom:.1f}V{bend:.1f}"
        f"C{start.x:.1f} {middle:.1f} {end.x:.1f} {middle:.1f} {end.x:.1f} {end.y - TIP:.1f}"
    )
    return f'<path class="line" d="{path}"/>{drawing.tip(end.x, end.y, 0, 1)}'


def past(start: Box, end: Box, lane: float) -> str:
    """Draw a residual: out below one box, along its lane, and in at the side of another."""
    y = start.bottom + GAP * 0.3
    corners = [(start.x, y), (lane, y), (lane, end.middle), (end.x + end.right, end.middle)]
    return wire(corners, css="round")


def over(start: Box, end: Box, nodes: Sequence[Node], source: int, node: Node) -> str:
    """Draw the line from one frame to the side of the frame beside it, with its name and shape."""
    assert end.plan is not None
    entry = node.sources.index(source)
    x, y = end.x - end.left, end.y + TITLE + end.plan.boxes[entry].y
    between = x - APART / 2
    turn = start.bottom + APART
    corners = [(start.x, start.bottom), (start.x, turn), (between, turn), (between, y), (x, y)]
    name = f"{node.inside[entry].label} {written(nodes[source])}"
    label = drawing.text((start.x + between) / 2, turn + 15, name, css="small")
    return wire(corners, tip=False) + label


def wire(points: list[tuple[float, float]], *, css: str = "", tip: bool = True) -> str:
    """Draw a line with rounded corners, and an arrowhead at its end."""
    (x0, y0), (x1, y1) = points[-2:]
    dx, dy = (x1 > x0) - (x1 < x0), (y1 > y0) - (y1 < y0)
    end = (x1 - dx * TIP, y1 - dy * TIP) if tip else (x1, y1)
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for before, (x, y), after in zip(points, points[1:-1], points[2:], strict=False):
        (ax, ay), (bx, by) = toward((x, y), before), toward((x, y), after)
        path += f"L{ax:.1f} {ay:.1f}Q{x:.1f} {y:.1f} {bx:.1f} {by:.1f}"
    path += f"L{end[0]:.1f} {end[1]:.1f}"
    head = drawing.tip(x1, y1, dx, dy, css=css) if tip else ""
    return f'<path class="{f"line {css}".strip()}" d="{path}"/>{head}'


def toward(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Return the point where the rounding of a corner begins."""
    (x, y), (u, v) = corner, other
    reach = min(7.0, (abs(u - x) + abs(v - y)) / 2)
    return x + reach * ((u > x) - (u < x)), y + reach * ((v > y) - (v < y))


def count(node: Node) -> str:
    """Return the number of a module's parameters, in words."""
    return f"({node.parameters:,} parameters)" if node.parameters else ""


def lines(nodes: Sequence[Node], depth: int = 1) -> list[str]:
    """Return the steps as text: each one's name, its inputs, and the shape of its output."""
    told = []
    for i, node in enumerate(nodes):
        if node.kind == "input" and depth > 1:
            continue
        taken = " and ".join(step_name(nodes, j) for j in node.sources)
        what = f"{step_name(nodes, i)}{f' of {taken}' if taken else ''}"
        again = f", {node.times} times" if node.times > 1 else ""
        held = f", {node.parameters:,} parameters" if node.parameters else ""
        held += " that an earlier step also has" if node.shared else ""
        kind = f" ({node.kind}{again}{held})" if node.kind not in ("", "input") else ""
        told.append(f"{'  ' * depth}{what}{kind}: {written(node)}")
        told += lines(node.inside, depth + 1)
    return told


def step_name(nodes: Sequence[Node], i: int) -> str:
    """Return a step's name; if several steps share it, add the step's number among them."""
    names = [title(node) for node in nodes]
    same = [j for j, name in enumerate(names) if name == names[i]]
    return names[i] if len(same) == 1 else f"{names[i]} ({same.index(i) + 1})"
