"""Find where loaded code comes from, for the names whose source a page shows."""

import functools
import inspect
import os
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from proofbook.model import Origin

MOST = 1000
"""Maximum number of objects to search within a decorated function."""


def origin(target: str, root: str) -> Origin | None:
    """Return where `module` or `module:qualified.name` comes from; None if it isn't loaded.

    Args:
        target: The name.
        root: The project's folder; paths within it are returned relative to it.
    """
    name, _, inner = target.partition(":")
    thing: Any = sys.modules.get(name)
    file = getattr(thing, "__file__", None)
    if file is None:
        return None
    inside = os.path.commonpath([root, file]) == root if os.path.isabs(file) else False
    named = os.path.relpath(file, root) if inside else file
    if not inner:
        return Origin(named)
    for part in inner.split("."):
        try:
            thing = inspect.getattr_static(thing, part)
        except AttributeError:
            return Origin(named, found=False)
    code = _plain(thing)
    lines = {code.co_firstlineno for code in _codes(thing) if code.co_filename == file}
    plain = code.co_firstlineno if code and code.co_filename == file else None
    return Origin(named, True, tuple(sorted(lines)), plain)


def _plain(thing: object) -> CodeType | None:
    """Return the code of a function that nothing wraps; None for anything else."""
    if isinstance(thing, staticmethod | classmethod):
        thing = thing.__func__
    return thing.__code__ if isinstance(thing, FunctionType) else None


def _codes(thing: object) -> Iterator[CodeType]:
    """Yield the code of a function or class, and of anything that decorators wrap."""
    waiting, seen = [thing], {id(thing)}
    while waiting and len(seen) < MOST:
        thing = waiting.pop()
        if isinstance(thing, FunctionType):
            yield thing.__code__
        for part in _within(thing):
            if id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)


def _within(thing: object) -> Iterator[object]:
    """Yield the objects in a function, a class, or a wrapper that could hold code."""
    if isinstance(thing, FunctionType):
        yield from (cell.cell_contents for cell in thing.__closure__ or () if _is_bound(cell))
    elif isinstance(thing, property):
        yield from (thing.fget, thing.fset, thing.fdel)
    elif isinstance(thing, staticmethod | classmethod):
        yield thing.__func__
    elif isinstance(thing, functools.partial):
        yield thing.func
    held = getattr(thing, "__dict__", None) or {}
    kinds = FunctionType | property | staticmethod | classmethod
    yield from (one for one in held.values() if isinstance(one, kinds))


def _is_bound(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
