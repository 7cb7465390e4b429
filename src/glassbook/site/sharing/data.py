"""What a page is, for programs to read, in the terms of schema.org."""

from html import unescape
from typing import Any
from urllib.parse import urljoin

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

from glassbook.site.opening import is_chapter

LICENSE = "https://www.apache.org/licenses/LICENSE-2.0"


def structured(
    page: Page, config: MkDocsConfig, description: str, picture: str | None
) -> dict[str, Any]:
    """Describe a page; addresses are included if the site has one.

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
