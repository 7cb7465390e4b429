"""Make the list of works that the book cites, from a BibTeX file and the chapters' links.

A chapter cites a work with a link to `bibliography.md#KEY`. That page has an empty
`<div data-bibliography=""></div>`, which is filled with the works and the chapters that cite each.

mkdocs-bibtex (4.4) wasn't enough: it lists works as footnotes, doesn't say who cites them, and its
citations aren't links in the Markdown itself.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
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

from glassbook.site.common import fill
from glassbook.site.page_text import is_markdown, read_page

PLACE = '<div data-bibliography=""></div>'
CITED = re.compile(r"\]\((?:\.\./)*(?:reference/)?bibliography\.md#([\w-]+)\)")


class BibliographyConfig(Config):
    """The page for the list and the BibTeX file, relative to the docs folder."""

    page = options.Type(str)
    works = options.Type(str)


class BibliographyPlugin(BasePlugin[BibliographyConfig]):
    """Fills in the list."""

    def __init__(self) -> None:
        self.order: dict[str, int] = {}

    def on_nav(self, nav: Navigation, /, *, config: MkDocsConfig, files: Files) -> None:
        """Record the reading order of the chapters."""
        self.order = {page.file.src_uri: number for number, page in enumerate(nav.pages)}

    @event_priority(50)  # before the engine compares the page with what it checked
    def on_page_markdown(
        self, markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Fill in the list."""
        if page.file.src_uri != self.config.page:
            return markdown
        works = parse_works(Path(config.docs_dir, self.config.works).read_text("utf-8")).entries
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
                for key in dict.fromkeys(CITED.findall(read_page(file.content_string).prose)):
                    found.setdefault(key, []).append(file)
        return found

    def _entry(self, key: str, work: Entry, citing: Sequence[File]) -> str:
        links = ", ".join(self._link(one) for one in citing)
        cited = f'<span class="cited">Cited in {links}.</span>'
        return f"{described(work)} {cited}\n{{ #{key} .work }}"

    def _link(self, file: File) -> str:
        """Link to a page's *Sources*, or to the page if it has none."""
        text = read_page(file.content_string)
        anchor = "#sources" if "\n## Sources\n" in text.body else ""
        address = get_relative_url(file.src_uri, self.config.page)
        return f"[{text.heading}]({address}{anchor})"


@lru_cache(1)  # under `mkdocs serve`, it seldom changes
def parse_works(text: str) -> BibliographyData:
    """Read the works of a BibTeX file."""
    return parse_string(text, bib_format="bibtex")


def in_order(works: Mapping[str, Entry]) -> list[str]:
    """Sort the keys by first author, year, and key."""

    def rank(key: str) -> tuple[str, str, str]:
        first = works[key].persons["author"][0]
        return " ".join(first.last_names).casefold(), works[key].fields["year"], key

    return sorted(works, key=rank)


def described(work: Entry) -> str:
    """Describe a work in Markdown: its authors, year, title, publication, and ids."""
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
    """List names, given names first; a shortened list ends in "et al."."""
    names = [
        " ".join([*one.first_names, *one.middle_names, *one.prelast_names, *one.last_names])
        for one in people
    ]
    if names[-1] == "others":
        return f"{', '.join(names[:-1])} et al."
    last = ", and " if len(names) > 2 else " and "
    return last.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
