"""Tell whether a number has a sign, or a relation such as `<`, outside its claim."""

import re
from unicodedata import category, name, normalize

from proofbook.parsing.number_words import SCALES, TENS, UNITS
from proofbook.parsing.readings import BEGIN, EDGE, END

WORD = rf"(?:{'|'.join([*UNITS, *TENS, *SCALES, 'hundred'])})"
_MARKS = f"{EDGE}{BEGIN}{END}"
_OPENING = rf"[\s{_MARKS}(\[{{\"'“‘„‚«‹|~≈$€£¥]"
_CLOSING = rf"[{_MARKS})\]}}\"'”’»›]*"
_HEDGE = (
    r"(?:an?|about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|ca\.?|only|just"
    r"|exactly|precisely|up\s+to|as\s+\w+\s+as|at\s+(?:most|least)"
    r"|(?:more|less)\s+than|the\s+(?:value|number))"
)
GAP = rf"{_OPENING}*(?:{_HEDGE}{_OPENING}+)*$"
"""What may come between a sign and its number: spaces, brackets, quotes, or `about`."""

_MINUS = re.compile(
    rf"(?P<sign>(?<!-)[-‐‑‒–—―]|--+|[−－﹣⁻₋˗➖⊖±∓]|:\w*minus\w*:"
    r"|(?<!\w)(?:(?:plus\W{0,3}(?:or\W)?)?minus"
    r"|neg(?:ative(?:\s+(?:value|number)s?)?(?:\s+of)?|\.)?)(?!\w)[-–]?)"
    rf"{_CLOSING}(?P<gap>{GAP})",
    re.IGNORECASE,
)
_PLUS = re.compile(
    r"(?:(?:^|[=≈(\[,:;]|\b(?:is|are|was|were|be|to|of|at|by|from|about|than|and|or))\s*\+\s+)$"
)
_LEADS_TO_A_NUMBER = re.compile(
    r"(?:^|[=≈→⇒<>≤≥(\[{,:;/*×·]|\b(?:is|was|to|of|at|by|from|than|and|or|as|low|g[ai]ve[sn]?"
    r"|yields?|equals?|makes?|prints?|shows?|returns?|reaches|becomes|roughly|nearly|only|just"
    r"|exactly|approximately|about|around|almost))$",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    rf"(?:(?<![^\W_])(?:\d[\d.,]*)?\d(?:e[-+−]?\d+)?[\s%‰°⁰-⁹¹²³!]*|\b{WORD})$",
    re.IGNORECASE,
)
_TERM = re.compile(rf"[^\s{_MARKS}−+±∓×·⋅*/÷=<>≤≥≈≠∈→,;:.(\[{{√-][\s{EDGE}]*$")
_EXPRESSION = re.compile(r"(?P<called>\w*)[(\[{](?P<inside>[^()\[\]{}]*)[)\]}]$")


def is_signed(before: str) -> bool:
    """Return whether the text before a number ends with the number's sign.

    A minus is an operator after a number, code, a formula, or an expression in brackets. A dash
    between spaces is punctuation unless a number must follow.
    """
    if _PLUS.search(_bare(before)):
        return True
    if not (found := _MINUS.search(before)):
        return False
    sign, gap, prior = found["sign"], found["gap"].strip(_MARKS), before[: found.start()]
    said = _bare(prior).rstrip()
    if sign[0] in "-‐‑‒–—―":
        if prior and re.search(r"[\w)\]}.!?%°\"'”’]$", _bare(prior)):
            return False  # joins, as in layer-[5], or ends what comes before it
        apart = gap[:1].isspace()
        if apart and (len(sign) > 1 or sign in "‒–—―"):
            return sign not in "—―" and bool(_LEADS_TO_A_NUMBER.search(said))
    elif sign.lower().startswith("neg"):
        return True
    return not _is_operand(prior)


def _bare(text: str) -> str:
    return re.sub(f"[{_MARKS}]", "", text)


def _is_operand(prior: str) -> bool:
    """Return whether a text ends with something that a number may be subtracted from."""
    text = prior.rstrip().rstrip(EDGE).rstrip()
    opened, closed = text.rfind(BEGIN), text.rfind(END)
    if opened > closed or text.endswith(END):
        return bool(_TERM.search(text.rstrip(END)))
    if _NUMBER.search(text) or re.search(rf"…{EDGE}\s*$", prior):  # a value that is filled in
        return True
    if not (bracket := _EXPRESSION.search(_bare(text))):
        return False
    words = re.findall(r"[^\W\d_]{2,}", bracket["inside"])
    if any(not re.fullmatch(WORD, word, re.IGNORECASE) for word in words):
        return False
    called = bracket["called"] and bracket["inside"] not in ("s", "es")
    return bool(called or re.search(r"[-−+×·⋅*/^]", bracket["inside"]))


_ORDER = re.compile(
    "LESS-THAN|GREATER-THAN|(?:SMALL|LARG)ER THAN|PRECEDE|SUCCEED|EQUAL TO OR|NOT EQUAL"
)
_RELATIONS = "".join(
    sign
    for sign in map(chr, (*range(0x2190, 0x2B00), 0xFE64, 0xFE65, 0xFF1C, 0xFF1E))
    if "\u0338" in normalize("NFD", sign) or (category(sign) == "Sm" and _ORDER.search(name(sign)))
)
"""Ordering relations, and negated ones, such as `≠`."""
_RELATION = (
    rf"(?:[{_RELATIONS}]|!=+|=+[!/\\]=+|(?<![\w/])/=+|\\=+|¬=+|<(?!-)=*"
    r"|(?<![-=~])(?<![-=~]>)>+=*)"
)
_TAG = re.compile(r"</?[A-Za-z]\w*/?>")
_RELATED = re.compile(rf"{_RELATION}{_CLOSING}{_OPENING}*(?:the\s+)?{GAP}")
_RELATING = re.compile(
    rf"[\s{_MARKS})\]}}\"'”’»›%]*(?:[{_RELATIONS}]|!=|=+[!/\\]=|/=|\\=|¬=|<(?!-|=+>)|>)"
)


def is_related(before: str, after: str) -> bool:
    """Return whether a relation other than `=`, `≈`, or an arrow is beside a number."""
    before, after = (_TAG.sub("", normalize("NFC", text)) for text in (before, after))
    return bool(_RELATED.search(before) or _RELATING.match(after))
