"""What a model did with a text, as far as the drawing of the whole transformer shows it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.config import TransformerConfig
from glassformer.probe import record


@dataclass(frozen=True)
class Reading:
    """One run of a model, and what one of its heads did in it.

    Attributes:
        config: The model's.
        tokens: What the stack read that the head is in.
        source: What the encoder read, in an encoder-decoder; else nothing.
        layer: The head's layer, from 0.
        head: The head, from 0.
        query: The head's queries, (tokens, head_dim).
        key: Its keys, alike.
        value: Its values, alike.
        scores: Query by key, divided by the root of `head_dim`, masked: (tokens, tokens).
        weights: Their softmax, alike.
        answer: The likeliest next tokens and their probabilities, if the model gives any.
    """

    config: TransformerConfig
    tokens: tuple[str, ...]
    source: tuple[str, ...]
    layer: int
    head: int
    query: Float[Tensor, "tokens head_dim"]
    key: Float[Tensor, "tokens head_dim"]
    value: Float[Tensor, "tokens head_dim"]
    scores: Float[Tensor, "tokens tokens"]
    weights: Float[Tensor, "tokens tokens"]
    answer: tuple[tuple[str, float], ...]

    @property
    def stack(self) -> TransformerConfig:
        """The configuration of the stack that the head is in."""
        return self.config.decoder or self.config

    @property
    def pair(self) -> tuple[int, int]:
        """The query and the key, of two different words, with the largest weight."""
        others = self.weights.clone().fill_diagonal_(-1.0)
        for k, token in enumerate(self.tokens):
            if token.startswith("["):  # a sign of the tokenizer's
                others[k] = others[:, k] = -1.0
        row, column = divmod(int(others.argmax()), len(self.tokens))
        return row, column


def read(
    model: nn.Module,
    *inputs: Tensor,
    tokens: Sequence[str],
    source: Sequence[str] = (),
    name: Callable[[int], str] = str,
    layer: int = 0,
    head: int = 0,
) -> Reading:
    """Run a model on a text, and keep what one head of it did; of a decoder, if there is one.

    Args:
        model: An encoder, a causal language model, or an encoder-decoder, in eval mode.
        inputs: Its ids, each (1, seq).
        tokens: A word for each id of the last input.
        source: A word for each id of the first, in an encoder-decoder.
        name: Returns the word for an id of the vocabulary that is written.
        layer: The head's layer, from 0.
        head: The head, from 0.

    Raises:
        ValueError: There is no such layer or head, or another number of words than of ids.
    """
    if inputs[-1].shape != (1, len(tokens)):
        raise ValueError(f"{len(tokens)} tokens do not fit ids of shape {tuple(inputs[-1].shape)}")
    with record(model) as tape, torch.no_grad():
        output = model(*inputs)
    paths = [path for path in tape if path.endswith(f"layers.{layer}.attention.query")]
    if not paths or not 0 <= head < tape[paths[-1]].shape[1]:
        raise ValueError(f"layer {layer} and head {head} are not in this model")
    at = paths[-1].removesuffix("query")
    shared = tape[f"{at}query"].shape[1] // tape[f"{at}key"].shape[1]
    config: TransformerConfig = model.config  # type: ignore[assignment]
    chances = output[0, -1].softmax(-1).topk(3)
    writes = output.shape[-1] == (config.decoder or config).vocab_size
    return Reading(
        config=config,
        tokens=tuple(tokens),
        source=tuple(source),
        layer=layer,
        head=head,
        query=tape[f"{at}query"][0, head],
        key=tape[f"{at}key"][0, head // shared],
        value=tape[f"{at}value"][0, head // shared],
        scores=tape[f"{at}scores"][0, head],
        weights=tape[f"{at}weights"][0, head],
        answer=tuple(
            (name(token), chance)
            for token, chance in zip(*map(Tensor.tolist, reversed(chances)), strict=True)
            if writes
        ),
    )
