"""Explains the terms of the glossary where a chapter first uses them.

A MkDocs hook. The glossary is a page of definition lists; here its terms are read, and the first
mention of each in a chapter becomes a link that carries the definition, for `aids.js` to show. A
chapter that a term's entry leads to explains the term itself, and has no such link.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

PAGE = "reference/glossary.md"
WITHOUT = ("reference/", "contributing.md", "index.md", "labs/", "source/")
ENTRY = re.compile(
    r"^(?P<name>\S.*?) \{ #(?P<key>[\w-]+)(?: data-forms=\"(?P<forms>[^\"]*)\")? \}\n"
    r":   (?P<definition>.+?) \[[^\]]+\]\((?:\.\./)(?P<home>[\w/-]+\.md)[^)]*\)$",
    flags=re.MULTILINE,
)
NEVER = "-"
VERBATIM = {"a", "abbr", "button", "code", "pre", "math", "summary", "figcaption", "th", "label"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}


@dataclass(frozen=True)
class Term:
    """An entry of the glossary.

    Attributes:
        key: its anchor.
        forms: how chapters write it; nothing if its mentions are left alone.
        definition: what it means, in plain text.
        home: the chapter that explains it.
    """

    key: str
    forms: tuple[str, ...]
    definition: str
    home: str


@dataclass
class Glossary:
    """The terms, and a pattern for all their forms.

    Attributes:
        terms: each term by each of its forms; a form with a capital counts as it is written.
        pattern: what finds a form in a text, the longest first.
    """

    terms: dict[str, Term] = field(default_factory=dict)
    pattern: re.Pattern[str] = re.compile(r"(?!)")

    def find(self, word: str) -> Term | None:
        """The term that a word of a text is a form of."""
        return self.terms.get(word) or self.terms.get(word.lower())


def read(text: str) -> Glossary:
    """The terms of the page.

    Raises:
        ValueError: an entry cannot be read, or two have one form.
    """
    terms: dict[str, Term] = {}
    entries = list(ENTRY.finditer(text))
    if len(entries) != len(re.findall("^:   ", text, flags=re.MULTILINE)):
        raise ValueError('an entry is not "Term { #key }", its definition, and a link to a chapter')
    for entry in entries:
        given = entry["forms"] or f"{_lowered(entry['name'])}|{_lowered(entry['name'])}s"
        forms = () if given == NEVER else tuple(given.split("|"))
        term = Term(entry["key"], forms, entry["definition"], entry["home"])
        for form in forms:
            if form in terms:
                raise ValueError(f"{form!r} is a form of {terms[form].key} and of {term.key}")
            terms[form] = term
    longest = sorted(terms, key=len, reverse=True)
    either = "|".join(_pattern(form) for form in longest)
    return Glossary(terms, re.compile(rf"(?<![\w-])(?:{either})(?![\w-])"))


def _lowered(name: str) -> str:
    return name[0].lower() + name[1:]


def _pattern(form: str) -> str:
    """A form as a text may write it: at the start of a sentence, over the end of a line."""
    first = f"[{form[0]}{form[0].upper()}]" if form.islower() else form[0]
    return first + re.escape(form[1:]).replace(r"\ ", r"\s+")


class TermLinks(Extension):
    """Links first mentions; what is known, and of which page, is set before each conversion.

    Attributes:
        glossary: the terms.
        page: the chapter that is converted; None where nothing is to be linked.
    """

    def __init__(self) -> None:
        self.glossary = Glossary()
        self.page: str | None = None
        super().__init__()

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Come after all that makes links and headings, before links are resolved."""
        md.treeprocessors.register(_Linker(md, self), "glossary", 3)


class _Linker(Treeprocessor):
    def __init__(self, md: Markdown, links: TermLinks) -> None:
        super().__init__(md)
        self.links = links

    def run(self, root: Element) -> None:
        """Link the first mention of each term below the first heading of a section."""
        if self.links.page is None:
            return
        self.seen = {one.key for one in self.links.glossary.terms.values() if self._is_home(one)}
        blocks = list(root)
        start = next((at for at, block in enumerate(blocks) if block.tag == "h2"), len(blocks))
        for block in blocks[start:]:
            self._link(block)

    def _is_home(self, term: Term) -> bool:
        return term.home == self.links.page

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
        """Cut mentions out of a text; each link takes along, as its tail, what follows it."""
        text = getattr(holder, name)
        if not text or isinstance(text, AtomicString):
            return
        found = [
            (match, term)
            for match in self.links.glossary.pattern.finditer(text)
            if (term := self._first(match[0]))
        ]
        if not found:
            return
        setattr(holder, name, text[: found[0][0].start()])
        ends = [*(match.start() for match, _ in found[1:]), len(text)]
        for (match, term), end in zip(found, ends, strict=True):
            link = self._made(match[0], term)
            link.tail = text[match.end() : end]
            yield link

    def _first(self, word: str) -> Term | None:
        """The term of a word that the page has not mentioned yet."""
        term = self.links.glossary.find(" ".join(word.split()))
        if term is None or term.key in self.seen:
            return None
        self.seen.add(term.key)
        return term

    def _made(self, word: str, term: Term) -> Element:
        address = f"{get_relative_url(PAGE, str(self.links.page))}#{term.key}"
        link = Element("a", {"class": "term", "href": address, "data-aid": term.definition})
        link.text = word
        return link


links = TermLinks()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Have mentions linked."""
    config.markdown_extensions = [*config.markdown_extensions, links]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Read the glossary, and see that its entries lead to chapters."""
    page = files.get_file_from_path(PAGE)
    try:
        links.glossary = read(page.content_string) if page else Glossary()
    except ValueError as error:
        raise PluginError(f"docs/{PAGE}: {error}") from error
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> None:
    """Tell the extension which page comes next."""
    name = page.file.src_uri
    links.page = None if name.startswith(WITHOUT) or not name.endswith(".md") else name
