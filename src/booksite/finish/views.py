"""What the views on a page bring along: styles, the same for many of them, and many numbers."""

import base64
import hashlib
import re
from pathlib import Path

from mkdocs.utils import get_relative_url, write_file

# A style of its own belongs to a drawing or a shadow tree; any other is the page's.
STYLES = re.compile(r"<(svg|template)\b.*?</\1>|<style>.*?</style>", re.DOTALL)
PACKED = re.compile(r'data-packed="([A-Za-z0-9+/]{40,}={0,2})"')


def styles_in_head(html: str) -> str:
    """Put each style once into the head."""
    head, end, body = html.partition("</head>")
    styles: dict[str, None] = {}

    def take(found: re.Match[str]) -> str:
        if found[1]:
            return found[0]
        styles[found[0]] = None
        return ""

    body = STYLES.sub(take, body)
    return head + "".join(styles) + end + body


def put_numbers_aside(html: str, url: str, site: Path) -> str:
    """Put the numbers of views into files of their own, which are fetched when a view is drawn.

    Args:
        html: The page.
        url: Its address in the site.
        site: The folder of the site.
    """

    def put_aside(found: re.Match[str]) -> str:
        data = base64.b64decode(found[1])
        target = f"assets/views/{hashlib.sha256(data).hexdigest()[:16]}.bin"
        write_file(data, str(site / target))
        return f'data-packed-url="{get_relative_url(target, url)}"'

    return PACKED.sub(put_aside, html)
