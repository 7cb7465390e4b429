"""Compare inputs with those of the last build while a book is served.

MkDocs rebuilds the whole site after each edit. While it serves, costly steps keep their results
and inputs, and reuse a result if the next build's inputs are equal.
"""

from collections.abc import Callable, Mapping
from datetime import date
from enum import Enum
from pathlib import PurePath
from types import FunctionType
from typing import Any

from mkdocs.structure.toc import AnchorLink, TableOfContents

PURE = ("markdown.", "pymdownx.", "material.extensions.")
"""Modules whose functions may occur in settings, since they keep no state between pages."""
Say = Callable[[str], None]


class UnknownError(Exception):
    """Error for inputs that can't be compared, so the result must be made again."""


def frozen(value: Any) -> Any:
    """Return an immutable copy of plain data, for comparison.

    Raises:
        UnknownError: It contains an object whose state is unknown.
    """
    if type(value) is str or value is None or isinstance(value, date | PurePath | Enum):
        return value
    if isinstance(value, bool | int | float | str | bytes):
        return type(value), value
    if isinstance(value, Mapping):
        return dict, tuple((frozen(name), frozen(one)) for name, one in value.items())
    if isinstance(value, list | tuple):
        return tuple, tuple(map(frozen, value))
    if isinstance(value, set | frozenset):
        return set, frozenset(map(frozen, value))
    if isinstance(value, TableOfContents):
        return TableOfContents, tuple(map(frozen, value.items))
    if isinstance(value, AnchorLink):
        return AnchorLink, frozen(vars(value))
    if isinstance(value, FunctionType) and value.__module__.startswith(PURE):
        return value
    raise UnknownError(f"{type(value).__module__}.{type(value).__qualname__}")


def copied(toc: Any) -> Any:
    """Copy a table of contents, which plugins extend in place."""
    if not isinstance(toc, TableOfContents):
        return toc
    return TableOfContents([_copied(link) for link in toc.items])


def _copied(link: AnchorLink) -> AnchorLink:
    made = AnchorLink(link.title, link.id, link.level)
    vars(made).update(vars(link))
    made.children = [_copied(one) for one in link.children]
    return made


class Once:
    """A reporter that passes on each message only once per session."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._said: set[str] = set()

    def __call__(self, text: str) -> None:
        """Report a message unless it was reported before."""
        if text not in self._said:
            self._said.add(text)
            self._say(text)
