"""What beside a claim would make its number another one: `-[5]`, `[5]%`, `[5] million`, `1[5]`."""

import re

from proofbook.parsing.claims import Span
from proofbook.parsing.number_words import SCALES, TENS, UNITS, number_from_words
from proofbook.parsing.readings import EDGE, Reading

_WORD = rf"(?:{'|'.join([*UNITS, *TENS, *SCALES, 'hundred'])})"
_NO_BREAK = "[\u00a0\u2009\u202f]"
_PARTS = (
    r"(?:half|halves|thirds?|quarters?|fifths|sixths|sevenths|eighths|ninths|tenths|twelfths"
    r"|hundredths|thousandths)\b"
)
_SCALES = rf"(?:dozens?|hundreds?|trillions?|{'|'.join(f'{scale}s?' for scale in SCALES)})\b"

BEGINS = re.compile(rf"[-+−(\[]*(?:\.?\d|{_WORD}\b|…$)", re.IGNORECASE)
ENDS = re.compile(rf"(?:\d\.?\s?%?[)\]]*|\b{_WORD}|^…)$", re.IGNORECASE)
"""Whether a number stands at either end of a text; a value that is filled in may be one."""

MAY_PRECEDE = re.compile(
    r"(?:^|[\s(\[{\"'“‘„‚«‹|—~≈;#§$€£¥]|(?<![!<>≠])=|(?<!\d)[:/]"
    rf"|(?<!\d[eE])(?<=[^\W_])[-–]|[)\]}}][-–]|(?<=[^\s(\[{{]{EDGE})[-–])$"
)
MAY_FOLLOW = re.compile(
    rf"$|[\s)\]}}\"'”’“»›|—;!?…=<>≤≥≈€£¥]|[.,](?!{EDGE}?\d)|[:/–-](?!\d)|×(?!\s*\d)|x(?!\w)"
    r"|(?:st|nd|rd|th|fold)(?!\w)"
)
"""What may touch a number and leave it what it is."""
SIGN = re.compile(
    r"(?:(?:^|[=<>≤≥≈(\[,:;]|\b(?:is|are|was|were|be|to|of|at|by|from|about|than|and|or))\s*"
    r"(?:[-−+±]|minus)|\bnegative)\s+$",
    re.IGNORECASE,
)
FACTOR = re.compile(
    rf"\s*(?:[%‰‱°½⅓¼-¾⅐-⅞]|[×·⋅*x]\s*{EDGE}?10{EDGE}?\s*[\^⁰¹²³⁴-⁹⁻])"
    rf"|[\s-]+(?:{_SCALES}|per\s?(?:cent|mille)\b|(?:[kKMGTB]|bn)(?![\w-])|squared|cubed|{_PARTS})"
    rf"|\s+and\s+(?:an?|{_WORD})[\s-]+{_PARTS}"
)
"""What stands apart from a number and changes it."""


def misread(span: Span, reading: Reading | None) -> str | None:
    """Say how a claim is read otherwise than it is compared; None where it is read as it is."""
    if not span.expressions.keys() & {"equals", "value"}:
        return None
    if reading is None:
        return f"{span.text!r} is lost in the signs around it: write it without emphasis"
    if reading.tags:
        return (
            "the text of a claim may hold emphasis, code and links; with"
            f" {reading.tags[0]} a reader would see something else than {span.text!r}, which is"
            " compared"
        )
    seen = " ".join(reading.text.split())
    if seen != " ".join(span.text.split()):
        return (
            f"a reader would see {seen!r} here, and {span.text!r} is compared: write it as inline"
            " code, or without signs that Markdown reads"
        )
    if otherwise := read_otherwise(reading):
        return (
            f"a reader would read {otherwise!r} here, and only {span.text!r} is compared: write the"
            " whole number within the claim, or set apart what stands beside it"
        )
    return None


def read_otherwise(reading: Reading) -> str | None:
    """Return what a reader reads for the number of a claim, if it is more than the claim says.

    None where what stands beside it leaves it what it is, and where no number is at its ends.
    """
    text = reading.text.strip()
    front, behind = reading.before.rstrip(EDGE), reading.after.lstrip(EDGE)
    changed = [
        BEGINS.match(text)
        and (not MAY_PRECEDE.search(front) or SIGN.search(front) or _goes_on(front, text, "")),
        ENDS.search(text)
        and (not MAY_FOLLOW.match(behind) or FACTOR.match(behind) or _goes_on("", text, behind)),
    ]
    if not any(changed):
        return None
    before = re.search(r"(?:\S+\s*)?$", front.replace(EDGE, ""))
    after = re.match(r"\s*\S*", behind.replace(EDGE, ""))
    return f"{before[0] if before else ''}{text}{after[0] if after else ''}".strip()


def _goes_on(before: str, text: str, after: str) -> bool:
    """Tell whether digits or words beside a text make one number with it."""
    before, after = before.replace(EDGE, ""), after.replace(EDGE, "")
    joint = f"{before[-4:]}\t{text}\t{after[:4]}"  # groups of three digits: 30 000
    if re.search(
        rf"\d{_NO_BREAK}\t\d|\d\t{_NO_BREAK}\d|\d \t\d{{3}}(?!\d)|\d\t \d{{3}}(?!\w)", joint
    ):
        return True
    short = number_from_words(text)
    if short is None or re.search(r"\w$", before) or re.match(r"\w", after):
        return False
    words = re.findall(r"[a-z]+|[^a-z\s-]", re.sub(r"\ban?\b", "one", before.lower()))
    more = re.findall(r"[a-z]+|[^a-z\s-]", after.lower())
    longer = [" ".join([*words[-count:], text]) for count in range(1, 8)]
    longer += [" ".join([text, *more[:count]]) for count in range(1, 8)]
    return any(number_from_words(one) not in (None, short) for one in longer)
