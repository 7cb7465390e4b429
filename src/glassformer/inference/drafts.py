"""Drafts for speculative decoding: cheap sources of proposed tokens."""

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


class PromptLookup:
    """A draft without a model: it proposes what followed the last tokens' previous occurrence.

    It looks for the latest earlier occurrence of the last `ngram` tokens, then of fewer, and
    proposes what came next. Each proposal has probability 1.

    Shapes: Ids (1, length) to tokens (proposed) and probabilities (proposed, vocab).

    Raises:
        ValueError: `ngram` is less than one.

    Source: transformers 5.23, `PromptLookupCandidateGenerator`, which takes the first occurrence.

    >>> draft = PromptLookup(vocab_size=11)
    >>> draft(torch.tensor([[7, 3, 8, 9, 7, 3]]), 2)[0]
    tensor([8, 9])
    """

    def __init__(self, vocab_size: int, ngram: int = 3):
        if ngram < 1:
            raise ValueError(f"ngram ({ngram}) must be at least 1")
        self.vocab_size, self.ngram = vocab_size, ngram

    def __call__(
        self, ids: Int[Tensor, "1 length"], count: int
    ) -> tuple[Int[Tensor, " proposed"], Float[Tensor, "proposed vocab"]]:
        """Propose at most `count` tokens; none if the last token is new."""
        text, tokens = ids[0], ids[0, :0]
        for size in range(min(self.ngram, len(text) - 1), 0, -1):
            earlier = text[:-1].unfold(0, size, 1)  # (positions, size), each with a next token
            places = (earlier == text[-size:]).all(dim=1).nonzero()
            if len(places):
                after = int(places[-1]) + size
                tokens = text[after : after + count]
                break
        return tokens, F.one_hot(tokens, self.vocab_size).float()
