"""Read a page's file before it is converted: its front matter, headings, fences, and prose.

No other module of this package parses these. The front matter is read as MkDocs reads it, and the
fences as the engine does.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import jupytext
from markdown.extensions.toc import slugify
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.utils import meta

from proofbook.parsing.fences import Fence, Scan, scan

HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
SECTION = re.compile(r"^##+ (.+?)(?: *\{ *#([\w-]+)[^{}\n]*\})?$", re.MULTILINE)


@dataclass(frozen=True, eq=False)  # two are equal only if they are the same object
class PageText:
    """The text of a page.

    Attributes:
        meta: Its front matter.
        body: The text after the front matter.
    """

    meta: Mapping[str, Any]
    body: str

    @cached_property
    def _scan(self) -> Scan:
        return scan(self.body)

    @property
    def fences(self) -> list[Fence]:
        """Its `python`, `pycon`, and `facts` fences, in reading order."""
        return self._scan.fences

    @cached_property
    def prose(self) -> str:
        """Its lines outside fences and comments."""
        return "\n".join(self.body[start:end] for start, end in self._scan.prose)

    @property
    def heading(self) -> str:
        """Its first heading; "" if it has none."""
        found = HEADING.search(self.prose)
        return found[1].strip() if found else ""

    @cached_property
    def _sections(self) -> list[tuple[int, str, str]]:
        """Where each section begins, with its anchor and its title."""
        found = (m for span in self._scan.prose for m in SECTION.finditer(self.body, *span))
        return [(m.start(), m[2] or slugify(m[1].replace("`", ""), "-"), m[1]) for m in found]

    @property
    def sections(self) -> dict[str, str]:
        """The titles of its sections, by their anchors."""
        return {anchor: title for _, anchor, title in self._sections}

    def section_at(self, fence: Fence) -> str:
        """Return the anchor of the section that a fence is in.

        Raises:
            ValueError: The fence comes before the first section.
        """
        above = [anchor for start, anchor, _ in self._sections if start < fence.header[0]]
        if not above:
            raise ValueError(f"the fence in line {fence.line} is in no section")
        return above[-1]

    @property
    def title(self) -> str:
        """The title in its front matter, or its first heading if there is none."""
        return str(self.meta.get("title") or self.heading)


@lru_cache(1024)  # several plugins read a page, and under `mkdocs serve` most stay as they are
def read_page(text: str) -> PageText:
    """Read the text of a Markdown file."""
    body, front = meta.get_data(text)
    return PageText(front, body)


@lru_cache(16)
def read_lab(script: str) -> PageText:
    """Read a lab, a script with cells, as the page that it could be."""
    cells = jupytext.reads(script, "py:percent").cells
    fenced = (
        f"```python\n{one.source}\n```" if one.cell_type == "code" else one.source for one in cells
    )
    return PageText({}, "\n\n".join(fenced))


def text_of(file: File) -> PageText:
    """Read the file of a page, or of a lab."""
    return (read_page if is_markdown(file) else read_lab)(file.content_string)


def text_at(name: str, files: Files) -> str:
    """Return the text of a page that has to be there.

    Raises:
        PluginError: It isn't.
    """
    file = files.get_file_from_path(name)
    if file is None:
        raise PluginError(f"there is no docs/{name}")
    return file.content_string


def is_markdown(file: File) -> bool:
    """Return whether a page is written in Markdown, which labs aren't."""
    return file.src_uri.endswith(".md")
