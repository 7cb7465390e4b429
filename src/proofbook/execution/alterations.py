"""Other values in the place of one that an expression reads.

What an expression says of every other value as well, it does not say of this one.
"""

import copy
import functools
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

MOST = 16
"""Other values that are tried in the place of one, at most."""
HUGE = 10**9
DEEPEST = 3
"""How far into an object its attributes are altered."""


def alterations(
    value: object, attributes: Collection[str] = (), constants: Sequence[object] = ()
) -> Iterator[object]:
    """Yield other values of the same kind; none for what has none, as modules and classes.

    Args:
        value: What is altered; it stays as it is.
        attributes: Of an object, which attributes are altered.
        constants: What an expression compares it with or looks for in it.
    """
    yield from _towards(value, constants)
    yield from islice(_altered(value, attributes, 0), MOST)


def _towards(value: Any, constants: Sequence[Any]) -> Iterator[object]:
    """Yield values that have, or are, what the expression names."""
    for one in constants:
        if isinstance(value, str):
            yield f"{value}{one}"
            yield str(one)
        elif isinstance(value, list):
            yield [*value, one]
        elif isinstance(value, tuple):
            yield (*value, one)
        elif isinstance(value, set | frozenset):
            yield value | {one}
        elif isinstance(value, dict):
            yield {**value, one: next(iter(value.values()), None)}
        elif type(one) is type(value):
            yield one


def _altered(value: Any, attributes: Collection[str], depth: int) -> Iterator[object]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float | complex):
        yield from (value + 1, -value, 0 * value, HUGE * value + HUGE, -HUGE * value - HUGE)
    elif isinstance(value, str | bytes):
        yield from (value[::-1], value[:-1], value[:0], 2 * value, value.swapcase())
    elif isinstance(value, list | tuple):
        yield from _other_sequences(value, attributes, depth)
    elif isinstance(value, Mapping):
        yield from _other_mappings(value, attributes, depth)
    elif isinstance(value, set | frozenset):
        yield from (type(value)(list(value)[1:]), type(value)())
    elif value is None:
        yield from (0, "none")
    elif hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "ndim"):
        yield from _other_arrays(value)
    elif isinstance(value, types.ModuleType | type):
        return
    elif hasattr(value, "parameters") and hasattr(value, "state_dict"):
        yield _with_random_weights(value)
        yield from _other_objects(value, attributes, depth)
    elif isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
        yield from (_otherwise(value, number, attributes) for number in range(4))
    else:
        yield from _other_objects(value, attributes, depth)


def _other_sequences(value: Any, attributes: Collection[str], depth: int) -> Iterator[object]:
    items = list(value)
    others = [items[::-1], items[:-1], items[1:], [*items, 0]]
    if items and depth < DEEPEST:
        for one in islice(_altered(items[0], attributes, depth + 1), 3):
            others.append([one, *items[1:]])
        others.append([next(_altered(one, attributes, depth + 1), one) for one in items])
    make = getattr(value, "_make", type(value))
    yield from (make(other) for other in others if other != items or type(value) is not list)


def _other_mappings(value: Any, attributes: Collection[str], depth: int) -> Iterator[object]:
    keys, values = list(value), list(value.values())
    yield dict(zip(keys, values[1:] + values[:1], strict=True))
    yield dict(zip(keys[::-1], values[::-1], strict=True))
    if depth < DEEPEST:
        yield {key: next(_altered(one, attributes, depth + 1), one) for key, one in value.items()}
    yield {}


def _other_arrays(value: Any) -> Iterator[object]:
    """Arrays and tensors: other numbers in the same shape, then other shapes."""
    kind = str(value.dtype)
    if "bool" in kind:
        yield ~value
    else:
        if hasattr(value, "new_empty") and "float" in kind:
            yield value.new_empty(value.shape).normal_()
        yield from (-value, value + 1, 0 * value, HUGE * value + HUGE)
    for axis in range(value.ndim):
        backward = list(range(value.shape[axis]))[::-1]
        yield value[(*[slice(None)] * axis, backward)]
    if value.ndim > 1:
        yield value.swapaxes(-1, -2)
    for axis in range(value.ndim):
        yield value[(*[slice(None)] * axis, slice(None, -1))]
    yield value[None]


def _with_random_weights(model: Any) -> object:
    other = copy.deepcopy(model)
    for weight in other.state_dict().values():
        if weight.is_floating_point():
            weight.copy_(weight.new_empty(weight.shape).normal_(std=0.02))
    return other


def _other_objects(value: Any, attributes: Collection[str], depth: int) -> Iterator[object]:
    """Objects with one attribute altered."""
    held = getattr(value, "__dict__", {})
    for name in [name for name in held if name in attributes or name.startswith("_")]:
        for one in (
            islice(_altered(held[name], attributes, depth + 1), 3) if depth < DEEPEST else ()
        ):
            other = copy.copy(value)
            other.__dict__[name] = one
            yield other
    if callable(value):
        yield from (_otherwise(value, number, attributes) for number in range(4))


def _otherwise(function: Callable[..., Any], number: int, attributes: Collection[str]) -> object:
    """Return a function that gives something else than another does."""

    @functools.wraps(function)
    def other(*args: Any, **kwargs: Any) -> object:
        value = function(*args, **kwargs)
        return next(islice(alterations(value, attributes), number, None), value)

    return other
