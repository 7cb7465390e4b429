"""Find text around a number that changes its value: `[5] million`, `[5] × 10⁶`, `[1] thirtieth`."""

import re

from proofbook.parsing.number_words import (
    ORDINALS,
    SCALES,
    UNITS,
    number_from_ordinal,
    number_from_words,
)
from proofbook.parsing.readings import BEGIN, EDGE, END
from proofbook.parsing.signs import GAP, WORD

_RAISED = "⁰¹²³⁴-⁹⁻"
_PIECES = "½⅓¼-¾⅐-⅞"
_TIMES = r"(?:[×·⋅∙•*∗✕✖⨯⊗]|(?<![^\W\d])x(?![^\W\d])|\btimes\b|\bmultiplied\s+by\b)"
_OVER = r"(?:[/⁄∕÷∶]|\bdivided\s+by\b)"
_THOUSANDS = r"1(?:[\s,.'’_]?000)+(?!\d)"
_NO_SCORES = (
    r"(?:above|below|over|under|higher|lower|better|worse|best|worst|at|as|near|close|the|no|zero"
    r"|one|well|less|least|most|highest|lowest|per|for|between|exactly|about|function|matri|tensor"
    r"|value|entr|row|column|map|vector|\d)"
)
_SCALE = (
    rf"(?:hundred|{'|'.join(SCALES)}|\w{{1,8}}illion|milliard|dozen"
    rf"|score(?!s?\s+{_NO_SCORES})|lakh|crore|mln|mio|mill?|mrd|(?-i:[bmtBMT]n))"
)
_OPENING = r"[\s(\[{\"'“‘«‐‑‒–—-]"
_PART = rf"(?:half|halves|quarters?|thirds?|(?:{'|'.join(ORDINALS.keys() - {'first', 'second'})})s)"
_NTH = rf"(?:{'|'.join(ORDINALS)})s?\b"
_POWER = rf"(?:(?:{EDGE}?10{EDGE}?|\d+)\s*(?:\^|\*\*|[{_RAISED}]|to\s+the\b)|ten\s+to\s+the\b)"
_DIGIT = rf"(?:\d|(?:{'|'.join(UNITS)}|oh|nought)\b)"

_FRACTION = r"(?<![\w/])\d+\s*[/⁄]\s*\d+"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in patterns), re.IGNORECASE)


_AFTER = _any(
    rf"[\s(\[]*[%％﹪‰‱°{_PIECES}]",
    rf"[\s-]+(?:{_SCALE}s?|per\s?(?:mille|mil|hundred|thousand|million|billion))\b",
    r"[\s-]+(?:per[\s-]?cent\b|pct\b|p\.\s?c\.|squared\b|cubed\b|factorial\b)",
    r"[\s-]+(?-i:[kKMGTB])(?![\w-])",
    rf"{_OPENING}+(?:{_SCALE}|per[\s-]?cent|pct)(?!\w)",
    rf"\s*{_TIMES}\s*(?:{_POWER}|{_THOUSANDS})",
    rf"\s*{_TIMES}\s*(?:an?\s+|\d[\d.,]*\s+|{WORD}[\s-]+)*{_SCALE}s?\b",
    rf"\s*(?:\^|\*\*|↑|!\s*=)|\s+10\s*[\^{_RAISED}]|\s+(?-i:e[-+−]?|E[-+−])\d+(?!\w)",
    r"\s+raised\b|\s+to\s+the\s+(?:\S+\s+)?power\b",
    rf"\s*{_OVER}\s*(?:\d|{WORD}\b|{_SCALE}s?\b)|\s+\d+\s*[/⁄]\s*\d",
    rf"\s+and\s+(?:\d+\s*[/⁄]\s*\d|[{_PIECES}]|(?:an?|\d+|{WORD})[\s-]+{_PART}\b)",
    rf"\s+(?:point|dot|comma|decimal)\s+{_DIGIT}",
    r"\s*['’‘`´_]\s*\d{3}(?!\d)|\s+[.,·]\s?\d{3}(?!\d)|\s+[.,]\d",  # groups: 1 '000
)
_BEFORE = _any(
    rf"[√∛∜]{GAP}",
    rf"(?:[{_PIECES}]|\b10(?:\^[^\s{EDGE}]+|[{_RAISED}]+)|{_FRACTION})\s*$",
    rf"(?:{_FRACTION}|\^[^\s{EDGE}]+|\*\*\s*\d+|[{_RAISED}])\s*{_TIMES}{GAP}",
    rf"\b(?:{_THOUSANDS}|{_SCALE}s?)\s*{_TIMES}{GAP}",
    rf"(?:\d|\b{WORD})\s*{_OVER}{GAP}",
    rf"(?:\d|\b{WORD}){EDGE}?\s+(?:point|dot|comma){GAP}",
    rf"\b(?:half|quarter|(?:an?|{WORD})[\s-]+{_NTH})\s+(?:of\s+)?an?{GAP}",
)
_TO_THE = re.compile(rf"\s+to\s+the\s+{_NTH}\s*(?:[.,;:!?)]|$)", re.IGNORECASE)
_SCALED = re.compile(rf"(?<!between )\b(?:an?|{WORD})[\s-]+{_SCALE}(?:\s+and)?\s+$", re.IGNORECASE)


def is_multiplied(before: str, text: str, after: str) -> bool:
    """Return whether the text before or after a number changes its value.

    A number with its own claim on the other side of an operator doesn't: `[3] × [5]`.
    """
    return bool(_grows(before, text) or _shrinks(before, text, after))


def _grows(before: str, text: str) -> bool:
    before = re.sub(f"[{BEGIN}{END}]", "", before)
    apart = before.replace(EDGE, "")
    return bool(_BEFORE.search(before) or (text[:1].isdigit() and _SCALED.search(apart)))


def _shrinks(before: str, text: str, after: str) -> bool:
    after = re.sub(f"[{BEGIN}{END}]", "", after)
    if _AFTER.match(after) or _AFTER.match(re.sub(rf"{EDGE}(?!\d+{EDGE})", "", after)):
        return True
    if _TO_THE.match(after) and not re.search(r"\bfrom\b", before):
        return True
    return re.match(r"[\s-]", after) is not None and _is_ordinal(before, text, after)


def _is_ordinal(before: str, text: str, after: str) -> bool:
    """Return whether words make an ordinal or a fraction: `[twenty]-first`, `[one] tenth`."""
    words = re.findall(r"[a-z]+|[^a-z\s-]", after.replace(EDGE, "").lower())
    for count in range(1, len(words) + 1):
        *head, last = words[:count]
        cardinal = ORDINALS.get(last) or ORDINALS.get(last.removesuffix("s"))
        if cardinal is None:
            continue
        if _is_denominator(" ".join([*head, last]), text, after[0]):
            return True
        is_unit = last == "seconds" or (last == "second" and re.search(r"\ban?\s+$", before))
        if not is_unit and _continues(text, " ".join([*head, cardinal])):
            return True
    return False


def _is_denominator(words: str, text: str, joint: str) -> bool:
    """Return whether words after a number make it a fraction instead of naming something else."""
    if words in ("half", "halves", "third", "thirds", "quarter", "quarters"):
        return True
    parts = number_from_ordinal(words)
    single = re.search(r"\b(?:one|1)$", text.lower())
    return bool(parts and parts > 2 and (words[-1] == "s" or joint == "-" or single))


def _continues(text: str, words: str) -> bool:
    """Return whether words form one number with the words at the end of a text."""
    said = text.lower().split()
    tails = [" ".join(said[at:]) for at in range(len(said))]
    short = next((tail for tail in tails if number_from_words(tail) is not None), None)
    if short is None:
        return False
    return number_from_words(f"{short} {words}") not in (None, number_from_words(short))
