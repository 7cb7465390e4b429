"""A model's run on a text, with the values that the drawing of the whole transformer shows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.interpret.recording import record
from glassformer.models.config import TransformerConfig


@dataclass(frozen=True)
class HeadActivations:
    """One run of a model, with the values of one of its heads.

    Attributes:
        config: The model's configuration.
        tokens: The tokens read by the stack that the head is in.
        source: The tokens read by the encoder of an encoder-decoder; otherwise empty.
        layer: The head's layer, from 0.
        head: The head, from 0.
        query: The head's queries, (tokens, head_dim).
        key: Its keys, of the same shape.
        value: Its values, of the same shape.
        scores: Queries times keys, divided by the root of `head_dim`, masked: (tokens, tokens).
        weights: Their softmax, of the same shape.
        answer: The likeliest next tokens and their probabilities, if the model predicts any.
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
        """The positions of the query and key with the largest weight, for two different words."""
        others = self.weights.clone().fill_diagonal_(-1.0)
        for k, token in enumerate(self.tokens):
            if token.startswith("["):  # a special token
                others[k] = others[:, k] = -1.0
        row, column = divmod(int(others.argmax()), len(self.tokens))
        return row, column


def head_activations(
    model: nn.Module,
    *inputs: Tensor,
    tokens: Sequence[str],
    source: Sequence[str] = (),
    name: Callable[[int], str] = str,
    layer: int = 0,
    head: int = 0,
) -> HeadActivations:
    """Run a model on a text, and record one of its heads, in the decoder if there is one.

    Args:
        model: An encoder, a causal language model, or an encoder-decoder, in eval mode.
        inputs: Its ids, each (1, seq).
        tokens: A word for each id of the last input.
        source: A word for each id of the first input, in an encoder-decoder.
        name: Returns the word for an id in the output vocabulary.
        layer: The head's layer, from 0.
        head: The head, from 0.

    Raises:
        ValueError: There is no such layer or head, or there isn't one word for each id.
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
    return HeadActivations(
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
