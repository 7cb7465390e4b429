"""The search index of a site whose pages are made one at a time."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mkdocs.config.defaults import MkDocsConfig

PLUGINS = ("search", "material/search")
LISTS = {
    "material.plugins.search.plugin": "entries",
    "mkdocs.contrib.search.search_index": "_entries",
}


class LiveSearch:
    """The entries of each page, as it was last made."""

    def __init__(self) -> None:
        self._entries: dict[str, list[Any]] = {}

    @contextmanager
    def reading(self, config: MkDocsConfig, url: str) -> Iterator[None]:
        """Note the entries that the search plugin adds while it reads a page."""
        listed = _listed(config)
        listed.clear()
        yield
        self._entries[url] = listed[:]

    def list(self, config: MkDocsConfig, urls: Iterable[str]) -> None:
        """Give the search plugin all entries of these pages, in this order."""
        _listed(config)[:] = [one for url in urls for one in self._entries.get(url, ())]


def _listed(config: MkDocsConfig) -> list[Any]:
    """Return the search plugin's own list; an empty one if there is no such plugin."""
    for name in PLUGINS:
        index = getattr(config.plugins.get(name), "search_index", None)
        if attribute := LISTS.get(type(index).__module__):
            entries: list[Any] = getattr(index, attribute)
            return entries
    return []
