"""Find expressions that prove nothing: true of every other value, or of one object and itself."""

import ast
import contextlib
import copy
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from proofbook.execution.expressions import Expression, as_data

FAR = 10_000
"""What is added to a number to make one beyond any bound that a sentence gives."""
MOST = 25
"""How many other values of each item of a list to try."""
EQUALITIES = frozenset(["allclose", "array_equal", "assert_close", "eq", "equal", "isclose"])
NOT_NUMBERS = frozenset(["inf", "isfinite", "isinf", "isnan", "nan"])
NEVER_FALSE = (
    "stayed true for every other value tried for {names}: "
    "write an expression that would be false if the sentence were"
)
ONE_OBJECT = (
    "{names} are one object, compared with itself: copy it before it changes, or use `is` "
    "to say that they are the same"
)


def vacuity_of(
    expression: Expression, names: Mapping[str, Any], made: Mapping[str, Any], asserted: bool
) -> str:
    """Return why an expression proves nothing; "" if it proves something, or if we can't tell.

    Args:
        expression: The expression, whose value is known.
        names: The names of the page.
        made: The names that the page's blocks bound.
        asserted: Whether it must be true, and is.
    """
    for left, right in _compared(expression.tree):
        if ast.dump(left) != ast.dump(right) and _are_one(left, right, names):
            return ONE_OBJECT.format(names=f"{ast.unparse(left)} and {ast.unparse(right)}")
    if not asserted or _is_open(expression, names):
        return ""
    read = expression.values_read(made)
    places = _Places(read)
    same = Expression(ast.unparse(places.visit(copy.deepcopy(expression.tree))))
    try:
        values = {name: eval(code, dict(names)) for name, code in places.found.items()}
    except Exception:  # a part that wasn't evaluated
        return ""
    if not all(any(True for _ in other_values(value)) for value in values.values()):
        return ""
    tried = 0
    for name, value in values.items():
        for other in (*_compared_with(same, value, values.values()), *other_values(value)):
            try:
                if as_data(same.value({**names, **values, name: other})) is not True:
                    return ""
            except BaseException:  # sys.exit() too: the page didn't ask for this
                continue
            tried += 1
    return NEVER_FALSE.format(names=", ".join(read)) if tried else ""


class _Places(ast.NodeTransformer):
    """Replaces names, with constant items of theirs such as `rows[0]["loss"]`, by new names.

    Attributes:
        found: The code that each new name stands for.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.found: dict[str, types.CodeType] = {}
        self._known: dict[str, str] = {}

    def visit(self, node: ast.AST) -> Any:
        """Return the new name of a place; anything else with its places replaced."""
        is_own = _is_place(node) and _root(node) in self.names
        if not is_own or isinstance(node, ast.Attribute):
            return self.generic_visit(node)
        text = ast.unparse(node)
        name = self._known.setdefault(text, f"_place_{len(self._known)}")
        self.found[name] = compile(text, "<claim>", "eval")
        return ast.Name(name, ast.Load())


def _compared(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the pairs that an expression compares: by an operator, a difference, or a function."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                yield left, right
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                yield left, right
            case ast.Call(func=ast.Attribute(value=left, attr=name), args=args):
                if name in EQUALITIES and args:
                    left, right = (left, args[0]) if len(args) == 1 else args[:2]
                    yield left, right


def _are_one(left: ast.expr, right: ast.expr, names: Mapping[str, Any]) -> bool:
    """Return whether two names, attributes, or items are one object that can change.

    Arrays are one if they show the same memory in the same way. Tensors count their changes: views
    of memory that never changed were meant to be compared.
    """
    if not all(_is_place(node) for node in (left, right)):
        return False
    try:
        first, second = (
            eval(compile(ast.Expression(node), "<claim>", "eval"), dict(names))
            for node in (left, right)
        )
        never_changes = copy.copy(first) is first
    except Exception:  # a name within a comprehension, a part that wasn't evaluated, a module
        return False
    if never_changes or type(first) is not type(second):
        return False
    if hasattr(type(first), "data_ptr") and first.numel():
        changed = not first.is_inference() and first._version > 0
        return (first is second or changed) and _memory(first) == _memory(second)
    if hasattr(type(first), "__array_interface__") and first.size:
        return bool(_memory(first) == _memory(second))
    return first is second


def _memory(array: Any) -> object:
    """Return where an array's numbers are, and in what order."""
    if hasattr(array, "data_ptr"):
        return array.data_ptr(), array.shape, array.stride()
    return array.__array_interface__["data"], array.shape, array.strides


def _is_place(node: ast.AST) -> bool:
    """Return whether a node is a name with attributes and constant items, as `net.layers[0]`."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=inner) | ast.Subscript(value=inner, slice=ast.Constant()):
            return _is_place(inner)
    return False


def _is_open(expression: Expression, names: Mapping[str, Any]) -> bool:
    """Return whether an expression says something whatever it reads, or may do so.

    An attribute such as `x.grad` or `x.dtype` may depend on anything. That two things which the
    page computed are equal, or near, may be a theorem, and says something.
    """
    either = any(isinstance(node, ast.Or) for node in ast.walk(expression.tree))
    for sides in () if either else _compared(expression.tree):
        names_of = [{n.id for n in ast.walk(side) if isinstance(n, ast.Name)} for side in sides]
        if ast.dump(sides[0]) != ast.dump(sides[1]) and all(names_of):
            return True
    called = [node.func for node in ast.walk(expression.tree) if isinstance(node, ast.Call)]
    attributes = [node for node in ast.walk(expression.tree) if isinstance(node, ast.Attribute)]
    if NOT_NUMBERS & ({node.attr for node in attributes} | expression.reads):
        return True
    return any(
        node not in called and not isinstance(names.get(_root(node)), types.ModuleType)
        for node in attributes
    )


def _root(node: ast.AST) -> str:
    """Return the name that a chain of attributes and items begins with, or ""."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _compared_with(expression: Expression, value: Any, values: Collection[Any]) -> Iterator[Any]:
    """Yield what could make an inequality false: the other values and the constants."""
    constants = [n.value for n in ast.walk(expression.tree) if isinstance(n, ast.Constant)]
    yield from (other for other in (*constants, *values) if type(other) is type(value))
    if isinstance(value, list | tuple | set) and not hasattr(value, "_make"):
        yield type(value)(constants)
    if isinstance(value, dict):
        yield dict.fromkeys(constants)


def other_values(value: Any) -> Iterator[Any]:
    """Yield other values of the same kind: larger, negated, turned, empty; or none if unknown."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        far = FAR + 10 * abs(value)
        yield from (value + far, value - far, value + 1, -value, 0 * value)
    elif isinstance(value, str):
        yield from (value[::-1], value.swapcase(), f"{value} 7 ?A", "")
    elif isinstance(value, bytes):
        yield from (value[::-1], value.swapcase(), value + b" 7 ?A", b"")
    elif isinstance(value, list | tuple) and not hasattr(value, "_make"):
        yield from map(type(value), _other_items(list(value)))
    elif isinstance(value, dict):
        others = (dict(zip(value, one, strict=False)) for one in _other_items([*value.values()]))
        if (first := next(others, None)) is not None:
            yield from (first, *others, {**value, **dict.fromkeys(range(FAR))})
    elif isinstance(value, set | frozenset):
        yield from (type(value)(list(value)[1:]), value | {object()}, type(value)())
    elif all(hasattr(type(value), name) for name in ("shape", "dtype", "ndim")):
        with contextlib.suppress(TypeError, RuntimeError):  # types that nothing is computed with
            yield from _other_arrays(value)


def _other_items(items: list[Any]) -> Iterator[list[Any]]:
    """Yield lists with items replaced by other values, all or one, and turned, added, or gone."""
    others = [list(islice(other_values(item), MOST)) for item in items]
    if not all(others):
        return
    yield from ([], items[:1], items[::-1], [*items, *99 * items[:99]], [*items, 0])
    for number in range(max(map(len, others), default=0)):
        replaced = [values[number % len(values)] for values in others]
        yield from (replaced, [*replaced[:1], *items[1:]], [*items[:-1], *replaced[-1:]])


def _other_arrays(value: Any) -> Iterator[Any]:
    """Yield arrays or tensors with other numbers in the same shape, turned, and with less."""
    if "bool" in str(value.dtype):
        yield ~value
    else:
        if value.ndim:
            count = ((value == value) * 0 + 1).reshape(-1).cumsum(0).reshape(value.shape)
            uneven = 29 * count % 97 - 40
            yield value + uneven
            yield (uneven.to if hasattr(value, "data_ptr") else uneven.astype)(value.dtype)
        yield from (-value, value + 1, 0 * value, value + FAR, value - FAR)
    if value.ndim > 1:
        yield value.swapaxes(-1, -2)
    if value.ndim:
        yield from (value[:-1], value[:0])
