"""Publish each page's Markdown next to it, and fill in the address of the book's repository.

The buttons are in `overrides/partials/actions.html`.
"""

import re
from codecs import BOM_UTF8
from html import escape
from pathlib import Path

from mkdocs.config.base import LegacyConfig
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import write_file

from glassbook.site.page_text import is_markdown

ADDRESS = 'git<span class="w"> </span>clone<span class="w"> </span>ADDRESS'
"""The highlighted line that clones the book."""
WITHOUT = re.compile(r'<p class="no-repository">.*?</p>\n?', re.DOTALL)
"""Shown only if the repository's address isn't known."""
WITH = re.compile(r'<p class="with-repository">.*?</p>\n?', re.DOTALL)
"""Shown only if the repository's address is known; the address replaces REPOSITORY."""


class PageSourcePlugin(BasePlugin[LegacyConfig]):
    """Writes each page's source where its button links to, and says what to clone."""

    @event_priority(100)  # before the engine, which makes links into the repository too
    def on_config(self, config: MkDocsConfig) -> None:
        """Make edit links use the branch `main` instead of MkDocs's default, `master`."""
        if config.edit_uri == "edit/master/docs/":
            config.edit_uri = "edit/main/docs/"

    def on_page_content(
        self, html: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Put the address of the repository into the line that clones it, and into links."""
        if not config.repo_url:
            return WITH.sub("", html)
        address = escape(config.repo_url)
        html = WITHOUT.sub("", html)
        html = WITH.sub(lambda said: said[0].replace("REPOSITORY", address.rstrip("/")), html)
        return html.replace(ADDRESS, ADDRESS.replace("ADDRESS", address))

    def on_post_page(self, output: str, /, *, page: Page, config: MkDocsConfig) -> None:
        """Write the source of a page, unless the page was generated.

        The file begins with a byte order mark for UTF-8: not every server states the encoding, and
        browsers would guess wrong.
        """
        if is_markdown(page.file) and not page.file.generated_by:
            text = BOM_UTF8 + page.file.content_bytes.removeprefix(BOM_UTF8)
            write_file(text, str(Path(config.site_dir) / page.file.src_uri))
