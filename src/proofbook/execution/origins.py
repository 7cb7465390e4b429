"""Where the code comes from that a page has loaded under the names of which it shows the source."""

import functools
import inspect
import os
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from proofbook.model import Origin

MOST = 1000
"""How much of what decorators have made of a function is looked through."""


def origin(target: str, root: str) -> Origin | None:
    """Return where `module` or `module:qualified.name` comes from; None where nothing loaded it.

    Args:
        target: The name.
        root: The project, from which its files are named.
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
    """Return the code of a function that nothing is wrapped around."""
    if isinstance(thing, staticmethod | classmethod):
        thing = thing.__func__
    return thing.__code__ if isinstance(thing, FunctionType) else None


def _codes(thing: object) -> Iterator[CodeType]:
    """Yield the code of a function or class, and of what a decorator wraps."""
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
    """Yield what a function, a class or a wrapper holds that could be code."""
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
