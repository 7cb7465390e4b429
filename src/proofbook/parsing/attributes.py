"""Check the attribute lists in a text: every item must mean something to a browser.

Readers don't see `{ equal_to="n" }` after inline code, since `attr_list` turns it into an
attribute. So a misspelled claim, or one combined with other attributes, would vanish.
"""

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any
from xml.etree.ElementTree import Element

from markdown.extensions.attr_list import AttrListTreeprocessor

CLAIM_KEYS = ("equals", "holds", "value", "reason")
CLAIM_CLASSES = ("literal", "equals", "holds")
HTML_ATTRIBUTES = frozenset(
    [
        *("abbr", "align", "allow", "allowfullscreen", "alt", "autoplay", "border", "cite"),
        *("class", "colspan", "controls", "crossorigin", "datetime", "decoding", "dir"),
        *("download", "draggable", "fetchpriority", "frameborder", "headers", "height", "hidden"),
        *("href", "hreflang", "id", "inert", "ismap", "itemid", "itemprop", "itemref"),
        *("itemscope", "itemtype", "lang", "loading", "loop", "markdown", "media", "muted", "name"),
        *("open", "part", "ping", "playsinline", "poster", "preload", "referrerpolicy", "rel"),
        *("reversed", "role", "rowspan", "scope", "sizes", "slot", "spellcheck", "src", "srcset"),
        *("start", "style", "tabindex", "target", "title", "translate", "type", "usemap"),
        *("valign", "width"),
    ]
)
"""HTML attributes of the elements that Markdown makes, besides `aria-…`, `data-…`, and `on…`."""

EVENT = re.compile(
    r"on(?:blur|change|click|dblclick|error|focus|input|load|submit|toggle"
    r"|(?:animation|drag|key|mouse|pointer|touch|transition)[a-z]+)"
)
ITEM = re.compile(
    r"""\s*(?:(?P<sign>[.#])(?P<name>[^\s=}"']+)"""
    r"""|(?P<key>[^\s=}"'.#:][^\s=}"']*)(?:=(?:"[^"]*"|'[^']*'|[^\s=}"']+))?)(?=\s|$)"""
)
HOW = 'write a claim as { equals="…" }, alone in its braces, directly after its text'


def watch(processor: AttrListTreeprocessor) -> list[str]:
    """Record what `attr_list`'s processor consumes: the inside of each pair of braces."""
    taken: list[str] = []
    assign = processor.assign_attrs

    def assign_attrs(elem: Element, attrs_string: str, **options: Any) -> str:
        rest = assign(elem, attrs_string, **options)
        if not (rest and options.get("strict")):  # otherwise, it has put them all back
            taken.append(attrs_string.removesuffix(rest))
        return rest

    processor.assign_attrs = assign_attrs  # type: ignore[method-assign]
    return taken


def fault(attributes: str) -> str | None:
    """Return what is wrong with an attribute list, given without braces; `None` if it's fine."""
    at = 0
    while rest := attributes[at:].strip():
        item = ITEM.match(attributes, at)
        if item is None:
            return rf"cannot read {rest!r} as attributes; {HOW}, and a literal brace as \{{"
        if not _is_known(item["sign"] or "", item["name"] or item["key"]):
            return _strange(item["sign"] or "", item["name"] or item["key"])
        at = item.end()
    return None


def _is_known(sign: str, name: str) -> bool:
    """Return whether a class, an id, or a key could not have been meant as a claim."""
    if sign:
        return near(name, CLAIM_CLASSES) is None
    if custom := re.fullmatch(r"(?:aria|data)-(.+)", name):
        return near(custom[1], CLAIM_KEYS) is None
    return name in HTML_ATTRIBUTES or EVENT.fullmatch(name) is not None


def _strange(sign: str, name: str) -> str:
    if name in CLAIM_KEYS:
        return f"{name}= is not a claim here; {HOW}"
    bare = re.sub(r"^(?:aria|data)-", "", name)
    known = CLAIM_CLASSES if sign else (*CLAIM_KEYS, *sorted(HTML_ATTRIBUTES))
    meant = near(bare, known) or next(iter(get_close_matches(bare, known, 1, 0.7)), None)
    guess = f" (did you mean {meant!r}?)" if meant else ""
    text = "" if meant else r", and a literal brace as \{"
    return f"{sign}{name} means nothing in braces{guess}; {HOW}{text}"


def near(name: str, known: Iterable[str]) -> str | None:
    """Return the word that a name matches, up to case, signs, lookalikes, or one letter."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    letters = "".join(letter for letter in folded if letter.isalpha())
    alike = re.compile("".join(letter if letter.isascii() else "." for letter in letters))
    known = list(known)
    exact = (word for word in known if alike.fullmatch(word))
    return next(exact, None) or next(iter(get_close_matches(letters, known, 1, 0.85)), None)
