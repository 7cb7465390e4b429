"""A bertviz viewer as a page element, and as a notebook cell that works offline."""

import base64
import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from glassformer.views.palette import SHADOWS, THEME
from glassformer.views.view import View

STATIC = Path(__file__).parent / "static"
LOADER = "glassformer-views.js"
# If only the still picture is drawn (without scripts, or on paper), its table is open.
OPEN = "::details-content{content-visibility:visible;block-size:auto}"
TABLE = (
    f"@media (scripting:none){{glassformer-view>details{OPEN}}}"
    f"@media print{{glassformer-view:not([data-state=drawn])>details{OPEN}}}"
)
LIBRARIES = ("jquery.slim.min.js", "d3.min.js")


@dataclass(frozen=True)
class Picture:
    """Everything that a viewer draws.

    Attributes:
        kind: `head`, `model`, or `neuron`.
        packed: The numbers and words, as `packing.pack` returns them.
        size: Width and height of the picture in pixels, before a page scales it.
        controls: The menus above the picture, as HTML.
        hint: How to use it, with the words for a mouse and for a finger in `{Click|Tap}`.
        table: The strongest weights as an HTML table.
        still: What's shown until the script draws, or if it can't: a drawing of that size.
    """

    kind: str
    packed: str
    size: tuple[int, int]
    controls: str
    hint: str
    table: str
    still: str


@dataclass(frozen=True, repr=False)
class Viewer(View):
    """A view drawn by one of bertviz's scripts.

    Attributes:
        kind: `head`, `model`, or `neuron`.
        height: The approximate height of the whole view in pixels.
    """

    kind: str
    height: int

    def _repr_page_(self) -> tuple[str, dict[str, str]]:
        """Return markup with `asset://NAME` as a placeholder for a URL, and each name's file."""
        return self.html, {name: str(path) for name, path in assets(self.kind).items()}

    def _repr_html_(self) -> str:
        """Return the markup in its own iframe, with every script inside it."""
        markup = self.html
        for name, path in assets(self.kind).items():
            if name != LOADER:
                data = base64.b64encode(path.read_bytes()).decode()
                markup = markup.replace(f"asset://{name}", f"data:text/javascript;base64,{data}")
        loader = (STATIC / LOADER).read_text(encoding="utf-8")
        markup = markup.replace(loading(LOADER), f'<script type="module">{loader}</script>')
        page = (
            '<!doctype html><meta charset="utf-8"><style>:root{color-scheme:light dark}'
            "body{margin:8px;background:Canvas;color:CanvasText;font:16px/1.5 system-ui,sans-serif}"
            f"</style>{markup}"
        )
        return (
            f'<iframe title="Attention, drawn by bertviz" sandbox="allow-scripts" '
            f'style="width:100%;height:{self.height}px;border:0" srcdoc="{escape(page)}"></iframe>'
        )


def viewer(picture: Picture, text: str) -> Viewer:
    """Wrap a picture in an element that draws itself when it comes near the screen."""
    width, height = picture.size
    scripts = " ".join(f"asset://{name}" for name in (*LIBRARIES, script_of(picture.kind)))
    shape = f"--width:{width}px;--narrowest:{0.68 * width if width > 450 else 0:.0f}px;"
    html = (
        f"<style>{THEME}{TABLE}</style>"
        f'<glassformer-view data-kind="{picture.kind}" data-search-exclude '
        f'data-scripts="{scripts}" data-packed="{picture.packed}" '
        f'style="display:block;{shape}--shape:{width}/{height}">'
        f'<template shadowrootmode="open"><style>{stylesheet()}</style>'
        f'<div id="view"><div class="bar">{picture.controls}</div>'
        f'<p class="hint">{by_hand(picture.hint)}</p>'
        f'<div class="stage"><div id="vis">{picture.still}</div></div></div>'
        f"<slot></slot></template>"
        f'<details class="glassformer-words"><summary>The strongest weights as a table</summary>'
        f"{picture.table}</details></glassformer-view>{loading(LOADER)}"
    )
    return Viewer(html, text, picture.kind, min(height, 900) + 170)


def by_hand(hint: str) -> str:
    """Write a hint; the style shows either its words for a mouse or those for a finger."""
    both = r'<span class="mouse">\1</span><span class="finger">\2</span>'
    return re.sub(r"\{(.*?)\|(.*?)\}", both, escape(hint))


def loading(name: str) -> str:
    """Return the tag that loads the element's script; a browser runs it once per page."""
    return f'<script type="module" src="asset://{name}"></script>'


@cache
def stylesheet() -> str:
    """Return the style inside the element."""
    css = (STATIC / "view.css").read_text(encoding="utf-8")
    return css.replace("\n", "") + f".stage{{{SHADOWS}}}"


def script_of(kind: str) -> str:
    """Return the name under which bertviz's own script is served."""
    return f"bertviz-{kind}_view.js"


def assets(kind: str) -> dict[str, Path]:
    """Return the files that a viewer loads, by their names in its markup.

    Raises:
        ModuleNotFoundError: Bertviz, whose scripts draw the picture, is not installed.
    """
    found = importlib.util.find_spec("bertviz")  # finds its folder without importing it
    if found is None or found.origin is None:
        raise ModuleNotFoundError("bertviz draws this view: pip install bertviz==1.4.1")
    files = {LOADER: STATIC / LOADER}
    files |= {name: STATIC / "vendor" / name for name in LIBRARIES}
    files[script_of(kind)] = Path(found.origin).with_name(f"{kind}_view.js")
    return files
