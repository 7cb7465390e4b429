"""One run as a graph: which modules and operations it called, and whose results each one took."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from glassformer.views.axis_words import Axes, tensors
from glassformer.views.watching import name_of, watched

SIGNS = {
    **dict.fromkeys(("add", "radd", "iadd"), "+"),
    **dict.fromkeys(("mul", "rmul", "imul"), "×"),
    **dict.fromkeys(("div", "truediv"), "÷"),
    **dict.fromkeys(("sub", "rsub"), "−"),
    **dict.fromkeys(("matmul", "bmm", "mm"), "MatMul"),
    "scaled_dot_product_attention": "scaled dot-product attention",
}
# Operations that use only the shape of their input.
EMPTY = {"zeros_like", "ones_like", "full_like", "empty_like", "new_zeros", "new_ones"}


@dataclass(frozen=True)
class Node:
    """An input, a module, or an operation, and the nodes whose results it took.

    Attributes:
        label: The name of an input, the path of a module, or the name or sign of an operation.
        kind: The class of a module; "input" for an input, "" for an operation.
        shape: The shape of the result.
        sources: The indices, in the same list, of the nodes whose results it took.
        parameters: The number of the module's parameters.
        inside: The nodes inside the module, the last being its result; empty if not followed.
        times: How many equal layers in a row this node represents.
        shared: Whether all of its parameters also belong to modules that ran before it.
        values: The numbers of the result, if they're to be kept.
    """

    label: str
    kind: str
    shape: tuple[int, ...]
    sources: tuple[int, ...] = ()
    parameters: int = 0
    inside: tuple["Node", ...] = ()
    times: int = 1
    shared: bool = False
    values: tuple[float, ...] = ()


def trace(
    model: Callable[..., Any],
    inputs: tuple[Any, ...],
    depth: int,
    axes: Axes,
    *,
    numbers: bool = False,
) -> Node:
    """Call a module or a function once, in eval mode, and follow its tensors.

    Modules are followed `depth` levels deep; deeper ones are one node each. A call that only
    rearranges numbers, or changes none in this run (such as dropout), isn't a node. Equal layers in
    a row are one node. With `numbers`, each node keeps its result.

    Raises:
        ValueError: The model does not take these inputs, or returns nothing computed from them.
    """
    modules = dict(model.named_modules()) if isinstance(model, nn.Module) else {}
    tracer = Tracer({module: path for path, module in modules.items()}, depth, axes, numbers)
    with watched(model, inputs, tracer.enter, tracer.leave), tracer:
        if not modules:
            tracer.enter(model, inputs, {})
        output = model(*inputs)
        if not modules:
            tracer.leave(model, inputs, {}, output)
    if not tracer.whole.inside:
        raise ValueError(f"{name_of(model)} returns nothing that was computed from its inputs")
    return tracer.whole


@dataclass
class Level:
    """A module that is being followed: its nodes so far, and which node made which tensor."""

    nodes: list[Node] = field(default_factory=list)
    made: dict[int, int] = field(default_factory=dict)

    def add(self, node: Node, results: list[Tensor]) -> None:
        """Add a node and the tensors that it made."""
        self.made.update((id(x), len(self.nodes)) for x in results)
        self.nodes.append(node)

    def sources(self, *values: Any) -> tuple[int, ...]:
        """Return the nodes that made these tensors, each once."""
        found = (self.made[id(x)] for x in within(values) if id(x) in self.made)
        return tuple(dict.fromkeys(found))


class Tracer(TorchFunctionMode):
    """A recorder of each torch operation and, with its hooks, of each call of a module."""

    def __init__(self, paths: dict[Any, str], depth: int, axes: Axes, numbers: bool) -> None:
        super().__init__()
        self.paths, self.depth, self.axes, self.numbers = paths, depth, axes, numbers
        self.levels: list[Level] = []
        self.closed = 0  # how deep inside a module that is not followed
        self.alive: list[Any] = []  # kept, so no new tensor gets the id of an old one
        self.used: set[nn.Parameter] = set()  # by the modules that were not followed
        self.whole = Node("", "", ())

    def enter(self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Enter a module: follow it, or wait until it returns."""
        self.axes.learn(model, args, kwargs)
        single = self.levels and not [*model.children()]
        if self.closed or single or len(self.levels) == self.depth:
            self.closed += 1
            return
        level = Level()
        for name, tensor in arguments(model, args, kwargs).items():
            known = not self.levels or id(tensor) in self.levels[-1].made
            if known and id(tensor) not in level.made:
                kept = self.kept([tensor])
                level.add(Node(name, "input", tuple(tensor.shape), values=kept), [tensor])
        self.alive.append((args, kwargs))
        self.levels.append(level)

    def leave(self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> None:
        """Leave a module, which becomes a node unless it changed nothing."""
        self.axes.learn_output(model, args, out)
        self.alive.append(out)
        followed = not self.closed
        self.closed -= not followed
        if self.closed:
            return
        results = list(tensors(out))
        inside = tidy(self.levels.pop(), results) if followed else ()
        outer = self.levels[-1] if self.levels else Level()
        held = {*model.parameters()} if isinstance(model, nn.Module) else set()
        node = Node(
            self.paths.get(model, ""),
            name_of(model),
            tuple(results[0].shape) if results else (),
            outer.sources(args, kwargs),
            sum(parameter.numel() for parameter in held),
            inside,
            shared=not followed and bool(held) and held <= self.used,
            values=self.kept(results),
        )
        if not followed:
            self.used |= held
        if not self.levels:
            self.whole = node
        elif node.parameters or not unchanged([*within(args)][:1], results):
            outer.add(node, results)

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run a torch operation, and record it as a node of the module that called it."""
        out = func(*args, **(kwargs or {}))
        if self.levels and not self.closed:
            self.alive.append(out)
            self.note(func, args, kwargs or {}, list(tensors(out)))
        return out

    def note(self, func: Any, args: tuple[Any, ...], kwargs: Any, results: list[Tensor]) -> None:
        """Record an operation on followed tensors, unless it changed nothing."""
        level, name = self.levels[-1], name_of(func).strip("_")
        sources = level.sources(args, kwargs)
        if not results or not sources or name in EMPTY:
            return
        taken = [x for x in within((args, kwargs)) if id(x) in level.made]
        # A mask of allowed pairs, its inverse, and a mask to be added are all the same mask.
        masks = results[0].dtype == torch.bool or (
            name == "masked_fill" and taken[0] is not args[0]
        )
        joins = len(sources) > 1 and name != "masked_fill"
        label = called(name, args)
        if masks or label in ("× 1", "÷ 1") or (not joins and unchanged(taken, results)):
            level.made.update((id(x), sources[0]) for x in results)
            return
        shape, kept = tuple(results[0].shape), self.kept(results)
        level.add(Node(label, "", shape, sources, values=kept), results)

    def kept(self, results: list[Tensor]) -> tuple[float, ...]:
        """Return the numbers of a result, if they're to be kept."""
        return tuple(results[0].detach().flatten().tolist()) if self.numbers and results else ()


def called(name: str, args: tuple[Any, ...]) -> str:
    """Return the sign or name of an operation; a sign is followed by its number: `÷ √32`."""
    sign = SIGNS.get(name, name.replace("_", " "))
    numbers = [x for x in args if isinstance(x, int | float) and not isinstance(x, bool)]
    if len(sign) > 1 or not numbers:
        return sign
    value = float(numbers[0])
    square = round(value**2)
    root = not value.is_integer() and value > 1 and abs(value - square**0.5) < 1e-9
    return f"{sign} √{square}" if root else f"{sign} {value:g}"


def unchanged(taken: list[Tensor], results: list[Tensor]) -> bool:
    """Return whether a result has the same numbers as the first input, in whatever order."""
    if len(results) != 1 or not taken:
        return False
    before, after = taken[0], results[0]
    if before.numel() != after.numel():
        return False
    if before.untyped_storage()._cdata == after.untyped_storage()._cdata:
        return True
    if after.is_meta:  # there are no numbers to compare
        return False
    same = before.flatten().sort().values, after.to(before.dtype).flatten().sort().values
    return torch.equal(*same)


def within(values: Any) -> Iterator[Tensor]:
    """Yield all tensors in nested arguments."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, Mapping):
        yield from within(tuple(values.values()))
    elif isinstance(values, tuple | list):
        for value in values:
            yield from within(value)


def arguments(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Tensor]:
    """Return the tensors among a call's arguments, by their names in its signature."""
    bound = inspect.signature(getattr(model, "forward", model)).bind(*args, **kwargs).arguments
    return {name: value for name, value in bound.items() if isinstance(value, Tensor)}


def tidy(level: Level, results: list[Tensor]) -> tuple[Node, ...]:
    """Return the nodes that led to the results, in the order they ran.

    Equal layers in a row become one.
    """
    nodes = level.nodes
    needed, ahead = set(), list(level.sources(results))
    while ahead:
        one = ahead.pop()
        if one not in needed:
            needed.add(one)
            ahead += nodes[one].sources
    kept: list[Node] = []
    places: dict[int, int] = {}
    for old in sorted(needed):
        node = replace(nodes[old], sources=tuple(places[i] for i in nodes[old].sources))
        if kept and follows(node, kept[-1], len(kept) - 1):
            kept[-1] = replace(kept[-1], times=kept[-1].times + 1)
        else:
            kept.append(node)
        places[old] = len(kept) - 1
    return tuple(kept)


def follows(node: Node, before: Node, place: int) -> bool:
    """Return whether a node repeats the layer before it and reads that layer's result."""
    stem, _, last = node.label.rpartition(".")
    if not last.isdigit() or before.label.rpartition(".")[0] != stem:
        return False
    same = (node.kind, node.shape, node.parameters, node.sources[1:])
    return node.sources[:1] == (place,) and same == (
        before.kind,
        before.shape,
        before.parameters,
        before.sources[1:],
    )
