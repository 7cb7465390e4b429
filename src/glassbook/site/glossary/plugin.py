"""Explain the terms of the glossary where a chapter first uses them.

The first mention of each term in a chapter becomes a link that carries the definition, which
`aids.js` shows. A chapter that a term's entry links to explains the term itself, and has no such
link.

mkdocs-ezglossary-plugin (2.1) was not enough: each mention has to be marked in the text by hand.
"""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from markdown.util import ETX, STX, AtomicString
from mkdocs.config import config_options as options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from glassbook.site.common import TreeStep
from glassbook.site.glossary.terms import Glossary, Term, read_terms
from glassbook.site.page_text import is_markdown, text_at

VERBATIM = {"a", "abbr", "button", "code", "pre", "math", "summary", "figcaption", "th", "label"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}


class TermLinks(TreeStep):
    """Links first mentions; the terms and the page are set before each conversion.

    Attributes:
        entries: The page of the glossary.
        glossary: The terms.
        page: The chapter being converted; None if nothing should be linked.
    """

    step = "glossary", 3  # after what makes links and headings, before links are resolved
    entries = ""
    glossary = Glossary()
    page: str | None = None

    def run(self, root: Element) -> None:
        """Link the first mention of each term after the heading of the first section."""
        if self.page is None:
            return
        self.seen = {one.key for one in self.glossary.terms.values() if one.home == self.page}
        blocks = list(root)
        start = next((at for at, block in enumerate(blocks) if block.tag == "h2"), len(blocks))
        for block in blocks[start:]:
            self._link(block)

    def _link(self, element: Element) -> None:
        if element.tag in VERBATIM | HEADINGS or "proofbook" in element.get("class", ""):
            return
        children = list(element)
        for place, link in enumerate(self._split(element, "text")):
            element.insert(place, link)
        for child in children:
            self._link(child)
            after = list(element).index(child) + 1
            for place, link in enumerate(self._split(child, "tail"), after):
                element.insert(place, link)

    def _split(self, holder: Element, name: str) -> Iterator[Element]:
        """Cut mentions out of a text; each link takes the text that follows it as its tail."""
        text = getattr(holder, name)
        if not text or isinstance(text, AtomicString):
            return
        found = [
            (match, term)
            for match in self.glossary.pattern.finditer(text)
            if not _is_marked(text, match) and (term := self._first(match[0]))
        ]
        if not found:
            return
        setattr(holder, name, text[: found[0][0].start()])
        ends = [*(match.start() for match, _ in found[1:]), len(text)]
        entries = get_relative_url(self.entries, str(self.page))
        for (match, term), end in zip(found, ends, strict=True):
            given = {"href": f"{entries}#{term.key}", "data-aid": term.definition}
            link = Element("a", {"class": "term", **given})
            link.text, link.tail = match[0], text[match.end() : end]
            yield link

    def _first(self, word: str) -> Term | None:
        """Find the term that a word names; return None if the page has mentioned it before."""
        term = self.glossary.find(" ".join(word.split()))
        if term is None or term.key in self.seen:
            return None
        self.seen.add(term.key)
        return term


def _is_marked(text: str, match: re.Match[str]) -> bool:
    """Return whether a mention fills the space between two marks, where a tap opens the check."""
    return text[: match.start()].endswith(ETX) and text[match.end() :].startswith(STX)


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
            PluginError: There is no such page, or one of its entries cannot be used.
        """
        try:
            self.links.glossary = read_terms(text_at(self.config.page, files))
        except ValueError as error:
            raise PluginError(f"docs/{self.config.page}: {error}") from error

    def on_page_markdown(
        self, markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> None:
        """Tell the extension which page comes next."""
        name = page.file.src_uri
        without = name.startswith(tuple(self.config.without)) or not is_markdown(page.file)
        self.links.page = None if without else name
