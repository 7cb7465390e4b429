"""What the file of a page says before anything converts it: front matter, headings, fences, prose.

It is read here and nowhere else in this package: the front matter as MkDocs reads it, the fences
as the engine does.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jupytext
from mkdocs.structure.files import File
from mkdocs.utils import meta

from proofbook.parsing.fences import Fence, Scan, scan

HEADING = re.compile(r"^# (.+)$", re.MULTILINE)


@dataclass(frozen=True, eq=False)  # two are one where their text was read once
class PageText:
    """The text of a page.

    Attributes:
        meta: its front matter.
        body: what follows the front matter.
    """

    meta: Mapping[str, Any]
    body: str

    @cached_property
    def _scan(self) -> Scan:
        return scan(self.body)

    @property
    def fences(self) -> list[Fence]:
        """Its `python` and `pycon` fences, in reading order."""
        return self._scan.fences

    @cached_property
    def prose(self) -> str:
        """Its lines outside fences and comments."""
        return "\n".join(self.body[start:end] for start, end in self._scan.prose)

    @property
    def heading(self) -> str:
        """Its first heading; "" where it has none."""
        found = HEADING.search(self.prose)
        return found[1].strip() if found else ""

    @property
    def title(self) -> str:
        """The title in its front matter, else its first heading."""
        return str(self.meta.get("title") or self.heading)


def read_page(text: str) -> PageText:
    """Read the text of a Markdown file."""
    body, front = meta.get_data(text)
    return PageText(front, body)


def read_lab(script: str) -> PageText:
    """Read the text cells of a lab, which is a script with cells."""
    cells = jupytext.reads(script, "py:percent").cells
    return PageText({}, "\n\n".join(one.source for one in cells if one.cell_type == "markdown"))


def is_markdown(file: File) -> bool:
    """Tell a page that is written in Markdown from a lab."""
    return file.src_uri.endswith(".md")
