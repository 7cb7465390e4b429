"""The search's entries of each page, kept where the page is what it was."""

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
    """What the search made of pages at the last build."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Any, list[Any]]] = {}

    def begin(self, config: MkDocsConfig) -> None:
        """Have the index of this build ask here first."""
        for name in PLUGINS:
            plugin: Any = config.plugins.get(name)
            index = getattr(plugin, "search_index", None)
            entries = LISTS.get(type(index).__module__)
            if index is not None and entries:
                plugin.search_index_prev = None  # all pages are read, `--dirty` or not
                self._serve(index, entries)

    def _serve(self, index: Any, entries: str) -> None:
        read = index.add_entry_from_context

        def add_entry_from_context(page: Page) -> None:
            listed = getattr(index, entries)
            try:
                given = (
                    frozen([page.toc, page.meta, index.config]),
                    page.content,
                    page.url,
                    page.title,
                )
            except UnknownError:
                read(page)
                return
            known, found = self._kept.get(page.url, (None, []))
            if known == given:
                listed.extend(found)
                return
            before = len(listed)
            read(page)
            self._kept[page.url] = given, listed[before:]

        index.add_entry_from_context = add_entry_from_context
