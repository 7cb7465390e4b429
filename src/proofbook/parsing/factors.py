"""What stands apart from a number and changes it: `[5] million`, `[5] × 10⁶`, `[1] thirtieth`."""

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
_TIMES = r"(?:[×·⋅∙•*∗✕✖⨯⊗]|\bx\b|\btimes\b|\bmultiplied\s+by\b)"
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
_POWER = rf"(?:\d+\s*(?:\^|\*\*|[{_RAISED}]|to\s+the\b)|ten\s+to\s+the\b)"
_DIGIT = rf"(?:\d|(?:{'|'.join(UNITS)}|oh|nought)\b)"

_AFTER = re.compile(
    rf"[\s(\[]*[%％﹪‰‱°{_PIECES}]"
    rf"|[\s-]+(?:{_SCALE}s?\b|per\s?(?:mille|mil|hundred|thousand|million|billion)\b"
    rf"|per[\s-]?cent\b|pct\b|p\.\s?c\.|squared\b|cubed\b|factorial\b|(?-i:[kKMGTB])(?![\w-]))"
    rf"|{_OPENING}+(?:{_SCALE}|per[\s-]?cent|pct)(?!\w)"
    rf"|\s*{_TIMES}\s*(?:{_POWER}|{_THOUSANDS}|(?:an?\s+|\d[\d.,]*\s+|{WORD}[\s-]+)*{_SCALE}s?\b)"
    rf"|\s*(?:\^|\*\*|↑)|\s*!\s*=|\s+10\s*[\^{_RAISED}]|\s+(?-i:e[-+−]?|E[-+−])\d+(?!\w)"
    rf"|\s+raised\b|\s+to\s+the\s+(?:\S+\s+)?power\b"
    rf"|\s*{_OVER}\s*(?:\d|{WORD}\b|{_SCALE}s?\b)|\s+\d+\s*[/⁄]\s*\d"
    rf"|\s+and\s+(?:\d+\s*[/⁄]\s*\d|[{_PIECES}]|(?:an?|\d+|{WORD})[\s-]+{_PART}\b)"
    rf"|\s+(?:point|dot|comma|decimal)\s+{_DIGIT}"
    rf"|\s*['’‘`´_]\s*\d{{3}}(?!\d)|\s+[.,·]\s?\d{{3}}(?!\d)|\s+[.,]\d",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    rf"(?:[√∛∜{_PIECES}]|\b10(?:\^[^\s{EDGE}]+|[{_RAISED}]+)|(?<![\w/])\d+\s*[/⁄]\s*\d+"
    rf"|(?:(?<![\w/])\d+\s*[/⁄]\s*\d+|\^[^\s{EDGE}]+|\*\*\s*\d+|[{_RAISED}]|\b{_THOUSANDS}|\b{_SCALE})"
    rf"\s*{_TIMES}|(?:\d|\b{WORD})\s*{_OVER}|(?:\d|\b{WORD}){EDGE}?\s+(?:point|dot|comma)"
    rf"|\b(?:half|(?:an?|{WORD})[\s-]+{_NTH})\s+(?:of\s+)?an?){GAP}",
    re.IGNORECASE,
)
_TO_THE = re.compile(rf"\s+to\s+the\s+{_NTH}\s*(?:[.,;:!?)]|$)", re.IGNORECASE)
_SCALED = re.compile(rf"(?<!between )\b(?:an?|{WORD})[\s-]+{_SCALE}(?:\s+and)?\s+$", re.IGNORECASE)


def is_multiplied(before: str, text: str, after: str) -> bool:
    """Tell whether what stands before or after a number makes another one of it.

    What has a claim of its own beside an operator is a number of its own: `[3] × [5]`.
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
    """Tell whether words go on to an ordinal or a fraction: `[twenty]-first`, `[one] tenth`."""
    words = re.findall(r"[a-z]+|[^a-z\s-]", after.replace(EDGE, "").lower())
    for count in range(1, min(len(words), 6) + 1):
        *head, last = words[:count]
        number = number_from_ordinal(" ".join([*head, last]))
        if number is None:
            continue
        if re.fullmatch(r"half|halves|thirds?|quarters?", last):
            return True
        if number > 2 and (
            last.endswith("s") or after[0] == "-" or re.search(r"\b(?:one|1)$", text.lower())
        ):
            return True
        if last != "seconds" and not (last == "second" and re.search(r"\ban?\s+$", before)):
            named = " ".join([*head, ORDINALS.get(last) or ORDINALS[last.removesuffix("s")]])
            return _continues(text, named)
    return False


def _continues(text: str, words: str) -> bool:
    """Tell whether words make one number with those at the end of a text."""
    said = text.lower().split()
    tails = [" ".join(said[at:]) for at in range(len(said))]
    short = next((tail for tail in tails if number_from_words(tail) is not None), None)
    if short is None:
        return False
    return number_from_words(f"{short} {words}") not in (None, number_from_words(short))
