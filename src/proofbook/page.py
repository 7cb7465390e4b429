"""Parse a chapter: what of it runs, what of it is claimed, and where."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension

from proofbook.model import Block, Chapter, Claim
from proofbook.problems import Problem
from proofbook.sheet import Marks, Sheet, read
from proofbook.weave import BROUGHT, TAG, Weaver

FRONT_MATTER = re.compile(r"(?:---[ ]*\n.*?\n(?:---|\.\.\.)[ ]*\n)?\n*", re.DOTALL)
PIECE = re.compile(
    r"(?P<hidden><!--.*?-->|<pre\b.*?</pre>)"
    r"|(?P<code><code\b.*?</code>)"
    r"|(?P<tag><[a-zA-Z](?:\"[^\"]*\"|'[^']*'|[^'\">])*>)"
    r"|⟦(?P<kind>fence|claim|end|stray) (?P<index>\d+)⟧",
    re.DOTALL,
)
MARK = re.compile(r"⟦(fence|claim) (\d+)⟧")
REVERTED = re.compile(rf"{TAG}=(?:&quot;|\")(\d+)")
LEFT_AS_TEXT = "the braces of a claim are left as text on the page"
LEFT_OVER = re.compile(r"\{:?\s*(?:(?:equals|value)\s*=|holds(?=[\s=}]))[^}\n]*\}?")


@dataclass(frozen=True)
class Page:
    """A chapter with the text that it was parsed from.

    Attributes:
        chapter: What runs and what is claimed.
        sheet: The fences and claims of the text, those that the page does not show included.
        offset: How many lines of the file come before the sheet's.
        blocks: For each fence of the sheet that runs, by index, which block of the chapter it is.
        claims: For each claim of the sheet that counts, by index, which claim of the chapter it is.
        shown: Indexes of the fences that the page shows as fences.
        problems: What is wrong with the page before anything runs.
    """

    chapter: Chapter
    sheet: Sheet
    offset: int = 0
    blocks: dict[int, int] = field(default_factory=dict)
    claims: dict[int, int] = field(default_factory=dict)
    shown: frozenset[int] = frozenset()
    problems: tuple[Problem, ...] = ()


def parse(
    path: str,
    text: str,
    extensions: Sequence[str | Extension] = BROUGHT,
    configs: Mapping[str, Mapping[str, Any]] | None = None,
) -> Page:
    """Parse the text of a chapter as Markdown with these extensions would show it.

    A fence or claim within a comment or an indented code block is no part of the chapter; one
    that is lost on the way to the page, or ends up where it cannot be shown, is a problem.
    """
    body, offset = split_front_matter(normal(text))
    collector = _Collector()
    weaver = Weaver()
    weaver.turn(collector)
    options = {name: dict(config) for name, config in (configs or {}).items()}
    html = Markdown(extensions=[*extensions, weaver], extension_configs=options).convert(body)
    return _assemble(
        path,
        collector.open(body) if collector.sheet is None else collector.sheet,
        offset,
        _fates(html),
    )


def normal(text: str) -> str:
    """A text as Python-Markdown normalises it: line ends, tabs, lines of blanks."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    return re.sub(r"(?<=\n) +\n", "\n", text)


def split_front_matter(text: str) -> tuple[str, int]:
    """The text without its front matter and first empty lines, and how many lines that took."""
    match = FRONT_MATTER.match(text)
    assert match is not None
    return text[match.end() :], match[0].count("\n")


class _Collector:
    """Leaves a recognisable mark for each fence and claim."""

    wants_strays = True

    def __init__(self) -> None:
        self.sheet: Sheet | None = None
        self.strays: list[str] = []

    def open(self, text: str) -> Sheet:
        self.sheet = read(text)
        return self.sheet

    def has_fence(self, index: int) -> bool:
        return True

    def fence(self, index: int, md: Markdown) -> str:
        return f"<div>⟦fence {index}⟧</div>"

    def stray(self, code: str) -> str:
        self.strays.append(code)
        return f"<div>⟦stray {len(self.strays) - 1}⟧</div>"

    def claim(self, index: int) -> Marks | None:
        assert self.sheet is not None
        span = self.sheet.spans[index]
        return f"⟦claim {index}⟧", self.sheet.text[slice(*span.inner)], f"⟦end {index}⟧"

    def ends(self) -> tuple[str, str]:
        return "", ""


@dataclass(frozen=True)
class _Fates:
    """What became of each mark: seen on the page, hidden in code or a comment, inside a tag."""

    seen: set[tuple[str, int]]
    hidden: set[tuple[str, int]]
    in_tag: set[tuple[str, int]]
    left_over: list[str]


def _fates(html: str) -> _Fates:
    fates = _Fates(set(), set(), set(), [])
    visible: list[str] = []
    at = 0
    for piece in PIECE.finditer(html):
        visible.append(html[at : piece.start()])
        at = piece.end()
        if piece["index"]:
            fates.seen.add((piece["kind"], int(piece["index"])))
            continue
        marks = {(kind, int(index)) for kind, index in MARK.findall(piece[0])}
        if piece["code"]:
            fates.seen.update(marks)
        elif piece["hidden"]:
            fates.hidden.update(marks)
            fates.hidden.update(("fence", int(index)) for index in REVERTED.findall(piece[0]))
        else:
            fates.in_tag.update(marks)
    visible.append(html[at:])
    fates.left_over.extend(LEFT_OVER.findall(unescape("\0".join(visible))))
    return fates


def _assemble(path: str, sheet: Sheet, offset: int, fates: _Fates) -> Page:
    problems = [Problem(path, offset + line, message, code) for line, message, code in sheet.faults]
    blocks: dict[int, int] = {}
    claims: dict[int, int] = {}
    block_list: list[Block] = []
    claim_list: list[Claim] = []
    shown = set()
    for index, fence in enumerate(sheet.fences):
        if ("fence", index) in fates.seen:
            shown.add(index)
            if fence.runs:
                blocks[index] = len(block_list)
                timeout = _seconds(fence.options.get("timeout"))
                line = offset + fence.line + 1
                block_list.append(Block(fence.language, fence.code, line, timeout))
        elif ("fence", index) not in fates.hidden:
            problems.append(
                Problem(path, offset + fence.line, "this fence does not reach the page", fence.code)
            )
    lines = [block.line for block in block_list]
    for index, span in enumerate(sheet.spans):
        line = offset + span.line
        excerpt = sheet.text[span.start : span.end]
        if ("claim", index) in fates.in_tag:
            message = "a claim cannot stand in an attribute (an alternative text, a title)"
            problems.append(Problem(path, line, message, excerpt))
        elif ("claim", index) in fates.seen:
            claims[index] = len(claim_list)
            place = sum(1 for first in lines if first <= line)
            text = "" if "value" in span.expressions else span.text
            claim_list.append(Claim(text, line, place, **span.expressions))
        elif ("claim", index) not in fates.hidden:
            problems.append(Problem(path, line, "this claim does not reach the page", excerpt))
    problems += _repeated_ids(path, sheet, offset, shown)
    problems += _switched_off(path, sheet, offset, shown)
    problems += [
        Problem(path, offset + _line_of(text, sheet.text), LEFT_AS_TEXT, text)
        for text in fates.left_over
        if not any(text[:12] in fault[2] for fault in sheet.faults)
    ]
    chapter = Chapter(path, tuple(block_list), tuple(claim_list))
    return Page(chapter, sheet, offset, blocks, claims, frozenset(shown), tuple(sorted(problems)))


def _line_of(excerpt: str, text: str) -> int:
    return text[: max(text.find(excerpt), 0)].count("\n") + 1


def _seconds(timeout: str | None) -> float | None:
    try:
        return None if timeout is None else float(timeout)
    except ValueError:
        return None


def _repeated_ids(path: str, sheet: Sheet, offset: int, shown: set[int]) -> list[Problem]:
    problems = []
    first: dict[str, int] = {}
    for index in sorted(shown):
        fence = sheet.fences[index]
        name = fence.options.get("id")
        if name in first:
            message = f"the id {name!r} stands at line {first[name]} already"
            problems.append(Problem(path, offset + fence.line, message))
        elif name:
            first[name] = offset + fence.line
    return problems


def _switched_off(path: str, sheet: Sheet, offset: int, shown: set[int]) -> list[Problem]:
    off = [sheet.fences[i] for i in sorted(shown) if sheet.fences[i].kind == "off"]
    message = 'a chapter may switch off one fence with exec="off"; this is another'
    return [Problem(path, offset + fence.line, message, fence.code) for fence in off[1:]]
