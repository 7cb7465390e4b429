"""Convert English number words to numbers, and numbers to words."""

import re

UNITS = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
FRACTIONS = [
    *("half", "halve", "third", "quarter", "fifth", "eighth", "ninth", "twelfth"),
    *(re.sub("y$", "ie", word) + "th" for word in [*UNITS[4:], *TENS, "hundred", *SCALES]),
]
"""The words for parts of a whole, in the singular, and some that nobody writes."""


def number_from_words(text: str) -> int | None:
    """Return the number that English words express, such as `twenty-one` or `two hundred and five`.

    Return None for anything else, including number words that don't form one number (`ten one`). An
    `and` may come before the last two digits; `twelve hundred` is accepted, `a hundred` is not.
    """
    words = re.split(r"\s+|-", text.strip().lower())
    if words == ["zero"]:
        return 0
    total = 0
    for scale, size in reversed(SCALES.items()):
        if scale in words:
            at = words.index(scale)
            group = _below_thousand(words[:at])
            if group is None:
                return None
            total += group * size
            words = words[at + 1 :]
    if total == 0:
        return _below_thousand(words) or _hundreds(words)
    if not words:
        return total
    rest = _below_hundred(words[1:]) if words[0] == "and" else _below_thousand(words)
    return None if rest is None else total + rest


def _below_hundred(words: list[str]) -> int | None:
    """Return a number from 1 to 99: a single word, or tens and a unit."""
    match words:
        case [word] if word in UNITS[1:]:
            return UNITS.index(word)
        case [ten] if ten in TENS:
            return 10 * TENS.index(ten) + 20
        case [ten, unit] if ten in TENS and unit in UNITS[1:10]:
            return 10 * TENS.index(ten) + 20 + UNITS.index(unit)
    return None


def _below_thousand(words: list[str]) -> int | None:
    """Return a number from 1 to 999: hundreds and the rest, or the rest alone."""
    if words[1:2] != ["hundred"]:
        return _below_hundred(words)
    return _with_hundreds(words, 1) if words[0] in UNITS[1:10] else None


def _hundreds(words: list[str]) -> int | None:
    """Return a number above a thousand that is counted in hundreds, such as `twelve hundred`."""
    if "hundred" not in words:
        return None
    number = _with_hundreds(words, words.index("hundred"))
    return number if number and number > 1000 and number // 100 % 10 else None


def _with_hundreds(words: list[str], at: int) -> int | None:
    hundreds, rest = _below_hundred(words[:at]), words[at + 1 :]
    if hundreds is None or not rest:
        return hundreds and 100 * hundreds
    ones = _below_hundred(rest[1:] if rest[0] == "and" else rest)
    return ones and 100 * hundreds + ones


def words_from_number(number: int) -> str:
    """Return the English words for a number from 0 to 999."""
    if not 0 <= number < 1000:
        raise ValueError(f"no number words for {number} here; write it in digits")
    if number < 20:
        return UNITS[number]
    if number < 100:
        tens, rest = TENS[number // 10 - 2], number % 10
        return f"{tens}-{UNITS[rest]}" if rest else tens
    rest = number % 100
    words = f"{UNITS[number // 100]} hundred"
    return f"{words} and {words_from_number(rest)}" if rest else words
