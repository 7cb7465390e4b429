"""What can be compared with what it was at the last build of a served book.

MkDocs makes a whole site anew after each edit. While it serves, costly steps keep what they gave,
with all that went into it; where the next build gives them the same, they give the same again.
"""

from collections.abc import Callable, Mapping
from datetime import date
from enum import Enum
from pathlib import PurePath
from types import FunctionType
from typing import Any

from mkdocs.structure.toc import AnchorLink, TableOfContents

PURE = ("markdown.", "pymdownx.", "material.extensions.")
"""Where functions come from that settings name, and that keep nothing from page to page."""
Say = Callable[[str], None]


class UnknownError(Exception):
    """What something depends on cannot be compared, so it has to be made anew."""


def frozen(value: Any) -> Any:
    """Return a copy of plain data that later changes leave alone, to be compared with others.

    Raises:
        UnknownError: Something in it has an unknown state.
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
    """Says each thing once in a session."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._said: set[str] = set()

    def __call__(self, text: str) -> None:
        """Say something that has not been said yet."""
        if text not in self._said:
            self._said.add(text)
            self._say(text)
