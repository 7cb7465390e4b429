"""The sections of a chapter's file, each with what a reader finds in it."""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from markdown.extensions.toc import slugify

CLAIM = re.compile(r"""[ ]*\{ (?!\#)(?:"[^"]*"|'[^']*'|[^{}"'])*\}""")
HEADING = re.compile(r"(#{1,6}) (.+?)(?: \{ #([\w-]+)[^{}]*\})?")
FENCE = re.compile(r"[> ]*(`{3,})(\w*)")


@dataclass
class Section:
    """A heading, and the lines below it up to the next heading that is no deeper."""

    level: int
    title: str
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


@cache
def read_sections(path: Path) -> dict[str, Section]:
    """The sections of a file by their anchors, without comments, claims and facts.

    Of a block that shows source, the name of what it shows is there.
    """
    text = re.sub(r"<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    found: dict[str, Section] = {}
    around: list[Section] = []  # the sections that a line is in, from the outermost
    fence, hidden = "", False
    for line in text.splitlines():
        mark = FENCE.match(line)
        if fence:
            if line.strip(" >") == fence:
                fence = ""
        elif mark:
            fence, hidden = mark[1], mark[2] == "facts"
        else:
            line = CLAIM.sub("", line)
            hidden = False
            if heading := HEADING.fullmatch(line):
                level, title, anchor = len(heading[1]), heading[2], heading[3]
                around = [one for one in around if one.level < level]
                for one in around:
                    one.lines.append(title)
                around.append(Section(level, title))
                found[anchor or slugify(title.replace("`", ""), "-")] = around[-1]
                continue
        if not hidden:
            for one in around:
                one.lines.append(line)
    return found
