"""Speculative decoding: a cheap draft proposes several tokens, and the model checks them at once.

The result is what the model would have written alone, but with fewer passes through it: reading
several tokens takes it about as long as reading one.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.inference.fast_decode import few_rows
from glassformer.inference.generation import GenerationState, Sampler
from glassformer.layers.kv_cache import KVCache
from glassformer.layers.sliding_window import SlidingWindowCache
from glassformer.models.task_models import TransformerForCausalLM

Draft = Callable[[Tensor, int], tuple[Tensor, Tensor]]
"""From the ids so far (1, length) and a number: at most that many proposed tokens (proposed),
possibly none, and the probabilities that each was drawn from (proposed, vocab)."""


class Speculation(NamedTuple):
    """A text, and what it cost to write it.

    Attributes:
        ids: The prompt and its continuation, (1, length).
        passes: How many times the model was run.
        proposed: How many tokens the draft proposed.
        accepted: How many of these are in the text.
    """

    ids: Int[Tensor, "1 length"]
    passes: int
    proposed: int
    accepted: int


def speculative_generate(
    model: TransformerForCausalLM,
    input_ids: Int[Tensor, "1 seq"],
    draft: Draft,
    *,
    max_new_tokens: int,
    max_proposals: int = 5,
    do_sample: bool = False,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    eos_token_id: int | None = None,
    generator: torch.Generator | None = None,
) -> Speculation:
    """Continue a prompt as `generate` would, with fewer passes through the model.

    In each pass, the model reads up to `max_proposals` tokens of the draft, keeps those that
    `verify` accepts, and adds its own next token. Without `do_sample`, the tokens are those of
    `generate`, except where rounding decides between two equally good ones. With it, they have
    the same distribution.

    Shapes: Ids (1, seq); those returned (1, length).

    Raises:
        ValueError: As `generate`; there is more than one prompt, the model is of another kind,
            `max_proposals` is less than one, or the draft returns something other than tokens and
            their probabilities.

    Source: Leviathan, Kalman, and Matias 2023, algorithm 1; Chen et al. 2023, algorithm 2.

    >>> from glassformer import TransformerConfig
    >>> from glassformer.inference.drafts import PromptLookup
    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> model, draft = TransformerForCausalLM(config).eval(), PromptLookup(vocab_size=11)
    >>> speculative_generate(model, torch.tensor([[1, 5, 2]]), draft, max_new_tokens=4).ids.shape
    torch.Size([1, 7])
    """
    _check(model, input_ids, max_proposals)
    sampler = Sampler(do_sample, temperature, top_k, top_p, min_p, generator)
    state = GenerationState.of(
        model, input_ids, max_new_tokens=max_new_tokens, eos_token_id=eos_token_id
    )
    ids, length, cache = state.sequences, state.length, KVCache()
    passes = proposed = accepted = 0
    with torch.inference_mode(), few_rows(model):
        while length < ids.shape[1]:
            count = min(max_proposals, ids.shape[1] - length - 1)  # the last is the model's own
            tokens, drawn_from = draft(ids[:, :length], count)
            _check_draft(tokens, drawn_from, count, model.config.vocab_size)
            new = torch.cat([ids[0, cache.length : length], tokens])[None]
            hidden = model.decoder(new, cache=cache)[0, -len(tokens) - 1 :]
            wanted = sampler.probabilities(model.lm_head(hidden))  # (proposed + 1, vocab)
            kept = verify(wanted, tokens, drawn_from, generator)
            crop(cache, length + len(kept) - 1)  # the model's own token is read in the next pass
            written = _up_to(kept, eos_token_id)
            ids[0, length : length + len(written)] = written
            length += len(written)
            passes, proposed = passes + 1, proposed + len(tokens)
            accepted += min(len(written), len(kept) - 1)
            if int(written[-1]) == eos_token_id:
                break
    return Speculation(ids[:, :length].clone(), passes, proposed, accepted)


def verify(
    wanted: Float[Tensor, "proposed_and_one vocab"],
    tokens: Int[Tensor, " proposed"],
    drawn_from: Float[Tensor, "proposed vocab"],
    generator: torch.Generator | None = None,
) -> Int[Tensor, " kept"]:
    """Return the proposals before the first rejected one, and one token after them.

    After a rejection, that token is drawn from the `remainder`; if all proposals are accepted, from
    the model's distribution after them. So each token has the probability that the model gives it.

    Shapes: The model's probabilities (proposed + 1, vocab), tokens (proposed), the draft's
    probabilities (proposed, vocab); the result has from 1 to proposed + 1 tokens.

    Source: Leviathan, Kalman, and Matias 2023, algorithm 1, whose p is wanted, and q drawn_from.

    >>> wanted = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # the model is sure: 1, and then 0
    >>> verify(wanted, torch.tensor([1]), torch.tensor([[0.5, 0.5]]))
    tensor([1, 0])
    >>> verify(wanted, torch.tensor([0]), torch.tensor([[0.5, 0.5]]))
    tensor([1])
    """
    chances = acceptance(wanted[:-1], drawn_from).gather(1, tokens[:, None])[:, 0]
    draws = torch.rand(len(tokens), generator=generator, device=wanted.device)
    accepted = int((draws < chances).cumprod(dim=0).sum())  # those before the first rejection
    last = wanted[accepted]
    if accepted < len(tokens):
        last = remainder(last, drawn_from[accepted])
    return torch.cat([tokens[:accepted], torch.multinomial(last, 1, generator=generator)])


def acceptance(
    wanted: Float[Tensor, "*batch vocab"], drawn_from: Float[Tensor, "*batch vocab"]
) -> Float[Tensor, "*batch vocab"]:
    """Return the probability of accepting each token, if the draft proposes it: min(1, p / q).

    A token that the draft proposes too often is rejected now and then. One that it never proposes
    needs no rejection: there, the result is 1.

    Shapes: Two distributions (..., vocab) to the same.

    Source: Leviathan, Kalman, and Matias 2023, section 2.3.

    >>> acceptance(torch.tensor([0.7, 0.3]), torch.tensor([0.4, 0.6]))
    tensor([1.0000, 0.5000])
    """
    return torch.where(drawn_from > 0, wanted / drawn_from, 1.0).clamp(max=1.0)


def remainder(
    wanted: Float[Tensor, "*batch vocab"], drawn_from: Float[Tensor, "*batch vocab"]
) -> Float[Tensor, "*batch vocab"]:
    """Return the distribution that replaces a rejected token: max(0, p − q), divided by its sum.

    It covers only the tokens that the draft proposes too rarely.

    Shapes: Two distributions (..., vocab) to the same.

    Source: Leviathan, Kalman, and Matias 2023, section 2.3.

    >>> remainder(torch.tensor([0.7, 0.2, 0.1]), torch.tensor([0.1, 0.9, 0.0]))
    tensor([0.8571, 0.0000, 0.1429])
    """
    missing = (wanted - drawn_from).clamp(min=0.0)
    total = missing.sum(dim=-1, keepdim=True)
    # Nothing is missing where both are the same; then only rounding can have rejected a token.
    return torch.where(total > 0, missing / total, wanted)


def crop(cache: KVCache, length: int) -> None:
    """Make a cache forget all but its first `length` tokens; nothing is copied.

    Raises:
        ValueError: The cache holds fewer tokens, or it's a `SlidingWindowCache`.

    >>> from glassformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> model, cache = TransformerForCausalLM(config).eval(), KVCache()
    >>> with torch.no_grad():
    ...     logits = model(torch.tensor([[1, 5, 2]]), cache=cache)
    >>> crop(cache, 2)
    >>> cache.length
    2
    """
    if not 0 <= length <= cache.length:
        raise ValueError(f"length ({length}) must be from 0 to the {cache.length} tokens read")
    if isinstance(cache, SlidingWindowCache):
        raise ValueError(
            f"a SlidingWindowCache can't be cut back to length ({length}): it has dropped the "
            "tokens before its window; use a KVCache"
        )
    for layer in cache:
        layer.attention.length = length


def _up_to(tokens: Tensor, end: int | None) -> Tensor:
    """Return the tokens up to the first end token, if there is one."""
    places = [] if end is None else (tokens == end).nonzero().flatten().tolist()
    return tokens[: places[0] + 1] if places else tokens


def _check(model: object, input_ids: Tensor, max_proposals: int) -> None:
    if not isinstance(model, TransformerForCausalLM):
        raise ValueError(f"model must be a TransformerForCausalLM, got a {type(model).__name__}")
    if input_ids.ndim != 2 or len(input_ids) != 1:
        raise ValueError(
            f"input_ids of shape {tuple(input_ids.shape)} must be one prompt, (1, seq)"
        )
    if max_proposals < 1:
        raise ValueError(f"max_proposals ({max_proposals}) must be at least 1")


def _check_draft(tokens: Tensor, drawn_from: Tensor, count: int, vocab: int) -> None:
    """Raise an error for too many tokens, or ones that these probabilities can't have produced."""
    if tokens.ndim != 1 or drawn_from.shape != (len(tokens), vocab) or len(tokens) > count:
        raise ValueError(
            f"the draft must return tokens (proposed), at most {count}, and probabilities "
            f"(proposed, {vocab}), got shapes {tuple(tokens.shape)} and {tuple(drawn_from.shape)}"
        )
    sums = drawn_from.sum(dim=-1)
    if (drawn_from < 0).any() or (sums - 1).abs().gt(1e-3).any():
        raise ValueError(
            "the draft's probabilities must not be negative and must sum to 1: the smallest is "
            f"{drawn_from.min():.4g}, and they sum to {[round(one, 4) for one in sums.tolist()]}"
        )
    if not drawn_from.gather(1, tokens[:, None]).all():
        raise ValueError(
            f"the draft proposes {tokens.tolist()}, but gives one of them probability 0"
        )
