"""What was printed, as a page can show it: Unicode, no control characters, not too long."""

import re
from typing import Any

TRACEBACK = "Traceback (most recent call last):"
"""The line that Python writes above an error."""

LARGEST_TEXT = 100_000
"""Characters of one text that a page shows: some thousand lines."""

# What a terminal would have obeyed: colors and the cursor, titles of windows, single letters.
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def readable(text: str) -> str:
    """Drop a terminal's commands from a text; escape what else no page can hold."""
    return CONTROL.sub(lambda sign: ascii(sign[0])[1:-1], ESCAPES.sub("", text))


def encodable(text: str) -> str:
    """Escape the halves of characters that no file can hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def clipped(text: str, size: int | None = None) -> str:
    """Cut a long text, with a note.

    Args:
        text: The text.
        size: How many bytes there were in all, if the text is not the whole.
    """
    if len(text) <= LARGEST_TEXT and size is None:
        return text
    size = size or len(text.encode())
    return f"{text[:LARGEST_TEXT]}\n[… cut here: {size / 1e6:.1f} MB in all]\n"


def without_device(text: str, device: str) -> str:
    """Drop from the tensors of a text that they lie on the device that the page computes on.

    torch says so of every device but the CPU; a page reads the same on each, and its foot names it.
    """
    kind = re.escape(device.partition(":")[0])
    return re.sub(rf", device='{kind}(?::\d+)?'", "", text)


def shown(data: Any, limit: int = 200) -> str:
    """Write a value as a reader should see it, cut where it is long."""
    return shortened(repr(data), limit)


def shortened(text: str, limit: int = 200) -> str:
    """Cut a text where it is long."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
