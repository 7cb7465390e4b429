"""Clean up printed text for a page: valid Unicode, no control characters, not too long."""

import re
from typing import Any

TRACEBACK = "Traceback (most recent call last):"
"""The line that Python writes above an error."""

LARGEST_TEXT = 100_000
"""The most characters of one text that a page shows, about a few thousand lines."""

# Commands to a terminal: colors, cursor movement, window titles, single letters.
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def readable(text: str) -> str:
    """Drop terminal commands from a text; escape other characters that a page can't contain."""
    return CONTROL.sub(lambda sign: ascii(sign[0])[1:-1], ESCAPES.sub("", text))


def encodable(text: str) -> str:
    """Escape lone surrogates, which can't be written to a file."""
    return text.encode("utf-8", "backslashreplace").decode()


def clipped(text: str, size: int | None = None) -> str:
    """Truncate a long text and add a note.

    Args:
        text: The text.
        size: The size of the whole output in bytes, if `text` is only part of it.
    """
    if len(text) <= LARGEST_TEXT and size is None:
        return text
    size = size or len(text.encode())
    return f"{text[:LARGEST_TEXT]}\n[… cut here: {size / 1e6:.1f} MB in all]\n"


def without_device(text: str, device: str) -> str:
    """Drop the page's device from the tensors printed in a text.

    PyTorch prints the device of every tensor that isn't on the CPU. Without it, a page reads the
    same on every device; the page's footer names the one it ran on.
    """
    kind = re.escape(device.partition(":")[0])
    return re.sub(rf", device='{kind}(?::\d+)?'", "", text)


def shown(data: Any, limit: int = 200) -> str:
    """Return a value's repr, shortened if it is long."""
    return shortened(repr(data), limit)


def shortened(text: str, limit: int = 200) -> str:
    """Shorten a text that exceeds the limit."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
