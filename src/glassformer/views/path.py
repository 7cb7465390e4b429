"""`shapes`: the path of a tensor through a model, module by module."""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.views.view import View, scrolling
from glassformer.views.watching import watched

STYLE = """
.glassformer-table .module{font-weight:inherit}
.glassformer-table :is(.module,.shape,.kind){white-space:nowrap}
.glassformer-table :is(.kind,.same){opacity:.8}.glassformer-table .count{text-align:right}
.glassformer-table ruby{ruby-position:under;margin:0 .15em}
.glassformer-table rt{font-size:.74em;opacity:.85;padding:0 .2em}
""".replace("\n", "")

# Configuration fields that give the size of an axis, and the axis's name.
SIZES = {
    "d_model": "d_model",
    "d_ff": "d_ff",
    "vocab_size": "vocab",
    "num_labels": "labels",
    "hidden_size": "d_model",
    "intermediate_size": "d_ff",
}


@dataclass
class Step:
    """One call of one module."""

    name: str
    kind: str
    parameters: int
    shapes: list[tuple[int, ...]] = field(default_factory=list)
    inside: list["Step"] = field(default_factory=list)

    def sign(self, outer: str = "") -> tuple[object, ...]:
        """Return everything but the position: layers with equal signs look the same to a reader."""
        name = self.name.removeprefix(outer) if outer else ""
        inside = tuple(step.sign(self.name) for step in self.inside)
        return name, self.kind, self.parameters, tuple(self.shapes), inside


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    depth: int
    name: str
    kind: str
    shapes: list[tuple[int, ...]]
    parameters: int | None


def shapes(model: nn.Module, *inputs: Any) -> View:
    """Run a model once, and tabulate the shape of each module's output and its parameters.

    A module's parameters include those of the modules inside it. Of equal layers in a row, only the
    first is shown in full. The model's modes are restored, and dropout draws no random numbers.

    Args:
        model: Any module.
        inputs: The inputs of its `forward`.

    Raises:
        ValueError: The model does not take these inputs.
    """
    axes = Axes(model)
    root = walk(model, inputs, axes)
    names = list(inspect.signature(model.forward).parameters)
    rows = [
        Row(0, names[i] if i < len(names) else f"input {i}", "input", [tuple(x.shape)], None)
        for i, x in enumerate(inputs)
        if isinstance(x, Tensor)
    ]
    rows += flatten(root, 0)
    return View(draw(rows, axes), write(rows, axes))


def walk(model: nn.Module, inputs: tuple[Any, ...], axes: "Axes") -> Step:
    """Call the model, and record which module ran inside which and the shapes of the outputs."""
    paths = {module: path for path, module in model.named_modules()}
    open_steps = [Step("", "", 0)]

    def enter(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        axes.learn(module, args, kwargs)
        parameters = sum(p.numel() for p in module.parameters())
        step = Step(paths[module], type(module).__name__, parameters)
        open_steps[-1].inside.append(step)
        open_steps.append(step)

    def leave(
        module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any
    ) -> None:
        open_steps.pop().shapes = [tuple(x.shape) for x in tensors(output)]
        axes.learn_output(module, args, output)

    with watched(model, inputs, enter, leave):
        model(*inputs)
    return open_steps[0].inside[0]


def tensors(output: Any) -> Iterator[Tensor]:
    """Yield the tensors in what a module returned."""
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, Mapping):
        yield from (x for x in output.values() if isinstance(x, Tensor))
    elif isinstance(output, (tuple, list)):
        yield from (x for x in output if isinstance(x, Tensor))


class Axes:
    """Words for the axes of a shape, learned from the signatures of the modules that ran."""

    def __init__(self, model: Any) -> None:
        config = getattr(model, "config", None)
        self.names: dict[tuple[int, ...], tuple[str, ...]] = {}
        self.sizes = {
            getattr(config, key): word
            for key, word in SIZES.items()
            if isinstance(getattr(config, key, None), int)
        }

    def learn(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Read the axis words of a module's inputs, or of a function's."""
        signature = inspect.signature(getattr(module, "forward", module))
        try:
            bound = signature.bind(*args, **kwargs).arguments
        except TypeError:  # the call itself will raise it
            return
        for name, value in bound.items():
            if isinstance(value, Tensor):
                self.keep(value, signature.parameters[name].annotation)
                if value.ndim == 2 and value.dtype in (torch.int64, torch.int32):
                    self.names.setdefault(tuple(value.shape), ("batch", "seq"))

    def learn_output(self, module: Any, args: tuple[Any, ...], output: Any) -> None:
        """Read the axis words of a module's output, or derive them from those of its input."""
        if not isinstance(output, Tensor):
            return
        forward = getattr(module, "forward", module)
        self.keep(output, inspect.signature(forward).return_annotation)
        shape = tuple(output.shape)
        if shape not in self.names and shape[:-1] in self.names and shape[-1] in self.sizes:
            self.names[shape] = (*self.names[shape[:-1]], self.sizes[shape[-1]])

    def keep(self, tensor: Tensor, annotation: Any) -> None:
        """Remember an annotation such as `Float[Tensor, "batch seq d_model"]` for this shape."""
        words = getattr(annotation, "dim_str", "").split()
        if words and words[0] == "*batch":  # any leading axes
            ahead = ("batch", "heads" if "seq" in words else "seq")
            words = [*ahead[: tensor.ndim - len(words) + 1], *words[1:]]
        if len(words) == tensor.ndim and all(word.isidentifier() for word in words):
            self.names.setdefault(tuple(tensor.shape), tuple(words))

    def of(self, shape: tuple[int, ...]) -> tuple[str, ...]:
        """Return one word per axis; it's empty if the axis is unknown."""
        if shape in self.names:
            return self.names[shape]
        lead = self.names.get(shape[:2], ("", ""))
        if len(shape) < 3:
            return (
                ("batch", self.sizes[shape[1]])
                if len(shape) == 2 and shape[1] in self.sizes
                else ("",) * len(shape)
            )
        return (*lead, *(self.sizes.get(size, "") for size in shape[2:]))


def flatten(step: Step, depth: int, outer: str = "") -> list[Row]:
    """Return the rows of a step and all steps inside it; a layer's repeats share one row.

    Names leave out the enclosing module's name (`outer`), which is in a row above.
    """
    inside = f"{step.name}." if step.name else ""
    rows = [
        Row(
            depth, step.name.removeprefix(outer) or "model", step.kind, step.shapes, step.parameters
        )
    ]
    before: Step | None = None
    run: list[Step] = []
    for inner in [*step.inside, None]:
        if before and inner and numbered(inner) and inner.sign() == before.sign():
            run.append(inner)
            continue
        if run:
            first, last = run[0].name.removeprefix(inside), run[-1].name.removeprefix(inside)
            name = first if len(run) == 1 else f"{first} … {last}"
            total = sum(again.parameters for again in run)
            rows.append(Row(depth + 1, name, "the same", run[-1].shapes, total))
            run = []
        if inner:
            rows += flatten(inner, depth + 1, inside)
        before = inner
    return rows


def numbered(step: Step) -> bool:
    """Return whether a module is an item of a list: `layers.3`."""
    return step.name.rpartition(".")[2].isdigit()


def draw(rows: list[Row], axes: Axes) -> str:
    """Return the table as HTML."""
    lines = []
    for row in rows:
        shape = ", ".join(
            " × ".join(
                f"<ruby>{size}<rt>{escape(word)}</rt></ruby>" if word else str(size)
                for size, word in zip(shape, axes.of(shape), strict=True)
            )
            for shape in row.shapes
        )
        count = "" if row.parameters is None else f"{row.parameters:,}"
        css = ' class="same"' if row.kind == "the same" else ""
        lines.append(
            f'<tr{css}><th class="module" scope="row" style="padding-left:{0.6 + row.depth}em">'
            f"{escape(row.name)}</th>"
            f'<td class="shape">{shape}</td><td class="count">{count}</td>'
            f'<td class="kind">{escape(row.kind)}</td></tr>'
        )
    head = (
        '<th scope="col">module</th><th scope="col">gives</th>'
        '<th scope="col" class="count">parameters</th><th scope="col">kind</th>'
    )
    body = f"<tbody>{''.join(lines)}</tbody>"
    return scrolling(head, body, name="Shapes", style=STYLE)


def write(rows: list[Row], axes: Axes) -> str:
    """Return the table as aligned text, each shape as `batch 2, seq 7, d_model 384`."""
    lines = [["module", "kind", "gives", "parameters"]]
    for row in rows:
        shape = " and ".join(
            "(" + ", ".join(f"{w} {n}".strip() for w, n in zip(axes.of(s), s, strict=True)) + ")"
            for s in row.shapes
        )
        count = "" if row.parameters is None else f"{row.parameters:,}"
        lines.append(["  " * row.depth + row.name, row.kind, shape, count])
    widths = [max(len(line[k]) for line in lines) for k in range(4)]
    return "\n".join(
        f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:<{widths[2]}}  {d:>{widths[3]}}".rstrip()
        for a, b, c, d in lines
    )
