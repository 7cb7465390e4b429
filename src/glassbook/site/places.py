"""Fill in placeholders on pages with generated content."""

from mkdocs.exceptions import PluginError
from mkdocs.structure.pages import Page


def fill(text: str, place: str, content: str, page: Page) -> str:
    """Replace a placeholder on a page with its content.

    Args:
        text: The page, as Markdown or as HTML.
        place: The placeholder.
        content: The content that replaces it.
        page: The page, for the message.

    Raises:
        PluginError: The placeholder doesn't occur exactly once.
    """
    count = text.count(place)
    if count != 1:
        raise PluginError(
            f"docs/{page.file.src_uri}: {place!r} occurs {count} times instead of once"
        )
    return text.replace(place, content)
