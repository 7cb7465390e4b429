"""The plugin that finishes pages."""

from collections import Counter
from functools import lru_cache
from pathlib import Path

from mkdocs.config.base import LegacyConfig
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin
from mkdocs.structure.pages import Page
from mkdocs.utils import write_file

from glassbook.site.finish.scripts import after_first_frame
from glassbook.site.finish.stylesheets import StyleSheets
from glassbook.site.finish.theme import Repairs, mended_page, repair_script
from glassbook.site.finish.typesetting import (
    kept_together,
    plain_code,
    with_cells,
    without_indents,
    wrapped,
)
from glassbook.site.finish.views import numbers_aside, without_styles

PART = '<section id="'
"""Separates the pages in the single-page book, most of which stay as they are."""


class FinishPlugin(BasePlugin[LegacyConfig]):
    """Fixes the theme's slips, keeps together what must not be broken, and makes pages light."""

    def __init__(self) -> None:
        # Under `mkdocs serve`, most stay as they are.
        self.set = lru_cache(1024)(
            lambda part: without_styles(plain_code(wrapped(with_cells(kept_together(part)))))
        )
        self.mended: dict[str, tuple[str, str, Counter[str]]] = {}
        self.aside: dict[str, tuple[str, str, dict[str, bytes]]] = {}

    def on_startup(self, **_: object) -> None:
        """Have MkDocs keep the plugin across rebuilds."""

    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """Begin a build: style sheets may have been edited since the last one."""
        site = Path(config.site_dir)
        self.repairs = Repairs()
        self.sheets = StyleSheets(site, self.repairs)

    def on_post_page(self, output: str, /, *, page: Page, config: MkDocsConfig) -> str:
        """Finish a page."""
        html = self.sheets.join(self._finished(output, page.url), page.url)
        known, light, numbers = self.aside.get(page.url, (None, "", {}))
        if known != html:
            light, numbers = numbers_aside(html, page.url)
            self.aside[page.url] = html, light, numbers
        for target, data in numbers.items():
            write_file(data, str(Path(config.site_dir) / target))
        return light

    def on_post_template(
        self, output_content: str, /, *, template_name: str, config: MkDocsConfig
    ) -> str:
        """Finish a page without a Markdown file, such as the one for missing addresses."""
        is_page = template_name.endswith(".html")
        return self._finished(output_content, template_name) if is_page else output_content

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Remove useless work from the theme's script.

        Raises:
            PluginError: the theme is no longer the one that the repairs were made for.
        """
        repair_script(config.theme.dirs, Path(config.site_dir))
        self.repairs.check()

    def _finished(self, html: str, name: str) -> str:
        known, finished, found = self.mended.get(name, (None, "", Counter()))
        if known != html:
            mended, found = mended_page(after_first_frame(html))
            head, end, body = without_indents(mended).partition("</head>")
            parts, styles = zip(*map(self.set, body.split(PART)), strict=True)
            own = dict.fromkeys(style for some in styles for style in some)
            finished = head + "".join(own) + end + PART.join(parts)
            self.mended[name] = html, finished, found
        self.repairs.found += found
        return finished
