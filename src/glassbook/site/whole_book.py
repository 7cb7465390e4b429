"""Combine the book's pages into a single page, to read through, search, and print.

If a page's front matter has `whole_book`, its `<div data-whole-book></div>` is replaced by all
other pages of the navigation, in order, except those under `without`.

mkdocs-print-site-plugin (2.9) wasn't enough: it makes only the ids of headings, list items, and
forms unique, so the ids of signs, formulas, and drawings on different pages would clash. It also
copies a page before its pictures have been filled in.
"""

import re
from html import escape
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import urlsplit

from mkdocs.config.base import LegacyConfig
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from glassbook.site.common import fill, part_of
from glassbook.site.page_text import is_markdown, read_page

PLACE = "<div data-whole-book></div>"
# A part leaves out the code to copy, the ledger, the download link, and models that would run.
OWN = re.compile(
    r'<script type="application/json" class="proofbook-program">.*?</script>'
    r'|<a class="proofbook-copy".*?</a>'
    r'|<details class="proofbook-ledger">.*?</details>|<p class="proofbook-download".*?</p>'
    r'|<script type="module" src="[^"]*-glassformer-live-\w+\.js"></script>',
    re.DOTALL,
)
HEADING = re.compile(r"(</?h)([1-5])\b")
NAMES = "id|for|name|headers|popovertarget|aria-labelledby|aria-describedby|aria-controls"
LINKS = "href|src|xlink:href|data-scripts"
TAG = re.compile(rf'<[a-zA-Z][^<>]*?(?:\s(?:{NAMES}|{LINKS})="|url\(#)[^<>]*>')
# A shadow tree has separate ids, which only its script looks up.
SHADOW = re.compile(r"(<template\b.*?</template>)", re.DOTALL)
ATTRIBUTE = re.compile(rf'\s(?:({NAMES})|({LINKS}))="([^"]*)"|url\(#')


class WholeBookPlugin(BasePlugin[LegacyConfig]):
    """Makes the single page, which is rendered last."""

    def __init__(self) -> None:
        self.pages: list[Page] = []

    @event_priority(-300)  # once all files exist
    def on_files(self, files: Files, /, *, config: MkDocsConfig) -> Files:
        """Put the single page after all others, since it is made from them."""
        for file in list(files.documentation_pages()):
            if is_markdown(file) and "whole_book" in read_page(file.content_string).meta:
                files.remove(file)
                files.append(file)
        return files

    def on_nav(self, nav: Navigation, /, *, config: MkDocsConfig, files: Files) -> None:
        """Record the order of the pages."""
        self.pages = nav.pages

    @event_priority(-300)  # after everything else that changes a page's text
    def on_page_context(
        self, context: Any, /, *, page: Page, config: MkDocsConfig, nav: Navigation
    ) -> None:
        """Put all pages into the single page."""
        if "whole_book" not in page.meta:
            return
        without = tuple(page.meta["whole_book"]["without"])
        pages = [
            one
            for one in self.pages
            if one is not page and not one.file.src_uri.startswith(without)
        ]
        chapters = "".join(self._chapter(one, pages, page) for one in pages)
        book = f'<div class="whole-book no-copy">{contents(pages)}{chapters}</div>'
        page.content = fill(page.content or "", PLACE, book, page)

    def _chapter(self, page: Page, pages: list[Page], whole: Page) -> str:
        """Convert a page to a part of the single page."""
        names = tuple((other.url, name_of(other)) for other in pages)
        article = as_part(page.content or "", page.url, names, whole.url)
        part = escape(part_of(page))
        return f'<section id="{name_of(page)}" data-part="{part}">{article}</section>'


def name_of(page: Page) -> str:
    """Return the name of a page within the single page, which is the prefix of its ids."""
    return page.file.src_uri.rpartition(".")[0].replace("/", "-")


def contents(pages: list[Page]) -> str:
    """List the pages, part by part."""
    lines, last = [], ""
    for page in pages:
        if part_of(page) != last:
            last = part_of(page)
            lines.append(f'<li class="part">{escape(last)}</li>')
        lines.append(f'<li><a href="#{name_of(page)}">{escape(str(page.title))}</a></li>')
    return f'<nav aria-label="Contents of the book"><ul>{"".join(lines)}</ul></nav>'


def as_part(article: str, url: str, names: tuple[tuple[str, str], ...], whole: str) -> str:
    """Convert an article to a part: prefix its ids, keep links inside, and demote its headings.

    A rewriter based on `html.parser` gave exactly the same result, but took nine times as long.

    Args:
        article: The page's HTML.
        url: The page's address.
        names: Address and name of each page that is a part.
        whole: The address of the single page.
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
        for part in SHADOW.split(OWN.sub("", article))
    )
    return HEADING.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", article)
