"""Whether evaluating a claim has changed what the page holds.

What the names of a page lead to is noted before and after: the contents of containers by identity,
numbers and texts by value, tensors and arrays by their elements, iterators by how far they are. Of
objects of installed packages only the public attributes count, since the others may be caches. The
search is wide before it is deep, and ends after a number of objects.
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
from typing import Any, cast

from proofbook.execution.import_hooks import is_own

MOST = 20_000
"""Objects that are looked at."""
MOST_MEMBERS = 1_000
"""Members of a container that are looked at."""
MOST_BYTES = 4_000
"""Bytes of an array that are looked at; of a longer one, so many evenly spread."""
ACTED = "a claim must not change anything; do this in a block, and check the result in the claim"

State = dict[int, tuple[str, object, object]]
"""Name, content and the object itself, which must live as long as its identity counts."""

_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, types.EllipsisType)
_MODULE_PARTS = frozenset({"_parameters", "_buffers", "_modules"})
_NAMES = 0  # no object's identity
_Look = tuple[object, Iterable[Any]]


def state_of(names: Mapping[str, Any], read: Iterable[str]) -> State:
    """Note the state, by identity, of all that an expression can reach.

    Args:
        names: All names of the page: none may get another value.
        read: Those that the expression reads.
    """
    page = {name: value for name, value in names.items() if not name.startswith("__")}
    state: State = {_NAMES: ("", {name: _token(value) for name, value in page.items()}, None)}
    waiting = deque((name, page[name]) for name in read if name in page)
    while waiting and len(state) < MOST:
        name, value = waiting.popleft()
        if id(value) in state or isinstance(value, _PLAIN):
            continue
        look: _Look = None, ()
        with contextlib.suppress(Exception):  # an object may refuse to be looked at
            look = _look_into(value, names)
        content, inner = look
        state[id(value)] = name, content, value
        waiting.extend((name, one) for one in inner)
    return state


def changed(before: State, after: State) -> str | None:
    """Return the name by which the first thing is reached that is not what it was."""
    was, now = (cast("dict[str, object]", state[_NAMES][1]) for state in (before, after))
    for name in (*was, *now):
        if was.get(name) != now.get(name):
            return name
    for number, (name, content, _) in before.items():
        if number in after and after[number][1] != content:
            return name
    return None


def _token(value: Any) -> object:
    if not isinstance(value, _PLAIN):
        return id(value)
    plain = repr(value) if isinstance(value, float | complex) else value  # nan, and -0.0 beside 0.0
    return type(value).__name__, plain


def _some(values: Iterable[Any], count: int) -> list[Any]:
    """Return the members of a container; of a large one, as many evenly spread."""
    return list(itertools.islice(values, 0, None, 1 + count // MOST_MEMBERS))


def _look_into(value: Any, names: Mapping[str, Any]) -> _Look:
    """Return a value for an object's own state, and the objects in it."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if isinstance(value, types.ModuleType):
        return None, names.values() if vars(value) is names else ()
    if numpy and isinstance(value, getattr(numpy, "ndarray", ())):
        return _array(value)
    if torch and isinstance(value, getattr(torch, "Tensor", ())):
        return _tensor(value, torch)
    if isinstance(value, io.IOBase | random.Random) or hasattr(type(value), "bit_generator"):
        return _place(value), ()
    if torch and isinstance(value, getattr(torch, "Generator", ())):
        return bytes(cast("Any", value).get_state().tolist()), ()
    if isinstance(value, types.GeneratorType | types.CoroutineType):
        return _frame(value)
    if isinstance(value, Iterator) and type(value).__module__ in ("builtins", "itertools"):
        return _iterator(value)
    if isinstance(value, types.FunctionType):
        return _function(value, names)
    if isinstance(value, types.MethodType | types.BuiltinMethodType):
        return None, [value.__self__, getattr(value, "__func__", None)]
    if isinstance(value, functools.partial):
        return None, [value.func, *value.args, *value.keywords.values()]
    content, inner = _attributes(value)
    if isinstance(value, dict | types.MappingProxyType):
        items = _some(value.items(), len(value))
        pairs = [(_token(key), _token(one)) for key, one in items]
        return (len(value), pairs, content), [*itertools.chain(*items), *inner]
    if isinstance(value, list | tuple | deque | set | frozenset):
        some = _some(value, len(value))
        tokens = [_token(one) for one in some]
        return (len(value), tokens, content), [*some, *inner]
    return (bytes(value) if isinstance(value, bytearray) else None, content), inner


def _array(value: Any) -> _Look:
    if value.dtype == object:
        items = _some(value.ravel().tolist(), value.size)
        return [_token(one) for one in items], items
    return (value.shape, str(value.dtype), _checksum(value)), ()


def _tensor(value: Any, torch: Any) -> _Look:
    """Look at a tensor's version, and at its elements for what counts no versions."""
    plain, content = value.detach(), None
    if plain.device.type == "cpu" and plain.layout == torch.strided and plain.is_contiguous():
        step = 1 + plain.numel() * plain.element_size() // MOST_BYTES
        some = plain.view(-1)[::step].contiguous()
        content = _checksum(some.view(torch.uint8).numpy()) if some.numel() else 0
    version = None if value.is_inference() else value._version
    gradient = value.grad if value.is_leaf else None
    own = version, tuple(value.shape), value.requires_grad, id(gradient)
    return (own, content), [gradient]


def _checksum(array: Any) -> int:
    step = 1 + array.nbytes // MOST_BYTES
    return zlib.crc32(array.ravel()[::step].tobytes())


def _place(value: Any) -> object:
    """Tell how far an open file or a random generator is."""
    if isinstance(value, random.Random):
        return hash(value.getstate())
    if not isinstance(value, io.IOBase):
        return repr(value.bit_generator.state)
    try:
        return value.closed or value.tell()
    except (OSError, ValueError):
        return "not told"


def _frame(value: Any) -> _Look:
    frame = value.gi_frame if isinstance(value, types.GeneratorType) else value.cr_frame
    if frame is None:
        return "ended", ()
    return (frame.f_lasti, frame.f_lineno), list(frame.f_locals.values())


def _iterator(value: Any) -> _Look:
    """Look at an iterator of Python's own by what it would be pickled as, which moves nothing."""
    parts = [*value.__reduce__()[1:]]
    inner = [one for part in parts for one in (part if isinstance(part, tuple) else [part])]
    plain = [_token(one) for one in inner if isinstance(one, _PLAIN)]
    return (operator.length_hint(value, -1), plain), inner


def _function(value: types.FunctionType, names: Mapping[str, Any]) -> _Look:
    """Look at what a function of the page or the project keeps between calls, and reads."""
    if not _is_own(value.__module__):
        return None, ()
    kept = [*(value.__defaults__ or ()), *vars(value).values()]
    for cell in value.__closure__ or ():
        with contextlib.suppress(ValueError):  # an empty cell
            kept.append(cell.cell_contents)
    globals_ = names if value.__globals__ is names else {}
    read = [globals_[name] for name in _names_read(value.__code__) if name in globals_]
    return [_token(one) for one in kept], [*kept, *read]


def _names_read(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names_read(inner)


def _attributes(value: Any) -> _Look:
    """Look at the attributes of an object; of an installed class those that are public."""
    kind = value if isinstance(value, type) else type(value)
    own = _is_own(kind.__module__)
    if isinstance(value, type) and not own:
        return None, ()
    found: dict[str, Any] = {}
    with contextlib.suppress(AttributeError):
        # Not by getattr: the object may remember what it was asked for.
        found = dict(vars(kind) if value is kind else object.__getattribute__(value, "__dict__"))
    for name in _slots(kind) if value is not kind else ():
        with contextlib.suppress(AttributeError):
            found[name] = object.__getattribute__(value, name)
    is_model = found.keys() >= _MODULE_PARTS
    counted = {name: one for name, one in found.items() if _counts(kind, name, own, is_model)}
    inner = [one for one in counted.values() if own or is_model or isinstance(one, dict | list)]
    if own and value is not kind:
        inner.append(kind)
    return {name: _token(one) for name, one in counted.items()}, inner


@functools.cache
def _counts(kind: type, name: str, own: bool, is_model: bool) -> bool:
    """Tell whether an attribute is part of what an object is, and no cache."""
    if isinstance(getattr(kind, name, None), functools.cached_property):
        return False
    if is_model and name.startswith("_"):
        return name in _MODULE_PARTS or (own and name not in _names_of_a_model())
    return not name.startswith("__" if own else "_")


@functools.cache
def _names_of_a_model() -> frozenset[str]:
    return frozenset(vars(sys.modules["torch"].nn.Module()))


@functools.cache
def _slots(kind: type) -> tuple[str, ...]:
    slots = [vars(base).get("__slots__", ()) for base in kind.__mro__]
    return tuple(name for some in slots for name in ((some,) if isinstance(some, str) else some))


@functools.cache
def _is_own(module: object) -> bool:
    return module == "__main__" or is_own(str(module).partition(".")[0])
