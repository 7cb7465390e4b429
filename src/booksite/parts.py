"""The parts of the book, as the navigation has them."""

from mkdocs.structure.pages import Page


def part_of(page: Page) -> str:
    """Name the part of the book that a page belongs to; "" for those before the first."""
    ancestors = list(page.ancestors)
    return str(ancestors[-1].title) if ancestors else ""
