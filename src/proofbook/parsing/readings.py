"""Extract what readers see at each claim of a converted page, and just before and after it."""

import re
from dataclasses import dataclass
from html import unescape

from markdown.util import ETX, STX

from proofbook.parsing.formulas import letters_of

PIECE = re.compile(
    r"(?P<hidden><!--.*?-->|<sup id=\"fnref.*?</sup>|<script type=\"math/tex.*?</script>)"
    r"|<span class=\"(?:arithmatex|MathJax_Preview)\">(?P<formula>[^<⟦]*)</span>"
    r"|(?P<block><(?P<of>pre|script|style)\b.*?</(?P=of)>)"
    r"|(?P<object><math\b.*?</math>|<(?:img|svg)\b(?:\"[^\"]*\"|'[^']*'|[^'\">])*>)"
    r"|</?(?P<tag>[a-zA-Z][\w-]*)(?P<rest>(?:\"[^\"]*\"|'[^']*'|[^'\">])*)>"
    r"|⟦(?P<mark>claim|end) (?P<index>\d+)⟧",
    re.DOTALL,
)
ESCAPED = re.compile(f"{STX}(\\d+){ETX}")
PLAIN = frozenset(
    (
        *("a", "abbr", "b", "cite", "code", "dfn", "em", "i", "ins", "kbd", "mark", "samp"),
        *("small", "span", "strong", "tt", "u", "var"),
    )
)
"""Tags within a paragraph that don't change how its letters are read."""
INLINE = PLAIN | {
    *("bdi", "bdo", "big", "del", "font", "label", "q", "s", "strike", "sub", "sup", "time", "wbr")
}
OBJECT, BORDER, EDGE = "\ufffc", "\0", "\x01"
"""Marks among the letters of a page: a picture, the end of a block, and the edge of a claim."""
MINUS_ICON = re.compile(r"(?:alt|title)=[\"']?:?(?:[−➖]|[\w-]*minus)")
FAR = 80
"""The most letters kept on each side of a claim."""


@dataclass(frozen=True)
class Reading:
    """A claim as readers see it.

    Attributes:
        text: Its letters.
        before: What the same block says before it; `EDGE` where another claim begins or ends.
        after: What the same block says after it.
        tags: The tags within it that change what readers see of it.
    """

    text: str
    before: str
    after: str
    tags: tuple[str, ...] = ()


def readings(html: str) -> dict[int, Reading]:
    """Return the reading of each claim on a page, by index; marks surround each claim."""
    letters = ""
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    tags: dict[int, list[str]] = {}
    at = 0
    for piece in PIECE.finditer(html):
        letters += _plain(html[at : piece.start()])
        at = piece.end()
        if piece["mark"]:
            index = int(piece["index"])
            letters += EDGE
            (begins if piece["mark"] == "claim" else ends)[index] = len(letters)
            tags.setdefault(index, [])
            continue
        for open_claim in begins.keys() - ends.keys():
            tags[open_claim] += _changing(piece)
        letters += _letters_of(piece)
    letters += _plain(html[at:])
    return {
        index: Reading(
            letters[start : ends[index] - 1].replace(EDGE, ""),
            letters[max(start - 1 - FAR, 0) : start - 1].rpartition(BORDER)[2],
            letters[ends[index] : ends[index] + FAR].partition(BORDER)[0],
            tuple(tags[index]),
        )
        for index, start in begins.items()
        if index in ends
    }


def _plain(html: str) -> str:
    """Return the letters of HTML, with entities and escaped signs decoded."""
    return ESCAPED.sub(lambda code: chr(int(code[1])), unescape(html))


def _changing(piece: re.Match[str]) -> list[str]:
    """Name a piece of HTML within a claim if it changes what readers see there."""
    if piece["tag"]:
        hides = re.search(r"\b(?:hidden|style)\b", piece["rest"])
        return [] if piece["tag"].lower() in PLAIN and not hides else [f"<{piece['tag']}>"]
    seen = piece["hidden"] is None and piece["formula"] is None
    return ["a picture, a formula, or a block"] if seen else []


def _letters_of(piece: re.Match[str]) -> str:
    """Return what represents a piece of HTML among the letters of a page."""
    tag = (piece["tag"] or "").lower()
    if piece[0].startswith("<math"):
        raised = re.sub(r"(<msup>\s*<(\w+)>[^<]*</\2>)", r"\1^", piece[0])
        return _plain(re.sub("<[^>]*>", "", raised)).strip()
    if piece["object"]:
        return "−" if MINUS_ICON.search(piece[0]) else OBJECT
    if piece["formula"] is not None:
        return letters_of(_plain(piece["formula"]))
    if tag == "sup" and not piece[0].startswith("</"):
        return "^"
    if piece["hidden"] or tag in INLINE:
        return ""
    return " " if tag == "br" else BORDER
