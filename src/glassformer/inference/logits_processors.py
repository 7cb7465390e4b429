"""Change logits according to the text so far, so that a model doesn't repeat itself."""

import math
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

Process = Callable[[Tensor, Tensor], Tensor]
"""From sequences (rows, length) and next-token logits (rows, vocab) to changed logits."""


class RepetitionPenalty:
    """Lower the logit of each token in a sequence, so that other tokens gain on it.

    A logit above zero is divided by the penalty, and one below zero is multiplied by it. A penalty
    below one raises these logits instead. Padding on the left isn't part of a sequence.

    Shapes: Sequences (rows, length), logits (rows, vocab) to the same; `padding`, the number of
    padding positions in each text of the batch, (batch). Each text has one row or several.

    Source: Keskar et al. 2019, section 4.1; transformers 5.23, `RepetitionPenaltyLogitsProcessor`.

    >>> halved = RepetitionPenalty(2.0)
    >>> halved(torch.tensor([[0, 1]]), torch.tensor([[4.0, -4.0, 4.0]]))
    tensor([[ 2., -8.,  4.]])
    """

    def __init__(self, penalty: float, padding: Int[Tensor, " batch"] | None = None):
        self.penalty, self.padding = penalty, padding

    def __call__(
        self, sequences: Int[Tensor, "rows length"], logits: Float[Tensor, "rows vocab"]
    ) -> Float[Tensor, "rows vocab"]:
        """Penalize the tokens in each row."""
        real = torch.ones_like(sequences, dtype=torch.bool)
        if self.padding is not None:
            padding = self.padding.repeat_interleave(len(sequences) // len(self.padding))
            real = torch.arange(sequences.shape[1], device=sequences.device) >= padding[:, None]
        held = torch.zeros_like(logits).scatter_add_(1, sequences, real.to(logits.dtype)) > 0
        less = torch.where(logits < 0, logits * self.penalty, logits / self.penalty)
        return torch.where(held, less, logits)


class NoRepeatedNGrams:
    """Forbid each token that would complete an n-gram that its sequence already contains.

    Padding counts like any other token.

    Shapes: Sequences (rows, length), logits (rows, vocab) to the same, −inf where forbidden.

    Source: Paulus, Xiong, and Socher 2018, section 2.5; transformers 5.23,
    `NoRepeatNGramLogitsProcessor`.

    >>> NoRepeatedNGrams(2)(torch.tensor([[2, 0, 1, 2]]), torch.zeros(1, 3))
    tensor([[-inf, 0., 0.]])
    """

    def __init__(self, size: int):
        self.size = size

    def __call__(
        self, sequences: Int[Tensor, "rows length"], logits: Float[Tensor, "rows vocab"]
    ) -> Float[Tensor, "rows vocab"]:
        """Forbid tokens that would repeat an n-gram of the same row."""
        length = sequences.shape[1]
        if length < self.size:
            return logits
        begun = sequences[:, length - self.size + 1 :]  # (rows, size - 1)
        grams = sequences.unfold(1, self.size, 1)  # (rows, grams, size)
        same = (grams[..., :-1] == begun[:, None]).all(dim=-1)  # (rows, grams)
        ends = torch.zeros_like(logits).scatter_add_(1, grams[..., -1], same.to(logits.dtype))
        return logits.masked_fill(ends > 0, -math.inf)


def build_processors(
    repetition_penalty: float,
    no_repeat_ngram_size: int | None,
    padding: Int[Tensor, " batch"] | None,
) -> list[Process]:
    """Return the processors for these options, in the same order as in transformers.

    Raises:
        ValueError: An option is out of range.

    >>> build_processors(1.0, None, None)
    []
    """
    if repetition_penalty <= 0:
        raise ValueError(f"repetition_penalty ({repetition_penalty}) must be more than 0")
    if no_repeat_ngram_size is not None and no_repeat_ngram_size < 1:
        raise ValueError(f"no_repeat_ngram_size ({no_repeat_ngram_size}) must be at least 1")
    processors: list[Process] = []
    if repetition_penalty != 1.0:
        processors.append(RepetitionPenalty(repetition_penalty, padding))
    if no_repeat_ngram_size is not None:
        processors.append(NoRepeatedNGrams(no_repeat_ngram_size))
    return processors


def process(
    processors: Sequence[Process],
    sequences: Int[Tensor, "rows length"],
    logits: Float[Tensor, "rows vocab"],
) -> Float[Tensor, "rows vocab"]:
    """Pass the logits through each processor, in float32, without changing the given tensor."""
    logits = logits.float()
    for one in processors:
        logits = one(sequences, logits)
    return logits
