"""Redirect the addresses of sections that have moved to another page.

A page lists them in its front matter: `moved: {old-anchor: other-page.md#anchor}`. Readers who
follow an old address see a line with a link. For everyone else, it's `hidden`, even for programs
that read the page without its style sheet. Only `:target` shows it, so no script is needed.
"""

import posixpath
from html import escape

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from booksite.no_settings import NoSettings
from booksite.page_text import read_page


class MovedPlugin(BasePlugin[NoSettings]):
    """Adds a line at each old address."""

    def on_page_content(
        self, html: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Add the lines at the end of a page.

        Raises:
            PluginError: A target isn't a page and an anchor, or an old anchor is still in use.
        """
        moved = page.meta.get("moved", {})
        return html + "".join(line(old, new, page, files, html) for old, new in moved.items())


def line(old: str, new: str, page: Page, files: Files, html: str) -> str:
    """Return a line at an old anchor of a page, with a link to `other-page.md#anchor`."""
    where = f"docs/{page.file.src_uri}: moved: {old}"
    path, _, anchor = new.partition("#")
    folder = posixpath.dirname(page.file.src_uri)
    file = files.get_file_from_path(posixpath.normpath(posixpath.join(folder, path)))
    if file is None or not anchor:
        raise PluginError(f"{where}: {new} is not a page and an anchor of this book")
    if f'id="{old}"' in html:
        raise PluginError(f"{where}: this page still has a section with that name")
    url = f"{get_relative_url(file.url, page.url)}#{anchor}"
    return (
        f'<p class="moved" id="{escape(old)}" hidden data-search-exclude>This section has moved: '
        f'<a href="{escape(url)}">{escape(read_page(file.content_string).title)}</a>.</p>'
    )
