"""Detect whether evaluating a claim changed any of the page's objects.

All objects reachable from the names that the claim reads are recorded before and after: the
contents of containers by identity, numbers and strings by value, tensors and arrays by their
elements, and iterators by their position. For instances of classes from installed packages, only
public attributes count, since the others may be caches. The search is breadth-first and stops after
a fixed number of objects.
"""

import contextlib
import functools
import gc
import io
import itertools
import operator
import random
import sys
import types
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from proofbook.execution.import_hooks import is_own

MOST = 20_000
"""Maximum number of objects to inspect."""
MOST_MEMBERS = 1_000
"""Maximum number of a container's members to inspect."""
MOST_BYTES = 4_000
"""Maximum bytes of an array to inspect, evenly spaced if the array is longer."""
ACTED = "a claim must not change anything; do this in a block, and check the result in the claim"

State = dict[int, tuple[str, object, object]]
"""By object id: a name, the content, and the object itself, kept alive so its id isn't reused."""

_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, types.EllipsisType)
_MODULE_PARTS = frozenset({"_parameters", "_buffers", "_modules"})
_NAMES = 0  # never an object's id
_Look = tuple[object, Iterable[Any]]


def state_of(names: Mapping[str, Any], read: Iterable[str]) -> State:
    """Record the state of every object that an expression can reach, by the object's id.

    Args:
        names: All names of the page, none of which a claim may rebind.
        read: The names that the expression reads.
    """
    page = {name: value for name, value in names.items() if not name.startswith("__")}
    state: State = {_NAMES: ("", {name: _token(value) for name, value in page.items()}, None)}
    waiting = deque((name, page[name]) for name in read if name in page)
    with _no_collecting():
        while waiting and len(state) < MOST:
            name, value = waiting.popleft()
            if id(value) in state or isinstance(value, _PLAIN):
                continue
            look: _Look = None, ()
            with contextlib.suppress(Exception):  # an object may raise when inspected
                look = _look_into(value, names)
            content, inner = look
            state[id(value)] = name, content, value
            waiting.extend((name, one) for one in inner)
    return state


@contextlib.contextmanager
def _no_collecting() -> Iterator[None]:
    """Keep Python from looking for garbage, again and again, among all that is kept here."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def changed(before: State, after: State) -> str | None:
    """Return the first rebound name, or the name behind the first changed object, if any."""
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
    plain = repr(value) if isinstance(value, float | complex) else value  # for nan and -0.0
    return type(value).__name__, plain


def _some(values: Iterable[Any], count: int) -> list[Any]:
    """Return a container's members; for a large one, an evenly spaced sample."""
    return list(itertools.islice(values, 0, None, 1 + count // MOST_MEMBERS))


def _look_into(value: Any, names: Mapping[str, Any]) -> _Look:
    """Return a value that represents an object's own state, and the objects it holds."""
    kind: Any = type(value)
    claimed = getattr(value, "__class__", kind)  # a proxy claims to be what it stands for
    way = _way_to_look(kind)
    if way is _object and claimed is not kind and isinstance(claimed, type):
        way = _way_to_look(claimed)
    return way(value, names)


@functools.cache
def _way_to_look(kind: type) -> Callable[[Any, Mapping[str, Any]], _Look]:
    """Return the function that looks into objects of a type."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    is_a = functools.partial(issubclass, kind)
    if is_a(types.ModuleType):
        return lambda value, names: (None, names.values() if vars(value) is names else ())
    if numpy and is_a(getattr(numpy, "ndarray", ())):
        return lambda value, _: _array(value)
    if torch and is_a(getattr(torch, "Tensor", ())):
        return lambda value, _: _tensor(value, torch)
    if is_a((io.IOBase, random.Random)) or hasattr(kind, "bit_generator"):
        return lambda value, _: (_place(value), ())
    if torch and is_a(getattr(torch, "Generator", ())):
        return lambda value, _: (bytes(value.get_state().tolist()), ())
    if is_a((types.GeneratorType, types.CoroutineType)):
        return lambda value, _: _frame(value)
    if is_a(Iterator) and kind.__module__ in ("builtins", "itertools"):
        return lambda value, _: _iterator(value)
    if is_a(types.FunctionType):
        return _function
    if is_a((types.MethodType, types.BuiltinMethodType)):
        return lambda value, _: (None, [value.__self__, getattr(value, "__func__", None)])
    if is_a(functools.partial):
        return lambda value, _: (None, [value.func, *value.args, *value.keywords.values()])
    if is_a((dict, types.MappingProxyType)):
        return lambda value, _: _mapping(value)
    if is_a((list, tuple, deque, set, frozenset)):
        return lambda value, _: _collection(value)
    return _object


def _mapping(value: Any) -> _Look:
    content, inner = _attributes(value)
    items = _some(value.items(), len(value))
    pairs = [(_token(key), _token(one)) for key, one in items]
    return (len(value), pairs, content), [*itertools.chain(*items), *inner]


def _collection(value: Any) -> _Look:
    content, inner = _attributes(value)
    some = _some(value, len(value))
    return (len(value), [_token(one) for one in some], content), [*some, *inner]


def _object(value: Any, _: Mapping[str, Any]) -> _Look:
    content, inner = _attributes(value)
    return (bytes(value) if isinstance(value, bytearray) else None, content), inner


def _array(value: Any) -> _Look:
    if value.dtype == object:
        items = _some(value.ravel().tolist(), value.size)
        return [_token(one) for one in items], items
    return (value.shape, str(value.dtype), _checksum(value)), ()


def _tensor(value: Any, torch: Any) -> _Look:
    """Inspect a tensor's version counter, if it has one, and its elements if it's on the CPU."""
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
    """Return the position of an open file, or the state of a random generator."""
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
    """Inspect a built-in iterator through its pickled form, without advancing it."""
    parts = [*value.__reduce__()[1:]]
    inner = [one for part in parts for one in (part if isinstance(part, tuple) else [part])]
    plain = [_token(one) for one in inner if isinstance(one, _PLAIN)]
    return (operator.length_hint(value, -1), plain), inner


def _function(value: types.FunctionType, names: Mapping[str, Any]) -> _Look:
    """Inspect what a page's or project's function keeps between calls, and the names it reads."""
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
    """Inspect an object's attributes; for an installed class, only the public ones."""
    kind = value if isinstance(value, type) else type(value)
    own = _is_own(kind.__module__)
    if isinstance(value, type) and not own:
        return None, ()
    found: dict[str, Any] = {}
    with contextlib.suppress(AttributeError):
        # Not getattr: the object's own lookup may record what it was asked for.
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
    """Return whether an attribute is part of an object's state, not a cache."""
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
