"""Write what the book says about its chapters from what each chapter says about itself.

A chapter's front matter has a `summary` and its `subjects`: under the name of each, with others in
parentheses, the anchors of the sections about it. Exercises are the headings above a checker. From
these, the navigation, and the *You need* lines come the list of chapters, the index of subjects,
the list of exercises, the map, each chapter's **Next**, and words for the search.
"""

import json
import posixpath
import re
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

from mkdocs.config import config_options as options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from glassbook.site.common import part_of
from glassbook.site.glossary.terms import read_terms
from glassbook.site.page_text import is_markdown, text_at, text_of

PLACE = '<div data-outline="{}"></div>'
SUBJECT = re.compile(r"(.+?)(?: \((.+)\))?")
NEEDS = re.compile(r"\*You need:\*(.+)$", flags=re.MULTILINE)
LINK = re.compile(r"\]\(([\w./-]+\.md)")
CHECKER = re.compile(r"^from glassbook\.exercises\.\w+ import (check_\w+)$", re.MULTILINE)
INDEX = "search/search_index.json"
ROW, HEADING = 27, 38  # distances to the next chapter and to the next part in the map
TRUNK, WIDTH = 76, 350  # where the chapters begin in the map, right of the lines; its width


class OutlineConfig(Config):
    """The page of the glossary, relative to the docs folder."""

    glossary = options.Type(str)


class OutlinePlugin(BasePlugin[OutlineConfig]):
    """Fills the lists in where a page has a place for them."""

    def __init__(self) -> None:
        self.pages: list[Page] = []
        self.words: dict[str, list[str]] = {}

    @property
    def chapters(self) -> list[Page]:
        """The pages with a summary."""
        return [page for page in self.pages if "summary" in text_of(page.file).meta]

    def on_nav(self, nav: Navigation, /, *, config: MkDocsConfig, files: Files) -> None:
        """Read the pages in reading order, and the words for the search."""
        self.pages = [page for page in nav.pages if is_markdown(page.file)]
        self.words = {}
        for page in self.pages:
            for names, anchors in subjects(page):
                for anchor in anchors:
                    self.words.setdefault(f"{_address(page.file.url)}#{anchor}", []).extend(names)
        for form, term in read_terms(text_at(self.config.glossary, files)).terms.items():
            if home := files.get_file_from_path(term.home):  # MkDocs warns about broken links
                self.words.setdefault(_address(home.url), []).append(form)

    def on_page_markdown(
        self, markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Write the lists."""
        here = posixpath.dirname(page.file.src_uri)
        lists = {"chapters": chapter_list, "subjects": subject_list, "exercises": exercise_list}
        for name, write in lists.items():
            if (place := PLACE.format(name)) in markdown:
                listed = self.pages if name == "subjects" else self.chapters
                markdown = markdown.replace(place, write(listed, here))
        return markdown

    def on_page_content(
        self, html: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Draw the map, and lead from each chapter to the next."""
        place = PLACE.format("map")
        html = html.replace(place, draw_map(self.chapters, page)) if place in html else html
        for one, following in pairwise(self.chapters):
            if one is page:
                text, url = text_of(following.file), get_relative_url(following.url, page.url)
                title, summary = escape(text.title), escape(text.meta["summary"])
                html += f'<p><strong>Next:</strong> <a href="{url}">{title}</a>: {summary}</p>'
        return html

    @event_priority(-100)  # after the search has written its index
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Add the words to the search's entries as tags.

        Raises:
            PluginError: A section isn't in the search index.
        """
        file = Path(config.site_dir, INDEX)
        index = json.loads(file.read_text(encoding="utf-8"))
        entries = {unquote(entry["location"]): entry for entry in index["docs"]}
        if lost := sorted({*self.words} - {*entries}):
            raise PluginError(f"outline: the search has no section {', '.join(lost)}")
        for place, words in self.words.items():
            tags = entries[place].get("tags", [])
            entries[place]["tags"] = list(dict.fromkeys([*tags, *words]))
        text = json.dumps(index, separators=(",", ":"), ensure_ascii=False)
        file.write_text(text, encoding="utf-8")


def subjects(page: Page) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the names of each subject of a page, with the anchors of its sections."""
    for entry, anchors in text_of(page.file).meta.get("subjects", {}).items():
        found = SUBJECT.fullmatch(str(entry))
        name, others = found.groups() if found else (entry, None)
        yield [name, *(others.split(", ") if others else [])], anchors


def chapter_list(chapters: list[Page], here: str) -> str:
    """List the chapters under the names of their parts, with their summaries."""
    lines, part = [], ""
    for chapter in chapters:
        if (now := part_of(chapter)) != part:
            part = now
            lines.append(f"\n**{part}**\n")
        lines.append(f"1. {_summarized(chapter, here)}")
    return "\n".join(lines)


def subject_list(pages: list[Page], here: str) -> str:
    """List the subjects of all pages from A to Z, each with the sections about it."""
    places: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for page in pages:
        titles = text_of(page.file).sections
        for (name, *more), anchors in subjects(page):
            links = [f"[{titles.get(a, a)}]({_path(page, here)}#{a})" for a in anchors]
            places.setdefault(name, []).append(f"{text_of(page.file).title}: {', '.join(links)}")
            others.setdefault(name, []).extend(more)
    lines, letter = [], ""
    for name in sorted(places, key=_in_order):
        first = _in_order(name)[0].upper()
        if first != letter:
            letter = first
            lines.append(f"\n## {letter if letter.isalpha() else '0–9'}\n")
        also = f" ({', '.join(dict.fromkeys(others[name]))})" if others[name] else ""
        lines.append(f"- **{name}**{also}: {'; '.join(places[name])}")
    return "\n".join(lines)


def exercise_list(chapters: list[Page], here: str) -> str:
    """List the exercises by chapter: the heading above each checker, and the checker's name."""
    rows: dict[str, str] = {}
    for chapter in chapters:
        text = text_of(chapter.file)
        for fence in text.fences:
            for checker in CHECKER.findall(fence.code):
                anchor = text.section_at(fence)
                link = f"[{text.sections[anchor]}]({_path(chapter, here)}#{anchor})"
                rows.setdefault(checker, f"| {text.title} | {link} | `{checker}` |")
    return "\n".join(["| chapter | exercise | checker |", "|---|---|---|", *rows.values()])


def draw_map(chapters: list[Page], page: Page) -> str:
    """Draw the chapters in reading order, with lines to the chapters that each builds on."""
    heights, y, drawn, part = {}, 0, [], ""
    for chapter in chapters:
        if (now := part_of(chapter)) != part:
            part, y = now, y + HEADING
            drawn.append(f'<text class="part" x="{TRUNK}" y="{y - 4}">{escape(part)}</text>')
        y += ROW
        heights[chapter.file.src_uri] = y - 9
    for chapter in chapters:
        here = heights[chapter.file.src_uri]
        lines = "".join(_line(heights[need], here) for need in needs(chapter) if need in heights)
        url = get_relative_url(chapter.file.url, page.url)
        drawn.append(
            f'<g class="chapter">{lines}<a href="{url}"><circle cx="{TRUNK}" cy="{here}" r="4"/>'
            f'<text x="{TRUNK + 13}" y="{here + 5}">{escape(text_of(chapter.file).title)}</text>'
            "</a></g>"
        )
    return (
        f'<figure class="book-map"><svg viewBox="0 0 {WIDTH} {y + 8}" role="group" '
        f'aria-label="The chapters in reading order">{"".join(drawn)}</svg></figure>'
    )


def needs(chapter: Page) -> list[str]:
    """Return the pages that a chapter's *You need* links to."""
    here = posixpath.dirname(chapter.file.src_uri)
    links = LINK.findall("".join(NEEDS.findall(text_of(chapter.file).prose)[:1]))
    return [posixpath.normpath(posixpath.join(here, link)) for link in links]


def _line(above: int, below: int) -> str:
    """Draw a line from a chapter to one that it builds on; longer lines curve farther out."""
    out = TRUNK - min(TRUNK - 4, 8 + 0.34 * (below - above)) * 1.3
    return f'<path d="M{TRUNK} {below}C{out:.0f} {below} {out:.0f} {above} {TRUNK} {above}"/>'


def _summarized(chapter: Page, here: str) -> str:
    """Link to a chapter, and say what it's about."""
    text = text_of(chapter.file)
    return f"[{text.title}]({_path(chapter, here)}): {text.meta['summary']}"


def _path(page: Page, here: str) -> str:
    return posixpath.relpath(page.file.src_uri, here or ".")


def _in_order(name: str) -> str:
    """Return what a name is sorted by: its letters and digits."""
    return re.sub(r"[^a-z0-9 ]", "", name.lower()).strip() or name


def _address(url: str) -> str:
    """Return the search's address for a page: the home page's is empty."""
    return "" if url == "./" else url
