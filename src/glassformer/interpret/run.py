"""Read a sentence in one call, with a small trained BERT, and keep everything it computes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn

from glassformer.interpret.recording import ActivationCache, record
from glassformer.weights.checkpoints import default_checkpoint, tokenizer
from glassformer.weights.pretrained import load

if TYPE_CHECKING:
    from transformers import BatchEncoding


@dataclass(frozen=True)
class Reading:
    """Everything a model computed while reading.

    Attributes:
        model: The model.
        encoding: The tokenizer's output; `encoding["input_ids"]` is (batch, seq).
        tokens: The tokens of the first row, as text.
        tape: Every intermediate tensor, by its path in the model.
        output: The model's output, (batch, seq, d_model).

    >>> read("time flies").output.shape
    torch.Size([1, 4, 384])
    """

    model: nn.Module
    encoding: "BatchEncoding"
    tokens: list[str]
    tape: ActivationCache
    output: Tensor

    @property
    def attentions(self) -> Tensor:
        """The attention weights of the first row, (layer, head, query, key)."""
        return torch.stack([weights[0] for weights in self.tape.attentions])


def read(
    text: str | list[str], pair: str | None = None, *, model: nn.Module | None = None
) -> Reading:
    """Have a model read a sentence, a pair of sentences, or a list of sentences as one batch.

    Args:
        text: The sentence, or several, which are padded to one length.
        pair: A second sentence, read together with the first.
        model: An encoder for the default checkpoint's tokens; by default, that checkpoint,
            all-MiniLM-L6-v2, is loaded anew.

    Raises:
        CheckpointError: The default checkpoint isn't available.

    >>> reading = read("time flies")
    >>> reading.tokens
    ['[CLS]', 'time', 'flies', '[SEP]']
    >>> reading.attentions.shape
    torch.Size([6, 12, 4, 4])
    """
    model = load(default_checkpoint()) if model is None else model
    encoding = tokenizer()(text, pair, padding=True, return_tensors="pt")
    with record(model) as tape, torch.no_grad():
        output = model(**encoding)
    tokens = cast(list, tokenizer().convert_ids_to_tokens(encoding["input_ids"][0].tolist()))
    return Reading(model, encoding, tokens, tape, output)
