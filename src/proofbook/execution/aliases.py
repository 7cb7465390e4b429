"""Track which names of a page may share an object, so changing one changes the others."""

import ast
from collections.abc import Iterable, Iterator, Set

_PASSING = frozenset(
    {"append", "extend", "insert", "add", "update", "setdefault", "get", "pop", "popitem"}
    | {"values", "items", "copy", "view", "view_as", "reshape", "flatten", "squeeze", "unsqueeze"}
    | {"transpose", "permute", "expand", "narrow", "select", "detach", "numpy", "chunk", "split"}
    | {"requires_grad_", "parameters", "named_parameters", "children", "modules", "state_dict"}
)
"""Methods that store their arguments, or return objects that they store or share memory with."""

_HOLDING = frozenset(
    {"list", "tuple", "dict", "set", "iter", "next", "reversed", "sorted", "zip", "enumerate"}
    | {"map", "filter", "max", "min", "getattr", "vars"}
)
_MEASURES = frozenset({"shape", "dtype", "device", "ndim", "size", "real"})


class Aliases:
    """The pairs of names that may share an object, updated statement by statement."""

    def __init__(self) -> None:
        self._beside: dict[str, set[str]] = {}

    def add(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Record that the names in each pair may share an object from now on."""
        for one, other in pairs:
            if one != other:
                self._beside.setdefault(one, set()).add(other)
                self._beside.setdefault(other, set()).add(one)

    def drop(self, name: str) -> None:
        """Record that a name has a new value; the names that it linked stay linked."""
        for other in (beside := self._beside.pop(name, set())):
            self._beside[other] |= beside - {other}
            self._beside[other].discard(name)

    def of(self, names: Iterable[str]) -> set[str]:
        """Return the names and all others that may share an object with one of them."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting.extend(self._beside.get(name, ()))
        return found


def shared(tree: ast.AST, made_here: Set[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of names that may share an object after a statement runs.

    Args:
        tree: The statement.
        made_here: The page's functions, classes, and methods; their results may hold arguments.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _paired(target, node.value, made_here)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.AugAssign):
            if node.value is not None:
                yield from _paired(node.target, node.value, made_here)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from _paired(node.target, node.iter, made_here, whole=True)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield from _paired(node.optional_vars, node.context_expr, made_here)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _PASSING:
            names = sorted(held(node, made_here))
            yield from ((names[0], other) for other in names[1:])


def _paired(
    target: ast.expr, value: ast.expr, made_here: Set[str], whole: bool = False
) -> Iterator[tuple[str, str]]:
    """Pair the names in a target with those whose objects the assigned value may be or hold."""
    lists = ast.Tuple | ast.List
    starred = any(isinstance(n, ast.Starred) for n in (*ast.walk(target), *ast.walk(value)))
    if isinstance(target, lists) and isinstance(value, lists) and not starred and not whole:
        for one, other in zip(target.elts, value.elts, strict=False):
            yield from _paired(one, other, made_here)
        return
    for name in (node.id for node in ast.walk(target) if isinstance(node, ast.Name)):
        yield from ((name, other) for other in held(value, made_here))


def held(value: ast.expr | None, made_here: Set[str]) -> set[str]:
    """Return the names whose objects an expression's value may be or hold."""
    inner: list[ast.expr | None] = []
    match value:
        case ast.Name():
            return {value.id}
        case ast.Attribute():
            inner = [] if value.attr in _MEASURES else [value.value]
        case ast.Subscript() | ast.Starred() | ast.Await() | ast.NamedExpr():
            inner = [value.value]
        case ast.Tuple() | ast.List() | ast.Set():
            inner = [*value.elts]
        case ast.Dict():
            inner = [*value.values]
        case ast.IfExp():
            inner = [value.body, value.orelse]
        case ast.BoolOp():
            inner = [*value.values]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            inner = [value.elt, *(part.iter for part in value.generators)]
        case ast.DictComp():
            inner = [value.value, *(part.iter for part in value.generators)]
        case ast.Call():
            inner = _passed(value, made_here)
    return set().union(*(held(one, made_here) for one in inner))


def _passed(call: ast.Call, made_here: Set[str]) -> list[ast.expr | None]:
    """Return the parts of a call whose values it may return or store: its object, its arguments."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if isinstance(call.func, ast.Attribute) and call.func.attr in _PASSING | made_here:
        return [call.func.value, *arguments]
    if isinstance(call.func, ast.Name) and call.func.id in _HOLDING | made_here:
        return [*arguments]
    return []
