"""Patterns for words that state a value, and for numerals that never do."""

import re

from proofbook.parsing.number_words import SCALES, TENS, UNITS

DIGIT = r"[\d²³¹⁰-₉¼-¾⅐-ↈ①-⓿]"
NUMBER = re.compile(r"[-+−]?[\d.,_]*\d[\d.,_]*(?:[eE][-+]?\d+)?[%×]?")
"""A number by itself, as written in code."""
NUMERAL = re.compile(rf"[\w.,:%‰°′″×·+−–-]*{DIGIT}[\w.,:%‰°′″×·+−–-]*")

_NUMBERS = "|".join([*UNITS[2:], *TENS, "zero", "hundreds?", "dozens?"])
_SCALES = "|".join(f"{scale}s?" for scale in SCALES)
_PARTS = r"hal(?:f|ves)|quarters?|(?<=\ba )(?:third|tenth)|(?:third|fifth|eighth|tenth)s"
_TIMES = rf"twice|thrice|doubled?|tripled|(?:{_NUMBERS})[ -]?fold"
NUMBER_WORD = re.compile(
    rf"\b(?:{_PARTS}|{_TIMES}"
    rf"|(?:{_NUMBERS}|{_SCALES})(?:[ -](?:and )?(?:{_NUMBERS}|one|{_SCALES}))*)\b",
    re.IGNORECASE,
)

_MORE = "more less fewer better worse likelier"
_ER = (
    "bigg broad cheap clos deep fast flatt great hard heavi high larg light long low narrow near"
    " rich sharp short simpl slow small steep strong thick thinn tight weak wid"
)
_ADJECTIVES = "|".join([*_MORE.split(), *(f"{stem}(?:er|est)" for stem in _ER.split())])
COMPARATIVE = re.compile(
    rf"\b(?:{_ADJECTIVES}|most|least|best|worst|equals?|unequal|identical|exceeds?)\b",
    re.IGNORECASE,
)
IDIOMS = re.compile(
    r"\b(?:no longer|any longer|more or less|once more|any more|no more|at best|most of all)\b",
    re.IGNORECASE,
)

_YEAR = r"(?:19\d\d|20(?:0[1-9]|[1-3]\d))[a-z]?"  # 2000 may be just a round number
_PLACES = (
    "sections?|sec\\.|equations?|eqs?\\.|tables?|figures?|figs?\\.|appendix|appendices|pages?|pp?\\."
    "|volumes?|vol\\.|footnotes?|theorems?|algorithms?"
)
YEARS = re.compile(
    rf"\((?:(?:[A-Z][^\d();]*)?\b{_YEAR}[,;]?\s*)+\)"
    rf"|(?:\bet al\.|\b[A-Z][\w’'-]+),? {_YEAR}(?=[,;:.)])"
    rf"|\b(?:[Ii]n|[Ss]ince|[Uu]ntil|[Bb]efore|[Aa]fter|by|of|from) {_YEAR}"
    r"\b(?![.,]?\d|[- ]+[a-z×])"
)
CITATIONS = re.compile(
    r"\barXiv:\s*\d{4}\.\d{4,5}(?:v\d+)?|\b10\.\d{4,9}/\S+|\bRFC \d+|\bISBN[ :]*[\dX-]+"
    rf"|(?:\b(?:{_PLACES})|§§?)\s*[A-Z]?\.?\d+(?:[.–-]\d+)*"
    r"(?:(?:,| and| to)\s+[A-Z]?\d+(?:\.\d+)*)*",
    re.IGNORECASE,
)
VERSIONS = re.compile(
    r"(?<![\w.])v?\d+\.\d+\.\d+[\w.+-]*|(?<![\w.])v\d+(?:\.\d+)*\b|\bversions? v?\d+(?:\.\d+)*",
    re.IGNORECASE,
)
EXEMPT = (IDIOMS, YEARS, CITATIONS, VERSIONS)


def named(names: tuple[str, ...]) -> re.Pattern[str]:
    """Compile a pattern that matches any of the names as whole words, the longest first."""
    ordered = sorted(names, key=len, reverse=True)
    either = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in ordered)
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)" if names else r"(?!)")
