"""What was printed, as a page can show it: Unicode, no control characters, not too long."""

import re
from typing import Any

LARGEST_TEXT = 100_000
"""Characters of one text that a page shows: some thousand lines."""

# What a terminal would have obeyed: colours and the cursor, titles of windows, single letters.
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def readable(text: str) -> str:
    """A text without a terminal's commands; what else no page can hold stands there escaped."""
    return CONTROL.sub(lambda sign: ascii(sign[0])[1:-1], ESCAPES.sub("", text))


def encodable(text: str) -> str:
    """A text that a file can hold: halves of characters stand there escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def clipped(text: str, size: int | None = None) -> str:
    """A text, or the beginning of a long one and a note.

    Args:
        text: The text.
        size: How many bytes there were in all, if the text is not the whole.
    """
    if len(text) <= LARGEST_TEXT and size is None:
        return text
    size = size or len(text.encode())
    return f"{text[:LARGEST_TEXT]}\n[… cut here: {size / 1e6:.1f} MB in all]\n"


def shown(data: Any, limit: int = 200) -> str:
    """A value as a reader should see it, cut where it is long."""
    return shortened(repr(data), limit)


def shortened(text: str, limit: int = 200) -> str:
    """A text, cut where it is long."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
