"""Check texts that plugins convert with a book's Markdown extensions but that aren't pages.

Each page's conversion gets a separate extension. All other conversions get this one: their texts
are checked too, but belong to no page.
"""

from collections.abc import Callable

from proofbook.parsing.markdown_processors import MarkingExtension, Renderer
from proofbook.parsing.source import Marks, SourceText
from proofbook.rendering.page_renderer import PageRenderer


class AsideRenderer(PageRenderer):
    """Shows a text with its outputs and values, without the proofs and footer that pages have."""

    def open(self, text: str) -> SourceText:
        """Look the text up among the pages, or check it now."""
        self.checked = self.book.aside(text)
        self.path = self.known.page.chapter.path
        return self.known.page.source

    def claim(self, index: int) -> Marks | None:
        """Mark a claim with its problems, if any, but without a sign."""
        found = super().claim(index)
        if found is None or self._claim_problems(index) or not found[2]:
            return found
        return found[0], found[1], "</span>"

    def ends(self) -> tuple[str, str]:
        """Return empty texts: only pages have something at their ends."""
        return "", ""


class AsideExtension(MarkingExtension):
    """The extension that every conversion gets, except a page's.

    Args:
        make: Returns a renderer for a text that isn't a page, or `None` before a book is open.
        tell: Called with each text that is converted within a page.
    """

    def __init__(self, make: Callable[[], Renderer | None], tell: Callable[[str], None]) -> None:
        self.make = make
        self.tell = tell
        super().__init__()

    def begin(self) -> Renderer | None:
        """Return a new renderer for each text."""
        return self.make()

    def pass_by(self, text: str) -> None:
        """Report a text that is converted within a page."""
        self.tell(text)
