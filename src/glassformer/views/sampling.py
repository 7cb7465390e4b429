"""`sampling`: what temperature, top-k, top-p, and min-p do to the next token's distribution."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from glassformer.inference.generation import token_probabilities
from glassformer.views.drawing import Number, bar, column, panel, picture, text
from glassformer.views.scripted import Scripted, Slider, data, scripted, sliders
from glassformer.views.view import chance, visible

SCRIPT = "glassformer-sampling.js"
SETTINGS: dict[str, dict[str, Any]] = {  # of the still picture
    "as-is": {},
    "τ = 0.5": {"temperature": 0.5},
    "τ = 2": {"temperature": 2.0},
    "k = 10": {"top_k": 10},
    "p = 0.9": {"top_p": 0.9},
    "min 0.1": {"min_p": 0.1},
}
SLIDERS = (  # in the order in which they apply; at first, only the temperature changes something
    Slider("temperature", "temperature", 2, (0.1, 2), 0.05),
    Slider("top_k", "top-k", 8, (0, 8), 1, ("1", "off")),  # a place in the script's list
    Slider("top_p", "top-p", 1, (0.01, 1), 0.01),
    Slider("min_p", "min-p", 0, (0, 0.5), 0.01),
)
SHOWN, ALONE = 8, 200  # tokens that are drawn, and tokens that have their own logit on a page
NEAR, FINE, COARSE = -9.22, 0.01, 0.1  # widths of bins, down to where min-p can cut and beyond
ROW, LEFT, TOP = 21.0, 84.0, 42.0
COLUMN, LIVE, NUMBERS = 60.0, 270.0, 46.0  # widths: a column of several, the only one, its numbers

STYLE = """
.glassformer-sampling output{min-width:2.6em;text-align:right;font-variant-numeric:tabular-nums}
.glassformer-sampling form p{grid-column:1/-1;margin:0;text-align:center}
.glassformer-sampling button{min-height:34px;padding:.2em .8em;margin:0 .6em;color:inherit;
border:1px solid var(--line);border-radius:5px;background:var(--surface);font:inherit;
cursor:pointer}
.glassformer-sampling button:hover{border-color:var(--pos)}
.glassformer-sampling .panels{display:none;flex-wrap:wrap;gap:1em 1.2em;margin-top:.6em}
.glassformer-sampling.live .panels{display:flex}
.glassformer-sampling .panels>div{flex:1 1 280px;min-width:0}
.glassformer-sampling .panels p{margin:.3em 0 0;text-align:center;font-size:.88em;
text-wrap:balance}
@media screen{.glassformer-sampling.live .still{display:none}}
@media print{.glassformer-sampling .panels{display:none!important}}
""".replace("\n", "")

Column = tuple[list[float], int, float]
"""The probabilities that are drawn, how many tokens stay, and what they had before the filters."""


def sampling(
    logits: Mapping[str, Float[Tensor, " vocab"]],
    name: Callable[[int], str],
    *,
    caption: str | None = None,
) -> Scripted:
    """Draw the likeliest next tokens with some settings; on a page, sliders change the settings.

    Settings apply as in `token_probabilities`. A page gets the largest logits and, for all others,
    how many there are in each narrow bin, so what the others have together is right to the digits
    shown. How many of them stay is approximate.

    Args:
        logits: Each distribution's name, and its logits.
        name: Returns the token for an id.
        caption: A line below the picture.

    Raises:
        ValueError: There is no distribution, or one isn't a vector of finite numbers.
    """
    shapes = {title: tuple(each.shape) for title, each in logits.items()}
    if not shapes or any(len(shape) != 1 or not shape[0] for shape in shapes.values()):
        raise ValueError(f"sampling needs vectors of logits, but their shapes are {shapes}")
    if not all(each.isfinite().all() for each in logits.values()):
        raise ValueError("sampling needs finite logits")
    stills, panels, facts = [], [], []
    for title, each in logits.items():
        ranked, order = each.detach().double().sort(descending=True, stable=True)
        names = [visible(name(token)) for token in order[:SHOWN].tolist()]
        names += ["all others"] * (len(ranked) > SHOWN)
        columns = {setting: filtered(ranked, kw) for setting, kw in SETTINGS.items()}
        stills.append(still(title, names, columns))
        packed = data("logits", pack(ranked))
        panels.append(f"<div {packed}>{live(title, names, columns['as-is'])}</div>")
        for setting, (values, stay, had) in columns.items():
            each_token = [f"{token} {chance(v, 3)}" for token, v in zip(names, values, strict=True)]
            facts.append([title, setting, f"{stay:,}", chance(had, 3), ", ".join(each_token)])
    header = ["after", "setting", "tokens that stay", "they had", "probabilities"]
    body = f'<div class="still">{"".join(stills)}</div>{sliders(SLIDERS)}'
    body += f'<div class="panels">{"".join(panels)}</div>'
    title = "The next token"
    return scripted(body, SCRIPT, header, facts, name=title, caption=caption, style=STYLE)


def filtered(ranked: Float[Tensor, " vocab"], settings: Mapping[str, Any]) -> Column:
    """Return a setting's column for logits that are sorted, the largest first."""
    before = token_probabilities(ranked, settings.get("temperature", 1.0))
    after = token_probabilities(ranked, **settings)
    stays = after > 0
    others = [after[SHOWN:].sum().item()] if len(after) > SHOWN else []
    return [*after[:SHOWN].tolist(), *others], int(stays.sum()), before[stays].sum().item()


def pack(ranked: Float[Tensor, " vocab"]) -> list[list[float]]:
    """Return `[logit, tokens]` for groups of tokens; the logits are relative to the largest."""
    relative = ranked - ranked[0]
    groups = [[round(value, 6), 1.0] for value in relative[:ALONE].tolist()]
    rest = relative[ALONE:]
    bins = torch.where(rest > NEAR, rest / FINE, rest / COARSE).floor()
    _, place, counts = bins.unique_consecutive(return_inverse=True, return_counts=True)
    means = rest.new_zeros(len(counts)).index_add_(0, place, rest) / counts
    return groups + [[round(m, 4), n] for m, n in zip(means.tolist(), counts.tolist(), strict=True)]


def labels(title: str, names: list[str], top: Number) -> list[str]:
    """Write the name of a distribution, and its tokens below each other."""
    look = {"anchor": "end", "most": 11}
    return [
        text(0, 14, title, css="title", anchor="start", most=44),
        column(names[:SHOWN], LEFT - 8, top + 15, ROW, **look),
        column(names[SHOWN:], LEFT - 8, top + 15 + ROW * SHOWN, ROW, css="small", **look),
    ]


def still(title: str, names: list[str], columns: Mapping[str, Column]) -> str:
    """Draw the bars of each setting in a column of its own."""
    parts, bars, bottom = labels(title, names, TOP), [], TOP + ROW * len(names)
    for k, (setting, (values, stay, had)) in enumerate(columns.items()):
        x, right = LEFT + COLUMN * k, LEFT + COLUMN * (k + 1) - 8
        parts.append(text(right, TOP - 8, setting, css="small", anchor="end"))
        for row, value in enumerate(values):
            y, role = TOP + ROW * row, "quiet" if row == SHOWN else "series-1"
            bars.append(bar(x, y + 2, value * (right - x), ROW - 4, role=role))
            parts.append(text(right, y + 15, chance(value, 3), css="small", anchor="end"))
        told = f"{stay:,}", chance(had, 3)
        parts.append(column(told, right, bottom + 20, 17, css="small", anchor="end"))
    told = "tokens stay", "they had"
    parts.append(column(told, LEFT - 8, bottom + 20, 17, css="small", anchor="end"))
    parts.insert(0, f'<g fill-opacity=".3">{"".join(bars)}</g>')  # numbers are written over them
    return picture(parts, LEFT + COLUMN * len(columns), bottom + 46)


def live(title: str, names: list[str], shown: Column) -> str:
    """Draw the bars that a script changes, in the outlines of those that stay as they are."""
    parts, across, top = labels(title, names, TOP - 18), LIVE - NUMBERS, TOP - 18
    for row, value in enumerate(shown[0]):
        y, role = top + ROW * row, "quiet" if row == SHOWN else "series-1"
        number = text(LEFT + LIVE, y + 15, chance(value, 3), anchor="end")
        outline = panel(LEFT, y + 3, value * across, ROW - 6, css="frame base", corner=0)
        moving = bar(LEFT, y + 3, value * across, ROW - 6, role=role)
        parts.append(f'<g data-row="{row}" data-across="{across:g}">{moving}{outline}{number}</g>')
    drawn = picture(parts, LEFT + LIVE, top + ROW * len(names))
    return f'{drawn}<p aria-live="polite"></p>'
