"""Parse a chapter: what of it runs, what of it is claimed, and where."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from markdown.extensions import Extension
from markdown.util import ETX, STX

from proofbook.fates import Fates, follow, recall
from proofbook.inline import names
from proofbook.model import Block, Chapter, Claim
from proofbook.problems import Problem
from proofbook.sheet import Sheet
from proofbook.shelf import Shelf
from proofbook.symbols import given_values
from proofbook.weave import BROUGHT

FRONT_MATTER = re.compile(r"(?:---[ ]*\n.*?\n(?:---|\.\.\.)[ ]*\n)?\n*", re.DOTALL)


@dataclass(frozen=True)
class Page:
    """A chapter with the text that it was parsed from.

    Attributes:
        chapter: What runs and what is claimed.
        sheet: The fences and claims of the text, those that the page does not show included.
        offset: How many lines of the file come before the sheet's.
        blocks: For each fence of the sheet that runs, by index, which block of the chapter it is.
        claims: For each claim of the sheet that counts, by index, which claim of the chapter it is.
        literals: Indexes of the literals of the sheet that count.
        shown: Indexes of the fences that the page shows as fences.
        symbols: For each symbol whose value the front matter gives, which claim fills it in.
        problems: What is wrong with the page before anything runs.
    """

    chapter: Chapter
    sheet: Sheet
    offset: int = 0
    blocks: Mapping[int, int] = field(default_factory=dict)
    claims: Mapping[int, int] = field(default_factory=dict)
    literals: frozenset[int] = frozenset()
    shown: frozenset[int] = frozenset()
    symbols: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def parse(
    path: str,
    text: str,
    extensions: Sequence[str | Extension] = BROUGHT,
    configs: Mapping[str, Mapping[str, Any]] | None = None,
    shelf: Shelf | None = None,
) -> Page:
    """Parse the text of a chapter as Markdown with these extensions would show it.

    A fence or claim within a comment or an indented code block is no part of the chapter; one
    that is lost on the way to the page, or ends up where it cannot be shown, is a problem.
    """
    whole = normal(text)
    body, offset = split_front_matter(whole)
    look = follow if shelf is None else partial(recall, shelf=shelf)
    fates = look(body, extensions, configs or {})
    sheet = fates.sheet
    shown = [index for index in range(len(sheet.fences)) if ("fence", index) in fates.seen]
    run = [index for index in shown if sheet.fences[index].runs]
    spans = [index for index in range(len(sheet.spans)) if ("claim", index) in fates.seen]
    claimed = [index for index in spans if not sheet.spans[index].reason]
    blocks = tuple(_block(sheet, index, offset) for index in run)
    claims = tuple(_claim(sheet, index, offset, blocks) for index in claimed)
    values, faults = given_values(whole, len(blocks))
    return Page(
        Chapter(path, blocks, (*claims, *values.values()), names(sheet)),
        sheet,
        offset,
        {index: number for number, index in enumerate(run)},
        {index: number for number, index in enumerate(claimed)},
        frozenset(spans) - frozenset(claimed),
        frozenset(shown),
        {key: number for number, key in enumerate(values, len(claims))},
        tuple(
            sorted(
                [
                    *(Problem(path, *fault) for fault in faults),
                    *(
                        Problem(path, offset + line, message, code)
                        for line, message, code in _problems(fates, shown, offset)
                    ),
                ]
            )
        ),
    )


def normal(text: str) -> str:
    """A text as Python-Markdown normalises it: its own two signs, line ends, tabs, blank lines."""
    text = text.removeprefix("\ufeff").replace(STX, "").replace(ETX, "")
    text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    return re.sub(r"(?<=\n) +\n", "\n", text)


def split_front_matter(text: str) -> tuple[str, int]:
    """The text without its front matter and first empty lines, and how many lines that took."""
    match = FRONT_MATTER.match(text)
    assert match is not None
    return text[match.end() :], match[0].count("\n")


def _block(sheet: Sheet, index: int, offset: int) -> Block:
    fence = sheet.fences[index]
    return Block(fence.language, fence.code, offset + fence.line + 1, fence.timeout)


def _claim(sheet: Sheet, index: int, offset: int, blocks: Sequence[Block]) -> Claim:
    span = sheet.spans[index]
    line = offset + span.line
    place = sum(block.line <= line for block in blocks)
    return Claim("" if "value" in span.expressions else span.text, line, place, **span.expressions)


def _problems(fates: Fates, shown: list[int], offset: int) -> Iterator[tuple[int, str, str]]:
    """Line of the sheet, message and excerpt of all that is wrong before anything runs."""
    sheet = fates.sheet
    yield from sheet.faults
    for index, fence in enumerate(sheet.fences):
        if ("fence", index) not in fates.seen | fates.hidden:
            yield fence.line, "this fence does not reach the page", fence.code
    for index, span in enumerate(sheet.spans):
        excerpt = sheet.text[span.start : span.end]
        if ("claim", index) in fates.in_tag:
            yield span.line, "a claim cannot stand in an attribute, as an image's text is", excerpt
        elif ("claim", index) not in fates.seen | fates.hidden:
            yield span.line, "this claim does not reach the page", excerpt
    for code in fates.strays:
        if not any("fence" in message for _, message, _ in sheet.faults):
            yield _line_of(code, sheet.text) - 1, "this fence is shown and not run", code
    for braces in fates.left_over:
        if not any(braces.strip() in excerpt for _, _, excerpt in sheet.faults):
            yield _line_of(braces, sheet.text), "a claim's braces are left as text", braces
    yield from _repeated_ids(sheet, shown, offset)
    for index in [index for index in shown if sheet.fences[index].kind == "off"][1:]:
        fence = sheet.fences[index]
        yield fence.line, 'only one fence of a chapter may be exec="off"', fence.code


def _line_of(excerpt: str, text: str) -> int:
    return text[: max(text.find(excerpt), 0)].count("\n") + 1


def _repeated_ids(sheet: Sheet, shown: list[int], offset: int) -> Iterator[tuple[int, str, str]]:
    first: dict[str, int] = {}
    for fence in [sheet.fences[index] for index in shown]:
        name = fence.options.get("id", "")
        if name in first:
            yield fence.line, f"the id {name!r} stands at line {first[name]} already", name
        elif name:
            first[name] = offset + fence.line
