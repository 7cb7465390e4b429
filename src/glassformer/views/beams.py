"""`beam_tree`: a beam search as a tree of partial sequences, kept or dropped."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.views.drawing import CHIP, Number, figure, line, panel, picture, text, width_of
from glassformer.views.view import View, minus, number, visible

BOX, ROW = 104.0, 34.0
APART = 30.0  # between two steps
MEANINGS = (
    "filled: kept; dashed: dropped; bold: the winning path",
    "numbers: log-probability so far",
)


@dataclass(frozen=True)
class Branch:
    """A token that a search considered.

    Attributes:
        token: Its id.
        parent: The branch that it continues, as an index among those kept in the last step.
        score: The log-probability of all tokens up to it.
        kept: Whether the search continued from it.
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
    """Run a beam search, and record the best continuations of each beam at each step.

    Args:
        log_probs: Returns the log-probabilities of the next token for some partial sequences.
        start: The tokens that all sequences start with.
        num_beams: Number of sequences kept at each step, and of continuations recorded for each.
        steps: Number of tokens to generate.
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
    """Draw a beam search from left to right: each step's candidates, and which ones are kept.

    A candidate's number is the log-probability of all tokens up to it. Kept candidates are filled,
    dropped ones have a dashed edge, and the best path is bold.

    Args:
        log_probs: Returns the log-probabilities of the next token for some partial sequences.
        start: The tokens that all sequences start with.
        name: Returns the token for an id.
        num_beams: Number of sequences kept at each step, 1 to 4.
        steps: Number of tokens to generate, 1 to 6.
        caption: A line below the picture.

    Raises:
        ValueError: `num_beams` or `steps` is out of range.
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
                now.append((x + BOX, y + CHIP / 2))
        before = now
    bottom, wide = ROW * count + 16, 58 + steps * (BOX + APART) - APART + 4
    for k, meaning in enumerate(MEANINGS):
        parts.append(text(0, bottom + 12 + 16 * k, meaning, css="small", anchor="start"))
    drawn = picture(parts, max(wide, *map(width_of, MEANINGS)), bottom + 16 * len(MEANINGS) + 4)
    header = ["step", "after", "token", "log-probability so far", "outcome"]
    facts = told_steps(found, name, best)
    return figure(drawn, header, facts, name="A beam search", caption=caption)


def told_steps(
    found: list[list[Branch]], name: Callable[[int], str], best: list[int]
) -> list[list[str]]:
    """Return a row for each candidate: the sequence that it continues, and the outcome."""
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
    """Return, for each step, the index of the candidate on the path to the best last one."""
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
    """Draw a candidate, and the line from the one that it continues."""
    role = "attention" if branch.kept else "quiet"
    css = "bold" if bold else "" if branch.kept else "dashed"
    tint = 0.1 if branch.kept else 0.0
    return (
        line([parent, (x, y + CHIP / 2)], role=role, css=css)
        + panel(x, y, BOX, CHIP, role=role, css=f"frame {css}".strip(), tint=tint)
        + text(
            x + 7,
            y + 17.5,
            visible(name(branch.token)),
            css="title" if bold else "label",
            anchor="start",
            most=8,
        )
        + text(
            x + BOX - 6,
            y + 17.5,
            minus(number(branch.score, 1.0)),
            css="small",
            anchor="end",
        )
    )
