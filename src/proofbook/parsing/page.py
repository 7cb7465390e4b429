"""Parse a chapter: find what runs and what is claimed, and where."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from markdown.extensions import Extension
from markdown.util import ETX, STX

from proofbook.caching.memo import Memo
from proofbook.model import Block, Chapter, Claim
from proofbook.parsing.attributes import fault
from proofbook.parsing.fences import PROMPTED
from proofbook.parsing.front_matter import files_read, split_front_matter, symbol_values
from proofbook.parsing.inline_code import names
from proofbook.parsing.markdown_processors import TAG
from proofbook.parsing.neighbors import misread
from proofbook.parsing.source import SourceText, read
from proofbook.parsing.visibility import Visibility, follow, recall
from proofbook.problems import Problem
from proofbook.settings import ADDED_EXTENSIONS

LITERAL = (
    "this fence is shown as text and does not run: indent it less, "
    "or put it in a longer fence (````text)"
)
PLACEHOLDER = re.compile(rf"{STX}[^{ETX}]*{ETX}")
"""What Markdown substitutes for inline markup, entities, escaped characters, and marks."""
INDENTED_PROMPT = re.compile(r"(?:(?<![^\n])|\n)[ ]*\n([ ]{4,}>>> \S.*)")
OUR_OPTION = re.compile(rf' {TAG}="\d+"')


@dataclass(frozen=True)
class Page:
    """A chapter with the text that it was parsed from.

    Attributes:
        chapter: What runs and what is claimed.
        source: The fences and claims of the text, including those that the page does not show.
        offset: How many lines of the file come before the source's.
        blocks: For the index of each fence that runs, the number of its block in the chapter.
        claims: For the index of each claim that counts, the number of its claim in the chapter.
        facts: For the index of each fact that counts, the number of its claim in the chapter.
        literals: Indexes of the literals of the source that count.
        shown: Indexes of the fences that the page shows as fences.
        symbols: For each symbol with a value in the front matter, the number of its claim.
        reads: The files that the page says it reads, with their lines in the front matter.
        problems: The problems found before anything runs.
        converts: Whether Markdown can convert it.
    """

    chapter: Chapter
    source: SourceText
    offset: int = 0
    blocks: Mapping[int, int] = field(default_factory=dict)
    claims: Mapping[int, int] = field(default_factory=dict)
    facts: Mapping[int, int] = field(default_factory=dict)
    literals: frozenset[int] = frozenset()
    shown: frozenset[int] = frozenset()
    symbols: Mapping[str, int] = field(default_factory=dict)
    reads: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    converts: bool = True


def parse(
    path: str,
    text: str,
    extensions: Sequence[str | Extension] = ADDED_EXTENSIONS,
    configs: Mapping[str, Mapping[str, Any]] | None = None,
    memo: Memo | None = None,
) -> Page:
    """Parse the text of a chapter as Markdown with these extensions would show it.

    Fences and claims in comments aren't part of the chapter, and neither are claims in indented
    code blocks. A fence or claim that doesn't reach the page, or ends up where it can't be shown,
    is a problem.
    """
    whole = normal(text)
    body, offset = split_front_matter(whole)
    look = follow if memo is None else partial(recall, memo=memo)
    visibility = look(body, extensions, configs or {})
    source = visibility.source
    shown = [index for index in range(len(source.fences)) if ("fence", index) in visibility.seen]
    run = [index for index in shown if source.fences[index].runs]
    spans = [index for index in range(len(source.spans)) if ("claim", index) in visibility.seen]
    claimed = [index for index in spans if not source.spans[index].reason]
    blocks = tuple(_block(source, index, offset) for index in run)
    claims = tuple(_claim(source, index, offset, blocks) for index in claimed)
    bound = [
        index
        for index, fact in enumerate(source.facts)
        if fact.fence in shown and index not in visibility.torn
    ]
    claims += tuple(_bound(source, index, offset, blocks) for index in bound)
    values, faults = symbol_values(whole, len(blocks))
    reads, unreadable = files_read(whole)
    return Page(
        Chapter(
            path,
            blocks,
            (*claims, *values.values()),
            names(source),
            _shows(source, shown),
            tuple(sorted(reads)),
        ),
        source,
        offset,
        {index: number for number, index in enumerate(run)},
        {index: number for number, index in enumerate(claimed)},
        {index: number for number, index in enumerate(bound, len(claimed))},
        frozenset(spans) - frozenset(claimed),
        frozenset(shown),
        {key: number for number, key in enumerate(values, len(claims))},
        reads,
        tuple(
            sorted(
                [
                    *(Problem(path, *fault) for fault in (*faults, *unreadable)),
                    *(
                        Problem(path, offset + line, message, PLACEHOLDER.sub("…", excerpt))
                        for line, message, excerpt in _problems(visibility, shown, offset)
                    ),
                ]
            )
        ),
    )


def unconverted(path: str, text: str, error: Exception) -> Page:
    """Return a page that Markdown can't convert, because one of its extensions raised an error.

    The problem's line is the first one with something that the error quotes.
    """
    whole = normal(text)
    body, offset = split_front_matter(whole)
    quoted = re.findall(r"['\"`]([^'\"`]+)['\"`]", str(error))
    lines = (number for one in quoted if (number := whole.find(one)) >= 0)
    line = whole.count("\n", 0, next(lines, 0)) + 1
    message = f"Markdown cannot convert this page: {type(error).__name__}: {error}"
    problems = (Problem(path, line, message),)
    chapter = Chapter(path, (), ())
    return Page(chapter, read(body), offset, problems=problems, converts=False)


def normal(text: str) -> str:
    """Normalize text as Python-Markdown does: control characters, line endings, whitespace."""
    text = text.removeprefix("\ufeff").replace(STX, "").replace(ETX, "")
    text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    return re.sub(r"(?<=\n) +\n", "\n", text)


def _block(source: SourceText, index: int, offset: int) -> Block:
    fence = source.fences[index]
    kind: Literal["python", "pycon"] = "pycon" if fence.kind == "pycon" else "python"
    line, raises = offset + fence.line + 1, fence.option("raises")
    return Block(kind, fence.code, line, fence.timeout, raises, not fence.option("hide"))


def _shows(source: SourceText, shown: Sequence[int]) -> tuple[str, ...]:
    fences = (source.fences[index] for index in shown)
    return tuple(sorted({one.options["show"] for one in fences if one.kind == "show"}))


def _claim(source: SourceText, index: int, offset: int, blocks: Sequence[Block]) -> Claim:
    span = source.spans[index]
    line = offset + span.line
    place = sum(block.line <= line for block in blocks)
    given = span.expressions
    text = "" if "value" in given else span.text
    return Claim(text, line, place, given.get("equals"), given.get("holds"), given.get("value"))


def _bound(source: SourceText, index: int, offset: int, blocks: Sequence[Block]) -> Claim:
    fact = source.facts[index]
    line = offset + fact.line
    place = sum(block.line <= line for block in blocks)
    return Claim(fact.phrase, line, place, holds=fact.expression, fact=True)


def _problems(
    visibility: Visibility, shown: list[int], offset: int
) -> Iterator[tuple[int, str, str]]:
    """Yield source line, message, and excerpt of each problem found before anything runs."""
    source = visibility.source
    yield from source.faults
    for line, code in _bare_doctests(source):
        yield line, "a doctest outside of a fence does not run: put it in a ```pycon fence", code
    for index, fence in enumerate(source.fences):
        if ("fence", index) in visibility.literal:
            yield fence.line, LITERAL, fence.code
        elif ("fence", index) not in visibility.seen | visibility.hidden:
            yield fence.line, "this fence does not reach the page", fence.code
    for index, span in enumerate(source.spans):
        excerpt = source.text[span.start : span.end]
        if ("claim", index) in visibility.in_tag:
            yield span.line, "a claim cannot be in an attribute, such as an image's text", excerpt
        elif ("claim", index) not in visibility.seen | visibility.hidden:
            yield span.line, "this claim does not reach the page", excerpt
        elif ("claim", index) in visibility.seen and (
            fault := misread(span, visibility.readings.get(index))
        ):
            yield span.line, fault, excerpt
    for index in visibility.torn:
        fact = source.facts[index]
        if fact.fence in shown:
            message = "the page does not show these words in one piece; choose others"
            yield fact.line, message, fact.phrase
    for marked in visibility.strays:
        code = OUR_OPTION.sub("", marked)
        line = _line_of_fence(code, source.text)
        if line and not any("fence" in message for _, message, _ in source.faults):
            yield line, "this fence is shown and not run", code
    for braces in visibility.left_over:
        if not any(braces.strip() in excerpt for _, _, excerpt in source.faults):
            yield _line_of(braces, source.text), "a claim's braces are shown as text", braces
    yield from _attributes(visibility)
    yield from _repeated_ids(source, shown, offset)


def _bare_doctests(source: SourceText) -> Iterator[tuple[int, str]]:
    """Yield line and code of each doctest that is only indented, or in a fence of no language."""
    for start, end in source.prose:
        for found in INDENTED_PROMPT.finditer(source.text, start, end):
            yield source.text.count("\n", 0, found.start(1)) + 1, found[1].strip()
    for fence in source.foreign:
        if not fence.language and PROMPTED.match(fence.code):
            yield fence.line, fence.code


def _attributes(visibility: Visibility) -> Iterator[tuple[int, str, str]]:
    """Yield the attributes that neither readers nor browsers can use."""
    text = visibility.source.text
    faulty = {line for line, _, _ in visibility.source.faults}
    for attributes in visibility.attributes:
        line = _line_of_braces(attributes, text)
        if line not in faulty and (message := fault(PLACEHOLDER.sub("…", attributes))):
            yield line, message, f"{{ {attributes.strip()} }}"
    if not any(map(fault, visibility.attributes)):  # otherwise, these may have caused the tags
        for tag in visibility.tags:
            line = _line_of(tag.partition(" ")[0], text)
            yield line, "a tag's attribute is not a claim: write it in braces", tag


def _line_of_braces(attributes: str, text: str) -> int:
    """Find the line of an attribute list, parts of which Markdown may have changed."""
    parts = [re.escape(part) for part in PLACEHOLDER.split(attributes.strip()) if part]
    found = re.search(r"\{:?[ ]*" + r"[^\n]*?".join(parts), text)
    return text.count("\n", 0, found.start() if found else 0) + 1


def _line_of_fence(code: str, text: str) -> int:
    """Find where a fence opens by its code, which may be indented, quoted, or contain marks.

    Return 0 if it isn't in the text: an extension has inserted it, such as a docstring's.
    """
    lines = [
        r"[^\n]*?".join(map(re.escape, PLACEHOLDER.split(line)))
        for line in code.strip("\n").split("\n")
    ]
    found = re.search(r"\n[> ]*".join(["", *lines]), text)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def _line_of(excerpt: str, text: str) -> int:
    return text[: max(text.find(excerpt), 0)].count("\n") + 1


def _repeated_ids(
    source: SourceText, shown: list[int], offset: int
) -> Iterator[tuple[int, str, str]]:
    first: dict[str, int] = {}
    for fence in [source.fences[index] for index in shown]:
        name = fence.options.get("id", "")
        if name in first:
            yield fence.line, f"the id {name!r} is already used at line {first[name]}", name
        elif name:
            first[name] = offset + fence.line
