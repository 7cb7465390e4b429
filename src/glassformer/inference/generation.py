"""Generation: append the model's next token and run the model again, until the text is finished."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from glassformer.inference.fast_decode import few_rows
from glassformer.inference.logits_processors import Process, build_processors, process
from glassformer.inference.stopping import Decodes, StoppingCriteria
from glassformer.models.builders import build_cache
from glassformer.models.config import TransformerConfig
from glassformer.models.embeddings import check_ids, check_same_shape
from glassformer.models.task_models import TransformerForCausalLM
from glassformer.models.transformer import Transformer

Writer = TransformerForCausalLM | Transformer
"""A model that can write."""


def generate(
    model: Writer,
    input_ids: Int[Tensor, "batch seq"],
    *,
    max_new_tokens: int,
    attention_mask: Shaped[Tensor, "batch seq"] | None = None,
    num_beams: int = 1,
    length_penalty: float = 1.0,
    do_sample: bool = False,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    repetition_penalty: float = 1.0,
    no_repeat_ngram_size: int | None = None,
    eos_token_id: int | None = None,
    pad_token_id: int | None = None,
    decoder_start_token_id: int | None = None,
    stop_strings: str | Sequence[str] | None = None,
    tokenizer: Decodes | None = None,
    use_cache: bool = True,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "batch length"]:
    """Continue each prompt, or write the target of each source, token by token.

    Each step takes the best token or, with `do_sample`, draws one from `token_probabilities`. With
    several beams, the result is the sequence that is best as a whole. Before each choice,
    `repetition_penalty` makes tokens that have already occurred less likely, and tokens that would
    repeat `no_repeat_ngram_size` tokens in a row are forbidden. After `eos_token_id`, or a token
    that completes one of the `stop_strings` in the tokenizer's text, a row is filled with
    `pad_token_id`: by default the model's own, or else the end token. A target starts with
    `decoder_start_token_id`: by default the padding token, as in Marian.

    Shapes: Ids (batch, seq), with a tokenizer's mask of that shape: prompts, padded on the left, or
    the sources of an encoder-decoder. The result is (batch, length): prompts and continuations, or
    targets with their first token.

    Raises:
        ValueError: A choice is out of range or has no effect, a prompt has padding that is
            not on the left, a source is all padding, or there are too few positions.

    Source: transformers 5.23, `GenerationMixin.generate`, for the result.

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> model = TransformerForCausalLM(config).eval()
    >>> generate(model, torch.tensor([[1, 5, 2]]), max_new_tokens=4).shape
    torch.Size([1, 7])
    """
    _check_beams(num_beams, do_sample)
    sampler = Sampler(do_sample, temperature, top_k, top_p, min_p, generator)
    state = GenerationState.of(
        model,
        input_ids,
        max_new_tokens=max_new_tokens,
        attention_mask=attention_mask,
        repetition_penalty=repetition_penalty,
        no_repeat_ngram_size=no_repeat_ngram_size,
        eos_token_id=eos_token_id,
        pad_token_id=pad_token_id,
        decoder_start_token_id=decoder_start_token_id,
        stop_strings=stop_strings,
        tokenizer=tokenizer,
        use_cache=use_cache,
    )
    with torch.inference_mode(), few_rows(model):
        if num_beams > 1:
            written = beam_search(state, num_beams, length_penalty)
        else:
            new = sum(1 for _ in write(state, sampler))
            written = state.sequences[:, : state.length + new]
    return written.clone()  # tensors from inference mode can't be trained on


def stream(
    model: Writer,
    input_ids: Int[Tensor, "batch seq"],
    *,
    do_sample: bool = False,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    generator: torch.Generator | None = None,
    **others: Any,
) -> Iterator[Int[Tensor, " batch"]]:
    """Write as `generate` does, and yield each step's tokens as soon as they are chosen.

    The other choices are those of `generate`, except for beams: their first tokens can still
    change. Each step is computed only when you ask for it. Joined, the tokens are the continuation
    that `generate` returns.

    Shapes: Ids (batch, seq); each step's tokens (batch).

    Raises:
        ValueError: As `generate`.

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> model = TransformerForCausalLM(config).eval()
    >>> len([*stream(model, torch.tensor([[1, 5, 2]]), max_new_tokens=4)])
    4
    """
    sampler = Sampler(do_sample, temperature, top_k, top_p, min_p, generator)
    state = GenerationState.of(model, input_ids, **others)
    return _each_step(model, write(state, sampler))


def _each_step(model: Writer, steps: Iterator[Tensor]) -> Iterator[Tensor]:
    """Compute each step in inference mode, and leave that mode before yielding the tokens."""
    while True:
        with torch.inference_mode(), few_rows(model):
            tokens = next(steps, None)
        if tokens is None:
            return
        yield tokens.clone()


class GenerationState(NamedTuple):
    """The state that generation starts from.

    Attributes:
        next_logits: The model and its cache.
        sequences: (batch, total), the prompts or the first token of a target, then room for more.
        length: The number of tokens that are there already.
        stopping: The test of which sequences have ended.
        processors: The functions that change the logits, given the tokens so far.
    """

    next_logits: "DecoderStepper"
    sequences: Tensor
    length: int
    stopping: StoppingCriteria
    processors: list[Process]

    @classmethod
    def of(
        cls,
        model: Writer,
        input_ids: Tensor,
        *,
        max_new_tokens: int,
        attention_mask: Tensor | None = None,
        repetition_penalty: float = 1.0,
        no_repeat_ngram_size: int | None = None,
        eos_token_id: int | None = None,
        pad_token_id: int | None = None,
        decoder_start_token_id: int | None = None,
        stop_strings: str | Sequence[str] | None = None,
        tokenizer: Decodes | None = None,
        use_cache: bool = True,
    ) -> "GenerationState":
        """Check these choices of `generate`, and allocate the sequences.

        Raises:
            ValueError: As `generate`.
        """
        check_ids(input_ids)
        if attention_mask is not None:
            check_same_shape("attention_mask", attention_mask, input_ids)
        config = _writer(model)
        first, filler = _special_tokens(
            model, config, decoder_start_token_id, eos_token_id, pad_token_id
        )
        prompt, padding = input_ids, None
        if isinstance(model, Transformer):
            prompt = input_ids.new_full((len(input_ids), 1), first)
        elif attention_mask is not None:
            _check_left_padding(attention_mask)
            padding = (~attention_mask.bool()).sum(dim=1)  # (batch,)
        _check_length(config, prompt.shape[1], max_new_tokens)
        room = prompt.new_full((len(prompt), max_new_tokens), filler)
        processors = build_processors(repetition_penalty, no_repeat_ngram_size, padding)
        stopping = StoppingCriteria(eos_token_id, stop_strings, tokenizer)
        with torch.inference_mode():
            next_logits = DecoderStepper(model, input_ids, attention_mask, use_cache)
        sequences = torch.cat([prompt, room], dim=1)
        return cls(next_logits, sequences, prompt.shape[1], stopping, processors)


class DecoderStepper:
    """The logits of the next token of growing sequences, from either kind of model.

    Each call reads the tokens that are new since the last call; without a cache, all of them.
    """

    def __init__(
        self,
        model: Writer,
        input_ids: Tensor,
        attention_mask: Tensor | None,
        use_cache: bool,
    ):
        # A mask that hides nothing would only cost time.
        hides = attention_mask is not None and not attention_mask.all()
        self.model, self.mask = model, attention_mask if hides else None
        self.memory: Tensor | None = None
        if isinstance(model, Transformer):
            self.memory = model.encode(input_ids, attention_mask)  # (batch, src_len, d_model)
        self.cache = build_cache(model.config.decoder or model.config) if use_cache else None

    def __call__(self, sequences: Int[Tensor, "batch length"]) -> Float[Tensor, "batch vocab"]:
        """Read the new tokens, and return the logits for the next one."""
        length, past = sequences.shape[1], 0 if self.cache is None else self.cache.length
        new = sequences[:, past:]
        if isinstance(self.model, Transformer):
            assert self.memory is not None
            logits = self.model.decode(
                new, self.memory, self.mask, cache=self.cache, last_only=True
            )
        else:
            if self.mask is not None:  # the new tokens aren't padding
                self.mask = F.pad(self.mask, (0, length - self.mask.shape[1]), value=1)
            logits = self.model(new, self.mask, self.cache, last_only=True)
        return logits[:, -1]

    def repeat(self, times: int) -> None:
        """Repeat each row, with its copies side by side; call this before any token is read."""
        if self.memory is not None:
            self.memory = self.memory.repeat_interleave(times, dim=0)
        if self.mask is not None:
            self.mask = self.mask.repeat_interleave(times, dim=0)

    def reorder(self, rows: Int[Tensor, " batch"]) -> None:
        """Let row i continue the old row rows[i], which has the same memory and mask."""
        if self.cache is not None:
            self.cache.reorder(rows)


def write(state: GenerationState, sampler: "Sampler") -> Iterator[Int[Tensor, " batch"]]:
    """Fill the sequences, one token per row at each step, and yield each step's tokens.

    A row that has ended is left as it is; when all have ended, writing stops.
    """
    sequences = state.sequences
    running = torch.ones(len(sequences), dtype=torch.bool, device=sequences.device)
    for length in range(state.length, sequences.shape[1]):
        there = sequences[:, :length]
        tokens = sampler(process(state.processors, there, state.next_logits(there)))  # (batch,)
        sequences[:, length] = tokens.where(running, sequences[:, length])
        yield sequences[:, length]
        if state.stopping:
            running &= ~state.stopping(sequences[:, : length + 1])
            if not running.any():
                return


class Sampler:
    """How the next token is chosen: the best one, or one drawn from `token_probabilities`.

    Shapes: Logits (batch, vocab) to tokens (batch).

    Raises:
        ValueError: A choice is out of range or has no effect.
    """

    def __init__(
        self,
        do_sample: bool = False,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        generator: torch.Generator | None = None,
    ):
        plain = (temperature, top_k, top_p, min_p) == (1.0, None, None, None)
        _refuse_unless(
            {
                f"temperature ({temperature}) must be more than 0": temperature > 0,
                f"top_k ({top_k}) must be at least 1": top_k is None or top_k >= 1,
                f"top_p ({top_p}) must be more than 0 and at most 1": top_p is None
                or 0 < top_p <= 1,
                f"min_p ({min_p}) must be at least 0 and at most 1": min_p is None
                or 0 <= min_p <= 1,
                f"temperature ({temperature}), top_k ({top_k}), top_p ({top_p}), and min_p "
                f"({min_p}) need do_sample=True": do_sample or plain,
            }
        )
        self.do_sample, self.generator = do_sample, generator
        self.shape = (temperature, top_k, top_p, min_p)

    def __call__(self, logits: Float[Tensor, "batch vocab"]) -> Int[Tensor, " batch"]:
        """Choose a token for each row."""
        if not self.do_sample:
            return logits.argmax(dim=-1)
        chances = self.probabilities(logits)
        return torch.multinomial(chances, 1, generator=self.generator).squeeze(1)

    def probabilities(self, logits: Float[Tensor, "*batch vocab"]) -> Float[Tensor, "*batch vocab"]:
        """Return each token's probability of being chosen; without sampling, the best one's is 1.

        >>> Sampler().probabilities(torch.tensor([2.0, 5.0, 3.0]))
        tensor([0., 1., 0.])
        """
        logits = logits.float()
        if self.do_sample:
            return token_probabilities(logits, *self.shape)
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)


def token_probabilities(
    logits: Float[Tensor, "*batch vocab"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Float[Tensor, "*batch vocab"]:
    """Return the distribution that the next token is drawn from.

    A temperature below 1 widens the gaps between the logits, and one above 1 narrows them. Then
    three filters apply in turn: keep the `top_k` likeliest tokens; of these, the fewest whose
    probabilities together reach `top_p`; of these, the tokens at least `min_p` times as likely as
    the best. The remaining probabilities are rescaled to sum to one.

    Source: top p: Holtzman et al. 2020, section 3.1; top k: Fan et al. 2018, section 5.4; min p:
    Nguyen et al. 2025, section 3.
    """
    logits = logits / temperature
    if top_k is not None:
        worst_kept = logits.topk(min(top_k, logits.shape[-1])).values[..., -1:]
        logits = logits.masked_fill(logits < worst_kept, -math.inf)
    if top_p is not None:
        best_first, order = logits.softmax(-1).sort(dim=-1, descending=True)
        before = best_first.cumsum(-1) - best_first  # total of the better ones
        dropped = (before >= top_p).scatter(-1, order, before >= top_p)
        logits = logits.masked_fill(dropped, -math.inf)
    if min_p is not None:
        chances = logits.softmax(-1)
        least = min_p * chances.amax(dim=-1, keepdim=True)
        logits = logits.masked_fill(chances < least, -math.inf)
    return logits.softmax(-1)


def beam_search(
    state: GenerationState, num_beams: int, length_penalty: float
) -> Int[Tensor, "batch written"]:
    """Follow the `num_beams` best partial sequences of each row; return the best finished one.

    A sequence's score is its log-probability divided by the number of generated tokens to the
    power of `length_penalty`. A row is done when it has `num_beams` finished sequences and each
    of them outscores the best unfinished one.

    Source: transformers 5.23, `GenerationMixin._beam_search` with `early_stopping=False`.
    """
    next_logits, total = state.next_logits, state.sequences.shape[1]
    next_logits.repeat(num_beams)
    running = Beams.at_start(state.sequences, num_beams)
    finished = running._replace(scores=torch.full_like(running.scores, -math.inf))
    undecided = torch.ones_like(running.scores[:, :1], dtype=torch.bool)  # (batch, 1)
    for length in range(state.length + 1, total + 1):
        there = running.tokens[:, :, : length - 1].flatten(0, 1)
        log_probs = next_logits(there).float().log_softmax(-1)
        candidates = running.extended(process(state.processors, there, log_probs), length)
        ends = candidates.ended(state.stopping) | (length == total)
        scale = (length - state.length) ** length_penalty
        ended = (candidates.scores / scale).masked_fill(~(ends & undecided), -math.inf)
        # Of 2 · num_beams candidates, the best num_beams may end; the rest replace those that do.
        finished = finished.joined(candidates._replace(scores=ended), num_beams).best(num_beams)
        going_on = candidates.scores.masked_fill(ends, -math.inf)
        running = candidates._replace(scores=going_on).best(num_beams)
        undecided &= running.scores[:, :1] / scale > finished.scores.amin(1, keepdim=True)
        if not undecided.any():
            break
        next_logits.reorder(running.rows.flatten())
    best = finished.best(1)
    return best.tokens[:, 0, : int(best.lengths.max())]


class Beams(NamedTuple):
    """Several sequences for each row of a batch, and the score of each.

    Attributes:
        scores: (batch, beams), a log-probability, best first.
        tokens: (batch, beams, length).
        rows: (batch, beams), the index of the row that it continues, among all (batch · beams).
        lengths: (batch, beams), the number of tokens written so far.
    """

    scores: Tensor
    tokens: Tensor
    rows: Tensor
    lengths: Tensor

    @classmethod
    def at_start(cls, sequences: Tensor, num_beams: int) -> "Beams":
        """Return identical beams; only the first in each row will be continued."""
        batch = len(sequences)
        rows = torch.arange(batch * num_beams, device=sequences.device).view(batch, num_beams)
        scores = torch.zeros(rows.shape, device=sequences.device)
        scores[:, 1:] = -math.inf
        return cls(scores, sequences[:, None].repeat(1, num_beams, 1), rows, torch.zeros_like(rows))

    def extended(self, log_probs: Tensor, length: int) -> "Beams":
        """Return the best one-token continuations: twice as many as beams, since half may end."""
        batch, num_beams = self.scores.shape
        first_row = torch.arange(batch, device=log_probs.device)[:, None] * num_beams
        totals = self.scores[..., None] + log_probs.view(batch, num_beams, -1)
        scores, places = totals.flatten(1).topk(2 * num_beams)
        beam, token = places // log_probs.shape[-1], places % log_probs.shape[-1]
        tokens = self.tokens.take_along_dim(beam[..., None], dim=1)
        tokens[:, :, length - 1] = token
        return Beams(scores, tokens, first_row + beam, torch.full_like(beam, length))

    def ended(self, stopping: StoppingCriteria) -> Tensor:
        """Return which of these equally long sequences have ended: (batch, beams)."""
        written = self.tokens[:, :, : int(self.lengths[0, 0])].flatten(0, 1)
        return stopping(written).view_as(self.scores)

    def joined(self, others: "Beams", count: int) -> "Beams":
        """Return these beams, followed by the first `count` of the others."""
        pairs = zip(self, others, strict=True)
        return Beams(*(torch.cat([mine, new[:, :count]], dim=1) for mine, new in pairs))

    def best(self, count: int) -> "Beams":
        """Return the sequences with the best scores."""
        scores, places = self.scores.topk(count)
        tokens = self.tokens.take_along_dim(places[..., None], dim=1)
        rows, lengths = (one.take_along_dim(places, dim=1) for one in (self.rows, self.lengths))
        return Beams(scores, tokens, rows, lengths)


def _special_tokens(
    model: nn.Module,
    config: TransformerConfig,
    start: int | None,
    end: int | None,
    filler: int | None,
) -> tuple[int, int]:
    """Return the first token of a target and the token that fills finished rows."""
    if start is not None and not isinstance(model, Transformer):
        raise ValueError(
            f"decoder_start_token_id ({start}) is for an encoder-decoder: {type(model).__name__} "
            "starts with its prompt"
        )
    filler = config.pad_token_id if filler is None else filler
    start = filler if start is None else start
    given = {"pad_token_id": filler, "decoder_start_token_id": start, "eos_token_id": end}
    for name, token in given.items():
        if token is not None and not 0 <= token < config.vocab_size:
            raise ValueError(
                f"{name} ({token}) must be one of the vocab_size ({config.vocab_size}) tokens"
            )
    if start is None and isinstance(model, Transformer):
        raise ValueError("decoder_start_token_id (None) must be given: there is no padding token")
    return start or 0, (end or 0) if filler is None else filler


def _check_beams(num_beams: int, do_sample: bool) -> None:
    _refuse_unless(
        {
            f"num_beams ({num_beams}) must be at least 1": num_beams >= 1,
            f"num_beams ({num_beams}) must be 1 with do_sample": num_beams == 1 or not do_sample,
        }
    )


def _refuse_unless(rules: dict[str, bool]) -> None:
    for rule, holds in rules.items():
        if not holds:
            raise ValueError(rule)


def _check_left_padding(attention_mask: Tensor) -> None:
    """Raise an error for padding between a prompt and its continuation: no training text has it."""
    real = attention_mask.bool()
    wrong = (real[:, :-1] & ~real[:, 1:]).any(dim=1) | ~real[:, -1]
    if wrong.any():
        raise ValueError(
            f"rows {wrong.nonzero().flatten().tolist()} of attention_mask have padding that is not "
            "on the left: new tokens follow a row's last token"
        )


def _check_length(config: TransformerConfig, length: int, max_new_tokens: int) -> None:
    _refuse_unless({f"max_new_tokens ({max_new_tokens}) must be at least 1": max_new_tokens >= 1})
    needed = length + max_new_tokens - 1  # the last token is not read
    if needed > config.max_positions:
        raise ValueError(
            f"{length} tokens and max_new_tokens ({max_new_tokens}) need {needed} positions, more "
            f"than max_positions ({config.max_positions})"
        )


def _writer(model: nn.Module) -> TransformerConfig:
    """Return the configuration of the stack that generates tokens."""
    if not isinstance(model, TransformerForCausalLM | Transformer):
        raise ValueError(
            "only a TransformerForCausalLM or a Transformer can write, got a "
            f"{type(model).__name__}"
        )
    return model.config.decoder or model.config
