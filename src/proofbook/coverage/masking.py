"""Reduce a page to its words by blanking everything else in place."""

import re
from itertools import pairwise

BLANK = " "
LINK = re.compile(r"\]\((?:[^()\\\n]|\\.|\([^()]*\))*\)|\]\[[^\]\n]*\]")
LABEL = re.compile(r"^ {0,3}\[(?:\^[^\]\n]+\]:|[^\]\n]+\]:\s*\S+.*$)|\[\^[^\]\n]+\]", re.MULTILINE)
MARKUP = re.compile(
    r"<!--.*?-->|https?://\S+|&#?\w+;|\{:?\s*(?:[.#][\w-]|[\w-]+\s*=)[^{}\n]*\}", re.DOTALL
)
TAG = re.compile(r"</?[A-Za-z](?:\"[^\"]*\"|'[^']*'|[^'\">])*>|<https?://[^>]*>")
TEXT_ATTRIBUTE = re.compile(r"""\b(?:alt|title|aria-label)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
IMAGE = re.compile(r"!\[((?:[^\[\]\\]|\\.|\[[^\]]*\])*)\](?=[(\[])")
HEADING = re.compile(r"^[> ]*#{1,6}\s+(?:\d+[.)]|\d+(?:\.\d+)+\.?)(?=\s)", re.MULTILINE)
ROW = re.compile(r"(?<![^\n])[> ]*\|[ ]*(\d+)[ ]*\|")
ITEM = re.compile(r"(?<![^\n])[> ]*\d+[.)](?=\s)")
MATHS = re.compile(
    r"(?<![\\$])\$\$(.+?)\$\$|\\\[(.+?)\\\]|\\\((.+?)\\\)|\\begin\{(?P<env>\w+\*?)\}.+?\\end\{(?P=env)\}"
    r"|(?<![\\$])\$(?![\s$])((?:\\.|[^\\$])+?)(?<!\s)\$(?!\$)",
    re.DOTALL,
)
NUMBER_ALONE = re.compile(r"[\s\d.,%+−-]*\d[\s\d.,%+−-]*(?:\\%)?\s*")


def blank(text: str, start: int, end: int, filler: str = BLANK) -> str:
    """Blank part of a text, except line breaks; its first character becomes the filler."""
    blanks = re.sub(r"[^\n]", BLANK, text[start:end])
    return f"{text[:start]}{filler}{blanks[1:]}{text[end:]}" if blanks else text


def blank_all(text: str, pattern: re.Pattern[str]) -> str:
    """Blank all matches."""
    return pattern.sub(_blanks, text)


def words_alone(text: str, maths: bool) -> str:
    """Blank link targets, tags, formulas, and list numbers in prose.

    Args:
        text: The prose, with claims and inline code already blanked.
        maths: Whether the book has formulas between dollar signs.
    """
    if maths:
        text = MATHS.sub(_formula, text)
    text = LABEL.sub(_blanks, text)
    text = blank_all(text, LINK)
    text = TAG.sub(_tag, text)
    text = blank_all(text, MARKUP)
    text = blank_all(text, HEADING)
    return _without_row_numbers(_without_item_numbers(text))


def alternative_texts(text: str) -> list[tuple[int, int]]:
    """Find alternative texts: of images, and in the `alt`, `title`, or `aria-label` of tags."""
    found = [match.span(1) for match in IMAGE.finditer(text)]
    for tag in TAG.finditer(text):
        for match in TEXT_ATTRIBUTE.finditer(tag[0]):
            start, end = match.span(match.lastindex or 0)
            found.append((tag.start() + start, tag.start() + end))
    return found


def _blanks(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", BLANK, match[0])


def _formula(match: re.Match[str]) -> str:
    """Blank a formula, unless it is just a number."""
    inner = next((group for group in match.groups() if group), "")
    return match[0] if NUMBER_ALONE.fullmatch(inner) else _blanks(match)


def _tag(match: re.Match[str]) -> str:
    """Blank a tag, except for its alternative texts."""
    kept = [m.span(m.lastindex or 0) for m in TEXT_ATTRIBUTE.finditer(match[0])]
    return "".join(
        letter if letter == "\n" or any(a <= at < b for a, b in kept) else BLANK
        for at, letter in enumerate(match[0])
    )


def _without_item_numbers(text: str) -> str:
    """Blank the list numbers at the starts of lines, in each paragraph that begins with one."""
    parts = re.split(r"(\n(?:[> ]*\n)+)", text)
    return "".join(ITEM.sub(_blanks, part) if ITEM.match(part) else part for part in parts)


def _without_row_numbers(text: str) -> str:
    """Blank row numbers: first cells that count up by one from row to row."""
    rows = list(ROW.finditer(text))
    for above, row in pairwise(rows):
        between = text[above.end() : row.start()]
        if int(row[1]) == int(above[1]) + 1 and between.count("\n") == 1:
            for match in (above, row):
                text = blank(text, *match.span(1))
    return text
