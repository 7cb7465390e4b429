"""The list of works that the book cites, made from a BibTeX file and from the chapters' links.

A MkDocs hook. A chapter cites by a link to `bibliography.md#KEY`; the page leaves a place, an empty
`<div data-bibliography></div>`, in which the works appear, each with the chapters that cite it.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from pybtex.database import BibliographyData, Entry, Person, parse_file

PAGE = "reference/bibliography.md"
WORKS = "reference/bibliography.bib"
PLACE = '<div data-bibliography=""></div>'
FENCED = re.compile(r"^( *)(`{3,}).*?^\1\2`*$", flags=re.MULTILINE | re.DOTALL)
CITED = re.compile(r"\]\((?:\.\./)*(?:reference/)?bibliography\.md#([\w-]+)\)")
TITLE = re.compile(r"^# (.+)$", flags=re.MULTILINE)

order: dict[str, int] = {}
"""The place of each page in the book, by its file."""


@event_priority(50)  # before the engine compares the page with what it checked
def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the list into its place."""
    if page.file.src_uri != PAGE:
        return markdown
    source = Path(config.docs_dir) / WORKS
    works = _read(source, source.stat().st_mtime_ns).entries
    citing = citations(files)
    listed = (entry_text(key, works[key], citing.get(key, ())) for key in in_order(works))
    return markdown.replace(PLACE, "\n\n".join(listed))


def on_nav(nav: Navigation, *, config: MkDocsConfig, files: Files) -> None:
    """Learn in which order the chapters are read."""
    order.clear()
    order.update((page.file.src_uri, number) for number, page in enumerate(nav.pages))


@cache  # under `mkdocs serve`, the file has hardly ever changed since the last build
def _read(path: Path, mtime_ns: int) -> BibliographyData:
    return parse_file(str(path), bib_format="bibtex")


def citations(files: Files) -> dict[str, list[File]]:
    """For each key, the pages whose text links to it, in reading order."""
    found: dict[str, list[File]] = {}
    pages = files.documentation_pages()
    for file in sorted(pages, key=lambda file: order.get(file.src_uri, len(order))):
        if file.src_uri.endswith(".md") and file.src_uri != PAGE:
            for key in dict.fromkeys(CITED.findall(FENCED.sub("", file.content_string))):
                found.setdefault(key, []).append(file)
    return found


def in_order(works: Mapping[str, Entry]) -> list[str]:
    """The keys by first author, year and key."""

    def rank(key: str) -> tuple[str, str, str]:
        first = works[key].persons["author"][0]
        return " ".join(first.last_names).casefold(), works[key].fields["year"], key

    return sorted(works, key=rank)


def entry_text(key: str, work: Entry, citing: Sequence[File]) -> str:
    """One work as a paragraph of Markdown: who, when, what, where, its ids, and who cites it."""
    fields = work.fields
    stop = "" if fields["title"].endswith(("?", "!")) else "."
    parts = [f"{authors(work.persons['author'])} ({fields['year']}). *{fields['title']}*{stop}"]
    where = next((fields[n] for n in ("booktitle", "journal", "institution") if n in fields), "")
    if where:
        parts.append(f"{where}{f', volume {volume}' if (volume := fields.get('volume')) else ''}.")
    if eprint := fields.get("eprint"):
        parts.append(f"[arXiv:{eprint}](https://arxiv.org/abs/{eprint}).")
    if doi := fields.get("doi"):
        parts.append(f"[doi:{doi}](https://doi.org/{doi}).")
    links = ", ".join(f"[{title(file)}]({address(file)})" for file in citing)
    parts.append(f'<span class="cited">Cited in {links}.</span>')
    return f"{' '.join(parts)}\n{{ #{key} .work }}"


def authors(people: Sequence[Person]) -> str:
    """Names as one says them; a list that is cut short ends in "et al."."""
    names = [
        " ".join([*one.first_names, *one.middle_names, *one.prelast_names, *one.last_names])
        for one in people
    ]
    if names[-1] == "others":
        return f"{', '.join(names[:-1])} et al."
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def title(file: File) -> str:
    """The heading of a page."""
    found = TITLE.search(file.content_string)
    return found[1] if found else file.src_uri


def address(file: File) -> str:
    """The page's file and the heading of its sources, as seen from the list."""
    anchor = "#sources" if "\n## Sources\n" in file.content_string else ""
    return f"{get_relative_url(file.src_uri, PAGE)}{anchor}"
