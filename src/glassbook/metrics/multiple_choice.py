"""Multiple choice for a language model: questions, and the score of each answer."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassbook.corpora.country_capitals import REGIONS

OTHERS = (1, 3, 6)  # wrong options: the capitals of countries this far down the region's list


@dataclass(frozen=True)
class Question:
    """A text to continue, and several continuations, one of which is right.

    Attributes:
        text: What the model reads.
        options: What may follow, each with its leading space.
        right: The index of the right option.
    """

    text: str
    options: tuple[str, ...]
    right: int


def capital_questions() -> list[Question]:
    """Return questions about 40 capitals, each with three others in its region as options.

    Every capital is an option four times, and right once, so it doesn't help to know which cities
    are capitals, or which are often written about.

    >>> capital_questions()[0].options
    (' Paris', ' Berlin', ' Rome', ' Budapest')
    """
    found = []
    for region in REGIONS:
        pairs = [entry.split(" ", 1) for entry in region.split(", ")]
        for place, (country, _) in enumerate(pairs):
            steps = [*OTHERS[: (right := place % 4)], 0, *OTHERS[right:]]
            options = tuple(f" {pairs[(place + step) % len(pairs)][1]}" for step in steps)
            found.append(Question(f"The capital of {country} is", options, right))
    return found


def sum_questions(count: int = 40) -> list[Question]:
    """Return questions about sums of two-digit numbers, with four consecutive results as options.

    The right one is equally often the smallest, the second, the third, and the largest.

    Raises:
        ValueError: `count` is less than one.

    >>> sum_questions(1)[0].options
    (' 73', ' 74', ' 75', ' 76')
    """
    if count < 1:
        raise ValueError(f"count ({count}) must be at least 1")
    drawn = torch.randint(10, 100, (count, 2), generator=torch.Generator().manual_seed(0))
    found = []
    for place, (first, second) in enumerate(drawn.tolist()):
        smallest = first + second - place % 4
        options = tuple(f" {smallest + step}" for step in range(4))
        found.append(Question(f"{first} + {second} =", options, place % 4))
    return found


@torch.inference_mode()
def score_answers(
    model: nn.Module, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]
) -> Float[Tensor, " pairs"]:
    """Return the log-probability of each answer after its question, summed over its tokens.

    Pairs that differ only in their last token are read once. Shorter texts are
    padded on the right, where a causal model doesn't look.

    Args:
        model: Takes ids, (batch, seq), and returns logits, (batch, seq, vocab).
        pairs: The ids of a question, and those of an answer.

    Raises:
        ValueError: There is no pair, or a question or an answer has no token.

    Source: Brown et al. 2020, section 2.4.
    """
    lengths = [(len(question), len(answer)) for question, answer in pairs]
    if not lengths or not all(map(all, lengths)):
        raise ValueError(
            f"pairs of {lengths} tokens: need at least one pair, and a token in each part"
        )
    given = [[*question, *answer[:-1]] for question, answer in pairs]
    width = max(map(len, given))
    padded = torch.tensor([[*row, *[0] * (width - len(row))] for row in given])
    rows, which = padded.unique(dim=0, return_inverse=True)
    logits = model(rows.to(next(model.parameters()).device))  # (rows, width, vocab)
    scores = []
    for row, (question, answer) in zip(which, pairs, strict=True):
        places = slice(len(question) - 1, len(question) - 1 + len(answer))
        log_probs = logits[row, places].log_softmax(-1)  # (answer, vocab)
        scores.append(log_probs[torch.arange(len(answer)), torch.tensor([*answer])].sum())
    return torch.stack(scores)
