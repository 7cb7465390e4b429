"""Test whether the names in a page's prose exist, in the page's own session, once it has run."""

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
    """Return whether each name, dotted or not, refers to something.

    A name may begin with a name of the page, a builtin, a module, `word`, or a member or parameter
    of one of the packages or of anything that the page made or imported; `.name` is a member.

    Args:
        names: The names as the prose writes them.
        page: The names of the page and their values.
        packages: Packages that the prose may name without importing them; they are imported.
    """
    names = list(names)
    if not names:
        return {}
    holders = list(_holders(page, filter(None, map(_imported, packages))))
    parameters = set().union(*map(_parameters, holders))
    roots = [types.SimpleNamespace(**{**page, "word": word}), builtins, *holders]
    return {name: _exists(name, roots, parameters) for name in names}


def _exists(name: str, roots: Sequence[object], parameters: Set[str]) -> bool:
    first, *rest = parts = name.removeprefix(".").split(".")
    if any(_leads(root, parts) for root in roots):
        return True
    if name.startswith("."):
        return False
    if not rest:  # a bare word may be a module's name by chance: it isn't imported
        return first in parameters or first in sys.modules or _is_found(first)
    return (module := _imported(first)) is not None and _leads(module, rest)


def _leads(start: object, parts: Sequence[str]) -> bool:
    """Return whether members lead from an object to another, or to a submodule."""
    for part in parts:
        try:
            start = getattr(start, part)
        except BaseException:  # whatever a member raises, it doesn't exist
            if not isinstance(start, types.ModuleType):
                return False
            start = _imported(f"{start.__name__}.{part}")
            if start is None:
                return False
    return True


def _imported(name: str) -> types.ModuleType | None:
    """Import a module; return None if that fails."""
    if not _is_found(name):
        return None
    try:
        return importlib.import_module(name)
    except BaseException:  # whatever an import raises, the module isn't there
        return None


def _is_found(name: str) -> bool:
    try:
        return name in sys.modules or find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _holders(page: Mapping[str, object], packages: Iterable[object]) -> Iterator[object]:
    """Yield the packages, the page's objects with their types and modules, and project modules."""
    yield from packages
    seen: set[int] = set()
    for name, value in page.items():
        if name.startswith("_"):
            continue
        for holder in (value, type(value), inspect.getmodule(value)):
            if holder is not None and id(holder) not in seen:
                seen.add(id(holder))
                yield holder
    for name, module in list(sys.modules.items()):
        if is_own(name.partition(".")[0]) and id(module) not in seen:
            yield module


def _parameters(holder: object) -> set[str]:
    """Return the parameters of a function, of a class and its methods, or of a module's members."""
    members = [holder]
    if isinstance(holder, type):
        members += [value for value in vars(holder).values() if inspect.isfunction(value)]
    elif isinstance(holder, types.ModuleType) and is_own(holder.__name__.partition(".")[0]):
        own = (one for one in vars(holder).values() if inspect.getmodule(one) is holder)
        return set().union(*map(_parameters, own))
    found: set[str] = set()
    for member in members:
        if callable(member):
            try:
                found |= inspect.signature(member).parameters.keys()
            except (TypeError, ValueError):
                continue
    return found
