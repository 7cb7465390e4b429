"""Whether what a page's prose calls by name exists, asked in the page's own session."""

import builtins
import importlib
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from importlib.util import find_spec

from proofbook.execution.expressions import word
from proofbook.execution.import_hooks import is_own


def existing(
    names: Iterable[str], page: Mapping[str, object], packages: Iterable[str]
) -> dict[str, bool]:
    """For each name, dotted or not, whether it leads to something.

    It begins with a name of the page, of Python or of a module, with `word`, or with a member or a
    parameter of what the page made or imported or of one of the packages; `.name` is a member.

    Args:
        names: The names as the prose has them.
        page: The names of the page and what they stand for.
        packages: Packages that are spoken of without being imported.
    """
    names = list(names)
    holders = list(_holders(page, filter(None, map(_module, packages)))) if names else []
    parameters = set().union(*map(_parameters, holders))
    roots = [types.SimpleNamespace(**{**page, "word": word}), builtins, *holders]
    return {name: _exists(name, roots, parameters) for name in names}


def _exists(name: str, roots: Sequence[object], parameters: Set[str]) -> bool:
    first, *rest = name.removeprefix(".").split(".")
    if any((found := _member(root, first)) and _leads(found[0], rest) for root in roots):
        return True
    if name.startswith("."):
        return False
    return (not rest and first in parameters) or _is_module_or_member(first, rest)


def _holders(page: Mapping[str, object], packages: Iterable[object]) -> Iterator[object]:
    """What the page imported, where that comes from, what it made, and the project's modules."""
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


def _member(holder: object, name: str) -> tuple[object] | None:
    """A member in a tuple of its own, since it may be None."""
    try:
        return (getattr(holder, name),)
    except BaseException:  # whatever a lazy attribute raises, it leads nowhere
        return None


def _leads(start: object, rest: list[str]) -> bool:
    for part in rest:
        found = _member(start, part)
        if found is None:
            return False
        start = found[0]
    return True


def _parameters(holder: object) -> set[str]:
    """The parameters of a function, of a class, of its methods, or of a module's public members."""
    members = [holder]
    if isinstance(holder, type):
        members += [value for value in vars(holder).values() if inspect.isfunction(value)]
    elif isinstance(holder, types.ModuleType) and is_own(holder.__name__.partition(".")[0]):
        return {
            name
            for value in vars(holder).values()
            if getattr(value, "__module__", None) == holder.__name__
            for name in _parameters(value)
        }
    found: set[str] = set()
    for member in members:
        if callable(member):
            try:
                found |= inspect.signature(member).parameters.keys()
            except (TypeError, ValueError):
                continue
    return found


def _is_module_or_member(first: str, rest: list[str]) -> bool:
    if not rest:
        return _is_module(first)
    module, parts = _module(first), rest
    while module is not None and parts and _member(module, parts[0]) is None:
        module, parts = _module(f"{module.__name__}.{parts[0]}"), parts[1:]
    return module is not None and _leads(module, parts)


def _is_module(name: str) -> bool:
    """Whether a module could be imported; for a bare word of the prose none is run."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _module(name: str) -> types.ModuleType | None:
    try:
        return importlib.import_module(name)
    except BaseException:  # whatever an import raises, it leads nowhere
        return None
