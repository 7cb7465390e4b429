"""`beam_tree`: a beam search as a tree of beginnings, kept and dropped."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.views.drawing import Number, as_role, figure, line, picture, text, width_of
from glassformer.views.view import View, number, visible

HIGH, BOX, ROW = 26.0, 104.0, 34.0
APART = 30.0  # between two steps
MEANINGS = (
    "filled: kept; dashed: dropped; bold: the winning path",
    "numbers: log-probability so far",
)


@dataclass(frozen=True)
class Branch:
    """A token that a search considered.

    Attributes:
        token: Its number.
        parent: Which of the last step's kept branches it continues.
        score: The log-probability of all tokens up to it.
        kept: Whether the search went on from it.
    """

    token: int
    parent: int
    score: float
    kept: bool


def search(
    log_probs: Callable[[Int[Tensor, "beams length"]], Float[Tensor, "beams vocab"]],
    start: Int[Tensor, " length"],
    *,
    num_beams: int,
    steps: int,
) -> list[list[Branch]]:
    """Follow the best beginnings for some steps; of each, its best continuations are noted.

    Args:
        log_probs: The log-probabilities of the next token, for some beginnings.
        start: What all beginnings have in common.
        num_beams: How many are kept at each step, and continuations noted of each.
        steps: How many tokens are written.
    """
    beginnings, scores = start[None], torch.zeros(1)
    found = []
    for _ in range(steps):
        best, tokens = (scores[:, None] + log_probs(beginnings)).topk(num_beams)  # (beams, beams)
        kept = best.flatten().topk(num_beams).indices.tolist()
        found.append(
            [
                Branch(token, k // num_beams, score, kept=k in kept)
                for k, (token, score) in enumerate(
                    zip(tokens.flatten().tolist(), best.flatten().tolist(), strict=True)
                )
            ]
        )
        kept = sorted(kept)
        rows = torch.tensor([k // num_beams for k in kept])
        beginnings = torch.cat([beginnings[rows], tokens.flatten()[kept][:, None]], dim=1)
        scores = best.flatten()[kept]
    return found


def beam_tree(
    log_probs: Callable[[Int[Tensor, "beams length"]], Float[Tensor, "beams vocab"]],
    start: Int[Tensor, " length"],
    name: Callable[[int], str],
    *,
    num_beams: int = 2,
    steps: int = 3,
    caption: str | None = None,
) -> View:
    """Draw a beam search: from the left, each step's candidates, and which of them are kept.

    A number is the log-probability of a beginning up to there. Kept candidates are filled, and
    the best path is bold; dropped ones have a dashed edge.

    Args:
        log_probs: The log-probabilities of the next token, for some beginnings.
        start: What all beginnings have in common.
        name: Returns the token for its number.
        num_beams: How many are kept at each step.
        steps: How many tokens are written.
        caption: A line below the picture.

    Raises:
        ValueError: `num_beams` or `steps` is less than one, or there are more than one can see.
    """
    if not 1 <= num_beams <= 4 or not 1 <= steps <= 6:
        raise ValueError(f"num_beams ({num_beams}) must be 1 to 4, and steps ({steps}) 1 to 6")
    found = search(log_probs, start, num_beams=num_beams, steps=steps)
    best = path(found)
    count = num_beams**2
    before: list[tuple[Number, Number]] = [(38.0, ROW * count / 2 + 10)]
    parts = [text(0, ROW * count / 2 + 14, "start", css="title", anchor="start")]
    for k, branches in enumerate(found):
        x, now = 58 + k * (BOX + APART), list[tuple[Number, Number]]()
        top = 10 + ROW * (count - len(branches)) / 2
        for i, branch in enumerate(branches):
            y = top + ROW * i
            parts.append(candidate(branch, name, x, y, before[branch.parent], bold=i == best[k]))
            if branch.kept:
                now.append((x + BOX, y + HIGH / 2))
        before = now
    bottom, wide = ROW * count + 16, 58 + steps * (BOX + APART) - APART + 4
    for k, meaning in enumerate(MEANINGS):
        parts.append(text(0, bottom + 12 + 16 * k, meaning, css="small", anchor="start"))
    drawn = picture(parts, max(wide, *map(width_of, MEANINGS)), bottom + 16 * len(MEANINGS) + 4)
    header = ["step", "after", "token", "log-probability so far", "what became of it"]
    facts = told_steps(found, name, best)
    return figure(drawn, header, facts, name="A beam search", caption=caption)


def told_steps(
    found: list[list[Branch]], name: Callable[[int], str], best: list[int]
) -> list[list[str]]:
    """Return a row for each candidate: what it continues, and what became of it."""
    rows: list[list[str]] = []
    before = [""]
    for k, branches in enumerate(found):
        now: list[str] = []
        for i, branch in enumerate(branches):
            beginning, token = before[branch.parent], visible(name(branch.token))
            fate = "kept" if branch.kept else "dropped"
            fate += ", on the winning path" if i == best[k] else ""
            score = number(branch.score, 1.0)
            rows.append([str(k + 1), beginning or "start", token, score, fate])
            if branch.kept:
                now.append(f"{beginning} {token}".strip())
        before = now
    return rows


def path(found: list[list[Branch]]) -> list[int]:
    """Return which candidate of each step leads to the best one of the last."""
    last = found[-1]
    at = max(range(len(last)), key=lambda i: last[i].score)
    places = [at]
    for branches, after in zip(found[-2::-1], found[:0:-1], strict=True):
        kept = [i for i, branch in enumerate(branches) if branch.kept]
        places.append(kept[after[places[-1]].parent])
    return places[::-1]


def candidate(
    branch: Branch,
    name: Callable[[int], str],
    x: Number,
    y: Number,
    parent: tuple[Number, Number],
    *,
    bold: bool,
) -> str:
    """Draw a candidate, and the line from the beginning that it continues."""
    edge = f'x="{x:.1f}" y="{y:.1f}" width="{BOX}" height="{HIGH}" rx="5"'
    role = "attention" if branch.kept else "quiet"
    css = "bold" if bold else "" if branch.kept else "dashed"
    dashes = "" if branch.kept else ' stroke-dasharray="4 4"'
    tint = f'<rect class="tint" {edge}/>' if branch.kept else ""
    weight = "frame bold" if bold else "frame"
    return (
        line([parent, (x, y + HIGH / 2)], role=role, css=css)
        + f'<g{as_role(role)}>{tint}<rect class="{weight}" {edge}{dashes}/></g>'
        + text(
            x + 7,
            y + 17.5,
            visible(name(branch.token)),
            css="title" if branch.kept else "label",
            anchor="start",
            most=8,
        )
        + text(
            x + BOX - 6,
            y + 17.5,
            number(branch.score, 1.0).replace("-", "−"),
            css="small",
            anchor="end",
        )
    )
