"""Make alternatives to a value that an expression reads.

An expression that is just as true of every other value says nothing about this one.
"""

import contextlib
import copy
import functools
import math
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any

MOST = 40
"""Maximum number of alternatives to one value, besides None and those made from constants."""
DEEPEST = 4
"""Maximum depth at which parts of an object are altered."""
FAR = 10_000
SIZES = frozenset({"bool", "count", "len", "list", "numel", "shape", "size", "tolist"})
GRADIENTS = frozenset({"grad", "grad_fn", "is_leaf", "requires_grad"})
NO_NUMBERS = frozenset({"inf", "isfinite", "isinf", "isnan", "nan"})

_COMMON = (int, float, complex, str, bytes, list, tuple, Mapping, set, frozenset, types.ModuleType)


@dataclass(frozen=True)
class Mentioned:
    """The attributes and names that an expression mentions."""

    attributes: Set[str] = frozenset()
    names: Set[str] = frozenset()

    def any_of(self, words: Set[str]) -> bool:
        """Return whether it mentions any of these words."""
        return not words.isdisjoint(self.attributes | self.names)


NOTHING = Mentioned()


def mutated_values(
    value: object, mentioned: Mentioned = NOTHING, constants: Sequence[object] = ()
) -> Iterator[object]:
    """Yield other values of the same kind; for modules and classes, ones with altered members.

    Args:
        value: The value to alter; it isn't modified.
        mentioned: What the expression mentions: the attributes to alter, and words that show
            whether it asks about, say, sizes or NaN and infinity.
        constants: Constants that the expression may compare the value with or look for in it.
    """
    yield from _towards(value, constants)
    if not isinstance(value, _COMMON) and not callable(value) and not _has(value, "shape"):
        yield None  # as from a search that finds nothing
    yield from islice(_altered(value, mentioned, 0), MOST)


def _towards(value: Any, constants: Sequence[Any]) -> Iterator[object]:
    """Yield values that equal or contain the expression's constants."""
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
        elif isinstance(value, int | float) and isinstance(one, int | float):
            yield type(value)(one)


def _altered(value: Any, mentioned: Mentioned, depth: int) -> Iterator[object]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float | complex):
        far = FAR + 10 * abs(value)  # not too large: it may be the size of something
        yield from (value + 1, -value, 0 * value, value + far, value - far)
        if mentioned.any_of(NO_NUMBERS) and isinstance(value, float):
            yield from (math.nan, math.inf)
    elif isinstance(value, str | bytes):
        yield from (value[::-1], value[:-1], value[:0], 99 * value[:99], value.swapcase())
        if isinstance(value, str):
            yield f"{value} 7 ?A"
    elif isinstance(value, list | tuple):
        for items in _other_items(list(value), mentioned, depth):
            with contextlib.suppress(Exception):  # a named tuple has a fixed length
                yield getattr(value, "_make", type(value))(items)
    elif isinstance(value, Mapping):
        values = _other_items(list(value.values()), mentioned, depth)
        yield from (dict(zip(value, other, strict=False)) for other in values)
        yield {}
    elif isinstance(value, set | frozenset):
        yield from (type(value)(list(value)[1:]), type(value)())
    elif value is None:
        yield from (0, "none")
    elif _has(value, "shape", "dtype", "ndim"):
        yield from _other_arrays(value, mentioned)
    elif isinstance(value, types.ModuleType | type):
        if depth < DEEPEST:
            yield from _other_members(value, mentioned, depth + 1)
    else:
        if _has(value, "parameters", "state_dict"):
            if _has(value, "__len__", "__getitem__"):
                with contextlib.suppress(Exception):  # its items may have no order
                    yield value[:-1]
            ways = [_with_random_weights, _with_other_gradients]
            ways.insert(0 if mentioned.any_of(SIZES) else 2, _with_other_shapes)
            yield from (way(value) for way in ways)
        if depth < DEEPEST:
            yield from _other_objects(value, mentioned, depth)


def _has(value: object, *names: str) -> bool:
    """Return whether an object's class has these members; asking the object might run code."""
    return all(hasattr(type(value), name) for name in names)


def _other_items(items: list[Any], mentioned: Mentioned, depth: int) -> Iterator[list[Any]]:
    """Yield lists with items reordered, removed, added, or altered."""
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
        for number in range(7):
            yield [_another(item, number, mentioned, depth + 1) for item in items]
        first = islice(_altered(items[0], mentioned, depth + 1), 5) if items else ()
        yield from ([other, *items[1:]] for other in first)


def _another(value: object, number: int, mentioned: Mentioned, depth: int) -> object:
    """Return a value with the n-th alteration of its contents, or unchanged if none exists."""
    if isinstance(value, list | tuple) and depth < DEEPEST:
        make = getattr(value, "_make", type(value))
        return make([_another(item, number, mentioned, depth + 1) for item in value])
    return next(islice(_altered(value, mentioned, depth), number, None), value)


def _other_arrays(value: Any, mentioned: Mentioned) -> Iterator[object]:
    """Yield arrays or tensors with other numbers in the same shape, then with other shapes."""
    is_tensor = hasattr(value, "new_empty")
    if "bool" in str(value.dtype):
        yield ~value
    else:
        if is_tensor:
            fresh = value.new_empty(value.shape)
            yield fresh.normal_() if fresh.is_floating_point() else fresh.random_(0, 97)
        yield from (-value, value + 1, 0 * value, value + 1000, value - 100)
        if mentioned.any_of(NO_NUMBERS):
            yield from (value * math.nan, value + math.inf)
    yield from _of_other_kinds(value, mentioned) if is_tensor else _of_other_types(value, mentioned)
    for axis in range(value.ndim):
        backward = list(range(value.shape[axis]))[::-1]
        yield value[(*[slice(None)] * axis, backward)]
    if value.ndim > 1:
        yield value.swapaxes(-1, -2)
    for axis in range(value.ndim):
        yield value[(*[slice(None)] * axis, slice(None, -1))]
        if mentioned.any_of(SIZES):  # otherwise an expression might take the mean of nothing
            yield value[(*[slice(None)] * axis, slice(0))]
    yield value[None]


def _of_other_types(value: Any, mentioned: Mentioned) -> Iterator[object]:
    """Yield arrays of other dtypes, and one with a different number added to each entry."""
    if "dtype" in mentioned.attributes:
        yield from (value.astype(bool), value.astype(str))
    yield value + sys.modules["numpy"].arange(value.size).reshape(value.shape)


def _of_other_kinds(value: Any, mentioned: Mentioned) -> Iterator[object]:
    """Yield tensors with another dtype, on another device, and with `requires_grad` flipped."""
    if "dtype" in mentioned.attributes:
        yield from (value.bool(), value.double() if value.element_size() < 8 else value.float())
    if "device" in mentioned.attributes:
        yield value.to("meta")
    if mentioned.any_of(GRADIENTS) and value.is_floating_point():
        other = value.detach().clone().requires_grad_(not value.requires_grad)
        if other.requires_grad:
            other.sum().backward()
        yield other


def _with_random_weights(model: Any) -> object:
    other = copy.deepcopy(model)
    for weight in other.state_dict().values():
        if weight.is_floating_point():
            weight.copy_(weight.new_empty(weight.shape).normal_(std=0.02))
    return other


def _with_other_gradients(model: Any) -> object:
    """Return a copy with the training mode and each parameter's `requires_grad` flipped."""
    other = copy.deepcopy(model).train(not model.training)
    for weight in other.parameters():
        learns = not weight.requires_grad
        weight.requires_grad_(learns)
        weight.grad = weight.detach().clone() if learns else None
    return other


def _with_other_shapes(model: Any) -> object:
    other = copy.deepcopy(model)
    for weight in other.parameters():
        weight.data = weight.data.new_empty([size + 1 for size in weight.shape]).zero_()
    return other


def _other_objects(value: Any, mentioned: Mentioned, depth: int) -> Iterator[object]:
    """Yield objects with one attribute altered and, for callables, functions with other results."""
    yield from _other_members(value, mentioned, depth + 1)
    held = getattr(value, "__dict__", {})
    for name in [name for name in held if name.startswith("_")]:
        for one in islice(_altered(held[name], mentioned, depth + 1), 4):
            other = copy.copy(value)
            if other is not value:  # copying a function returns the function itself
                other.__dict__[name] = one
                yield other


def _other_members(value: Any, mentioned: Mentioned, depth: int) -> Iterator[object]:
    """Yield stand-ins with one attribute altered; for a callable, also some with other results."""
    for name in sorted(name for name in mentioned.attributes if hasattr(value, name)):
        for one in islice(_altered(getattr(value, name), mentioned, depth), 5):
            yield Standing(value, name, one)
    if callable(value):
        yield from (_otherwise(value, number, mentioned) for number in range(12))
        yield _otherwise(value, MOST, mentioned)


class Standing:
    """A stand-in for an object, with one of its members replaced."""

    def __init__(self, value: object, name: str, other: object) -> None:
        self.__dict__.update({"value": value, name: other})

    def __getattr__(self, name: str) -> object:
        return getattr(self.__dict__["value"], name)


def _otherwise(function: Callable[..., Any], number: int, mentioned: Mentioned) -> object:
    """Return a function whose results differ from those of the given one.

    It returns equal values for equal arguments, and different values for different arguments.
    """
    good_for_nothing = object()
    asked: dict[str, int] = {}

    @functools.wraps(function, updated=())
    def other(*args: Any, **kwargs: Any) -> object:
        value = function(*args, **kwargs)
        which = number + asked.setdefault(repr((args, kwargs)), len(asked))
        return next(islice(_altered(value, mentioned, 0), which, None), good_for_nothing)

    return other
