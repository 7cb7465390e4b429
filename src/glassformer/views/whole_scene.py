"""Parts of the levels of the whole transformer: boxes that link to chapters, and doors."""

from dataclasses import dataclass
from html import escape

from glassformer.views.drawing import Number, box, mosaic, panel, text
from glassformer.views.view import UNSEEN

WIDTH, HEIGHT = 400, 470
SHADES = 16  # steps of color

# The chapter that explains each part.
CHAPTERS = {
    "tokens": "encoder/tokens",
    "attention": "encoder/attention",
    "heads": "encoder/many-heads",
    "feed-forward": "encoder/feed-forward",
    "norm": "encoder/norms-and-residuals",
    "encoder": "encoder/whole-encoder",
    "masks": "gpt/masks",
    "decoder-layer": "translation/decoder-layer",
    "translation": "translation/translation",
    "generation": "gpt/generation",
}

STYLE = """
.glassformer-whole fieldset{margin:0 0 .6em;font-size:.9em}
.glassformer-whole legend{float:left;padding:.2em 1em 0 0}
.glassformer-whole .level{max-width:620px;margin:0 auto 2.2em}
.glassformer-whole .level p{margin:.3em 0}
.glassformer-whole .name{font-weight:600}
.glassformer-whole .name b{display:inline-block;min-width:1.7em;margin-right:.5em;border-radius:1em;
background:var(--deep);color:#fff;text-align:center;line-height:1.7}
.glassformer-whole .says{font-size:.9em}
.glassformer-whole .big{font-size:30px}
.glassformer-whole .on{fill:#fff}
.glassformer-whole a{color:inherit;text-decoration:none}
.glassformer-whole a .title{text-decoration:underline;text-decoration-thickness:1px;
text-underline-offset:3px}
.glassformer-whole .stream{stroke-width:7;stroke-opacity:.5}
.glassformer-whole .door rect{fill:none;pointer-events:stroke;stroke:var(--pos);stroke-width:2.4;
stroke-dasharray:6 4}
.glassformer-whole .door circle{fill:var(--deep)}
.glassformer-whole .door path{fill:none;stroke:#fff;stroke-width:2;stroke-linecap:round}
.glassformer-whole .zoom{display:flex;gap:.5rem;align-items:center;justify-content:space-between;
max-width:620px;margin:0 auto .6em;font-size:.78em}
.glassformer-whole .zoom>button{flex:none}
.glassformer-whole .zoom>ol{display:flex;flex:1;justify-content:center;gap:.1rem;margin:0!important;
padding:0;list-style:none}
.glassformer-whole li{margin:0!important}
.glassformer-whole button{min-width:28px;min-height:32px;padding:.1em .4em;
border:1px solid transparent;border-radius:5px;background:none;color:inherit;font:inherit;
white-space:nowrap;
cursor:pointer}
.glassformer-whole .zoom>button{border-color:var(--line)}
.glassformer-whole .in{border-color:var(--deep)!important;background:var(--deep);color:#fff}
.glassformer-whole button[aria-disabled=true]{opacity:.45;cursor:default}
.glassformer-whole button[aria-current]{border-color:var(--pos);font-weight:600}
.glassformer-whole .unseen{{UNSEEN}}
.glassformer-whole .hint{max-width:620px;margin:.2em auto;font-size:.82em;opacity:.85}
@media screen{.glassformer-whole.live .level{display:none;margin:0 auto;outline:0}
.glassformer-whole.live .stage{position:relative;overflow:hidden;padding:8px 0}
.glassformer-whole.live .level.now{display:block}}
.glassformer-whole.live svg{width:min(100%,calc((100vh - 17rem)*{WIDTH}/{HEIGHT}));min-width:280px}
.glassformer-whole.live .says{min-height:6.4em}
.glassformer-whole .ghost{position:absolute;left:0;right:0;pointer-events:none}
@media print{.glassformer-whole :is(.zoom,.hint){display:none}
.glassformer-whole .level{break-inside:avoid}}
@media (max-width:44em){.glassformer-whole .zoom span{display:none}}
.glassformer-whole .door:is(:hover,:focus-visible) rect{stroke-width:4}
""".replace("\n", "")
STYLE = STYLE.replace("{UNSEEN}", UNSEEN).replace("{WIDTH}/{HEIGHT}", f"{WIDTH}/{HEIGHT}")


@dataclass(frozen=True)
class Level:
    """One picture of the whole transformer.

    Attributes:
        name: Its title: what it shows.
        says: What it shows, in a few sentences.
        drawn: Its parts, `WIDTH` by `HEIGHT`; links lead to chapters.
        door: The part that the next level shows: left, top, width, and height; empty in the last.
    """

    name: str
    says: str
    drawn: tuple[str, ...]
    door: tuple[Number, ...] = ()


def part(
    place: tuple[Number, Number, Number, Number],
    label: str,
    chapter: str,
    *,
    note: str = "",
    role: str = "",
) -> str:
    """Draw a box that links to a chapter; its place is left, top, width, and height."""
    return box(*place, label, note=note, role=role, href=f"../{CHAPTERS[chapter]}/")


def door(place: tuple[Number, ...], at: str, name: str, *, low: bool = False) -> str:
    """Draw a frame around the part that the next level shows: a link to it, with a zoom sign."""
    x, y, width, height = place
    size = 10 if width < 30 else 14
    cx, cy = min(x + width + 4, WIDTH - size - 1), y + height + 4 if low else y - 4
    return (
        f'<a class="door" href="#{at}" aria-label="Closer: {escape(name)}"><rect x="{x:.1f}" '
        f'y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4"/>'
        f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="{size}"/>'
        f'<path d="M{cx - 4.5:.1f} {cy:.1f}h9M{cx:.1f} {cy - 4.5:.1f}v9"/></a>'
    )


def lines(x: Number, y: Number, *words: str, css: str = "small") -> str:
    """Write lines of text, one below another."""
    return "".join(text(x, y + 18 * k, line, css=css) for k, line in enumerate(words))


def matrix(
    values: list[list[float]],
    place: tuple[Number, Number, Number, Number],
    end: Number,
    role: str = "",
) -> str:
    """Draw numbers as colored cells that fill a place; `end` has the strongest color."""
    x, y, width, height = place
    size = width / len(values[0]), height / len(values)
    cells = mosaic(values, x, y, end, size, shades=SHADES)
    return cells + panel(x, y, width, height, role=role, corner=0)
