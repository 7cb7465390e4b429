"""Compare what the page says with what came: numbers at the precision written."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

NUMBER = re.compile(r"[-+−]?(\d{1,3}(,\d{3})+|\d+)?((?<=\d)\.\d*|\.\d+)?((?<=[\d.])[eE][-+]?\d+)?")
PRINTED = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?!\w)")
LEAF = re.compile(r"""[^\s\[\](),'"×]+|"[^"]*"|'[^']*'""")
TOKEN = re.compile(r"""\s*(?:([\[\](),])|("[^"]*"|'[^']*')|([^\[\](),'"]+))""")

UNITS = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
BOOLS = {"true": True, "yes": True, "false": False, "no": False}


def says(text: str, value: Any) -> bool:
    """Whether a text of the page reads as a value (JSON data, tensors as nested lists).

    Numbers compare at the precision written (`0.94`, `1.2e-6`, `30,522`, `94%` of one, `five`),
    shapes and lists item by item, strings exactly, truth as `True` or `yes`.
    """
    if isinstance(value, bool):
        return BOOLS.get(text.lower()) is value
    if isinstance(value, int | float):
        return _number_says(text, value)
    if isinstance(value, list):
        items = _parse_list(text)
        return items is not None and _items_say(items, value)
    return text == str(value)


def _number_says(text: str, value: int | float) -> bool:
    text = text.strip()
    words = number_from_words(text)
    if words is not None:
        return words == value
    percent = text.endswith("%")
    written = text.removesuffix("%").strip()
    if not re.search(r"\d", written) or not NUMBER.fullmatch(written):
        return text.lower().replace("−", "-") == str(value)  # inf, nan
    number = Decimal(written.replace(",", "").replace("−", "-"))
    unit = Decimal(1).scaleb(int(number.as_tuple().exponent))
    if percent:
        number, unit = number / 100, unit / 100
    if isinstance(value, int):
        exact = unit <= 1 or "e" not in written.lower()
        return number == value if exact else abs(number - value) <= unit / 2
    return _within_half(number, unit, value)


def _within_half(number: Decimal, unit: Decimal, value: float) -> bool:
    """Whether a number written to this unit is the rounding of a value."""
    if value != value or value in (float("inf"), float("-inf")):
        return False
    exact = Decimal(value)
    return abs(number - exact) <= unit / 2 + abs(exact) * Decimal("1e-12")


def number_from_words(text: str) -> int | None:
    """The number that English words name, such as `twenty-one` or `two hundred and five`."""
    total = group = 0
    seen = False
    for word in re.split(r"[\s-]+", text.lower().replace(" and ", " ")):
        if word in UNITS:
            group += UNITS.index(word)
        elif word in TENS:
            group += 10 * (TENS.index(word) + 2)
        elif word == "hundred" and seen:
            group *= 100
        elif word in SCALES and seen:
            total, group = total + group * SCALES[word], 0
        else:
            return None
        seen = True
    return total + group


def words_from_number(number: int) -> str:
    """English words for a number from 0 to 999."""
    if not 0 <= number < 1000:
        raise ValueError(f"{number} has no words here; write it in digits")
    if number < 20:
        return UNITS[number]
    if number < 100:
        tens, rest = TENS[number // 10 - 2], number % 10
        return f"{tens}-{UNITS[rest]}" if rest else tens
    rest = number % 100
    words = f"{UNITS[number // 100]} hundred"
    return f"{words} and {words_from_number(rest)}" if rest else words


def _parse_list(text: str) -> list[Any] | None:
    """A list or shape as written, with its items as texts: `[1, 5]`, `(1, 5)`, `1 × 5`."""
    text = re.sub(r"^(?:torch\.Size|tensor|array)\((.*)\)$", r"\1", text.strip(), flags=re.DOTALL)
    if not text.startswith(("[", "(")):
        text = f"[{text.replace('×', ',')}]"
    tokens = _tokens(text)
    try:
        next(tokens)
        items = _items(tokens)
        return items if next(tokens, None) is None else None
    except (StopIteration, ValueError):
        return None


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while match := TOKEN.match(text, at):
        at = match.end()
        token = match[0].strip()
        if token:
            yield token
    if text[at:].strip():
        raise ValueError(text)


def _items(tokens: Iterator[str]) -> list[Any]:
    items: list[Any] = []
    for token in tokens:
        if token in "])":
            return items
        if token in "[(":
            items.append(_items(tokens))
        elif token != ",":
            items.append(token)
    raise ValueError("a list that is not closed")


def _items_say(items: list[Any], values: list[Any]) -> bool:
    return len(items) == len(values) and all(
        isinstance(value, list) and _items_say(item, value)
        if isinstance(item, list)
        else says(_unquoted(item) if isinstance(value, str) else item, value)
        for item, value in zip(items, values, strict=True)
    )


def _unquoted(text: str) -> str:
    return text[1:-1] if text[0] in "'\"" and text[-1] == text[0] else text


def prints(want: str, got: str) -> bool:
    """Whether an output as the page writes it is the output that came.

    Runs of white space count as one blank, and none beside brackets and commas. A float is right
    when it is the rounding of the printed one to the digits written; all else must be equal.
    """
    want, got = _settled(want), _settled(got)
    if want == got:
        return True
    return same_but_numbers(want, got) and all(
        _printed_alike(one, other)
        for one, other in zip(PRINTED.findall(want), PRINTED.findall(got), strict=True)
    )


def same_but_numbers(want: str, got: str) -> bool:
    """Whether two outputs differ in nothing but numbers and white space."""
    return PRINTED.split(_settled(want)) == PRINTED.split(_settled(got))


def _settled(text: str) -> str:
    if text.startswith("Traceback (most recent call last):"):
        text = re.sub(r"\A.*\n(?:[ \t]+.*\n)*", "", text)
    text = " ".join(text.replace("<BLANKLINE>", "").split())
    return re.sub(r" ?([,\[\]()]) ?", r"\1", text)


def _printed_alike(want: str, got: str) -> bool:
    if want == got:
        return True
    if not re.search(r"\.\d|[eE]", want) or not re.search(r"[.eE]", got):
        return "." in want and "." in got and float(want) == float(got)
    number = Decimal(want)
    return _within_half(number, Decimal(1).scaleb(int(number.as_tuple().exponent)), float(got))
