"""Pictures in steps: complete on paper and without scripts, step by step with scripts."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from glassformer.views.drawing import figure
from glassformer.views.scripted import Scripted

SCRIPT = "glassformer-steps.js"

STYLE = """
.glassformer-steps>ol{max-width:36em;margin:.4em auto 0;padding-left:1.6em;text-align:left}
.glassformer-steps>ol>li{margin:.15em 0}
.glassformer-steps [data-step]{transition:opacity .3s ease}
.glassformer-steps [data-step].later{opacity:0;visibility:hidden}
.glassformer-steps .bar{display:flex;flex-wrap:wrap;gap:.4rem .6rem;align-items:center;
justify-content:center;margin:.5em 0 0;font-size:.9rem}
.glassformer-steps .bar button{min-width:44px;min-height:34px;padding:.2rem .8rem;
border:1px solid var(--line);border-radius:5px;background:var(--surface);color:inherit;
font:inherit;cursor:pointer}
.glassformer-steps .bar .told{position:absolute;width:1px;height:1px;overflow:hidden;
clip-path:inset(50%);white-space:nowrap}
.glassformer-steps .bar button:hover{border-color:var(--pos)}
.glassformer-steps .bar button[aria-disabled=true]{opacity:.5;cursor:default}
.glassformer-steps.live>ol{display:grid;list-style:none;padding:0;text-align:center}
.glassformer-steps.live>ol>li{grid-area:1/1;visibility:hidden;margin:0}
.glassformer-steps.live>ol>li.now{visibility:visible}
@media (prefers-reduced-motion:reduce){.glassformer-steps [data-step]{transition:none}
.glassformer-steps .bar .play{display:none}}
@media print{.glassformer-steps [data-step]{opacity:1!important;visibility:visible!important}
.glassformer-steps .bar{display:none!important}
.glassformer-steps.live>ol{display:block;list-style:decimal;padding-left:1.6em;text-align:left}
.glassformer-steps.live>ol>li{visibility:visible}}
""".replace("\n", "")


def step(number: int, *parts: str) -> str:
    """Return parts of a picture that appear with a step, counted from 1, and stay from then on."""
    return f'<g data-step="{number}">{"".join(parts)}</g>'


@dataclass(frozen=True, repr=False)
class Stepped(Scripted):
    """A picture in steps: complete in a notebook; a page adds the script that steps through it."""

    script: str = SCRIPT


def stepped(
    drawn: str,
    sentences: Sequence[str],
    header: list[str],
    rows: list[list[str]],
    *,
    name: str,
    caption: str | None = None,
) -> Stepped:
    """Return a view of a picture whose parts appear step by step, each step with a sentence.

    Args:
        drawn: What `drawing.picture` returned, with parts from `step` in it.
        sentences: What each step shows, from the first on.
        header: The table's header.
        rows: The table's rows.
        name: The table's caption: what the picture shows.
        caption: A line below the picture.

    Raises:
        ValueError: A part belongs to a step without a sentence, or there are no sentences.
    """
    if not sentences:
        raise ValueError("a picture in steps needs a sentence for each step, but there is none")
    numbers = [int(found.split('"')[0]) for found in drawn.split('data-step="')[1:]]
    beyond = sorted({n for n in numbers if not 1 <= n <= len(sentences)})
    if beyond:
        raise ValueError(
            f"{len(sentences)} sentences are for steps 1 to {len(sentences)}, "
            f"but parts belong to {beyond}"
        )
    listed = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    drawn, css = f"{drawn}<ol>{listed}</ol>", "glassformer-steps"
    view = figure(drawn, header, rows, name=name, caption=caption, css=css, style=STYLE)
    steps = "\n".join(f"{k}. {sentence}" for k, sentence in enumerate(sentences, 1))
    return Stepped(view.html, f"{view.text}\n{steps}")
