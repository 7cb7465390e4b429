"""Find where the sentences of a page begin and end."""

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from proofbook.coverage.candidates import OTHER, prose_alone
from proofbook.coverage.masking import MATHS, blank, blank_all, words_alone
from proofbook.parsing.inline_code import inline_code
from proofbook.parsing.page import Page
from proofbook.parsing.source import SourceText

WORDS = re.compile(rf"[^\W\d_]|{OTHER}")
NO_SENTENCE = re.compile(
    r"^[> ]*#{1,6}[ ].*$"  # a heading
    r"|^[> ]*[^|\s>].*\n[> ]*(?:=+|-+)[ ]*$"  # an underlined heading
    r"|^[> ]*(?:!!!|\?\?\?\+?|===[+!]?)[ ].*$"  # the title of a note or a tab
    r"|^.*\|.*\n(?=.*-)[> ]*[|:-][ |:-]*\|[ |:-]*$"  # the header row of a table
    r"|^[> ]*\*\[[^\]\n]+\]:.*$"  # an abbreviation
    r"|^[> ]*\S.*(?=\n\n?[> ]*:[ ])",  # a term in a definition list
    re.MULTILINE,
)
NEW_BLOCK = re.compile(r"\n(?=[> ]*(?:\n|$|\||\{|(?:[-*+]|\d+[.)]|:)[ ]))")
MARKER = re.compile(r"\s*[> ]*(?:(?:[-*+]|\d+[.)]|:)[ ]+(?:\[[ xX]\][ ]+)?)?")
LAST_TAGS = re.compile(r"(?:\s|</[^<>]*>)*\Z")
BRACKETED = re.compile(r"\[[^\[\]]*\](?=[(\[{])")
ABBREVIATIONS = ("al", "vs", "cf", "e.g", "i.e", "Fig", "fig", "Eq", "eq", "Sec", "sec", "Dr")
_SHORT = "".join(rf"(?<!\b{re.escape(one)})" for one in ABBREVIATIONS)
END = re.compile(rf"(?:{_SHORT}(?<![\s(][A-Z])\.|[!?…])[\"'”’)\]*_]*\s+(?![a-z\s.,;:!?)])")


def unbound(page: Page, bound: Collection[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield line and text of each sentence that binds nothing.

    Args:
        page: The page.
        bound: Start and end of each bound stretch in its source's text.
    """
    text = page.source.text
    for start, end in sentences(page.source):
        if not any(first < end and start < last for first, last in bound):
            yield page.offset + text.count("\n", 0, start) + 1, " ".join(text[start:end].split())


def sentences(source: SourceText) -> Iterator[tuple[int, int]]:
    """Find the start and end of each sentence in a page's prose; a table row counts as one.

    Headings, titles, fences, and comments are left out. Nothing within code, formulas, links, or
    attributes ends a sentence.
    """
    text, prose = readable(source), prose_alone(source)
    bracketed = [match.span() for match in BRACKETED.finditer(prose)]
    for first, last in _blocks(prose):
        ends = [first]
        if not text.startswith("|", first):
            ends += [end.end() for end in END.finditer(text, first, last)]
        ends = [at for at in ends if not any(a < at < b for a, b in bracketed)]
        for start, end in pairwise([*ends, last]):
            if WORDS.search(text, start, end):
                start += len(text[start:end]) - len(text[start:end].lstrip())
                yield start, start + len(LAST_TAGS.sub("", source.text[start:end]))


def readable(source: SourceText) -> str:
    """Blank everything in a text that isn't a word of a sentence."""
    text = prose_alone(source)
    for span in source.spans:
        text = blank(text, span.inner[1], span.end)
        if span.text == "…":  # filled in later, so it ends no sentence
            text = blank(text, span.start, span.end, OTHER)
    for code in inline_code(source, ()):
        text = blank(text, code.start, code.end, OTHER)
    text = words_alone(blank_all(text, MATHS), maths=False)
    return blank_all(text, NO_SENTENCE)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each paragraph, item, and row of a text, after its marker."""
    start = 0
    for end in [*(match.start() for match in NEW_BLOCK.finditer(text)), len(text)]:
        marker = MARKER.match(text, start, end)
        yield (marker.end() if marker else start), end
        start = end + 1
