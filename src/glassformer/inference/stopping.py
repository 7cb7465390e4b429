"""When a sequence is finished: at the end token, or when its text contains a stop string."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Int
from torch import Tensor


@runtime_checkable
class Decodes(Protocol):
    """A tokenizer that can decode ids, from either tokenizers or transformers."""

    def decode(self, ids: Any, *, skip_special_tokens: bool = ...) -> str:
        """Return the text of these ids."""


class StoppingCriteria:
    """A check for which sequences have just ended.

    A sequence ends with its end token, or with the token that completes a stop string, wherever the
    string begins and however much of that token comes after it. So the check compares text, not
    tokens, and only as much of it as the new token can have changed.

    Shapes: Sequences (rows, length) to (rows).

    Raises:
        ValueError: A stop string is empty, or there is no tokenizer to decode the text.

    Source: transformers 5.23, `StopStringCriteria`, for what counts as a match.

    >>> StoppingCriteria(end=2)(torch.tensor([[1, 2], [2, 1]]))
    tensor([ True, False])
    """

    def __init__(
        self,
        end: int | None = None,
        stop_strings: str | Sequence[str] | None = None,
        tokenizer: Decodes | None = None,
    ):
        strings = [stop_strings] if isinstance(stop_strings, str) else [*(stop_strings or ())]
        if "" in strings:
            raise ValueError(
                f"stop_strings ({strings}) must not contain an empty string: every text contains it"
            )
        if strings and tokenizer is None:
            raise ValueError(
                f"stop_strings ({strings}) need a tokenizer: pass the one that made the ids"
            )
        self.end, self.strings, self.tokenizer = end, strings, tokenizer
        # A token has at least one byte; one more token in front shows how the text begins.
        self._reach = 1 + max((len(string.encode()) for string in strings), default=0)

    def __bool__(self) -> bool:
        """Return whether anything can end a sequence."""
        return self.end is not None or bool(self.strings)

    def __call__(self, sequences: Int[Tensor, "rows length"]) -> Bool[Tensor, " rows"]:
        """Return, for each sequence, whether its last token ended it."""
        ended = torch.zeros(len(sequences), dtype=torch.bool, device=sequences.device)
        if self.end is not None:
            ended |= sequences[:, -1] == self.end
        if self.strings:
            last = sequences[:, -self._reach :].tolist()
            ended |= torch.tensor([self._stops(ids) for ids in last], device=sequences.device)
        return ended

    def _stops(self, ids: list[int]) -> bool:
        """Return whether a stop string ends within the text of the last token."""
        text, before = self._text(ids), self._text(ids[:-1])
        known = len(before.rstrip("\N{REPLACEMENT CHARACTER}"))  # a character may be incomplete
        return any(string in text[max(known - len(string) + 1, 0) :] for string in self.strings)

    def _text(self, ids: list[int]) -> str:
        assert self.tokenizer is not None
        return self.tokenizer.decode(ids, skip_special_tokens=False)
