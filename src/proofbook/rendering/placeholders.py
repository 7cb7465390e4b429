"""Keep the markup of code and outputs out of a page while the page is processed tag by tag.

Markdown, the search index, and every plugin between them look at each tag of a page. A picture has
hundreds of tags, and so does a highlighted block, but only their words matter to the search.
"""

import re
from collections.abc import Callable

from proofbook.caching import fingerprint

Hold = Callable[[str, str], str]
"""Returns a placeholder for markup, given the markup and its searchable words."""

PLACE = re.compile(r'<div data-placeholder="(\w+)">.*?</div>', re.DOTALL)
COLORS = re.compile(r"</?(?:div|span)\b[^>]*>")


def at_once(markup: str, words: str) -> str:
    """Return the markup itself, without a placeholder."""
    return markup


def uncolored(code: str) -> str:
    """Return the markup of code without its colors, which the search doesn't need."""
    return COLORS.sub("", code)


class Placeholders:
    """Markup that waits until its page is ready."""

    def __init__(self) -> None:
        self._waiting: dict[str, str] = {}

    def put(self, markup: str, words: str) -> str:
        """Store markup; return its placeholder with these words, which must not contain a `div`."""
        key = fingerprint.digest(markup.encode())
        self._waiting[key] = markup
        return f'<div data-placeholder="{key}">{words}</div>'

    def put_back(self, html: str) -> str:
        """Put the markup of a page back in place."""
        return PLACE.sub(lambda place: self._waiting.get(place[1], place[0]), html)
