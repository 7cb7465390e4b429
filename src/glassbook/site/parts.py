"""The parts of the book, as the navigation lists them."""

from mkdocs.structure.pages import Page


def part_of(page: Page) -> str:
    """Return the title of the part that a page belongs to; "" for pages before the first part."""
    ancestors = list(page.ancestors)
    return str(ancestors[-1].title) if ancestors else ""
