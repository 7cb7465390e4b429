"""Read back what views draw: their pictures, their tables, and what their viewers are sent."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
import torch


class Reader(HTMLParser):
    """The tags, attributes, text, and table rows of a fragment, as a browser would read them."""

    def __init__(self, fragment):
        super().__init__()
        self.found, self.text, self.rows, self.in_cell = [], [], [], False
        self.feed(fragment.partition("</style>")[2] or fragment)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.in_cell = False

    def handle_data(self, data):
        self.text.append(data)
        if self.in_cell:
            self.rows[-1][-1] += data

    def all(self, tag):
        return [attrs for name, attrs in self.found if name == tag]


def svgs(view):
    """The pictures of a view as XML, which closes each tag."""
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", view.html, re.S)]


def texts(view, css=""):
    """All that is written in a picture, or what has a class, in order."""
    return [
        text.text or "".join(text.itertext())
        for svg in svgs(view)
        for text in svg.iter("text")
        if css in text.get("class")
    ]


def facts(view):
    """The rows of a view's text, its header left out."""
    return [re.split(r"  +", line.strip()) for line in str(view).splitlines()[1:]]


def numbers(text):
    """All numbers in an attribute."""
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", text)]


def widths(view):
    """How wide a view's picture is at full size, and how far it may grow and shrink."""
    svg = svgs(view)[0]
    widest, narrowest = (int(n) for n in re.findall(r"m..-width:(\d+)px", svg.get("style")))
    return numbers(svg.get("viewBox"))[2], widest, narrowest


def near(*values):
    """Within what is left out of a coordinate with one decimal."""
    return pytest.approx(values if len(values) > 1 else values[0], abs=0.11)


def stroked(path):
    """The cells, as row and column, that the strokes of a path cover."""
    x, y, covered = 0, 0, []
    for right, down, count in re.findall(r"m(-?\d+) (-?\d+)h(\d+)", path):
        x, y = x + int(right), y + int(down)
        covered += [(y, x + k) for k in range(int(count))]
        x += int(count)
    return covered


def shades(group):
    """The strength of each cell that a group of strokes covers; negative ones are below zero."""
    found = {}
    for path in group.iter("path"):
        if "stroke-opacity" in path.attrib:
            sign = -1 if path.get("class") == "n" else 1
            for cell in stroked(path.get("d")):
                assert cell not in found
                found[cell] = sign * float(path.get("stroke-opacity"))
    return found


def contrast(one, other):
    """WCAG 2.2's contrast ratio of two colors, each three numbers up to 255."""

    def light(color):
        linear = [
            c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4
            for c in color
        ]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


def unpacked(view):
    """A viewer's header and bytes, read back with Python's own modules."""
    raw = zlib.decompress(base64.b64decode(re.search('data-packed="([^"]*)"', view.html)[1]))
    size = int.from_bytes(raw[:4], "little")
    return json.loads(raw[4 : 4 + size]), raw[4 + size :]


def make_tape(seq, *, layers=1, heads=3, head_dim=7):
    """Queries, keys, and weights, as `record` gives them."""
    made = {}
    for i in range(layers):
        query, key = torch.randn(2, 1, heads, seq, head_dim)
        made[f"layers.{i}.attention.query"] = query
        made[f"layers.{i}.attention.key"] = key
        made[f"layers.{i}.attention.weights"] = (query @ key.mT / head_dim**0.5).softmax(-1)
    return made
