"""Each page's search entries, kept as long as the page is unchanged."""

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
    """Each page's search entries from the last build, and the text that the search plugin left.

    The plugin reads a whole page, then makes a second pass to remove whatever only it needs.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Any, list[Any], str]] = {}

    def begin(self, config: MkDocsConfig) -> None:
        """Make this build's search plugin look here first."""
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
        """Let the search plugin read a page only if it has changed; otherwise reuse the entries."""
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
