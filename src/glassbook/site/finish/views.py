"""What the views on a page bring with them: styles, mostly shared, and many numbers."""

import base64
import hashlib
import re

from mkdocs.utils import get_relative_url

# Drawings and shadow trees have styles of their own; any other style is the page's.
STYLES = re.compile(r"<(svg|template)\b.*?</\1>|<style>.*?</style>", re.DOTALL)
PACKED = re.compile(r'data-packed="([A-Za-z0-9+/]{40,}={0,2})"')


def without_styles(html: str) -> tuple[str, list[str]]:
    """Move the styles, which belong in the head, out of the body of a page.

    Returns:
        The remaining HTML, and each style once.
    """
    styles: dict[str, None] = {}

    def take(found: re.Match[str]) -> str:
        if found[1]:
            return found[0]
        styles[found[0]] = None
        return ""

    return STYLES.sub(take, html), list(styles)


def numbers_aside(html: str, url: str) -> tuple[str, dict[str, bytes]]:
    """Move the numbers of views out of a page, which fetches them when a view is drawn.

    Args:
        html: The page.
        url: Its address in the site.

    Returns:
        The page without them, and the files with them, by their place in the site.
    """
    files = {}

    def put_aside(found: re.Match[str]) -> str:
        data = base64.b64decode(found[1])
        target = f"assets/views/{hashlib.sha256(data).hexdigest()[:16]}.bin"
        files[target] = data
        return f'data-packed-url="{get_relative_url(target, url)}"'

    return PACKED.sub(put_aside, html), files
