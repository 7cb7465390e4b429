"""Keeps pictures and other markup of outputs out of pages while these are read tag by tag.

Markdown, the index of the search and whoever changes a page between them look at each tag of it.
A picture has hundreds, and in none of them is there anything to find.
"""

import re

from proofbook import fingerprint

PLACE = re.compile(r'<div data-held="(\w+)"></div>')


class Held:
    """Markup that waits for its page to be ready."""

    def __init__(self) -> None:
        self._waiting: dict[str, str] = {}

    def put(self, markup: str) -> str:
        """Keep markup; gives what stands in its place."""
        key = fingerprint.digest(markup.encode())
        self._waiting[key] = markup
        return f'<div data-held="{key}"></div>'

    def put_back(self, html: str) -> str:
        """A page with its markup in place."""
        return PLACE.sub(lambda place: self._waiting.get(place[1], place[0]), html)
