"""Places that a page leaves for what is made at the build."""

from mkdocs.exceptions import PluginError
from mkdocs.structure.pages import Page


def fill(text: str, place: str, content: str, page: Page) -> str:
    """Put something into its place on a page.

    Args:
        text: The page, as Markdown or as HTML.
        place: The placeholder.
        content: What replaces it.
        page: The page, for the message.

    Raises:
        PluginError: there is not exactly one such place.
    """
    count = text.count(place)
    if count != 1:
        raise PluginError(
            f"docs/{page.file.src_uri}: {place!r} stands there {count} times, not once"
        )
    return text.replace(place, content)
