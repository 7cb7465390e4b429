"""`arcs`: attention within a sentence, drawn as lines from word to word."""

import hashlib
from collections.abc import Mapping, Sequence
from html import escape

import torch
from jaxtyping import Float
from torch import Tensor

from glassformer.views.drawing import choice, cut, framed
from glassformer.views.scripted import Scripted
from glassformer.views.view import UNSEEN, aligned, columns_of, isolated, number, table, words

SCRIPT = "glassformer-arcs.js"
FAINTEST, LEAST = 0.02, 0.005  # the smallest weight that is drawn, and that is written
NAMED = 3  # the most weights that a word's sentence names
BASE = 148.0  # the y of the words
ABOVE, BELOW = 22.0, 35.0  # the space between it and the lines
RISE = 30.0  # the height of a line, before the distance between its words is added
BETWEEN = 26.0  # the space between two words
LONGEST = 14  # columns; a longer word is cut, and its tooltip has it in full
SURE = 9  # letters; longer or non-ASCII words could reach their neighbors, so they are fitted

STYLE = """
.glassformer-arcs fieldset{justify-content:center}.glassformer-arcs .controls{text-align:center}
.glassformer-arcs .arc{fill:none;stroke:var(--pos);stroke-linecap:round;
transition:opacity .35s ease}
.glassformer-arcs .word{font-size:27px;text-anchor:middle;font-family:var(--serif,Georgia,serif);
font-variant-numeric:normal}
.glassformer-arcs .special{font-size:16px;fill-opacity:.8;font-family:inherit}
.glassformer-arcs .share{font-size:14px;text-anchor:middle;opacity:0;pointer-events:none}
.glassformer-arcs .hit{fill:transparent}
.glassformer-arcs .says{min-height:1.6em;margin:.2em auto 0;text-align:center;font-size:.95em;
overflow-wrap:anywhere}
.glassformer-arcs.live .arc{opacity:var(--rest)!important}
.glassformer-arcs.live .arc.on{opacity:var(--o)!important}
.glassformer-arcs .share.on{opacity:.9}
.glassformer-arcs .asks .word{fill:var(--pos);font-weight:600}
.glassformer-arcs.live .token{cursor:pointer;outline:0}
.glassformer-arcs.live .token:focus-visible .hit{stroke:var(--pos);stroke-width:2}
.glassformer-arcs button{min-width:28px;min-height:28px;padding:0;border:0;background:none;
color:inherit;font:inherit;cursor:pointer;display:none}
.glassformer-arcs.live button{display:inline}
@supports selector(:has(a)){.glassformer-arcs:has(fieldset) svg{display:none}{SHOWN}}
@media (prefers-reduced-motion:reduce){.glassformer-arcs .arc{transition:none}}
@media (max-width:30em){.glassformer-arcs .says{min-height:3.2em}
.glassformer-arcs .word{font-size:29px}.glassformer-arcs .asks .word{font-weight:inherit}
.glassformer-arcs .special,
.glassformer-arcs .share{font-size:21px}.glassformer-arcs .share{translate:0 5px}}
""".replace("\n", "")


def arcs(
    heads: Mapping[str, Float[Tensor, "tokens tokens"]],
    tokens: Sequence[object],
    *,
    asks: int | None = None,
    caption: str | None = None,
) -> Scripted:
    """Draw attention within a sentence as lines from word to word, one picture per head.

    Lines to later words run above the words, and lines to earlier words run below them. The larger
    a weight, the stronger its line. With several heads, buttons above the picture choose one. On a
    page, a script shows one word's lines and weights at a time.

    Args:
        heads: Each head's name and weights: `(tokens, tokens)`, with rows that sum to one.
        tokens: The words.
        asks: The position of the word whose lines are strong and whose weights are written at
            first. By default, all lines are strong, and on a page, the picture moves from word to
            word.
        caption: A line below the picture.

    Raises:
        ValueError: There is no head, the shape of a head's weights doesn't fit the words, or `asks`
            isn't the position of a word.
    """
    shown = words(tokens)
    if not heads:
        raise ValueError("arcs need the weights of at least one head")
    if asks is not None and not 0 <= asks < len(shown):
        raise ValueError(f"asks ({asks}) isn't the position of one of {len(shown)} words")
    heads = {name: torch.as_tensor(weights) for name, weights in heads.items()}
    for name, weights in heads.items():
        if tuple(weights.shape) != (len(shown), len(shown)):
            raise ValueError(
                f"{name}: weights of shape {tuple(weights.shape)} do not fit {len(shown)} words"
            )
    values = {name: weights.detach().cpu().double().tolist() for name, weights in heads.items()}
    reach = heights(list(values.values()))
    pictures = [draw(rows, shown, k, reach, asks) for k, rows in enumerate(values.values())]
    told = "".join(
        table(
            ["from \\ to", *shown],
            [[w, *(number(v, 1.0) for v in row)] for w, row in zip(shown, rows, strict=True)],
            caption=name,
            css="glassformer-cells",
        )
        for name, rows in values.items()
    )
    style = STYLE.replace(
        "{SHOWN}",
        "".join(
            f'.glassformer-arcs:has(input[value="{k}"]:checked) svg[data-head="{k}"]'
            "{display:block}"
            for k in range(len(values))
        ),
    )
    told_first = "" if asks is None else says(shown, asks, next(iter(values.values()))[asks])
    below = f'<p class="says" aria-hidden="true">{escape(told_first)}</p>'
    drawn = controls(list(values), shown, asks) + "".join(pictures) + below
    html = framed(drawn, told, caption, "glassformer-arcs", style)
    return Scripted(html, write(values, shown), SCRIPT)


def controls(names: list[str], tokens: list[str], asks: int | None) -> str:
    """Return one button per head, if there are several, and the button that stops the motion."""
    first = "" if asks is None else f' data-asks="{asks}"'
    stop = f'<button type="button"{first}>❚❚</button>'
    if len(names) == 1:
        return f'<div class="controls">{stop}</div>'
    group = "arcs-" + hashlib.sha256("\0".join([*names, *tokens]).encode()).hexdigest()[:8]
    legend = f'<legend style="{UNSEEN}">Head</legend>'
    return f"<fieldset>{legend}{choice(group, names)}{stop}</fieldset>"


def heights(heads: list[list[list[float]]]) -> tuple[float, float]:
    """Return how far any head's lines reach above the words' y, and how far below it."""
    drawn = [
        (i, j)
        for weights in heads
        for i, row in enumerate(weights)
        for j, weight in enumerate(row)
        if weight >= FAINTEST
    ]
    above = [ABOVE + 0.75 * rise(i, j) for i, j in drawn if j >= i]  # the middle of a curve
    below = [BELOW + 0.75 * rise(i, j) for i, j in drawn if j < i]
    return max(above, default=ABOVE) + 8, max(below, default=BELOW) + 8


def rise(i: int, j: int) -> float:
    """Return how far a line's control points are from its ends."""
    return min(BASE - 34, RISE + 20 * abs(i - j)) * 1.25 if i != j else 30.0


def draw(
    weights: list[list[float]],
    tokens: list[str],
    head: int,
    reach: tuple[float, float],
    asks: int | None,
) -> str:
    """Draw the lines of one head, and the words that they connect."""
    places = place(tokens)
    total = places[-1] + width(tokens[-1]) / 2 + 12
    lines = [
        arc(i, j, weight, places, rests=asks not in (None, i))
        for i, row in enumerate(weights)
        for j, weight in enumerate(row)
        if weight >= FAINTEST
    ]
    given = None if asks is None else weights[asks]
    marks = [
        mark(i, token, places[i], says(tokens, i, weights[i]), weights[i], i == asks)
        + share(places[i], None if given is None else given[i])
        for i, token in enumerate(tokens)
    ]
    return (
        f'<svg aria-hidden="true" data-head="{head}" '
        f'viewBox="0 {BASE - reach[0]:.0f} {total:.0f} {sum(reach):.0f}" '
        f'style="max-width:{1.05 * total:.0f}px">{"".join(lines)}{"".join(marks)}</svg>'
    )


def place(tokens: list[str]) -> list[float]:
    """Return the x of each word's center, in order."""
    middles, x = [], 12.0
    for token in tokens:
        middles.append(x + width(token) / 2)
        x += width(token) + BETWEEN
    return middles


def width(token: str) -> float:
    """Return the approximate width of a word, as shortened."""
    return (9.0 if special(token) else 13.0) * columns_of(cut(token, LONGEST))


def special(token: str) -> bool:
    """Return whether a token is one of the tokenizer's special tokens."""
    return token.startswith(("[", "<")) and token.endswith(("]", ">"))


def arc(i: int, j: int, weight: float, places: list[float], *, rests: bool) -> str:
    """Draw a line from a word to a later one (above), to an earlier one (below), or to itself."""
    up = -1 if j >= i else 1
    start, end = places[i] + (4 if j > i else -4), places[j]
    foot = BASE + (-ABOVE if up < 0 else BELOW)
    far = foot + up * rise(i, j)
    if i == j:
        start, end = places[i] - 8, places[i] + 8
    strong = 0.12 + 0.78 * weight
    opacity = "var(--rest)" if rests else f"{strong:.2f}"
    return (
        f'<path class="arc" data-from="{i}" style="--o:{strong:.2f};opacity:{opacity}" '
        f'stroke-width="{1 + 8 * weight:.1f}" d="M{start:.0f} {foot:.0f}'
        f"C{start:.0f} {far:.0f} {end:.0f} {far:.0f} "
        f'{end:.0f} {foot:.0f}"/>'
    )


def mark(i: int, token: str, x: float, sentence: str, row: list[float], asks: bool) -> str:
    """Draw a word, which becomes a button, with the weights that it gives."""
    half = width(token) / 2 + BETWEEN / 2 - 2
    shares = " ".join(f"{weight:.2f}" for weight in row)
    css = "word special" if special(token) else "word"
    short = cut(token, LONGEST)
    tooltip = f"<title>{escape(token)}</title>" if short != token else ""
    fits = (
        f' textLength="{width(token):.0f}" lengthAdjust="spacingAndGlyphs"'
        if columns_of(short) > SURE or not short.isascii()
        else ""
    )
    return (
        f'<g class="token{" asks" * asks}" data-token="{i}" data-says="{escape(sentence)}" '
        f'data-shares="{shares}"><rect class="hit" x="{x - half:.0f}" y="{BASE - 26:.0f}" '
        f'width="{2 * half:.0f}" height="56" rx="6"/>'
        f'<text class="{css}" x="{x:.0f}" y="{BASE + 6:.0f}"{fits}>'
        f"{escape(short)}{tooltip}</text></g>"
    )


def share(x: float, received: float | None) -> str:
    """Write the weight that a word receives; outside the word's button, whose name lacks it."""
    told = "" if received is None else f"{received:.2f}"
    css = "share on" if received is not None and received >= LEAST else "share"
    return f'<text class="{css}" aria-hidden="true" x="{x:.0f}" y="{BASE + 24:.0f}">{told}</text>'


def says(tokens: list[str], i: int, row: list[float]) -> str:
    """Return a sentence that names the words with most of a word's attention."""
    best = sorted(range(len(row)), key=lambda j: -row[j])[:NAMED]
    named = [
        f"{number(row[j], 1.0)} to {'itself' if j == i else isolated(tokens[j])}" for j in best
    ]
    return f"{isolated(tokens[i])} gives {', '.join(named)}"


def write(values: dict[str, list[list[float]]], tokens: list[str]) -> str:
    """Return each head's weights as aligned text."""
    blocks = []
    for name, rows in values.items():
        body = [["from \\ to", *tokens]]
        body += [[w, *(number(v, 1.0) for v in row)] for w, row in zip(tokens, rows, strict=True)]
        blocks.append(f"{name}\n{aligned(body)}")
    return "\n\n".join(blocks)
