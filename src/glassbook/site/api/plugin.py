"""The plugin that makes the API reference.

A page whose front matter names modules (`api: [glassformer.views, glassformer.layers.*]`) gets an
entry for each of their public names below what its author wrote. One with `api: []` lists all
modules in a place that it marks.
"""

import re
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from markdown import Markdown
from mkdocs.config import config_options as options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink
from mkdocs.utils import get_relative_url

from glassbook.site.api.entry import NAME, Entry, contents, is_listed, within
from glassbook.site.api.mentions import Mentions, mentions
from glassbook.site.api.package import Packages
from glassbook.site.api.reference import Reference
from glassbook.site.api.symbol import Symbol, walk
from glassbook.site.common import TreeStep, engine_of, fill
from glassbook.site.page_text import is_markdown, text_of
from glassbook.site.source_pages import address
from proofbook.checking.source_lookup import Shown

CONTENTS = "<div data-api></div>"
# Imports are read from highlighted code: SuperFences highlights it and reports no names.
IMPORT = re.compile(
    r'(<span class="nn">([\w.]+)</span><span class="w"> </span>'
    r'<span class="kn">import</span>)(.*?)(?=\n\S|</code>)',
    re.DOTALL,
)
VERBATIM = {"a", "button", "summary", "h1", "h2", "h3", "h4", "h5", "h6", "pre"}


class SymbolLinks(TreeStep):
    """Turns inline code that names one of the package's symbols into a link to its entry.

    Attributes:
        address: Returns the address of the symbol that inline code names on this page;
            None if it names nothing.
    """

    step = "symbols", -5  # after MkDocs, which would take the addresses for file paths

    def __init__(self) -> None:
        self.address: Callable[[str], str | None] = lambda code: None
        super().__init__()

    def run(self, root: Element) -> None:
        """Wrap each piece of inline code that has an address in a link."""
        for place, child in enumerate(root):
            if child.tag == "code":
                address = self.address(child.text or "")
                if address:
                    root[place] = _link(child, address)
            elif child.tag not in VERBATIM:
                self.run(child)


def _link(code: Element, address: str) -> Element:
    link = Element("a", {"class": "symbol", "href": address})
    link.tail, code.tail = code.tail, None
    link.append(code)
    return link


class ApiConfig(Config):
    """Which packages are described, as folders relative to the root of the project."""

    packages = options.ListOfItems(options.Type(str))


class ApiPlugin(BasePlugin[ApiConfig]):
    """Describes the packages' symbols, and links what names them."""

    def __init__(self) -> None:
        self.links = SymbolLinks()
        self.markdown = Markdown(extensions=["proofbook.maths", self.links])
        self.read: object = None  # what the packages were read from

    def on_startup(self, **_: object) -> None:
        """Have MkDocs keep the plugin across rebuilds."""

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Have inline code in sentences linked, and have captions name the symbols shown."""
        self.root = Path(config.config_file_path).parent.resolve()
        if engine := engine_of(config):
            engine.captions.append(self._named)
        config.markdown_extensions = [*config.markdown_extensions, self.links]
        return config

    @event_priority(-100)  # after the notebooks have been found
    def on_files(self, files: Files, /, *, config: MkDocsConfig) -> None:
        """Read the packages, and which page describes which part of them.

        Raises:
            PluginError: There is no module of a name, or two pages describe it.
        """
        pages = [file for file in files.documentation_pages() if is_markdown(file)]
        api = {file: text_of(file).meta.get("api") or [] for file in pages}
        described = [name for names in api.values() for name in names]
        folders = [self.root / folder for folder in self.config.packages]
        found = sorted(path for folder in folders for path in folder.rglob("*.py"))
        read = described, {path: path.read_text(encoding="utf-8") for path in found}
        if read != self.read:
            self.read, self.packages = read, Packages(self.root, self.config.packages, described)
        self.reference = Reference(self.packages)
        for file, names in api.items():
            self.reference.describe(file, self._modules(names))

    def on_nav(self, nav: Navigation, /, *, config: MkDocsConfig, files: Files) -> None:
        """Record which pages mention what, in reading order."""
        for page in nav.pages:
            text = text_of(page.file)
            title = page.title or text.title
            if "api" in text.meta:
                named = [self.packages.modules[name] for name in self._modules(text.meta["api"])]
                self.reference.pages.append((title, page.file, named))
            else:
                self.reference.read(title, page.file, self._said(page.file))

    def on_page_markdown(
        self, markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> None:
        """Link what the page's sentences name."""
        said = self._said(page.file)

        def address_of(code: str) -> str | None:
            return self.reference.address(said.find(code, self.packages), page)

        self.links.address = address_of

    def on_page_content(
        self, html: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Add the entries to a page that describes modules, and to its table of contents."""
        names = page.meta.get("api")
        if names == []:
            where = partial(self.reference.address, page=page)
            groups = {
                f'<a href="{file.url_relative_to(page.file)}">{escape(title)}</a>': modules
                for title, file, modules in self.reference.pages
                if modules
            }
            return fill(html, CONTENTS, contents(groups, where), page)
        parts = [html]
        for module in (self.packages.modules[name] for name in self._modules(names or [])):
            parts += [self._entry(one, page) for one in walk(module)]
            _extend_toc(page, module)
        return "\n".join(parts)

    @event_priority(-200)  # when highlighted code is in its place
    def on_page_context(
        self, context: Any, /, *, page: Page, config: MkDocsConfig, nav: Navigation
    ) -> None:
        """Link what a page's blocks import."""

        def named(module: str, name: re.Match[str]) -> str:
            to = self.reference.address(self.packages.find(f"{module}.{name[1]}"), page)
            return f'<a class="symbol" href="{to}">{name[0]}</a>' if to else name[0]

        def imported(line: re.Match[str]) -> str:
            if line[2].partition(".")[0] not in self.packages.names:
                return line[0]
            return line[1] + NAME.sub(partial(named, line[2]), line[3])

        page.content = IMPORT.sub(imported, page.content or "")

    def _modules(self, names: list[str]) -> list[str]:
        return [module for name in names for module in self.packages.modules_of(name)]

    def _said(self, file: File) -> Mentions:
        return mentions(text_of(file), self.packages.names)

    def _named(self, page: Page, shown: Shown, place: str) -> str:
        """Put the name of the shown symbol before its place."""
        if not shown.path.is_relative_to(self.root):
            return place
        path = shown.path.relative_to(self.root).as_posix()
        symbol = self.reference.lines.get((path, shown.first, shown.last))
        to = self.reference.address(symbol, page)
        if symbol is None or to is None:
            return place
        return f'<a class="symbol" href="{to}"><code>{within(symbol)}</code></a> in {place}'

    def _entry(self, symbol: Symbol, page: Page) -> str:
        """Describe a symbol."""
        known = self.reference.known_in(self.packages.home(symbol))

        def address_of(code: str) -> str | None:
            if re.search(rf"\b{re.escape(code)}: ", symbol.signature):
                return None  # its own parameter or field, even if something else has that name
            found = known.find(code, self.packages)
            return self.reference.address(found, page) if found is not symbol else None

        def convert(text: str) -> str:
            self.links.address = address_of
            return self.markdown.reset().convert(text)

        return Entry(
            symbol,
            convert,
            address_of,
            known.imported,
            f"{get_relative_url(address(symbol.path), page.url)}#L{symbol.first}",
            *self.reference.pages_with(symbol, page),
        ).html()


def _extend_toc(page: Page, module: Symbol) -> None:
    """List a module's functions and classes under it, below the page's own headings."""
    item = AnchorLink(module.name, module.name, 2)
    item.children = [AnchorLink(one.short, one.name, 3) for one in module.members if is_listed(one)]
    top = page.toc.items
    (top[0].children if top else top).append(item)
