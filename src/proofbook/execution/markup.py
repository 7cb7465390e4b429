"""Prepare the markup of other packages' objects for a page."""

import base64
import re
import struct
from collections.abc import Callable, Mapping
from html import escape
from typing import Any
from xml.etree import ElementTree

from proofbook.text import shortened

ID = re.compile(r"""(?<=\s)(?:xml:)?id\s*=\s*(["'])(.*?)\1""", re.DOTALL)
USED = re.compile(
    r"""((?<=\s)(?:xml:)?id\s*=\s*["']|\bhref\s*=\s*["']#|\sfor\s*=\s*["']"""
    r"""|url\(\s*(?:["']|&quot;)?#)"""
    r"""([^"'()&]*)"""
)
NAMING = re.compile(r"""(\saria-(?:labelledby|describedby|controls|owns)\s*=\s*["'])([^"']*)""")
TIMING = re.compile(r"""(\s(?:begin|end)\s*=\s*["'])([^"']*)""")
STYLE = re.compile(r"<style\b.*?</style>", re.DOTALL | re.IGNORECASE)

PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8"
FRAMES = {0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF}
"""Markers that precede a JPEG's size."""


def with_own_ids(markup: str, prefix: str) -> str:
    """Add a prefix to each id in some markup, and to each reference to it."""
    ids = {match[2] for match in ID.finditer(markup)}
    if not ids:
        return markup

    def own(name: str) -> str:
        return f"{prefix}-{name}" if name in ids else name

    markup = USED.sub(lambda match: match[1] + own(match[2]), markup)
    markup = NAMING.sub(lambda match: match[1] + _each(r"\S+", own, match[2]), markup)
    markup = TIMING.sub(lambda match: match[1] + _each(r"[\w-]+(?=\.)", own, match[2]), markup)
    return STYLE.sub(lambda style: _each(r"(?<=#)[\w-]+", own, style[0]), markup)


def _each(word: str, own: Callable[[str], str], text: str) -> str:
    return re.sub(word, lambda match: own(match[0]), text)


def own_svg(text: str, prefix: str) -> str:
    """Prepare an SVG for embedding in a page.

    Raises:
        ValueError: The text isn't an SVG, or the SVG would run a script.
    """
    markup = text[max(text.find("<svg"), 0) :].strip()
    try:
        root = ElementTree.fromstring(markup)
    except ElementTree.ParseError as error:
        raise ValueError(f"this SVG cannot be read: {error}") from error
    for element in root.iter():
        name = str(element.tag).rpartition("}")[2].lower()
        handlers = [
            key for key in element.attrib if key.rpartition("}")[2].lower().startswith("on")
        ]
        running = [one for one in element.attrib.values() if _is_script(one)]
        for what in ["<script>"] if name == "script" else [*handlers, *running]:
            raise ValueError(f"this SVG runs a script ({what}): draw it without one")
    return with_own_ids(markup, prefix)


def _is_script(address: str) -> bool:
    return re.sub(r"\s", "", address).lower().startswith(("javascript:", "data:text/html"))


def image(
    data: bytes | bytearray | memoryview | str, kind: str, about: Mapping[str, Any], text: str
) -> str:
    """Write a picture as a self-contained element, by default at its own size.

    Args:
        data: The file's bytes, or the same in base64.
        kind: Its media type.
        about: Its metadata: `width`, `height`, `alt`.
        text: Alternative text, used if `about` has none.

    Raises:
        ValueError: The data isn't a picture of this type.
    """
    raw = base64.b64decode(data) if isinstance(data, str) else bytes(data)
    width, height = size_of(raw, kind)
    size = f'width="{about.get("width") or width}" height="{about.get("height") or height}"'
    source = base64.b64encode(raw).decode()
    alt = escape(shortened(" ".join(str(about.get("alt") or text).split())))
    return f'<img src="data:{kind};base64,{source}" alt="{alt}" {size}>'


def size_of(raw: bytes, kind: str) -> tuple[int, int]:
    """Return the width and height of a PNG or a JPEG in pixels."""
    try:
        if kind == "image/png" and raw.startswith(PNG):
            return struct.unpack(">II", raw[16:24])  # type: ignore[return-value]
        if kind == "image/jpeg" and raw.startswith(JPEG):
            return _size_of_jpeg(raw)
    except (struct.error, IndexError):
        pass
    raise ValueError(f"expected a picture ({kind}), but the data begins with {raw[:8]!r}")


def _size_of_jpeg(raw: bytes) -> tuple[int, int]:
    at = 2
    while raw[at + 1] not in FRAMES:
        at += 2 + struct.unpack(">H", raw[at + 2 : at + 4])[0]
    height, width = struct.unpack(">HH", raw[at + 5 : at + 9])
    return width, height
