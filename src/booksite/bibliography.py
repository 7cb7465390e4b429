"""The list of works that the book cites, made from a BibTeX file and from the chapters' links.

A chapter cites by a link to `bibliography.md#KEY`; the page leaves a place, an empty
`<div data-bibliography=""></div>`, in which the works appear, each with the chapters that cite it.

mkdocs-bibtex (4.4) was not enough: it lists works as footnotes, without who cites them, and has
citations that are no links in the Markdown itself.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from mkdocs.config import config_options as options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from pybtex.database import BibliographyData, Entry, Person, parse_string

from booksite.page_text import PageText, is_markdown, read_page
from booksite.places import fill

PLACE = '<div data-bibliography=""></div>'
CITED = re.compile(r"\]\((?:\.\./)*(?:reference/)?bibliography\.md#([\w-]+)\)")


class BibliographyConfig(Config):
    """Where the list goes and where the works are, relative to the folder of the pages."""

    page = options.Type(str)
    works = options.Type(str)


class BibliographyPlugin(BasePlugin[BibliographyConfig]):
    """Puts the list into its place."""

    def __init__(self) -> None:
        self.order: dict[str, int] = {}
        self.read = cache(read_page)  # under `mkdocs serve`, most files stay as they are
        self.parse = cache(parse_works)

    def on_startup(self, **_: object) -> None:
        """Have MkDocs keep the plugin over rebuilds."""

    def on_nav(self, nav: Navigation, /, *, config: MkDocsConfig, files: Files) -> None:
        """Learn in which order the chapters are read."""
        self.order = {page.file.src_uri: number for number, page in enumerate(nav.pages)}

    @event_priority(50)  # before the engine compares the page with what it checked
    def on_page_markdown(
        self, markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Put the list into its place."""
        if page.file.src_uri != self.config.page:
            return markdown
        works = self.parse(Path(config.docs_dir, self.config.works).read_text("utf-8")).entries
        citing = self._citations(files)
        listed = (self._entry(key, works[key], citing.get(key, ())) for key in in_order(works))
        return fill(markdown, PLACE, "\n\n".join(listed), page)

    def _citations(self, files: Files) -> dict[str, list[File]]:
        """Find, for each key, the pages whose text links to it, in reading order."""
        found: dict[str, list[File]] = {}
        last = len(self.order)
        pages = [file for file in files.documentation_pages() if is_markdown(file)]
        for file in sorted(pages, key=lambda file: self.order.get(file.src_uri, last)):
            if file.src_uri != self.config.page:
                for key in dict.fromkeys(CITED.findall(self._text(file).prose)):
                    found.setdefault(key, []).append(file)
        return found

    def _entry(self, key: str, work: Entry, citing: Sequence[File]) -> str:
        links = ", ".join(f"[{self._text(one).heading}]({self._address(one)})" for one in citing)
        cited = f'<span class="cited">Cited in {links}.</span>'
        return f"{described(work)} {cited}\n{{ #{key} .work }}"

    def _text(self, file: File) -> PageText:
        return self.read(file.content_string)

    def _address(self, file: File) -> str:
        """Give the page's file and the heading of its sources, as seen from the list."""
        anchor = "#sources" if "\n## Sources\n" in self._text(file).body else ""
        return f"{get_relative_url(file.src_uri, self.config.page)}{anchor}"


def parse_works(text: str) -> BibliographyData:
    """Read the works of a BibTeX file."""
    return parse_string(text, bib_format="bibtex")


def in_order(works: Mapping[str, Entry]) -> list[str]:
    """Sort the keys by first author, year and key."""

    def rank(key: str) -> tuple[str, str, str]:
        first = works[key].persons["author"][0]
        return " ".join(first.last_names).casefold(), works[key].fields["year"], key

    return sorted(works, key=rank)


def described(work: Entry) -> str:
    """Describe a work in a paragraph of Markdown: who, when, what, where, and its ids."""
    fields = work.fields
    stop = "" if fields["title"].endswith(("?", "!")) else "."
    parts = [f"{authors(work.persons['author'])} ({fields['year']}). *{fields['title']}*{stop}"]
    where = next(
        (fields[n] for n in ("booktitle", "journal", "institution", "publisher") if n in fields), ""
    )
    if where:
        parts.append(f"{where}{f', volume {volume}' if (volume := fields.get('volume')) else ''}.")
    if eprint := fields.get("eprint"):
        parts.append(f"[arXiv:{eprint}](https://arxiv.org/abs/{eprint}).")
    if doi := fields.get("doi"):
        parts.append(f"[doi:{doi}](https://doi.org/{doi}).")
    return " ".join(parts)


def authors(people: Sequence[Person]) -> str:
    """List names as one says them; a list that is cut short ends in "et al."."""
    names = [
        " ".join([*one.first_names, *one.middle_names, *one.prelast_names, *one.last_names])
        for one in people
    ]
    if names[-1] == "others":
        return f"{', '.join(names[:-1])} et al."
    last = ", and " if len(names) > 2 else " and "
    return last.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
