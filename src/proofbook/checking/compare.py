"""Compare the prose with computed values: numbers at the precision written."""

import re
from collections.abc import Iterator
from typing import Any

from proofbook.checking.numerals import Numeral
from proofbook.parsing.number_words import number_from_words

LEAF = re.compile(r"""[^\s\[\](),'"×]+|"[^"]*"|'[^']*'""")
TOKEN = re.compile(r"""\s*(?:([\[\](),])|("[^"]*"|'[^']*')|([^\[\](),'"]+))""")
THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(,\d{3})+(?!\d)")
BOOLS = {"true": True, "yes": True, "false": False, "no": False}


def says(text: str, value: Any) -> bool:
    """Return whether a text on the page states a value (JSON data, tensors as nested lists).

    Numbers are compared at the precision written (`0.94`, `1.2e-6`, `30,522`, `94%` of one,
    `five`), shapes and lists item by item, strings exactly, booleans as `True` or `yes`.
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
    numeral = Numeral.read(text)
    if numeral:
        return numeral.says(value)
    return isinstance(value, float) and text.lower().replace("−", "-") == str(value)  # inf, nan


def _parse_list(text: str) -> list[Any] | None:
    """Return a list or shape as written, with its items as texts: `[1, 5]`, `(1, 5)`, `1 × 5`."""
    text = re.sub(r"^(?:torch\.Size|tensor|array)\((.*)\)$", r"\1", text.strip(), flags=re.DOTALL)
    if not text.startswith(("[", "(")):
        if THOUSANDS.search(text):  # 30,522 is one number; the list is 30, 522
            return None
        text = f"[{text.replace('×', ',')}]"
    tokens = _tokens(text)
    try:
        next(tokens)
        items = _items(tokens)
        return items if next(tokens, None) is None else None
    except (StopIteration, ValueError, RecursionError):
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
    raise ValueError("this list is not closed")


def _items_say(items: list[Any], values: list[Any]) -> bool:
    return len(items) == len(values) and all(
        isinstance(value, list) and _items_say(item, value)
        if isinstance(item, list)
        else says(_unquoted(item) if isinstance(value, str) else item, value)
        for item, value in zip(items, values, strict=True)
    )


def _unquoted(text: str) -> str:
    return text[1:-1] if text[0] in "'\"" and text[-1] == text[0] else text
