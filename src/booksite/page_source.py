"""The Markdown of each page beside it; `overrides/partials/actions.html` has the button."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin
from mkdocs.structure.pages import Page
from mkdocs.utils import write_file

from booksite.no_settings import NoSettings
from booksite.page_text import is_markdown


class PageSourcePlugin(BasePlugin[NoSettings]):
    """Writes the source of each page where its button leads to."""

    def on_post_page(self, output: str, /, *, page: Page, config: MkDocsConfig) -> None:
        """Write the source of a page that somebody wrote."""
        if is_markdown(page.file) and not page.file.generated_by:
            write_file(page.file.content_bytes, str(Path(config.site_dir) / page.file.src_uri))
