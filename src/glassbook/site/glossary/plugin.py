"""The plugin that reads the glossary and links its terms."""

from mkdocs.config import config_options as options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from glassbook.site.glossary.links import TermLinks
from glassbook.site.glossary.terms import read
from glassbook.site.page_text import is_markdown


class GlossaryConfig(Config):
    """The page of the glossary, and the folders whose pages have no links to it."""

    page = options.Type(str)
    without = options.ListOfItems(options.Type(str), default=[])


class GlossaryPlugin(BasePlugin[GlossaryConfig]):
    """Links the first mention of each term in a chapter."""

    def __init__(self) -> None:
        self.links = TermLinks()

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Have mentions linked when pages are converted."""
        self.links.entries = self.config.page
        config.markdown_extensions = [*config.markdown_extensions, self.links]
        return config

    def on_files(self, files: Files, /, *, config: MkDocsConfig) -> None:
        """Read the glossary.

        Raises:
            PluginError: there is no such page, or one of its entries cannot be used.
        """
        page = files.get_file_from_path(self.config.page)
        if page is None:
            raise PluginError(f"glossary: there is no docs/{self.config.page}")
        try:
            self.links.glossary = read(page.content_string)
        except ValueError as error:
            raise PluginError(f"docs/{self.config.page}: {error}") from error

    def on_page_markdown(
        self, markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> None:
        """Tell the extension which page comes next."""
        name = page.file.src_uri
        without = name.startswith(tuple(self.config.without)) or not is_markdown(page.file)
        self.links.page = None if without else name
