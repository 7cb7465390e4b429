"""Refuse text beside a claim that would make another number of it: `-[5]`, `[5]%`, `[5] million`.

One rule: a number stands between spaces or punctuation, and neither a sign of arithmetic nor a word
that belongs to numbers comes next, unless what follows that has a claim of its own.
"""

import re
from unicodedata import category

from proofbook.parsing.claims import Span
from proofbook.parsing.number_words import FRACTIONS, SCALES, TENS, UNITS
from proofbook.parsing.readings import EDGE, Reading

NUMBER_WORDS = "|".join([*UNITS, *TENS, *SCALES, "hundred"])
BEGINS = re.compile(rf"[-+−(\[]*(?:\.?\d|(?:{NUMBER_WORDS})\b|…$)", re.IGNORECASE)
ENDS = re.compile(rf"(?:\d\.?\s?%?[)\]]*|\b(?:{NUMBER_WORDS})|^…)$", re.IGNORECASE)
"""Match a number at either end of a text; a value to be filled in counts as one."""

OPENS = re.compile(
    r"(?:^|[\s(\[{\"“„‚«‹|~≈=:;#§$€£¥/]|(?<!\d)['‘]|\s—|[)\]}][-–]|(?<!\d[eE])(?<=[^\W_])[-–])$"
)
CLOSES = re.compile(r"$|[\s)\]}\"”“»›|—;:!?…=≈€£¥/×]|[.,'’–-](?!\d)|x(?!\w)|(?:st|nd|rd|th|fold)\b")
"""What may touch a number."""

_LARGE = rf"(?:{'|'.join([*SCALES, 'hundred'])}|\w+illion|milliard|dozen|lakh|crore)s?"
_PART = rf"(?:{'|'.join(FRACTIONS)})s?"
_RELATION = r"(?:[≤≥≠≪≫]|(?<![-=a-z/\"])[<>](?![a-z/])|[!=]=+)"
LEADS = re.compile(
    rf"(?:[−－➖±√∛]|:\w*minus\w*:|{_RELATION}|\b(?:minus|negative|point|half\s+an?)\b"
    r"|\d\s*[/⁄]|\b10\^?[\d⁰¹²³⁴-⁹]+\s*[×·⋅*]|(?:^|[\s(])-(?=\s)|^–)[\s(\")]*$",
    re.IGNORECASE,
)
FOLLOWS = re.compile(
    rf"[\s(]*[%％‰°½¼¾⅓⅔²³⁺+^]|[\s)]*{_RELATION}|\s*!\s*=|(?:\s+\d)?\s*[/⁄]\s*\d"
    r"|\s*[×·⋅*x]\s*10\s*[\^*⁰¹²³⁴-⁹]"
    r"|[\s-]+(?:per\s?cent|pct|squared|cubed|factorial|point\s+\d|raised|(?-i:[kKMGT]))(?![\w-])"
    rf"|[\s-]+(?:and\s+)?(?:an?\s+|one\s+)?(?:{_PART}|{_LARGE})(?![\w-])",
    re.IGNORECASE,
)
"""What may not come next before and after a number."""
_WORDS = "|".join([*UNITS[1:], *TENS])
GROWS = re.compile(
    rf"(?:\d[ \u00a0\u2009\u202f]\t\d{{3}}\b|\d\t[ \u00a0\u2009\u202f]\d{{3}}(?!\w)"
    rf"|\b(?:{'|'.join(TENS)})[\s-]*\t[\s-]*(?:{_WORDS})\b"
    rf"|\b{_LARGE}(?:\s+and)?\s*\t\s*(?:and\s+)?(?:{_WORDS})\b)(?!-[a-z])",
    re.IGNORECASE,
)
"""Two parts of one number, with a tab where the claim begins or ends."""
WHOLE = (
    "write the whole number, its sign, or the whole comparison within the claim, separate it from"
    " what is beside it, or give the other number its own claim"
)


def misread(span: Span, reading: Reading | None) -> str | None:
    """Return a message if readers see something other than what a claim compares, or `None`."""
    if not span.expressions.keys() & {"equals", "value"}:
        return None
    if reading is None:
        return f"the signs around {span.text!r} hide it: write it without emphasis"
    if reading.tags:
        return (
            "the text of a claim may hold only emphasis, code, and links; with"
            f" {reading.tags[0]}, readers would not see {span.text!r}, which is compared"
        )
    seen = " ".join(reading.text.split())
    if seen != " ".join(span.text.split()):
        return (
            f"readers see {seen!r} here, but {span.text!r} is compared: write it as inline code,"
            " or without characters that Markdown interprets"
        )
    if otherwise := read_otherwise(reading):
        return f"readers see {otherwise!r} here, but only {span.text!r} is compared: {WHOLE}"
    return None


def read_otherwise(reading: Reading) -> str | None:
    """Return what readers see as the number of a claim, if it is more than the claim contains.

    Return `None` if nothing beside the number changes it, or if neither end of the claim is a
    number.
    """
    text = reading.text.strip()
    before = _visible(reading.before) if BEGINS.match(text) else ""
    after = _visible(reading.after) if ENDS.search(text) else ""
    if _stands_alone(before, text, after):
        return None
    front = re.search(r"(?:\S+\s*){0,2}$", reading.before.replace(EDGE, ""))
    behind = re.match(r"\s*\S*", reading.after.replace(EDGE, ""))
    return f"{front[0] if front else ''}{text}{behind[0] if behind else ''}".strip()


def _stands_alone(before: str, text: str, after: str) -> bool:
    beside, behind = before.replace(EDGE, ""), after.replace(EDGE, "")
    joined = re.sub(rf"{EDGE}(?!\d)", "", after)
    is_apart = OPENS.search(beside) and CLOSES.match(after.lstrip(EDGE))
    is_led = LEADS.search(beside) and not re.search(rf"{EDGE}\s*[−±/]\s*$", before)
    joints = f"{beside[-20:]}\t{text}", f"{text}\t{behind[:20]}"
    return bool(is_apart) and not (
        is_led or FOLLOWS.match(joined) or any(map(GROWS.search, joints))
    )


def _visible(letters: str) -> str:
    """Drop formatting characters, such as soft hyphens and zero-width spaces."""
    return "".join(letter for letter in letters if category(letter) != "Cf")
