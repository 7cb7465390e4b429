"""The book on one page, to read through, to search, and to print: made of the pages as they are.

A MkDocs hook. A page whose front matter says `whole_book` gets all others of the navigation, in
its order, in place of its `<div data-whole-book></div>`; those under `without` are left out.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import urlsplit

from markup import finished
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

PLACE = "<div data-whole-book></div>"
ARTICLE = re.compile(r'<article class="md-content__inner md-typeset">(.*)</article>', re.DOTALL)
# What belongs to a page by itself: what is copied, what was verified, the buttons at its top.
OWN = re.compile(
    r'<script type="application/json" class="proofbook-payload">.*?</script>'
    r'|<a [^>]*class="md-content__button[^>]*>.*?</a>'
    r'|<details class="proofbook-ledger">.*?</details>'
    r'|<p class="proofbook-download">.*?</p>',
    re.DOTALL,
)
HEADING = re.compile(r"(</?h)([1-5])\b")
NAMES = "id|for|name|headers|popovertarget|aria-labelledby|aria-describedby|aria-controls"
LINKS = "href|src|xlink:href|data-scripts"
TAG = re.compile(rf'<[a-zA-Z][^<>]*?(?:\s(?:{NAMES}|{LINKS})="|url\(#)[^<>]*>')
# A shadow tree has ids of its own, which only its script looks for.
SHADOW = re.compile(r"(<template\b.*?</template>)", re.DOTALL)
ATTRIBUTE = re.compile(rf'\s(?:({NAMES})|({LINKS}))="([^"]*)"|url\(#')


@dataclass
class Book:
    """What one build has gathered: the pages in order, their articles, and the page to fill."""

    pages: list[Page]
    articles: dict[str, str]
    whole: Page | None = None


book = Book([], {})


def on_nav(nav: Navigation, *, config: MkDocsConfig, files: Files) -> None:
    """Begin a book with the pages in their order."""
    global book
    book = Book(nav.pages, {})


@event_priority(50)  # before styles and numbers are taken out of the page
def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> None:
    """Keep the article of a page."""
    if "whole_book" in page.meta:
        book.whole = page
    elif found := ARTICLE.search(output):
        book.articles[page.url] = found[1]


def on_post_build(*, config: MkDocsConfig) -> None:
    """Put all articles into the one page."""
    if book.whole is None:
        return
    without = tuple(book.whole.meta["whole_book"]["without"])
    pages = [
        page
        for page in book.pages
        if page.url in book.articles and not page.file.src_uri.startswith(without)
    ]
    file = Path(config.site_dir, book.whole.file.dest_uri)
    html = file.read_text(encoding="utf-8")
    if PLACE not in html:
        raise PluginError(f"docs/{book.whole.file.src_uri}: nowhere stands {PLACE}")
    chapters = "".join(chapter(page, pages, book.whole) for page in pages)
    html = html.replace(PLACE, f'<div class="whole-book no-copy">{contents(pages)}{chapters}</div>')
    file.write_text(finished(html, book.whole, config), encoding="utf-8")


def name_of(page: Page) -> str:
    """What a page is called within the one page, and what its ids begin with."""
    return page.file.src_uri.rpartition(".")[0].replace("/", "-")


def part_of(page: Page) -> str:
    """The part of the book that a page belongs to; empty for those before the first."""
    return page.ancestors[-1].title if page.ancestors else ""


def contents(pages: list[Page]) -> str:
    """The table of contents, part by part."""
    lines, last = [], ""
    for page in pages:
        if part_of(page) != last:
            last = part_of(page)
            lines.append(f'<li class="part">{escape(last)}</li>')
        lines.append(f'<li><a href="#{name_of(page)}">{escape(str(page.title))}</a></li>')
    return f'<nav aria-label="Contents of the book"><ul>{"".join(lines)}</ul></nav>'


def chapter(page: Page, pages: list[Page], whole: Page) -> str:
    """A page as a part of the one page."""
    names = tuple((other.url, name_of(other)) for other in pages)
    article = fitted(OWN.sub("", book.articles[page.url]), page.url, names, whole.url)
    return f'<section id="{name_of(page)}" data-part="{escape(part_of(page))}">{article}</section>'


@lru_cache(maxsize=256)  # under `mkdocs serve`, most pages are what they were
def fitted(article: str, url: str, names: tuple[tuple[str, str], ...], whole: str) -> str:
    """An article as a part: ids that name its page, links that stay within, headings one lower.

    Args:
        article: The page's text as HTML.
        url: The page's address.
        names: Address and name of each page that is a part.
        whole: The address of the one page.
    """
    inside = dict(names)
    name = inside[url]

    def link(address: str) -> str:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            return address
        anchor = f"--{parts.fragment}" if parts.fragment else ""
        if not parts.path:
            return f"#{name}{anchor}"
        there = normpath(join(dirname(url) if url else "", parts.path))
        there += "/" if parts.path.endswith("/") or parts.path in (".", "..") else ""
        there = "" if there in (".", "./") else there
        if there in inside:
            return f"#{inside[there]}{anchor}"
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        return get_relative_url(there, whole) + fragment

    def attribute(found: re.Match[str]) -> str:
        if found[1]:
            names = " ".join(f"{name}--{one}" for one in found[3].split())
            return f' {found[1]}="{names}"'
        if found[2]:
            return f' {found[2]}="{" ".join(map(link, found[3].split(" ")))}"'
        return f"url(#{name}--"

    article = "".join(
        part if SHADOW.match(part) else TAG.sub(lambda tag: ATTRIBUTE.sub(attribute, tag[0]), part)
        for part in SHADOW.split(article)
    )
    return HEADING.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", article)
