"""The plugin that describes a page to those who haven't opened it."""

import json
import subprocess
import sys
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from mkdocs.config.base import LegacyConfig
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from glassbook.site.opening import OPENED, is_chapter
from glassbook.site.sharing.description import described

FOLDER = "assets/cards/"
HOME = "index"
LICENSE = "https://www.apache.org/licenses/LICENSE-2.0"


class SharingPlugin(BasePlugin[LegacyConfig]):
    """Describes each page; where the site has an address, draws a picture for each chapter."""

    def __init__(self) -> None:
        self.cards: dict[str, tuple[str, str]] = {}
        self.is_served = False

    def on_startup(self, *, command: str, **_: object) -> None:
        """Note whether the site is only served; this event keeps the plugin across rebuilds."""
        self.is_served = command == "serve"

    @event_priority(-200)  # when the text of a page is complete, but before the book on one page
    def on_page_context(
        self, context: Any, /, *, page: Page, config: MkDocsConfig, nav: Navigation
    ) -> None:
        """Give the template what `overrides/main.html` puts into the head of a page."""
        html = page.content or ""
        description = str(page.meta.get("description") or described(html))
        picture = None
        if config.site_url:
            picture = f"{FOLDER}{self._card(page, html, description)}.png"
        data = structured(page, config, description, picture)
        page.meta["description"] = escape(description)
        context["sharing"] = {
            "type": "book" if page.is_homepage else "article",
            "title": escape(title_of(page)),
            "image": picture and urljoin(config.site_url or "", picture),
            "data": data,
        }

    def _card(self, page: Page, html: str, description: str) -> str:
        """Name the picture of a page, and record what is on it: its title and its question."""
        if page.is_homepage:
            self.cards[HOME] = (title_of(page), "time flies like an arrow")
            return HOME
        question, mark, _ = description.partition("?")
        if OPENED not in html or not mark:
            return HOME
        name = page.url.strip("/").replace("/", "-")
        self.cards[name] = (title_of(page), question + mark)
        return name

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Draw the pictures in a separate process, since a model reads the words on them.

        Nobody shares what is only served.

        Raises:
            PluginError: The process failed.
        """
        if self.is_served or not config.site_url:
            return
        root = Path(config.config_file_path).parent
        job = {
            "folder": str(Path(config.site_dir, FOLDER)),
            "kept": str(root / ".cache/cards"),
            "book": config.site_name,
            "cards": {name: list(card) for name, card in sorted(self.cards.items())},
        }
        done = subprocess.run(
            [sys.executable, "-m", "glassbook.site.sharing.cards"],
            input=json.dumps(job),
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise PluginError(f"the pictures of the chapters could not be drawn:\n{done.stderr}")


def title_of(page: Page) -> str:
    """Return the title of a page as text; MkDocs stores a heading's title as HTML."""
    return str(page.meta.get("title") or unescape(str(page.title)))


def structured(
    page: Page, config: MkDocsConfig, description: str, picture: str | None
) -> dict[str, Any]:
    """Describe a page to programs, in the terms of schema.org.

    Addresses are included if the site has one.

    Args:
        page: The page.
        config: The site's configuration.
        description: What the page is about.
        picture: The address of its picture in the site; None if the site has no address.
    """
    book = {
        "@type": "Book",
        "name": config.site_name,
        "author": {"@type": "Organization", "name": config.site_author},
        "inLanguage": "en",
        "license": LICENSE,
        "isAccessibleForFree": True,
    }
    if config.site_url:
        book["url"] = config.site_url
    if page.is_homepage:
        own = book
    else:
        own = {
            "@type": "Chapter" if is_chapter(page) else "WebPage",
            "name": unescape(str(page.title)),
        }
        own |= {"inLanguage": "en", "isPartOf": book}
        if tags := page.meta.get("tags"):
            own["keywords"] = [str(tag) for tag in tags]
    own = {"@context": "https://schema.org", **own, "description": description}
    if page.canonical_url and picture:
        own |= {"url": page.canonical_url, "image": urljoin(config.site_url or "", picture)}
    return own
