"""The sentences of a page, by place."""

import re
from collections.abc import Iterator

from proofbook.coverage.candidates import OTHER, prose_alone
from proofbook.coverage.masking import MATHS, blank, blank_all, words_alone
from proofbook.parsing.inline_code import inline_code
from proofbook.parsing.source import SourceText

HEADINGS = re.compile(
    r"^[> ]*(?:#{1,6}[ ].*|(?:!!!|\?\?\?\+?|===\+?)[ ].*|\*\[[^\]\n]+\]:.*)$"  # or a title, or an abbreviation
    r"|^[> ]*[^|\s>].*\n[> ]*(?:=+|-+)[ ]*$"
    r"|^.*\|.*\n(?=.*-)[> ]*[|:-][ |:-]*\|[ |:-]*$",  # the head of a table
    re.MULTILINE,
)
BLOCK = re.compile(r"\n(?=[> ]*(?:\n|$|\||(?:[-*+]|\d+[.)]|:)[ ]))")
MARKER = re.compile(r"[> ]*(?:(?:[-*+]|\d+[.)]|:)[ ]+(?:\[[ xX]\][ ]+)?)?[> ]*")
ABBREVIATIONS = r"(?<!\b[a-zA-Z])(?<!\bal)(?<!\bvs)(?<!\bcf)(?<!\b[Ff]ig)(?<!\b[Ee]q)(?<!\b[Ss]ec)(?<!\b[Dd]r)"
END = re.compile(rf"(?:{ABBREVIATIONS}\.|[!?…])[\"'”’)\]*_]*\s+(?![a-z\s])")


def sentences(source: SourceText) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence of a page's prose; a row of a table counts as one.

    Headings, titles, fences and comments are left out, and nothing within code, formulas,
    attributes or targets of links ends a sentence.
    """
    text = readable(source)
    for first, last in _blocks(prose_alone(source)):
        is_row = text.startswith("|", first)
        ends = [] if is_row else [end.end() for end in END.finditer(text, first, last)]
        for start, end in zip([first, *ends], [*ends, last], strict=True):
            if re.search(rf"[^\W\d_]|{OTHER}", text[start:end]):
                start += len(text[start:end]) - len(text[start:end].lstrip())
                yield start, start + len(source.text[start:end].rstrip())


def readable(source: SourceText) -> str:
    """Return the text with all made blank that is no word of a sentence, in place."""
    text = prose_alone(source)
    for span in source.spans:
        text = blank(text, span.inner[1], span.end)
    for code in inline_code(source, ()):
        text = blank(text, code.start, code.end, OTHER)
    for formula in MATHS.finditer(text):
        text = blank(text, *formula.span(), OTHER)
    return blank_all(words_alone(text, maths=False), HEADINGS)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each paragraph, item and row of a text, behind its marker."""
    start = 0
    for end in [*(match.start() for match in BLOCK.finditer(text)), len(text)]:
        marker = MARKER.match(text, start, end)
        yield (marker.end() if marker else start), end
        start = end + 1
