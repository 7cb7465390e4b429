"""Format a page's opening: what readers will know, what they need, and the page's sections.

It is one paragraph under the question at the top of a page. In a chapter, a box with the sections
follows, for windows that are too narrow for a table of contents.
"""

from typing import Any
from xml.etree.ElementTree import Element

from mkdocs.config.base import LegacyConfig
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from glassbook.site.common import TreeStep, fill

GIVES, TAKES = "You will know:", "You need:"
OPENED = '<p class="opening">'
BODY = "<body "


class OpeningPlugin(BasePlugin[LegacyConfig]):
    """Marks openings and chapters."""

    def __init__(self) -> None:
        self.opening = Opening()

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Add the Markdown extension that finds openings."""
        config.markdown_extensions = [*config.markdown_extensions, self.opening]
        return config

    def on_page_markdown(
        self, markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> None:
        """Tell the extension whether the next page is a chapter."""
        self.opening.boxed = is_chapter(page)

    def on_post_page(self, output: str, /, *, page: Page, config: MkDocsConfig) -> str:
        """Mark a chapter; the style sheet numbers its sections, including in the contents."""
        return fill(output, BODY, f'{BODY}class="chapter" ', page) if is_chapter(page) else output


def is_chapter(page: Page) -> bool:
    """Return whether a page is a chapter; chapters name the modules that they teach."""
    return "modules" in page.meta


class Opening(TreeStep):
    """Finds the opening of a page.

    Attributes:
        boxed: Whether a box with the page's sections follows.
    """

    step = "opening", 4  # after the table of contents has been made
    boxed = False

    def run(self, root: Element) -> None:
        """Mark the first paragraph that is an opening, and put the box after it."""
        for place, block in enumerate(root):
            if block.tag == "p" and _is_opening(block):
                block.set("class", "opening")
                if self.boxed:
                    box = Element("p")
                    box.text = self.md.htmlStash.store(contents(getattr(self.md, "toc_tokens", [])))
                    box.tail, block.tail = block.tail, None
                    root.insert(place + 1, box)
                return


def _is_opening(paragraph: Element) -> bool:
    """Return whether a paragraph says first what readers will know, then what they need."""
    said = [part.text for part in paragraph if part.tag == "em"]
    return not paragraph.text and said[:1] == [GIVES] and TAKES in said


def contents(tokens: list[dict[str, Any]]) -> str:
    """Make a box with the sections of a page, from its table of contents."""
    sections = [one for top in tokens for one in top["children"]]
    items = "".join(f'<li><a href="#{one["id"]}">{one["name"]}</a></li>' for one in sections)
    return (
        '<details class="contents" data-search-exclude><summary>In this chapter</summary>'
        f"<ol>{items}</ol></details>"
    )
