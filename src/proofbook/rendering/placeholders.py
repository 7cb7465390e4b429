"""Keeps markup of code and outputs out of pages while these are read tag by tag.

Markdown, the search index and every plugin between them look at each tag of a page.
A picture has hundreds, and so has a block in colors; what there is to find in them are words.
"""

import re
from collections.abc import Callable

from proofbook.caching import fingerprint

Hold = Callable[[str, str], str]
"""Returns a placeholder for markup, given the words in it that can be searched for."""

PLACE = re.compile(r'<div data-placeholder="(\w+)">.*?</div>', re.DOTALL)
COLORS = re.compile(r"</?(?:div|span)\b[^>]*>")


def at_once(markup: str, words: str) -> str:
    """Return the markup itself, without a placeholder."""
    return markup


def uncolored(code: str) -> str:
    """Markup of code without its colors: what the search needs of it."""
    return COLORS.sub("", code)


class Placeholders:
    """Markup that waits for its page to be ready."""

    def __init__(self) -> None:
        self._waiting: dict[str, str] = {}

    def put(self, markup: str, words: str) -> str:
        """Keep markup; return its placeholder, with these words and no `div` in them."""
        key = fingerprint.digest(markup.encode())
        self._waiting[key] = markup
        return f'<div data-placeholder="{key}">{words}</div>'

    def put_back(self, html: str) -> str:
        """Put the markup of a page in place."""
        return PLACE.sub(lambda place: self._waiting.get(place[1], place[0]), html)
