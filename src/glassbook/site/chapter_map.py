"""Draw the map of the book: what each chapter builds on, and its modules and tests.

It reads the chapters' front matter, their *You need* lines, and the navigation, and fills in the
two empty `data-map` elements of a page.
"""

import posixpath
import re
from dataclasses import dataclass
from html import escape

from mkdocs.config import config_options as options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from glassbook.site.common import fill, part_of
from glassbook.site.page_text import is_markdown, read_page
from glassbook.site.source_pages import address

NEEDS = re.compile(r"\*You need:\*(.+)$", flags=re.MULTILINE)
LINK = re.compile(r"\]\(([\w./-]+\.md)")
PICTURE, TABLE = '<div data-map="needs"></div>', '<div data-map="modules"></div>'
ROW, HEADING = 27, 38  # distances to the next chapter and to the next part
TRUNK = 76  # where the chapters begin, to the right of the lines
WIDTH = 350


@dataclass(frozen=True)
class Chapter:
    """A chapter, as described by its file and the navigation."""

    part: str
    title: str
    file: File
    modules: tuple[str, ...]
    needs: tuple[str, ...]


class ChapterMapConfig(Config):
    """The page with placeholders for the map, relative to the docs folder."""

    page = options.Type(str)


class ChapterMapPlugin(BasePlugin[ChapterMapConfig]):
    """Draws the map."""

    def __init__(self) -> None:
        self.chapters: list[Chapter] = []

    def on_nav(self, nav: Navigation, /, *, config: MkDocsConfig, files: Files) -> None:
        """Read the chapters in reading order, each with its part."""
        pages = [page for page in nav.pages if part_of(page) and is_markdown(page.file)]
        found = (self._chapter(part_of(page), page.file) for page in pages)
        self.chapters = [chapter for chapter in found if chapter]

    def on_page_content(
        self, html: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Fill in the map."""
        if page.file.src_uri != self.config.page:
            return html
        html = fill(html, PICTURE, picture(self.chapters, page), page)
        return fill(html, TABLE, table(self.chapters, page), page)

    def _chapter(self, part: str, file: File) -> Chapter | None:
        """Return a page's description of itself, or `None` if it isn't a chapter."""
        text = read_page(file.content_string)
        if "modules" not in text.meta:
            return None
        here = posixpath.dirname(file.src_uri)
        links = LINK.findall("".join(NEEDS.findall(text.prose)[:1]))
        needs = [posixpath.normpath(posixpath.join(here, link)) for link in links]
        return Chapter(part, text.title, file, tuple(text.meta["modules"]), tuple(needs))


def picture(chapters: list[Chapter], page: Page) -> str:
    """Draw the chapters in reading order, with lines to the chapters that each builds on."""
    heights, y, drawn = {}, 0, []
    part = ""
    for chapter in chapters:
        if chapter.part != part:
            part, y = chapter.part, y + HEADING
            drawn.append(f'<text class="part" x="{TRUNK}" y="{y - 4}">{escape(part)}</text>')
        y += ROW
        heights[chapter.file.src_uri] = y - 9
    for chapter in chapters:
        here = heights[chapter.file.src_uri]
        lines = "".join(line(heights[need], here) for need in chapter.needs if need in heights)
        url = get_relative_url(chapter.file.url, page.url)
        drawn.append(
            f'<g class="chapter">{lines}<a href="{url}"><circle cx="{TRUNK}" cy="{here}" r="4"/>'
            f'<text x="{TRUNK + 13}" y="{here + 5}">{escape(chapter.title)}</text></a></g>'
        )
    return (
        f'<figure class="book-map"><svg viewBox="0 0 {WIDTH} {y + 8}" role="group" '
        f'aria-label="The chapters in reading order">{"".join(drawn)}</svg></figure>'
    )


def line(above: int, below: int) -> str:
    """Draw a line from a chapter to one that it builds on; longer lines curve farther out."""
    out = TRUNK - min(TRUNK - 4, 8 + 0.34 * (below - above)) * 1.3
    return f'<path d="M{TRUNK} {below}C{out:.0f} {below} {out:.0f} {above} {TRUNK} {above}"/>'


def table(chapters: list[Chapter], page: Page) -> str:
    """List each chapter with its modules, their tests, and the chapters that it builds on."""
    titles = {chapter.file.src_uri: chapter for chapter in chapters}

    def link(url: str, text: str) -> str:
        return f'<a href="{get_relative_url(url, page.url)}">{text}</a>'

    rows = []
    for chapter in chapters:
        sources, tests = [], []
        for name in chapter.modules:
            folder, _, stem = name.replace(".", "/").rpartition("/")
            source, test = f"src/{folder}/{stem}.py", f"tests/{folder}/test_{stem}.py"
            sources.append(link(address(source), f"<code>{stem}</code>"))
            tests.append(link(address(test), f"<code>test_{stem}</code>"))
        needs = [
            link(titles[need].file.url, escape(titles[need].title))
            for need in chapter.needs
            if need in titles
        ]
        cells = [f"<td>{'<br>'.join(cell) or '–'}</td>" for cell in (sources, tests, needs)]
        first = link(chapter.file.url, escape(chapter.title))
        rows.append(f'<tr><th scope="row">{first}</th>{"".join(cells)}</tr>')
    head = "".join(f'<th scope="col">{n}</th>' for n in ("chapter", "module", "test", "builds on"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
