"""Drafts for speculative decoding: cheap sources of proposed tokens."""

from copy import copy
from dataclasses import replace

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.inference.fast_decode import few_rows
from glassformer.inference.generation import Choice
from glassformer.inference.speculative import crop, next_probabilities
from glassformer.layers.kv_cache import KVCache
from glassformer.models.task_models import TransformerForCausalLM


class PromptLookup:
    """A draft without a model: it proposes what followed the last tokens' previous occurrence.

    It looks for the latest earlier occurrence of the last `ngram` tokens, then of fewer, and
    proposes what came next. Each proposal has probability 1.

    Shapes: ids (1, length) to tokens (proposed) and probabilities (proposed, vocab).

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


class ModelDraft:
    """A draft by another model, smaller than the one that checks it, with the same vocabulary.

    Without `do_sample`, it proposes its best tokens, each with probability 1. It keeps a cache, so
    each call reads only what has changed since the one before.

    Shapes: ids (1, length) to tokens (count) and probabilities (count, vocab).

    Raises:
        ValueError: as `Choice`.

    Source: Leviathan, Kalman, and Matias 2023, algorithm 1, where it's called M_q.

    >>> from glassformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> draft = ModelDraft(TransformerForCausalLM(config).eval())
    >>> tokens, probabilities = draft(torch.tensor([[7, 3, 8]]), 2)
    >>> tokens.shape, probabilities.shape
    (torch.Size([2]), torch.Size([2, 11]))
    """

    def __init__(
        self,
        model: TransformerForCausalLM,
        *,
        do_sample: bool = False,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
    ):
        self.model = model
        self.choose = Choice(do_sample, temperature, None, None, None, generator)
        self.read = torch.empty(0, dtype=torch.long)
        self.cache = KVCache()

    @torch.inference_mode()
    def __call__(
        self, ids: Int[Tensor, "1 length"], count: int
    ) -> tuple[Int[Tensor, " count"], Float[Tensor, "count vocab"]]:
        """Propose `count` tokens to follow the ids."""
        self._forget_what_differs(ids[0])
        length, rows = ids.shape[1], []
        ids = torch.cat([ids, ids.new_empty(1, count)], dim=1)
        with few_rows(self.model):
            for place in range(length, length + count):
                new = ids[:, self.cache.length : place]
                logits = self.model(new, cache=self.cache, last_only=True)[0]  # (1, vocab)
                rows.append(next_probabilities(logits, self.choose))
                ids[0, place] = torch.multinomial(rows[-1], 1, generator=self.choose.generator)
        self.read = ids[0, : self.cache.length]
        none = torch.empty(0, self.model.config.vocab_size, device=ids.device)
        return ids[0, length:], torch.cat([none, *rows])

    def _forget_what_differs(self, text: Tensor) -> None:
        """Crop the cache to the tokens that match the text, without the text's last token."""
        both = min(len(self.read), len(text) - 1)
        same = (self.read[:both].to(text.device) == text[:both]).cumprod(dim=0)
        crop(self.cache, int(same.sum()))


def early_exit(model: TransformerForCausalLM, num_layers: int) -> TransformerForCausalLM:
    """Return the model with only its first `num_layers` layers.

    The embeddings, the final norm, the output layer, and the remaining layers are shared with the
    model: no weights are copied.

    Raises:
        ValueError: the model has fewer layers, or none would be left.

    >>> from glassformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=3, d_ff=16)
    >>> len(early_exit(TransformerForCausalLM(config), 2).decoder.layers)
    2
    """
    layers = model.decoder.layers
    if not 1 <= num_layers <= len(layers):
        raise ValueError(f"num_layers ({num_layers}) must be from 1 to the model's {len(layers)}")
    shallow, decoder = copy(model), copy(model.decoder)
    for one in (shallow, decoder):
        one._modules = dict(one._modules)  # a copy, so the model keeps its own parts
    shallow.config = decoder.config = replace(model.config, num_layers=num_layers)
    decoder.layers = layers[:num_layers]
    shallow.decoder = decoder
    return shallow
