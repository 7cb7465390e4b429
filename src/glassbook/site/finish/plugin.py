"""The plugin that finishes pages."""

from pathlib import Path

from mkdocs.config.base import LegacyConfig
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin
from mkdocs.structure.pages import Page
from mkdocs.utils import write_file

from glassbook.site.finish.assets import (
    StyleSheets,
    after_first_frame,
    numbers_aside,
    without_styles,
)
from glassbook.site.finish.theme import Repairs, repair_script
from glassbook.site.finish.typesetting import (
    kept_together,
    plain_code,
    with_cells,
    without_indents,
    wrapped,
)


class FinishPlugin(BasePlugin[LegacyConfig]):
    """Fixes the theme's slips, keeps together what must not be broken, and makes pages light."""

    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """Begin a build: style sheets may have been edited since the last one."""
        self.repairs = Repairs()
        self.sheets = StyleSheets(Path(config.site_dir), self.repairs)

    def on_post_page(self, output: str, /, *, page: Page, config: MkDocsConfig) -> str:
        """Finish a page."""
        html = self.sheets.join(self._finished(output), page.url)
        html, numbers = numbers_aside(html, page.url)
        for target, data in numbers.items():
            write_file(data, str(Path(config.site_dir) / target))
        return html

    def on_post_template(
        self, output_content: str, /, *, template_name: str, config: MkDocsConfig
    ) -> str:
        """Finish a page without a Markdown file, such as the one for missing addresses."""
        is_page = template_name.endswith(".html")
        return self._finished(output_content) if is_page else output_content

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Remove useless work from the theme's script.

        Raises:
            PluginError: The theme is no longer the one that the repairs were made for.
        """
        repair_script(config.theme.dirs, Path(config.site_dir))
        self.repairs.check()

    def _finished(self, html: str) -> str:
        html = without_indents(self.repairs.page(after_first_frame(html)))
        head, end, body = html.partition("</head>")
        body, styles = without_styles(plain_code(wrapped(with_cells(kept_together(body)))))
        return head + "".join(styles) + end + body
