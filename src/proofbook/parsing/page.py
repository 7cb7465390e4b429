"""Parse a chapter: what of it runs, what of it is claimed, and where."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from markdown.extensions import Extension
from markdown.util import ETX, STX

from proofbook.caching.text_cache import TextCache
from proofbook.model import Block, Chapter, Claim
from proofbook.parsing.front_matter import files_read, split_front_matter, symbol_values
from proofbook.parsing.inline_code import names
from proofbook.parsing.source import SourceText
from proofbook.parsing.visibility import Visibility, follow, recall
from proofbook.problems import Problem
from proofbook.settings import ADDED_EXTENSIONS


@dataclass(frozen=True)
class Page:
    """A chapter with the text that it was parsed from.

    Attributes:
        chapter: What runs and what is claimed.
        source: The fences and claims of the text, those that the page does not show included.
        offset: How many lines of the file come before the source's.
        blocks: For each fence that runs, by its index, which block of the chapter it is.
        claims: For each claim that counts, by its index, which claim of the chapter it is.
        literals: Indexes of the literals of the source that count.
        shown: Indexes of the fences that the page shows as fences.
        symbols: For each symbol whose value the front matter gives, which claim fills it in.
        reads: The line of the front matter on which each file stands that the page says it reads.
        problems: What is wrong with the page before anything runs.
    """

    chapter: Chapter
    source: SourceText
    offset: int = 0
    blocks: Mapping[int, int] = field(default_factory=dict)
    claims: Mapping[int, int] = field(default_factory=dict)
    literals: frozenset[int] = frozenset()
    shown: frozenset[int] = frozenset()
    symbols: Mapping[str, int] = field(default_factory=dict)
    reads: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def parse(
    path: str,
    text: str,
    extensions: Sequence[str | Extension] = ADDED_EXTENSIONS,
    configs: Mapping[str, Mapping[str, Any]] | None = None,
    text_cache: TextCache | None = None,
) -> Page:
    """Parse the text of a chapter as Markdown with these extensions would show it.

    A fence or claim within a comment or an indented code block is no part of the chapter; one
    that is lost on the way to the page, or ends up where it cannot be shown, is a problem.
    """
    whole = normal(text)
    body, offset = split_front_matter(whole)
    look = follow if text_cache is None else partial(recall, text_cache=text_cache)
    visibility = look(body, extensions, configs or {})
    source = visibility.source
    shown = [index for index in range(len(source.fences)) if ("fence", index) in visibility.seen]
    run = [index for index in shown if source.fences[index].runs]
    spans = [index for index in range(len(source.spans)) if ("claim", index) in visibility.seen]
    claimed = [index for index in spans if not source.spans[index].reason]
    blocks = tuple(_block(source, index, offset) for index in run)
    claims = tuple(_claim(source, index, offset, blocks) for index in claimed)
    values, faults = symbol_values(whole, len(blocks))
    reads, unreadable = files_read(whole)
    return Page(
        Chapter(path, blocks, (*claims, *values.values()), names(source), tuple(sorted(reads))),
        source,
        offset,
        {index: number for number, index in enumerate(run)},
        {index: number for number, index in enumerate(claimed)},
        frozenset(spans) - frozenset(claimed),
        frozenset(shown),
        {key: number for number, key in enumerate(values, len(claims))},
        reads,
        tuple(
            sorted(
                [
                    *(Problem(path, *fault) for fault in (*faults, *unreadable)),
                    *(
                        Problem(path, offset + line, message, code)
                        for line, message, code in _problems(visibility, shown, offset)
                    ),
                ]
            )
        ),
    )


def normal(text: str) -> str:
    """Normalize a text as Python-Markdown does: its own two signs, line ends, tabs, blank lines."""
    text = text.removeprefix("\ufeff").replace(STX, "").replace(ETX, "")
    text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    return re.sub(r"(?<=\n) +\n", "\n", text)


def _block(source: SourceText, index: int, offset: int) -> Block:
    fence = source.fences[index]
    return Block(fence.language, fence.code, offset + fence.line + 1, fence.timeout)


def _claim(source: SourceText, index: int, offset: int, blocks: Sequence[Block]) -> Claim:
    span = source.spans[index]
    line = offset + span.line
    place = sum(block.line <= line for block in blocks)
    return Claim("" if "value" in span.expressions else span.text, line, place, **span.expressions)


def _problems(
    visibility: Visibility, shown: list[int], offset: int
) -> Iterator[tuple[int, str, str]]:
    """Line of the source, message and excerpt of all that is wrong before anything runs."""
    source = visibility.source
    yield from source.faults
    for index, fence in enumerate(source.fences):
        if ("fence", index) not in visibility.seen | visibility.hidden:
            yield fence.line, "this fence does not reach the page", fence.code
    for index, span in enumerate(source.spans):
        excerpt = source.text[span.start : span.end]
        if ("claim", index) in visibility.in_tag:
            yield span.line, "a claim cannot stand in an attribute, as an image's text is", excerpt
        elif ("claim", index) not in visibility.seen | visibility.hidden:
            yield span.line, "this claim does not reach the page", excerpt
    for code in visibility.strays:
        if not any("fence" in message for _, message, _ in source.faults):
            yield _line_of(code, source.text) - 1, "this fence is shown and not run", code
    for braces in visibility.left_over:
        if not any(braces.strip() in excerpt for _, _, excerpt in source.faults):
            yield _line_of(braces, source.text), "a claim's braces are left as text", braces
    yield from _repeated_ids(source, shown, offset)
    for index in [index for index in shown if source.fences[index].kind == "off"][1:]:
        fence = source.fences[index]
        yield fence.line, 'only one fence of a chapter may be exec="off"', fence.code


def _line_of(excerpt: str, text: str) -> int:
    return text[: max(text.find(excerpt), 0)].count("\n") + 1


def _repeated_ids(
    source: SourceText, shown: list[int], offset: int
) -> Iterator[tuple[int, str, str]]:
    first: dict[str, int] = {}
    for fence in [source.fences[index] for index in shown]:
        name = fence.options.get("id", "")
        if name in first:
            yield fence.line, f"the id {name!r} stands at line {first[name]} already", name
        elif name:
            first[name] = offset + fence.line
