"""Requests for stories, and a template that frames a request and its answer as one text."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from glassbook.corpora.stories import SEP, Story, plot_of, read, tokenizer

TOPICS = [
    *("kite", "clock", "banana", "ears", "umbrella", "soup", "key", "letter"),
    *("picture", "boat", "bow", "bird", "candle", "people", "basket", "bicycle"),
]
"""A word from each plot, in the order of the plots."""

NAMES = ["mia", "anna", "lena", "tom", "ben", "max"]

HELD_OUT_ONE_IN = 4  # requests


class Request(NamedTuple):
    """What a user asks for: a topic, and the name of the story's hero."""

    topic: str
    name: str

    @property
    def held_out(self) -> bool:
        """Whether tuning never sees this request: one in four, for every topic and name."""
        return (TOPICS.index(self.topic) + NAMES.index(self.name)) % HELD_OUT_ONE_IN == 0

    @property
    def prompt(self) -> str:
        """The request in its template, up to where the answer begins."""
        return f"[CLS] {self.topic} {self.name} [SEP]"

    def answered_by(self, text: str) -> bool:
        """Return whether a text is a well-formed story on this topic about this hero."""
        plot = plot_of(text)
        return plot is not None and Request(TOPICS[plot], _hero(text)) == self


def request_for(story: Story) -> Request:
    """Return the request that a story answers."""
    return Request(TOPICS[story.plot], _hero(story.text))


def every_request() -> list[Request]:
    """Return the requests for every topic with every name."""
    return [Request(topic, name) for topic in TOPICS for name in NAMES]


def encode_answers(
    pairs: Sequence[tuple[Request, str]],
) -> tuple[Int[Tensor, "batch seq"], Bool[Tensor, "batch seq"]]:
    """Return ids of each request and its answer, padded on the right, and where the answer is.

    The answer's tokens are those after [SEP], with the [END] that closes it.
    """
    texts = [f"{request.prompt} {answer} [END]" for request, answer in pairs]
    encodings = tokenizer().encode_batch(texts, add_special_tokens=False)
    ids = torch.tensor([encoding.ids for encoding in encodings])
    real = torch.tensor([encoding.attention_mask for encoding in encodings])
    begun = (ids == SEP).cumsum(1) > 0
    return ids, begun & (ids != SEP) & real.bool()


def encode_requests(requests: Sequence[Request]) -> Int[Tensor, "batch seq"]:
    """Return the ids of each prompt."""
    texts = [request.prompt for request in requests]
    encodings = tokenizer().encode_batch(texts, add_special_tokens=False)
    return torch.tensor([encoding.ids for encoding in encodings])


def read_answers(ids: Int[Tensor, "batch seq"], requests: Sequence[Request]) -> list[str]:
    """Decode the answer after each prompt."""
    start = encode_requests(requests).shape[1]
    return [read(row) for row in ids[:, start:].tolist()]


def _hero(text: str) -> str:
    """Return the first of the names in a text."""
    found = re.search(rf"\b({'|'.join(NAMES)})\b", text)
    return found[0] if found else ""
