"""Pictures that readers can change: complete by themselves, with sliders where scripts run."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from glassformer.views.drawing import Number
from glassformer.views.view import View

STATIC = Path(__file__).parent / "static"

STYLE = """
.glassformer-drawing form{display:none;flex-wrap:wrap;gap:.1em 1.6em;justify-content:center;
max-width:38em;margin:.5em auto 0;font-size:.9rem}
.glassformer-drawing.live form{display:flex}
.glassformer-drawing form label{flex:1 1 15em;min-height:34px}
.glassformer-drawing form span{white-space:nowrap}
.glassformer-drawing form input{flex:1;min-width:6em;min-height:28px}
.glassformer-drawing .handle{fill:transparent;stroke:none}
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


@dataclass(frozen=True)
class Slider:
    """A slider below a picture.

    Attributes:
        name: What the script calls it.
        label: What it moves.
        value: Where it is at first.
        ends: Its smallest and its largest value.
        step: The least distance between two values.
    """

    name: str
    label: str
    value: Number
    ends: tuple[Number, Number]
    step: Number


def sliders(each: Sequence[Slider]) -> str:
    """Return sliders, which a reader sees once the script has given the figure the class `live`."""
    return "<form>{}</form>".format(
        "".join(
            f'<label><span>{escape(one.label)}</span><input type="range" name="{one.name}" '
            f'min="{one.ends[0]:g}" max="{one.ends[1]:g}" step="{one.step:g}" '
            f'value="{one.value:g}" autocomplete="off"></label>'
            for one in each
        )
    )
