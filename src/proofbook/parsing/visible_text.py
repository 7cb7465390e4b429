"""Extract the letters of Markdown that readers see, each with its place in the source.

Finding words in a text takes both letters and places, and Python-Markdown's tree has no places.
"""

import html
import re
from dataclasses import dataclass, field
from typing import Literal

BOUNDARY = "\ue002"
"""Separates the cells of a table and the items of a list: no phrase crosses it."""

_STRING = r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'"
_ATTRIBUTES = rf"[ ]*\{{:?[ ]*[.#A-Za-z](?:{_STRING}|[^{{}}\"'])*\}}"
_INSIDE = r"(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*\])*"
_TARGET = r"(?:\((?:<[^<>\n]*>|[^()\s]|\([^()\s]*\))*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)|\[[^\]]*\])"

INLINE = re.compile(
    r"(?P<escaped>\\[!-/:-@\[-`{-~])"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    rf"|(?P<hidden><!--.*?-->|</?[A-Za-z][^<>]*>|!\[{_INSIDE}\]{_TARGET}|\[\^[^\]]+\]|{_ATTRIBUTES})"
    rf"|(?P<link>\[(?P<linked>{_INSIDE})\]{_TARGET})"
    rf"|(?P<span>\[(?P<spanned>{_INSIDE})\](?={_ATTRIBUTES}))"
    r"|(?P<formula>\$\$.+?\$\$|\$(?![\s$])(?:\\.|[^\\$])+?(?<!\s)\$)"
    r"|(?P<emphasis>(?P<stars>\*{1,3})(?=[^\s*])(?:`[^`]*`|\\.|.)+?(?<=[^\s*])(?P=stars)(?!\*)"
    r"|(?<!\w)(?P<lines>_{1,3})(?=[^\s_])(?:`[^`]*`|\\.|.)+?(?<=[^\s_])(?P=lines)(?!\w))"
    r"|(?P<entity>&(?:\w+|#\d+|#x[0-9A-Fa-f]+);)"
    r"|(?P<item>\n[> ]*(?:#{1,6}[ ]+|(?:[-*+]|\d+[.)])[ ]+)|\||\n[> ]*\n)"
    r"|(?P<turn>\n[> ]*)",
    re.DOTALL,
)
"""Alternatives in order of precedence; code, for example, takes precedence over emphasis."""
ATTRIBUTES = re.compile(_ATTRIBUTES, re.DOTALL)
OPENING = re.compile(r"[> ]*(?:#{1,6}[ ]+|(?:[-*+]|\d+[.)])[ ]+)?")


Kind = Literal["code", "emphasis", "link", "span"]


@dataclass(frozen=True)
class Element:
    """A piece of markup around something that the reader sees.

    Attributes:
        kind: Its kind; a phrase may cut only emphasis.
        outer: Start and end of the whole element in the source.
        inner: Where its first visible letter starts and its last one ends.
    """

    kind: Kind
    outer: tuple[int, int]
    inner: tuple[int, int]


@dataclass
class VisibleText:
    """A text as readers see it.

    Attributes:
        text: The letters; whitespace becomes one space, and cells and items end with `BOUNDARY`.
        places: For each letter, where it begins and ends in the source.
        elements: The markup around them.
    """

    text: str = ""
    places: list[tuple[int, int]] = field(default_factory=list)
    elements: list[Element] = field(default_factory=list)

    def add(self, letters: str, start: int, end: int) -> None:
        """Add the letters that a stretch of the source shows; drop a space after a space."""
        for letter in letters:
            plain = " " if letter.isspace() else letter
            if plain == " " and (not self.text or self.text[-1] in (" ", BOUNDARY)):
                continue
            self.text += plain
            self.places.append((start, end))


def visible_text(source: str, start: int = 0, end: int | None = None) -> VisibleText:
    """Read a stretch of a source as a reader of the page sees it."""
    seen = VisibleText()
    end = len(source) if end is None else end
    opening = OPENING.match(source, start, end)
    _read(source, opening.end() if opening else start, end, seen)
    return seen


def _read(source: str, start: int, end: int, seen: VisibleText) -> None:
    at = start
    while at < end:
        match = INLINE.match(source, at, end)
        if match is None:
            seen.add(source[at], at, at + 1)
            at += 1
        else:
            _take(source, match, seen)
            at = match.end()


def _take(source: str, match: re.Match[str], seen: VisibleText) -> None:
    """Add what one piece of inline Markdown shows."""
    first, last = match.span()
    match match.lastgroup:
        case "escaped":
            seen.add(source[last - 1], first, last)
        case "entity":
            seen.add(html.unescape(source[first:last]), first, last)
        case "item":
            seen.add(BOUNDARY, first, last)
        case "turn":
            seen.add(" ", first, last)
        case "formula":
            _each(source, first, last, seen)
        case "code":
            ticks = len(match["ticks"])
            _element("code", source, (first, last), (first + ticks, last - ticks), seen)
        case "emphasis":
            marks = len(match["stars"] or match["lines"])
            _element("emphasis", source, (first, last), (first + marks, last - marks), seen)
        case "link":
            _element("link", source, (first, last), match.span("linked"), seen)
        case "span":
            _element("span", source, (first, last), match.span("spanned"), seen)


def _each(source: str, start: int, end: int, seen: VisibleText) -> None:
    for at in range(start, end):
        seen.add(source[at], at, at + 1)


def _element(
    kind: Kind, source: str, outer: tuple[int, int], inner: tuple[int, int], seen: VisibleText
) -> None:
    """Add the visible content of an element, then the element with its attributes."""
    before = len(seen.places)
    if kind == "code":
        first = len(source[slice(*inner)]) - len(source[slice(*inner)].lstrip())
        _each(source, inner[0] + first, inner[0] + len(source[slice(*inner)].rstrip()), seen)
    else:
        _read(source, *inner, seen)
    if len(seen.places) > before:
        attributes = ATTRIBUTES.match(source, outer[1])
        shown = seen.places[before][0], seen.places[-1][1]
        end = attributes.end() if attributes else outer[1]
        seen.elements.append(Element(kind, (outer[0], end), shown))
