"""Other values in the place of one that an expression reads.

What an expression says of every other value as well, it does not say of this one.
"""

import copy
import functools
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

MOST = 40
"""Other values that are tried in the place of one, at most."""
DEEPEST = 4
"""How far into an object its parts are altered."""
HUGE = 10**9


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
        yield from (value + 1, -value, 0 * value, value + HUGE, value - HUGE)
    elif isinstance(value, str | bytes):
        yield from (value[::-1], value[:-1], value[:0], 99 * value[:99], value.swapcase())
    elif isinstance(value, list | tuple):
        make = getattr(value, "_make", type(value))
        yield from map(make, _other_items(list(value), attributes, depth))
    elif isinstance(value, Mapping):
        values = _other_items(list(value.values()), attributes, depth)
        yield from (dict(zip(value, other, strict=False)) for other in values)
        yield {}
    elif isinstance(value, set | frozenset):
        yield from (type(value)(list(value)[1:]), type(value)())
    elif value is None:
        yield from (0, "none")
    elif _has(value, "shape", "dtype", "ndim"):
        yield from _other_arrays(value)
    elif isinstance(value, types.ModuleType | type):
        if depth < DEEPEST:
            yield from _other_members(value, attributes, depth + 1)
    else:
        if _has(value, "parameters", "state_dict"):
            yield _with_random_weights(value)
        if depth < DEEPEST:
            yield from _other_objects(value, attributes, depth)


def _has(value: object, *names: str) -> bool:
    """Tell whether an object's class has these members; the object itself might act if asked."""
    return all(hasattr(type(value), name) for name in names)


def _other_items(items: list[Any], attributes: Collection[str], depth: int) -> Iterator[list[Any]]:
    """Yield lists with the items in another order, with fewer and more of them, and with others."""
    yield from (
        items[::-1],
        items[1:] + items[:1],
        items[:-1],
        [],
        [*items, 0],
        items + 99 * items[:99],
    )
    if items:
        yield items[:1] * len(items)
    if depth < DEEPEST:
        for number in range(5):
            yield [_another(item, number, attributes, depth + 1) for item in items]
        first = islice(_altered(items[0], attributes, depth + 1), 5) if items else ()
        yield from ([other, *items[1:]] for other in first)


def _another(value: object, number: int, attributes: Collection[str], depth: int) -> object:
    """Return a value with the n-th alteration of all that is in it; itself where there is none."""
    if isinstance(value, list | tuple) and depth < DEEPEST:
        make = getattr(value, "_make", type(value))
        return make([_another(item, number, attributes, depth + 1) for item in value])
    return next(islice(_altered(value, attributes, depth), number, None), value)


def _other_arrays(value: Any) -> Iterator[object]:
    """Yield arrays and tensors with other numbers in the same shape, then of other shapes."""
    kind = str(value.dtype)
    if "bool" in kind:
        yield ~value
    else:
        if hasattr(value, "new_empty"):
            fresh = value.new_empty(value.shape)
            yield fresh.normal_() if fresh.is_floating_point() else fresh.random_(0, 97)
        yield from (-value, value + 1, 0 * value, value + 1000, value - 1000)
    for axis in range(value.ndim):
        backward = list(range(value.shape[axis]))[::-1]
        yield value[(*[slice(None)] * axis, backward)]
    if value.ndim > 1:
        yield value.swapaxes(-1, -2)
    for axis in range(value.ndim):
        yield value[(*[slice(None)] * axis, slice(None, -1))]
        yield value[(*[slice(None)] * axis, slice(0))]
    yield value[None]


def _with_random_weights(model: Any) -> object:
    other = copy.deepcopy(model)
    for weight in other.state_dict().values():
        if weight.is_floating_point():
            weight.copy_(weight.new_empty(weight.shape).normal_(std=0.02))
    return other


def _other_objects(value: Any, attributes: Collection[str], depth: int) -> Iterator[object]:
    """Yield objects with one attribute altered, and functions that give something else."""
    yield from _other_members(value, attributes, depth + 1)
    held = getattr(value, "__dict__", {})
    for name in [name for name in held if name.startswith("_")]:
        for one in islice(_altered(held[name], attributes, depth + 1), 4):
            other = copy.copy(value)
            if other is not value:  # as a function's copy is
                other.__dict__[name] = one
                yield other


def _other_members(value: Any, attributes: Collection[str], depth: int) -> Iterator[object]:
    """Yield what has one attribute altered; of what can be called, what gives something else."""
    for name in sorted(name for name in attributes if hasattr(value, name)):
        for one in islice(_altered(getattr(value, name), attributes, depth), 5):
            yield Standing(value, name, one)
    if callable(value):
        yield from (_otherwise(value, number, attributes) for number in range(12))
        yield _otherwise(value, MOST, attributes)


class Standing:
    """Stands for an object, one of whose members is another."""

    def __init__(self, value: object, name: str, other: object) -> None:
        self.__dict__.update({"value": value, name: other})

    def __getattr__(self, name: str) -> object:
        return getattr(self.__dict__["value"], name)


def _otherwise(function: Callable[..., Any], number: int, attributes: Collection[str]) -> object:
    """Return a function that gives something else than another does: for one thing, one thing."""
    good_for_nothing = object()

    @functools.wraps(function, updated=())
    def other(*args: Any, **kwargs: Any) -> object:
        value = function(*args, **kwargs)
        return next(islice(alterations(value, attributes), number, None), good_for_nothing)

    return other
