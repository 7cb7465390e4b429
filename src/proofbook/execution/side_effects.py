"""Detect whether evaluating a claim changed what it reads.

The look is shallow: it takes the page's names, and of each object that the claim names the members
and their sizes, the versions of tensors, the bytes of arrays, and the positions of iterators,
files, and random generators.
"""

import contextlib
import functools
import io
import itertools
import operator
import random
import sys
import types
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from proofbook.execution.import_hooks import is_own

ACTED = "a claim must not change anything; do this in a block, and check the result in the claim"
State = dict[str, tuple[object, list[object]]]
"""By name: a value to compare, and objects to compare by identity, kept alive for that."""
_NAMES = ""
_CONTAINERS = (list, tuple, set, frozenset, deque)


def state_of(names: Mapping[str, Any], read: Iterable[str]) -> State:
    """Record the state of what an expression can reach.

    Args:
        names: All names of the page, none of which a claim may rebind.
        read: The names that the expression reads.
    """
    page = {name: value for name, value in names.items() if not name.startswith("__")}
    state: State = {_NAMES: ([*page], [*page.values()])}
    for name in read:
        with contextlib.suppress(Exception):  # an object may raise when inspected
            state[name] = _look(page[name])
    return state


def changed(before: State, after: State) -> str | None:
    """Return the first rebound name, or the name of the first changed object, if any."""
    for name in before:
        if name not in after or _differ(before[name], after[name]):
            return name or _rebound(before[name], after[name])
    return None


def _differ(one: tuple[object, list[object]], other: tuple[object, list[object]]) -> bool:
    pairs = zip(one[1], other[1], strict=False)
    return one[0] != other[0] or any(a is not b for a, b in pairs)


def _rebound(one: tuple[Any, list[object]], other: tuple[Any, list[object]]) -> str:
    was, now = dict(zip(*one, strict=True)), dict(zip(*other, strict=True))
    return next(name for name in {**was, **now} if was.get(name, was) is not now.get(name, now))


def _look(value: Any) -> tuple[object, list[object]]:
    """Return a value that represents an object's own state, and the objects it holds."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if torch and isinstance(value, torch.Tensor):
        return _tensor(value), [value.grad if value.is_leaf else None]
    if torch and isinstance(value, torch.nn.Module):
        weights = [*value.parameters(), *value.buffers()]
        parts = [part for _, part in value.named_modules(remove_duplicate=False)]
        own = [*map(_tensor, weights), *(part.training for part in parts)]
        return own, [*parts, *(weight.grad for weight in weights)]
    if torch and isinstance(value, torch.Generator):
        return bytes(value.get_state().tolist()), []
    if numpy and isinstance(value, numpy.ndarray):
        return (value.shape, zlib.crc32(numpy.ascontiguousarray(value).tobytes())), []
    if isinstance(value, bytearray):
        return bytes(value), []
    if isinstance(value, dict):
        return _held([*value, *value.values()])
    if isinstance(value, _CONTAINERS):
        return _held([*value])
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return _held([*cells, *(value.__defaults__ or ())])
    if isinstance(value, types.BuiltinMethodType):
        return _held([value.__self__])
    return _place(value), _attributes(value)


def _held(members: list[object]) -> tuple[object, list[object]]:
    sizes = [len(one) if isinstance(one, (*_CONTAINERS, dict)) else None for one in members]
    return (len(members), sizes), members


def _tensor(value: Any) -> object:
    version = None if value.is_inference() else value._version
    return version, tuple(value.shape), value.requires_grad


def _place(value: Any) -> object:
    """Return the position of an iterator or a file, or the state of a random generator."""
    if isinstance(value, random.Random):
        return hash(value.getstate())
    if hasattr(type(value), "bit_generator"):
        return repr(value.bit_generator.state)
    if isinstance(value, io.IOBase):
        return value.closed or value.tell()
    if isinstance(value, types.GeneratorType):
        return value.gi_frame and value.gi_frame.f_lasti
    if isinstance(value, Iterator) and type(value).__module__ in ("builtins", "itertools"):
        parts = itertools.chain(*(p for p in value.__reduce__()[1:] if isinstance(p, tuple)))
        return operator.length_hint(value, -1), [
            one if isinstance(one, int) else operator.length_hint(one, -1) for one in parts
        ]
    return _held(_attributes(value))[0]


def _attributes(value: Any) -> list[object]:
    """Return the attributes of an object, or of a class, of the page or the project."""
    kind = value if isinstance(value, type) else type(value)
    if not _is_own(kind.__module__):
        return []
    found = vars(kind) if value is kind else object.__getattribute__(value, "__dict__")
    cached = functools.cached_property
    return [
        one
        for name, one in found.items()
        if not name.startswith("__") and not isinstance(getattr(kind, name, None), cached)
    ]


@functools.cache
def _is_own(module: object) -> bool:
    return module == "__main__" or is_own(str(module).partition(".")[0])
