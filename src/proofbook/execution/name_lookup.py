"""Test whether the names in a page's prose exist, in the page's own session.

The lookup inspects loaded objects without running any of the page's or project's code; for
everything else, it reads the source.
"""

import builtins
import importlib
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from importlib.util import find_spec
from typing import Any, TypeGuard

from proofbook.caching.fingerprint import is_installed
from proofbook.execution.expressions import word
from proofbook.execution.import_hooks import is_own
from proofbook.execution.source_names import SourceModule, in_package, module_of

_UNKNOWN = object()
"""Stands for a value that only the page's or the project's code could compute."""


def existing(
    names: Iterable[str], page: Mapping[str, object], packages: Iterable[str]
) -> dict[str, bool]:
    """Return whether each name, dotted or not, refers to something.

    A name may begin with a name of the page, a builtin, a module, `word`, or a member or parameter
    of one of the packages or of anything that the page made or imported; `.name` is a member.

    Args:
        names: The names as the prose writes them.
        page: The names of the page and their values.
        packages: Packages that the prose may name without importing them. Installed ones, which the
            book preloads, are imported; the source of the project's own is read.
    """
    names = list(names)
    if not names:
        return {}
    loaded, read = _spoken_of(packages)
    holders = list(_holders(page, loaded))
    parameters = set().union(*map(_parameters, holders), *(one.parameters() for one in read))
    roots = [types.SimpleNamespace(**{**page, "word": word}), builtins, *holders]
    return {name: _exists(name, roots, read, parameters) for name in names}


def _spoken_of(packages: Iterable[str]) -> tuple[list[types.ModuleType], list[SourceModule]]:
    """Return the packages that are or can be loaded, and the source modules of the others."""
    loaded: list[types.ModuleType] = []
    read: list[SourceModule] = []
    for name in packages:
        if name in sys.modules:
            loaded.append(sys.modules[name])
        elif (source := module_of([name])) and not is_installed(str(source.file)):
            read += source.own()
        elif (module := _imported(name)) is not None:
            loaded.append(module)
    return loaded, read


def _imported(name: str) -> types.ModuleType | None:
    """Import an installed package; return None if that fails."""
    spec = _spec(name)
    if spec is None or not is_installed(spec.origin or ""):
        return None
    try:
        return importlib.import_module(name)
    except BaseException:  # whatever an import raises, the package isn't there
        return None


def _spec(name: str) -> Any:
    try:
        return find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None


def _exists(
    name: str, roots: Sequence[object], read: Sequence[SourceModule], parameters: Set[str]
) -> bool:
    first, *rest = name.removeprefix(".").split(".")
    if any((found := _member(root, first)) and _leads(found[0], rest) for root in roots):
        return True
    if any(source.leads([first, *rest]) for source in read):
        return True
    if name.startswith("."):
        return False
    return (not rest and first in parameters) or _is_module_or_member(first, rest)


def _holders(page: Mapping[str, object], packages: Iterable[object]) -> Iterator[object]:
    """Yield the packages, the page's objects with their types and modules, and project modules."""
    yield from packages
    seen: set[int] = set()
    for name, value in page.items():
        if name.startswith("_"):
            continue
        home = sys.modules.get(str((_member(value, "__module__") or ("",))[0]))
        for holder in (value, type(value), home):
            if holder is not None and id(holder) not in seen:
                seen.add(id(holder))
                yield holder
    for name, module in list(sys.modules.items()):
        if is_own(name.partition(".")[0]) and id(module) not in seen:
            yield module


def _member(holder: object, name: str) -> tuple[Any] | None:
    """Return a member, wrapped in a tuple since it may be None; None if it doesn't exist."""
    try:
        found = inspect.getattr_static(holder, name)
    except BaseException:
        return _asked(holder, name) if _gives_more(holder) else None
    if _is(found, staticmethod, classmethod):
        return (found.__func__,)
    is_computed = hasattr(type(found), "__get__") and not _is(found, types.FunctionType)
    if _is_module(holder) or _is(holder, type) or not is_computed:
        return (found,)
    if _is_installed_getter(found) and _is_installed(holder, "__getattribute__"):
        return _asked(holder, name)
    return (_UNKNOWN,)


def _is(thing: object, *kinds: type) -> bool:
    """Return whether an object has one of these types, ignoring any `__class__` that it claims."""
    return issubclass(type(thing), kinds)


def _is_module(thing: object) -> TypeGuard[types.ModuleType]:
    return _is(thing, types.ModuleType)


def _asked(holder: object, name: str) -> tuple[Any] | None:
    try:
        return (getattr(holder, name),)
    except BaseException:  # whatever a lazy attribute raises, it doesn't exist
        return None


def _gives_more(holder: object) -> bool:
    """Return whether an installed package's code supplies further members of an object."""
    own = vars(holder).get("__getattr__") if _is_module(holder) else None
    if own is not None:
        return _is_installed_code(own)
    return hasattr(type(holder), "__getattr__") and _answers_alone(holder)


def _answers_alone(thing: object) -> bool:
    """Return whether looking up an object's members runs none of the page's or project's code."""
    return all(_is_installed(thing, name) for name in ("__getattribute__", "__getattr__"))


def _is_installed(holder: object, method: str) -> bool:
    """Return whether a method comes from neither the page nor the project."""
    kinds = (vars(kind) for kind in type(holder).__mro__)
    return _is_installed_code(next((one[method] for one in kinds if method in one), None))


def _is_installed_getter(descriptor: object) -> bool:
    """Return whether a descriptor's getter is native or from an installed package."""
    called = getattr(descriptor, "fget", None) or getattr(descriptor, "func", None)
    return _is_installed_code(called or type(descriptor).__get__)  # type: ignore[attr-defined]


def _is_installed_code(function: object) -> bool:
    """Return whether a function is native or from an installed package."""
    called = function if hasattr(function, "__code__") else type(function).__call__  # type: ignore[operator]
    code = getattr(called, "__code__", None)
    return code is None or is_installed(code.co_filename)


def _leads(start: object, rest: list[str]) -> bool:
    for part in rest:
        found = None if start is _UNKNOWN else _member(start, part)
        if found is None:
            return False
        start = found[0]
    return True


def _parameters(holder: object) -> set[str]:
    """Return the parameters of a function, of a class and its methods, or of a module's members."""
    members = [holder]
    if _is(holder, type):
        members += [value for value in vars(holder).values() if _is(value, types.FunctionType)]
    elif _is_module(holder) and is_own(holder.__name__.partition(".")[0]):
        return {
            name
            for value in vars(holder).values()
            if (_member(value, "__module__") or ("",))[0] == holder.__name__
            for name in _parameters(value)
        }
    found: set[str] = set()
    for member in members:
        if callable(member) and _answers_alone(member):
            try:
                found |= inspect.signature(member).parameters.keys()
            except (TypeError, ValueError):
                continue
    return found


def _is_module_or_member(first: str, rest: list[str]) -> bool:
    """Return whether a name refers to a module or a module's member, loaded or not."""
    if not rest:
        return first in sys.modules or _spec(first) is not None
    module = sys.modules.get(first)
    if module is None:
        source = module_of([first])
        return source is not None and source.leads(rest)
    for at, part in enumerate(rest):
        found = _member(module, part)
        if found is None and (loaded := sys.modules.get(f"{module.__name__}.{part}")):
            found = (loaded,)
        if found is None:
            source = in_package(module, part)
            return source is not None and source.leads(rest[at + 1 :])
        if not _is_module(found[0]):
            return _leads(found[0], rest[at + 1 :])
        module = found[0]
    return True
