"""What several plugins need of the engine, of MkDocs, and of Python-Markdown."""

from collections.abc import Callable
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.pages import Page

from proofbook.integrations.mkdocs import ProofbookPlugin


class TreeStep(Extension, Treeprocessor):
    """A Markdown extension that changes the tree of each page once, in `run`.

    Attributes:
        step: Its name, and its priority: what has a higher one runs earlier.
    """

    step: tuple[str, float]

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (Python-Markdown's name)
        """Run when a page is converted."""
        self.md = md
        md.treeprocessors.register(self, *self.step)


def engine_of(config: MkDocsConfig) -> ProofbookPlugin | None:
    """Return the engine, or `None` if the book is built without it, for comparison."""
    found = config.plugins.get("proofbook")
    return found if isinstance(found, ProofbookPlugin) else None


def remembered(config: MkDocsConfig, function: Callable[..., str], *given: Any) -> str:
    """Return the result of a pure function, which the engine keeps from build to build."""
    engine = engine_of(config)
    if engine is None or engine.book is None:
        return function(*given)
    return str(engine.book.memo.get(function, *given))


def part_of(page: Page) -> str:
    """Return the title of the part that a page belongs to; "" for pages before the first part."""
    ancestors = list(page.ancestors)
    return str(ancestors[-1].title) if ancestors else ""


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
