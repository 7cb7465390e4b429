"""Check texts that plugins convert with a book's Markdown extensions, besides its pages.

A page is shown by an extension of its own, which only its conversion gets. All others get this one:
what it shows is checked too, and belongs to no page.
"""

from collections.abc import Callable

from proofbook.parsing.markdown_processors import MarkingExtension, Renderer
from proofbook.parsing.source import Marks, SourceText
from proofbook.rendering.page_renderer import PageRenderer


class AsideRenderer(PageRenderer):
    """Shows a text with its outputs and values, but no signs and no foot: a page has those once."""

    def open(self, text: str) -> SourceText:
        """Look the text up among the pages, or check it now."""
        self.checked = self.book.aside(text)
        self.path = self.known.page.chapter.path
        return self.known.page.source

    def claim(self, index: int) -> Marks | None:
        """Mark a claim only with what is wrong with it."""
        found = super().claim(index)
        if found is None or self._claim_problems(index) or not found[2]:
            return found
        return found[0], found[1], "</span>"

    def ends(self) -> tuple[str, str]:
        """Leave the ends to pages."""
        return "", ""


class AsideExtension(MarkingExtension):
    """What every conversion gets but those of the pages.

    Args:
        make: Makes the renderer of a text beside the pages; None before there is a book.
        tell: Hears of each text that is converted within a page.
    """

    def __init__(self, make: Callable[[], Renderer | None], tell: Callable[[str], None]) -> None:
        self.make = make
        self.tell = tell
        super().__init__()

    def begin(self) -> Renderer | None:
        """Return a renderer of its own for each text."""
        return self.make()

    def pass_by(self, text: str) -> None:
        """Tell of a text that is converted within a page."""
        self.tell(text)
