"""The search's entries of each page, kept where the page is what it was."""

from collections.abc import Callable
from functools import partial
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

from proofbook.integrations.kept import UnknownError, frozen

PLUGINS = ("search", "material/search")
LISTS = {
    "material.plugins.search.plugin": "entries",
    "mkdocs.contrib.search.search_index": "_entries",
}


class KeptSearch:
    """What the search made of pages at the last build: its entries, and what it left of the text.

    It reads all of a page, then looks through it once more for what was meant for itself alone.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Any, list[Any], str]] = {}

    def begin(self, config: MkDocsConfig) -> None:
        """Have the search of this build ask here first."""
        readers = config.plugins.events["page_context"]
        for name in PLUGINS:
            plugin: Any = config.plugins.get(name)
            entries = LISTS.get(type(getattr(plugin, "search_index", None)).__module__)
            if entries:
                plugin.search_index_prev = None  # all pages are read, `--dirty` or not
                readers[:] = [
                    partial(self._read, read, entries)
                    if getattr(read, "__self__", None) is plugin
                    else read
                    for read in readers
                ]

    def _read(
        self,
        read: Callable[..., Any],
        entries: str,
        context: Any,
        *,
        page: Page,
        config: MkDocsConfig,
        nav: Any,
    ) -> Any:
        """Have a page read, unless it was read as it is; changes nothing but its content."""
        index = read.__self__.search_index  # type: ignore[attr-defined]
        try:
            given = frozen([page.toc, page.meta, index.config]), page.content, page.url, page.title
        except UnknownError:
            return read(context, page=page, config=config, nav=nav)
        listed = getattr(index, entries)
        known, found, left = self._kept.get(page.url, (None, [], ""))
        if known != given:
            before = len(listed)
            read(context, page=page, config=config, nav=nav)
            self._kept[page.url] = given, listed[before:], page.content or ""
        else:
            listed.extend(found)
            page.content = left
        return context
