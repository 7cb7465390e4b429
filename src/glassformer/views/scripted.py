"""Pictures that readers can change: complete by themselves, with sliders where scripts run."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from glassformer.views.drawing import Number, figure
from glassformer.views.view import View, minus

STATIC = Path(__file__).parent / "static"

STYLE = """
.glassformer-drawing form{display:none;grid-template-columns:auto auto 1fr auto auto;gap:.1em .5em;
max-width:30em;margin:.5em auto 0;font-size:.9rem}
.glassformer-drawing.live form{display:grid}
.glassformer-drawing form label{display:grid;grid-column:1/-1;grid-template-columns:subgrid;
align-items:center;min-height:34px}
.glassformer-drawing form label>span{text-align:start}
.glassformer-drawing form small{min-width:1.6em;font-size:.85em;opacity:.82;
font-variant-numeric:tabular-nums}
.glassformer-drawing form span+small{text-align:right}
.glassformer-drawing form input{min-width:5em;width:100%;min-height:28px}
.glassformer-drawing .handle{fill:transparent;stroke:none}
.glassformer-drawing .line.handle{stroke:transparent;stroke-width:28}
.glassformer-drawing.live .handle{cursor:grab;touch-action:none}
.glassformer-drawing.live .handle:active{cursor:grabbing}
@media print{.glassformer-drawing form{display:none!important}}
""".replace("\n", "")


@dataclass(frozen=True, repr=False)
class Scripted(View):
    """A picture that's complete in a notebook; a page adds the script that moves it.

    Attributes:
        script: The script's file, in `static`.
    """

    script: str

    def _repr_page_(self) -> tuple[str, dict[str, str]]:
        """Return markup with `asset://NAME` as a placeholder for a URL, and the name's file."""
        loading = f'<script type="module" src="asset://{self.script}"></script>'
        return self.html + loading, {self.script: str(STATIC / self.script)}


def scripted(
    drawn: str,
    script: str,
    header: list[str],
    rows: list[list[str]],
    *,
    name: str,
    caption: str | None,
    style: str = "",
) -> Scripted:
    """Return what `figure` returns with a script, whose name is also the figure's class."""
    css, style = script.removesuffix(".js"), STYLE + style
    view = figure(drawn, header, rows, name=name, caption=caption, css=css, style=style)
    return Scripted(view.html, view.text, script)


def data(name: str, value: object) -> str:
    """Return an attribute with what a script computes from, as JSON."""
    return f'data-{name}="{escape(json.dumps(value, separators=(",", ":")))}"'


def part(name: str, *drawn: str) -> str:
    """Name a part of a picture that a script moves."""
    return f'<g data-part="{name}">{"".join(drawn)}</g>'


@dataclass(frozen=True)
class Slider:
    """A slider below a picture.

    Attributes:
        name: What the script calls it.
        label: What it moves.
        value: Where it is at first.
        ends: Its smallest and its largest value.
        step: The least distance between two values.
        shown: What its ends are called, if not by their numbers.
    """

    name: str
    label: str
    value: Number
    ends: tuple[Number, Number]
    step: Number
    shown: tuple[str, str] | None = None


def sliders(each: Sequence[Slider]) -> str:
    """Return sliders, which a reader sees once the script has given the figure the class `live`."""
    return f"<form>{''.join(map(slider, each))}</form>"


def slider(one: Slider) -> str:
    """Return a slider with its label before it, and the numbers at its ends."""
    first, last = one.shown or [minus(f"{end:g}") for end in one.ends]
    return (
        f"<label><span>{escape(one.label)}</span><small>{escape(first)}</small>"
        f'<input type="range" name="{one.name}" min="{one.ends[0]:g}" max="{one.ends[1]:g}" '
        f'step="{one.step:g}" value="{one.value:g}" autocomplete="off">'
        f"<small>{escape(last)}</small></label>"
    )
