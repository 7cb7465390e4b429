"""`whole`: a transformer as one drawing, from its architecture down to a single product."""

from collections.abc import Mapping
from html import escape

from glassformer.views.drawing import framed
from glassformer.views.reading import Reading
from glassformer.views.view import View
from glassformer.views.whole_inside import head, product, score
from glassformer.views.whole_outside import attention, layer, model
from glassformer.views.whole_scene import HEIGHT, STYLE, WIDTH, Level

LEVELS = (model, layer, attention, head, score, product)


def whole(readings: Mapping[str, Reading], *, root: str = "../") -> View:
    """Draw models that have read something, from the architecture to a product of two numbers.

    Each kind of model has six levels, one inside the other. Each level's picture shows where the
    next one is, and links each of its boxes to the chapter that explains it. A page that loads
    `assets/js/whole.js` shows one level at a time and zooms between them; without it they stand
    below each other.

    Args:
        readings: What each kind of model is called, and what one such model did with a text.
        root: Where the book begins, seen from the page, for the links to its chapters.

    Raises:
        ValueError: There is no model.
    """
    if not readings:
        raise ValueError("whole draws at least one model, but readings are empty")
    drawn = {
        name: [make(reading, f"whole-{k}") for make in LEVELS]
        for k, (name, reading) in enumerate(readings.items())
    }
    kinds = "".join(kind(name, k, levels, root) for k, (name, levels) in enumerate(drawn.items()))
    body = (
        f'<div class="glassformer-whole"><style>{STYLE}{shown(len(drawn))}</style>'
        f"{choice(list(drawn))}{kinds}</div>"
    )
    facts = [
        [f"{name}, {at}: {level.name}", level.says]
        for name, levels in drawn.items()
        for at, level in enumerate(levels, 1)
    ]
    html = framed(body, ["level", "what it shows"], facts, "The whole transformer", None)
    return View(html, "\n".join(f"{level}. {says}" for level, says in facts))


def choice(names: list[str]) -> str:
    """One button a kind of model, of which one is pressed; none where there is only one kind."""
    if len(names) == 1:
        return ""
    options = "".join(
        f'<label><input type="radio" name="whole-kind" value="{k}"{" checked" * (k == 0)}>'
        f"{escape(name)}</label>"
        for k, name in enumerate(names)
    )
    return f"<fieldset><legend>Which kind?</legend>{options}</fieldset>"


def shown(count: int) -> str:
    """Rules that show the chosen kind alone, where the browser knows how."""
    rules = "".join(
        f'.glassformer-whole:has(input[value="{k}"]:checked) .kind:not([data-kind="{k}"])'
        "{display:none}"
        for k in range(count)
    )
    return f"@supports selector(:has(a)){{{rules}}}" if count > 1 else ""


def kind(name: str, k: int, levels: list[Level], root: str) -> str:
    """All levels of one kind of model, one below the other."""
    inner = "".join(section(level, f"whole-{k}", at, root) for at, level in enumerate(levels))
    return (
        f'<div class="kind" data-kind="{k}" role="group" aria-label="{escape(name)}">{inner}</div>'
    )


def section(level: Level, prefix: str, at: int, root: str) -> str:
    """One level: its name, its picture, and what the picture says."""
    door = " ".join(f"{value:.1f}" for value in level.door)
    opens = f' data-door="{door}"' if level.door else ""
    picture = "".join(level.drawn).replace('href="@', f'href="{escape(root)}')
    return (
        f'<section class="level" id="{prefix}-{at}" aria-labelledby="{prefix}-{at}-name"{opens}>'
        f'<p class="name" id="{prefix}-{at}-name"><b>{at + 1}</b>{escape(level.name)}</p>'
        f'<div class="stage"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="group" '
        f'aria-label="{escape(level.name)}">{picture}</svg></div>'
        f'<p class="says">{escape(level.says)}</p></section>'
    )
