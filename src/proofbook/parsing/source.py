"""A chapter's text as Markdown's preprocessors see it, with the places of fences and claims."""

from collections.abc import Callable
from dataclasses import dataclass

from proofbook.parsing.bounds import LOOSE, loose_number
from proofbook.parsing.claims import Span, find_claims
from proofbook.parsing.facts import Fact, find_facts
from proofbook.parsing.fences import Fence, Foreign, scan

Marks = tuple[str, str, str]


@dataclass(frozen=True)
class SourceText:
    """A text, its fences, and its claims.

    Attributes:
        text: The text itself.
        fences: The fences that proofbook reads, in reading order.
        spans: Its claims and literals, in reading order.
        faults: Line of the text (from 1), message, and excerpt of each thing that can't be read.
        prose: Start and end of each stretch of lines outside fences and comments.
        foreign: Its fences of other languages, in reading order.
        facts: Its facts, in the order of their fences.
    """

    text: str
    fences: list[Fence]
    spans: list[Span]
    faults: list[tuple[int, str, str]]
    prose: list[tuple[int, int]]
    foreign: list[Foreign]
    facts: list[Fact]

    def marked(
        self,
        fence_mark: Callable[[int], str | None],
        claim_marks: Callable[[int], Marks | None],
        fact_marks: Callable[[int], tuple[str, str]],
    ) -> str:
        """Mark fence headers, the targets of claims, and the phrases of facts.

        Args:
            fence_mark: Returns the new header of the n-th fence, or None to leave it.
            claim_marks: Returns what goes before, in place of, and after the target of the n-th
                claim; or None to leave it.
            fact_marks: Returns what goes before and after the phrase of the n-th fact.
        """
        edits: list[tuple[int, int, str]] = []
        marked = [(fact, *fact_marks(index)) for index, fact in enumerate(self.facts)]
        edits += [(fact.end, fact.end, after) for fact, _, after in marked]
        edits += [(fact.start, fact.start, before) for fact, before, _ in marked]
        for index, fence in enumerate(self.fences):
            header = fence_mark(index)
            if header is not None:
                edits.append((*fence.header, header))
        for index, span in enumerate(self.spans):
            marks = claim_marks(index)
            if marks is not None:
                edits.append((span.start, span.end, "".join(marks)))
        return edited(self.text, edits)


def read(text: str) -> SourceText:
    """Find the fences and claims of a text."""
    found = scan(text)
    spans, unreadable = find_claims(text, found.prose)
    lines = text.split("\n")
    faults = [(line, message, lines[line - 1].strip()) for line, message in found.faults]
    facts, unbound = find_facts(text, found.fences, found.prose)
    for fact in facts:
        within = [(s.start, s.end, "") for s in spans if fact.start <= s.start < fact.end]
        shifted = [(start - fact.start, end - fact.start, new) for start, end, new in within]
        words = edited(text[fact.start : fact.end], shifted)
        if number := loose_number(words, fact.expression):
            unbound.append((fact.line, LOOSE.format(number=number), fact.phrase))
    return SourceText(
        text,
        found.fences,
        spans,
        sorted(faults + unreadable + unbound),
        found.prose,
        found.foreign,
        facts,
    )


def edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Replace each stretch `(start, end)` of a text; stretches must not overlap.

    Texts inserted at the same place keep the order given.
    """
    parts: list[str] = []
    at = 0
    for start, end, replacement in sorted(edits, key=lambda edit: edit[:2]):
        parts += [text[at:start], replacement]
        at = end
    return "".join([*parts, text[at:]])
