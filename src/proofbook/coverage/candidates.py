"""Find possible claims in a page's prose, judging by its words alone."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from proofbook.coverage.lexicon import COMPARATIVE, EXEMPT, NUMBER_WORD, NUMERAL
from proofbook.coverage.masking import alternative_texts, blank, blank_all, words_alone
from proofbook.parsing.claims import Span
from proofbook.parsing.inline_code import inline_code
from proofbook.parsing.source import SourceText

VALUE, OTHER = "\ue000", "\ue001"
"""Characters that replace a claim that names a value, and any other claim or code."""
COUNT = "count"
"""The kind of a number word in a sentence without a value, such as `The two of them agree`."""
SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]*_]*\s+(?![a-z\s])|\n[> ]*\n|(?<!\\)\||\n(?=\s*[-*+:] )")


@dataclass(frozen=True, order=True)
class Candidate:
    """A piece of a page that could be a claim but isn't.

    Attributes:
        start: Where it begins in the source's text.
        kind: What it is, in a word or two.
        text: The piece itself.
    """

    start: int
    kind: str
    text: str


def candidates(
    source: SourceText, counted: Collection[int], names: re.Pattern[str], maths: bool
) -> list[Candidate]:
    """Find numerals outside claims and code, and number words and comparatives near values.

    In a sentence without a value, a number word is a `count`, and a comparative is nothing.

    Args:
        source: The page.
        counted: Indexes of the claims and literals that the page shows.
        names: Texts that are always exempt.
        maths: Whether the book has formulas between dollar signs.
    """
    text = prose_alone(source)
    alternative = alternative_texts(text)
    claims = [index for index in counted if not source.spans[index].reason]
    for index in counted:
        text = _without(text, source.spans[index], names)
    for code in inline_code(source, claims):
        text = blank(text, code.start, code.end, OTHER)
    text = words_alone(text, maths)
    for pattern in (names, *EXEMPT):
        text = blank_all(text, pattern)
    found = [
        Candidate(start, kind, text[start:end])
        for first, last in _sentences(text)
        for start, end, kind in _in_sentence(text, first, last)
    ]
    return sorted(_placed(found, alternative))


def prose_alone(source: SourceText) -> str:
    """Return the text with everything but its prose blanked out."""
    text, at = source.text, 0
    for start, end in [*source.prose, (len(text), len(text))]:
        text, at = blank(text, at, start), end
    return text


def _without(text: str, span: Span, names: re.Pattern[str]) -> str:
    """Replace a claim in the text with a character; keep only the target of a literal."""
    if not span.reason:
        said = names.sub("", span.text)
        numeric = NUMERAL.search(said) or NUMBER_WORD.search(said)
        number = numeric or "value" in span.expressions or span.text.lower() == "one"
        return blank(text, span.start, span.end, VALUE if number else OTHER)
    first, last = span.inner
    return blank(blank(text, span.start, first), last, span.end)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in SENTENCE_END.finditer(text):
        yield start, end.end()
        start = end.end()
    yield start, len(text)


def _in_sentence(text: str, first: int, last: int) -> Iterator[tuple[int, int, str]]:
    """Yield start, end, and kind of each candidate in a sentence."""
    numerals = [_trimmed(match) for match in NUMERAL.finditer(text, first, last)]
    for start, end in numerals:
        yield start, end, "numeral"
    near = numerals or VALUE in text[first:last]
    for match in NUMBER_WORD.finditer(text, first, last):
        yield *match.span(), "number word" if near else COUNT
    for match in COMPARATIVE.finditer(text, first, last) if near else ():
        yield *match.span(), "comparative"


def _trimmed(match: re.Match[str]) -> tuple[int, int]:
    """Return a numeral without the punctuation around it."""
    core = re.search(r"[\w.+−-].*[\w%‰°′″×]|\w", match[0])
    start, end = core.span() if core else (0, len(match[0]))
    return match.start() + start, match.start() + end


def _placed(found: list[Candidate], alternative: list[tuple[int, int]]) -> Iterator[Candidate]:
    """Yield the candidates, marking those in alternative texts; counts are counts there, too."""
    for one in found:
        within = one.kind != COUNT and any(a <= one.start < b for a, b in alternative)
        yield Candidate(one.start, "alternative text" if within else one.kind, one.text)
