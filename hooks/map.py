"""The map of the book: which chapter builds on which, and what modules and tests belong to it.

A MkDocs hook. It reads the chapters' front matter, their lines *You need*, and the navigation, and
fills the empty elements with `data-map` that a page has left for it.
"""

import re
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url, meta

NEEDS = re.compile(r"^\*You need:\*(.+)$", flags=re.MULTILINE)
LINK = re.compile(r"\]\(([\w./-]+\.md)")
ROW, HEADING = 27, 38  # how far it is to the next chapter, and to the next part
TRUNK = 76  # where the chapters begin, right of the lines
WIDTH = 350

files: list[tuple[str, File]] = []


@dataclass(frozen=True)
class Chapter:
    """A chapter, as its own file describes it."""

    part: str
    title: str
    file: File
    modules: tuple[str, ...]
    needs: tuple[str, ...]


def on_nav(nav: Navigation, **_: object) -> None:
    """Remember the pages in reading order, each with the part that it stands in."""
    files[:] = [(page.ancestors[-1].title, page.file) for page in nav.pages if page.ancestors]


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Fill in the map, where the page has left room for it."""
    if "data-map=" not in html:
        return html
    chapters = [chapter for part, file in files if (chapter := chapter_of(part, file))]
    root = Path(config.config_file_path).parent
    html = html.replace('<div data-map="needs"></div>', picture(chapters, page))
    return html.replace('<div data-map="modules"></div>', table(chapters, page, root))


def chapter_of(part: str, file: File) -> Chapter | None:
    """What a page says of itself; nothing, if it names no modules and so is no chapter."""
    if not file.src_uri.endswith(".md") or not file.abs_src_path:
        return None
    path = Path(file.abs_src_path)
    title, modules, needs = described(path, path.stat().st_mtime_ns)
    if modules is None:
        return None
    here = Path(file.src_uri).parent
    return Chapter(part, title, file, modules, tuple(normal(here / link) for link in needs))


@cache
def described(path: Path, changed: int) -> tuple[str, tuple[str, ...] | None, tuple[str, ...]]:
    """Title, modules and needed pages of a file; `changed` makes an edited file a new one."""
    text, front = meta.get_data(path.read_text(encoding="utf-8"))
    found = NEEDS.search(text)
    modules = tuple(front["modules"]) if "modules" in front else None
    return front.get("title", path.stem), modules, tuple(LINK.findall(found[1] if found else ""))


def normal(path: Path) -> str:
    """A path without its `..`."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def picture(chapters: list[Chapter], page: Page) -> str:
    """The chapters in reading order, each with lines to those that it builds on."""
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
    """From a chapter up to one that it builds on; the farther, the wider the bend."""
    out = TRUNK - min(TRUNK - 4, 8 + 0.34 * (below - above)) * 1.3
    return f'<path d="M{TRUNK} {below}C{out:.0f} {below} {out:.0f} {above} {TRUNK} {above}"/>'


def table(chapters: list[Chapter], page: Page, root: Path) -> str:
    """Each chapter with the modules it teaches, what tests them, and what it builds on."""
    titles = {chapter.file.src_uri: chapter for chapter in chapters}

    def link(url: str, text: str) -> str:
        return f'<a href="{get_relative_url(url, page.url)}">{text}</a>'

    rows = []
    for chapter in chapters:
        names = [name.partition(".")[2] for name in chapter.modules]
        sources = [link(f"source/glassformer/{n}/", f"<code>{n}</code>") for n in names]
        tests = [
            link(f"source/tests/glassformer/test_{n}/", f"<code>test_{n}</code>") for n in names
        ]
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
