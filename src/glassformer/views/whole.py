"""`whole`: a transformer as one drawing, from its architecture down to a single product."""

from collections.abc import Mapping
from dataclasses import replace
from html import escape

from glassformer.views.drawing import choice, figure
from glassformer.views.head_activations import HeadActivations
from glassformer.views.view import View
from glassformer.views.whole_inside import head, product, score
from glassformer.views.whole_outside import attention, layer, model
from glassformer.views.whole_scene import HEIGHT, STYLE, WIDTH, Level

LEVELS = (model, layer, attention, head, score, product)


def whole(runs: Mapping[str, HeadActivations]) -> View:
    """Draw models that have read a text, from the architecture down to a product of two numbers.

    The links to chapters are for a page in a folder of the book's root.

    Each kind of model has six levels, one inside the other. Each level's picture shows where the
    next one is, and links each of its boxes to the chapter that explains it. A page that loads
    `assets/js/whole.js` shows one level at a time and zooms between them; without it, the
    levels are one below the other.

    Args:
        runs: The name of each kind of model, with the run of one such model on a text.

    Raises:
        ValueError: There is no model.
    """
    if not runs:
        raise ValueError("whole needs at least one model, but runs is empty")
    drawn = {
        name: [make(run, f"whole-{k}") for make in LEVELS]
        for k, (name, run) in enumerate(runs.items())
    }
    kinds = "".join(kind(name, k, levels) for k, (name, levels) in enumerate(drawn.items()))
    buttons = f"<legend>Which kind?</legend>{choice('whole-kind', list(drawn))}"
    several = f"<fieldset>{buttons}</fieldset>" if len(drawn) > 1 else ""
    body = f'<div class="glassformer-whole">{several}{kinds}</div>'
    facts = [
        [f"{name}, {at}: {level.name}", level.says]
        for name, levels in drawn.items()
        for at, level in enumerate(levels, 1)
    ]
    header, style = ["level", "what it shows"], STYLE + shown(len(drawn))
    view = figure(body, header, facts, name="The whole transformer", style=style)
    return replace(view, text="\n".join(f"{level}. {says}" for level, says in facts))


def shown(count: int) -> str:
    """Return the CSS rules that show only the chosen kind, if the browser supports them."""
    rules = "".join(
        f'.glassformer-whole:has(input[value="{k}"]:checked) .kind:not([data-kind="{k}"])'
        "{display:none}"
        for k in range(count)
    )
    return f"@supports selector(:has(a)){{{rules}}}" if count > 1 else ""


def kind(name: str, k: int, levels: list[Level]) -> str:
    """Return all levels of one kind of model, one below the other."""
    inner = "".join(section(level, f"whole-{k}", at) for at, level in enumerate(levels))
    return (
        f'<div class="kind" data-kind="{k}" role="group" aria-label="{escape(name)}">{inner}</div>'
    )


def section(level: Level, prefix: str, at: int) -> str:
    """Return one level: its name, its picture, and the picture's sentences."""
    door = " ".join(f"{value:.1f}" for value in level.door)
    opens = f' data-door="{door}"' if level.door else ""
    return (
        f'<section class="level" id="{prefix}-{at}" aria-labelledby="{prefix}-{at}-name"{opens}>'
        f'<p class="name" id="{prefix}-{at}-name"><b>{at + 1}</b>{escape(level.name)}</p>'
        f'<div class="stage"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="group" '
        f'aria-label="{escape(level.name)}">{"".join(level.drawn)}</svg></div>'
        f'<p class="says">{escape(level.says)}</p></section>'
    )
