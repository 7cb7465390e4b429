"""Find the facts of a chapter: phrases of its prose, each bound to an expression that must hold.

A `facts` fence comes below the paragraph, list, table, or caption that it is about. Each entry has
the form `phrase: expression` and may continue on indented lines.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, ndiff

from proofbook.parsing.claims import CODE_SPAN
from proofbook.parsing.fences import Fence
from proofbook.parsing.syntax import expression_fault
from proofbook.parsing.visible_text import BOUNDARY, VisibleText, visible_text

COLON = re.compile(r":(?=\s)")
CONTINUED = re.compile(r"(?:[-*+]|\d+[.)])\s|\s{2,}")
"""The beginning of each paragraph of a list."""
SENTENCE = re.compile(rf"(?<=[.!?:])\s+|{BOUNDARY}")


@dataclass(frozen=True)
class Fact:
    """A phrase of the prose, and the expression that must be true.

    Attributes:
        phrase: The words, as readers see them.
        expression: What must be true.
        line: Line of the text (from 1) on which its entry begins.
        fence: Index of its fence.
        start: Where the phrase begins in the text, with the markup that belongs to it.
        end: Where it ends.
        codes: The inline code in the phrase.
    """

    phrase: str
    expression: str
    line: int
    fence: int
    start: int
    end: int
    codes: tuple[str, ...] = ()


class UnreadableFactError(Exception):
    """Error for an entry that binds nothing; may have an excerpt."""

    def __init__(self, message: str, excerpt: str = "") -> None:
        super().__init__(message)
        self.excerpt = excerpt


def find_facts(
    text: str, fences: Sequence[Fence], prose: Sequence[tuple[int, int]]
) -> tuple[list[Fact], list[tuple[int, str, str]]]:
    """Find the facts of a text.

    Returns:
        The facts; and the line, message, and excerpt of each entry that binds nothing.
    """
    facts: list[Fact] = []
    faults: list[tuple[int, str, str]] = []
    for index, fence in enumerate(fences):
        if fence.kind != "facts":
            continue
        stretch = _stretch_before(text, fence, fences, prose)
        seen = visible_text(text, *stretch)
        entries = list(_entries(fence))
        if not entries:
            faults.append((fence.line, "this fence binds nothing: write `phrase: expression`", ""))
        for line, entry in entries:
            try:
                facts.append(_fact(entry, line, index, text, seen, facts))
            except UnreadableFactError as error:
                faults.append((line, str(error), error.excerpt or entry))
    return facts, faults


def _entries(fence: Fence) -> Iterator[tuple[int, str]]:
    """Yield the line of each entry and its text, with continued lines joined."""
    first = 0
    parts: list[str] = []
    for number, line in enumerate([*fence.code.split("\n"), ""], start=fence.line + 1):
        if parts and line[:1].isspace() and line.strip():
            parts.append(line.strip())
            continue
        if parts:
            yield first, _joined(parts)
        first, parts = number, [line.strip()] if line.strip() else []


def _joined(lines: Sequence[str]) -> str:
    """Join the lines of an entry, without a space where a line breaks just inside a bracket."""
    entry = ""
    for line in lines:
        apart = entry and entry[-1] not in "([{" and line[0] not in ")]}"
        entry += f" {line}" if apart else line
    return entry


def _fact(
    entry: str, line: int, fence: int, text: str, seen: VisibleText, others: Sequence[Fact]
) -> Fact:
    phrase, expression = _halves(entry)
    words = visible_text(phrase).text.strip()
    first, last = _place(words, seen)
    start, end = _whole(seen, seen.places[first][0], seen.places[last - 1][1], words)
    for other in others:
        if start < other.end and other.start < end:
            raise UnreadableFactError(
                f"this phrase overlaps with {other.phrase!r} (line {other.line} of the "
                "text): bind each word once, and join expressions with `and`"
            )
    codes = tuple(
        text[slice(*one.inner)]
        for one in seen.elements
        if one.kind == "code" and start <= one.outer[0] and one.outer[1] <= end
    )
    return Fact(words, expression, line, fence, start, end, codes)


def _halves(entry: str) -> tuple[str, str]:
    """Split an entry at the first colon that is followed by an expression."""
    codes = [code.span() for code in CODE_SPAN.finditer(entry)]
    colons = [
        colon.end()
        for colon in COLON.finditer(entry)
        if not any(first < colon.start() < last for first, last in codes)
    ]
    fault = ""
    for colon in colons:
        phrase, expression = entry[: colon - 1].strip(), entry[colon:].strip()
        if why := expression_fault(expression):
            fault = fault or why
        elif not phrase:
            raise UnreadableFactError("there is no phrase before the colon")
        else:
            return phrase, expression
    if not fault:
        raise UnreadableFactError("write `phrase: expression`, with a space after the colon")
    raise UnreadableFactError(f"what follows the colon is not an expression: {fault}")


def _place(phrase: str, seen: VisibleText) -> tuple[int, int]:
    """Return where a phrase begins and ends among the letters that a reader sees."""
    if not re.search(r"\w", phrase) or BOUNDARY in phrase:
        raise UnreadableFactError("a phrase must be words from one paragraph, item, or cell")
    pattern = (
        rf"(?<!\w)(?=({re.escape(phrase)})(?!\w))"  # looks ahead: "a a" occurs twice in "a a a"
    )
    places = [match.span(1) for match in re.finditer(pattern, seen.text)]
    if len(places) == 1:
        return places[0]
    if places:
        raise UnreadableFactError(
            f"this phrase occurs {len(places)} times above the fence: quote more words"
        )
    if not seen.text.strip():
        raise UnreadableFactError(
            "there is no paragraph, list, table, or caption above this fence", phrase
        )
    raise UnreadableFactError(
        "these words are not above the fence (- the fact, + the page)",
        _difference(phrase, seen.text),
    )


def _difference(phrase: str, text: str) -> str:
    """Compare a phrase with the most similar sentence."""
    sentences = [sentence.strip() for sentence in SENTENCE.split(text) if sentence.strip()]
    nearest = max(sentences, key=lambda one: SequenceMatcher(None, phrase, one).ratio())
    return "\n".join(line.rstrip() for line in ndiff([phrase], [nearest]))


def _whole(seen: VisibleText, start: int, end: int, phrase: str) -> tuple[int, int]:
    """Extend a stretch of the source to include the markup that belongs to it."""
    for element in sorted(seen.elements, key=lambda one: one.outer[1] - one.outer[0]):
        (outer, closed), (first, last) = element.outer, element.inner
        begins, ends = outer < start < closed, outer < end < closed
        whole = start <= first and last <= end
        if not (begins or ends) or (begins and ends and element.kind == "emphasis" and not whole):
            continue
        if not (whole and (not begins or start == first) and (not ends or end == last)):
            raise UnreadableFactError(
                f"this phrase begins or ends within {element.kind}: take all of it or none",
                phrase,
            )
        start, end = min(start, outer), max(end, closed)
    return start, end


def _stretch_before(
    text: str, fence: Fence, fences: Sequence[Fence], prose: Sequence[tuple[int, int]]
) -> tuple[int, int]:
    """Return the start and end of the paragraph, list, table, or caption before a fence, if any."""
    told = {number for one in fences if one.kind == "facts" for number in _lines_of(one)}
    first = last = None
    goes_on = False
    for number, start, line in reversed(_lines_before(text, fence)):
        if not any(begin <= start <= end for begin, end in prose) and number not in told:
            break
        if number in told or not line.strip("> "):
            if last is not None and not goes_on:
                break
            continue
        first = start
        last = start + len(line) if last is None else last
        goes_on = _goes_on(line, fence.prefix)
    return (first, last) if first is not None and last is not None else (0, 0)


def _lines_before(text: str, fence: Fence) -> list[tuple[int, int, str]]:
    """Return the number (from 0), place, and text of each line above a fence."""
    lines, at = [], 0
    for number, line in enumerate(text.split("\n")[: fence.line - 1]):
        lines.append((number, at, line))
        at += len(line) + 1
    return lines


def _lines_of(fence: Fence) -> range:
    """Return the line numbers, from 0, of a fence."""
    return range(fence.line - 1, fence.line + 1 + fence.code.count("\n") + 1)


def _goes_on(line: str, prefix: str) -> bool:
    """Return whether the paragraph that begins with a line continues a list."""
    inner = line[len(prefix) :] if not line[: len(prefix)].strip("> ") else line
    return CONTINUED.match(inner) is not None
