"""Find text beside a claim that would change its number: `-[5]`, `[5]%`, `[5] million`, `1[5]`."""

import re
from unicodedata import category

from proofbook.parsing.claims import Span
from proofbook.parsing.factors import is_multiplied
from proofbook.parsing.number_words import number_from_words
from proofbook.parsing.readings import BEGIN, EDGE, END, Reading
from proofbook.parsing.signs import WORD, is_related, is_signed

_NO_BREAK = "[\u00a0\u2009\u202f]"

BEGINS = re.compile(rf"[-+−(\[]*(?:\.?\d|{WORD}\b|…$)", re.IGNORECASE)
ENDS = re.compile(rf"(?:\d\.?\s?%?[)\]]*|\b{WORD}|^…)$", re.IGNORECASE)
"""Match a number at either end of a text; a value to be filled in counts as one."""

MAY_PRECEDE = re.compile(
    r"(?:^|[\s(\[{\"“„‚«‹|—~≈;#§$€£¥]|(?<!\d)['‘]|(?<![!<>≠])=|(?<!\d)[:/]"
    rf"|(?<!\d[eE])(?<=[^\W_])[-–]|[)\]}}][-–]|(?<=[^\s(\[{{]{EDGE})[-–])$"
)
MAY_FOLLOW = re.compile(
    rf"$|[\s)\]}}\"”“»›|—;!?…=≈€£¥]|[.,'’](?!{EDGE}?\d)|[:/–-](?!\d)|×(?!\s*\d)|x(?!\w)"
    r"|(?:st|nd|rd|th|fold)(?!\w)"
)
"""What may touch a number without changing it."""

RELATION = "bind the whole comparison, as in `n > 5`{ holds }"
MINUS = (
    "write the minus within the claim; an operator must follow a number, a claim, code, or a"
    " formula, and a dash needs a space on each side"
)
WHOLE = (
    "write the whole number within the claim, separate it from what is beside it, or give the"
    " other number its own claim"
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
    if found := read_otherwise(reading):
        otherwise, instead = found
        return f"readers see {otherwise!r} here, but only {span.text!r} is compared: {instead}"
    return None


def read_otherwise(reading: Reading) -> tuple[str, str] | None:
    """Return what readers see as the number of a claim, if it is more than the claim contains.

    Return `None` if nothing beside the number changes it, or if neither end of the claim is a
    number.

    Returns:
        The number with the text beside it, and what to write instead.
    """
    text = reading.text.strip()
    front, behind = reading.before.rstrip(EDGE), reading.after.lstrip(EDGE)
    if not BEGINS.match(text):
        front = ""
    if not ENDS.search(text):
        behind = ""
    seen, follows = _visible(front), _visible(behind)
    if is_related(seen, follows):
        instead = RELATION
    elif is_signed(seen):
        instead = MINUS
    elif (
        not MAY_PRECEDE.search(_shown(front))
        or not MAY_FOLLOW.match(_shown(behind))
        or is_multiplied(seen, text, follows)
        or _goes_on(seen, text, follows)
    ):
        instead = WHOLE
    else:
        return None
    before = re.search(r"(?:\S+\s*){0,2}$", _shown(reading.before).replace(EDGE, ""))
    after = re.match(r"\s*\S*", _shown(reading.after).replace(EDGE, ""))
    whole = f"{before[0] if before else ''}{text}{after[0] if after else ''}".strip()
    return whole, instead


def _visible(letters: str) -> str:
    """Drop formatting characters, such as soft hyphens and zero-width spaces."""
    return "".join(letter for letter in letters if category(letter) != "Cf")


def _shown(letters: str) -> str:
    return re.sub(f"[{BEGIN}{END}]", "", letters)


def _goes_on(before: str, text: str, after: str) -> bool:
    """Return whether digits or words beside a text make one number with it."""
    before, after = (_shown(letters).replace(EDGE, "") for letters in (before, after))
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
