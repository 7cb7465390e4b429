"""Generation: the model's own next token, appended and read again, until enough is written."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from glassformer.config import TransformerConfig
from glassformer.embeddings import check_ids, check_same_shape
from glassformer.few_rows import weight_first
from glassformer.heads import TransformerForCausalLM
from glassformer.transformer import Transformer
from glassformer.window import build_cache

NO_TOKEN = -1  # equal to no token's id


def generate(
    model: TransformerForCausalLM | Transformer,
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
    eos_token_id: int | None = None,
    pad_token_id: int | None = None,
    decoder_start_token_id: int | None = None,
    use_cache: bool = True,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "batch length"]:
    """Continue each prompt, or write the target of each source, token by token.

    At each step the best token is taken, or, with `do_sample`, one drawn from
    `token_probabilities`; with several beams, the sequence that is best as a whole. After
    `eos_token_id`, if one is given, a row takes `pad_token_id`: by default the model's own, or else
    the end token again. A target starts with `decoder_start_token_id`: by default the padding
    token, as in Marian.

    Shapes: ids (batch, seq), with a tokenizer's mask alike: prompts, padded on the left, or the
    sources of an encoder-decoder. The result is (batch, length): prompts and continuations, or
    targets with their first token.

    Raises:
        ValueError: a choice is out of its range or without effect, a prompt has padding that is
            not on the left, a source is all padding, or there are too few positions.

    Source: transformers 5.23, `GenerationMixin.generate`, for what is returned.

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> model = TransformerForCausalLM(config).eval()
    >>> generate(model, torch.tensor([[1, 5, 2]]), max_new_tokens=4).shape
    torch.Size([1, 7])
    """
    _check_choices(max_new_tokens, num_beams, do_sample, temperature, top_k, top_p)
    _check_prompt(input_ids, attention_mask)
    config = _writer(model)
    start, end, filler = _special_tokens(
        model, config, decoder_start_token_id, eos_token_id, pad_token_id
    )
    prompt = input_ids
    if isinstance(model, Transformer):
        prompt = input_ids.new_full((len(input_ids), 1), start)
    elif attention_mask is not None:
        _check_left_padding(attention_mask)
    room = prompt.new_full((len(prompt), max_new_tokens), filler)
    sequences, length = torch.cat([prompt, room], dim=1), prompt.shape[1]
    _check_positions(config, length, max_new_tokens)
    with torch.inference_mode(), weight_first(model.lm_head, rows=len(prompt) * num_beams):
        next_logits = NextLogits(model, input_ids, attention_mask, use_cache)
        if num_beams > 1:
            written = beam_search(next_logits, sequences, length, num_beams, length_penalty, end)
        else:

            def choose(logits: Tensor) -> Tensor:
                if not do_sample:
                    return logits.argmax(dim=-1)
                chances = token_probabilities(logits, temperature, top_k, top_p)
                return torch.multinomial(chances, 1, generator=generator).squeeze(1)

            written = write(next_logits, sequences, length, choose, end)
    return written.clone()  # what is made in inference mode could not be trained on


class NextLogits:
    """The logits of the next token of growing sequences, from either kind of model.

    Each call reads the tokens that are new since the last one; without a cache, all of them.
    """

    def __init__(
        self,
        model: TransformerForCausalLM | Transformer,
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
        """Read on, and give the logits of what comes after the last token."""
        length, past = sequences.shape[1], 0 if self.cache is None else self.cache.length
        new = sequences[:, past:]
        if isinstance(self.model, Transformer):
            assert self.memory is not None
            logits = self.model.decode(
                new, self.memory, self.mask, cache=self.cache, last_only=True
            )
        else:
            if self.mask is not None:  # what has been written since is no padding
                self.mask = nn.functional.pad(self.mask, (0, length - self.mask.shape[1]), value=1)
            logits = self.model(new, self.mask, self.cache, last_only=True)
        return logits[:, -1]

    def repeat(self, times: int) -> None:
        """Repeat each row, its copies side by side; to be called before anything is read."""
        if self.memory is not None:
            self.memory = self.memory.repeat_interleave(times, dim=0)
        if self.mask is not None:
            self.mask = self.mask.repeat_interleave(times, dim=0)

    def reorder(self, rows: Int[Tensor, " batch"]) -> None:
        """Row i now continues what row rows[i] was, whose memory and mask are the same."""
        if self.cache is not None:
            self.cache.reorder(rows)


def write(
    next_logits: NextLogits,
    sequences: Int[Tensor, "batch length"],
    start: int,
    choose: Callable[[Tensor], Tensor],
    end: int,
) -> Int[Tensor, "batch written"]:
    """Fill the sequences from `start` on, one chosen token a row at a time.

    A row that has written `end` is left as it is; when all have, the rest is cut off.
    """
    running = torch.ones(len(sequences), dtype=torch.bool, device=sequences.device)
    for length in range(start, sequences.shape[1]):
        tokens = choose(next_logits(sequences[:, :length]))  # (batch,)
        sequences[:, length] = tokens.where(running, sequences[:, length])
        if end != NO_TOKEN:
            running &= tokens != end
            if not running.any():
                return sequences[:, : length + 1]
    return sequences


def token_probabilities(
    logits: Float[Tensor, "*batch vocab"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Float[Tensor, "*batch vocab"]:
    """Return the distribution that the next token is drawn from.

    A temperature below one widens the distances between the logits, one above narrows them. Then
    only the `top_k` best tokens stay, and of these only the fewest that have `top_p` of the
    probability together; what stays is made to sum to one.

    Source: top p: Holtzman et al. 2020, section 3.1; top k: Fan et al. 2018, section 5.4.
    """
    logits = logits / temperature
    if top_k is not None:
        worst_kept = logits.topk(min(top_k, logits.shape[-1])).values[..., -1:]
        logits = logits.masked_fill(logits < worst_kept, -math.inf)
    if top_p is not None:
        best_first, order = logits.softmax(-1).sort(dim=-1, descending=True)
        before = best_first.cumsum(-1) - best_first  # what the better ones have together
        dropped = (before >= top_p).scatter(-1, order, before >= top_p)
        logits = logits.masked_fill(dropped, -math.inf)
    return logits.softmax(-1)


def beam_search(
    next_logits: NextLogits,
    sequences: Int[Tensor, "batch length"],
    start: int,
    num_beams: int,
    length_penalty: float,
    end: int,
) -> Int[Tensor, "batch written"]:
    """Follow the `num_beams` best beginnings of each row, and give the best finished sequence.

    A sequence is worth its log-probability, divided by the number of its written tokens to the
    power of `length_penalty`. A row is done when it has `num_beams` finished sequences, and the
    best beginning is worth less than any.

    Source: transformers 5.23, `GenerationMixin._beam_search` with `early_stopping=False`.
    """
    total = sequences.shape[1]
    next_logits.repeat(num_beams)
    running = Beams.at_start(sequences, num_beams)
    finished = running._replace(worth=torch.full_like(running.worth, -math.inf))
    undecided = torch.ones_like(running.worth[:, :1], dtype=torch.bool)  # (batch, 1)
    for length in range(start + 1, total + 1):
        logits = next_logits(running.tokens[:, :, : length - 1].flatten(0, 1))
        candidates = running.extended(logits.float().log_softmax(-1), length)
        ends = (candidates.tokens[:, :, length - 1] == end) | (length == total)
        scale = (length - start) ** length_penalty
        ended = (candidates.worth / scale).masked_fill(~(ends & undecided), -math.inf)
        # Only an end among the best num_beams counts; the others stand by to go on.
        finished = finished.joined(candidates._replace(worth=ended), num_beams).best(num_beams)
        going_on = candidates.worth.masked_fill(ends, -math.inf)
        running = candidates._replace(worth=going_on).best(num_beams)
        undecided &= running.worth[:, :1] / scale > finished.worth.amin(1, keepdim=True)
        if not undecided.any():
            break
        next_logits.reorder(running.rows.flatten())
    return _cut(finished.best(1).tokens[:, 0], start, end)


class Beams(NamedTuple):
    """Several sequences for each row of a batch, and what each is worth.

    Attributes:
        worth: (batch, beams), a log-probability, best first.
        tokens: (batch, beams, length).
        rows: (batch, beams), where the sequence lies among all (batch · beams) that were read.
    """

    worth: Tensor
    tokens: Tensor
    rows: Tensor

    @classmethod
    def at_start(cls, sequences: Tensor, num_beams: int) -> "Beams":
        """All alike, and only the first of a row worth going on with."""
        batch = len(sequences)
        rows = torch.arange(batch * num_beams, device=sequences.device).view(batch, num_beams)
        worth = torch.zeros(rows.shape, device=sequences.device)
        worth[:, 1:] = -math.inf
        return cls(worth, sequences[:, None].repeat(1, num_beams, 1), rows)

    def extended(self, log_probs: Tensor, length: int) -> "Beams":
        """Return the best continuations by a token, twice as many as beams: half may end."""
        batch, num_beams = self.worth.shape
        first_row = torch.arange(batch, device=log_probs.device)[:, None] * num_beams
        totals = self.worth[..., None] + log_probs.view(batch, num_beams, -1)
        worth, places = totals.flatten(1).topk(2 * num_beams)
        beam, token = places // log_probs.shape[-1], places % log_probs.shape[-1]
        tokens = self.tokens.take_along_dim(beam[..., None], dim=1)
        tokens[:, :, length - 1] = token
        return Beams(worth, tokens, first_row + beam)

    def joined(self, others: "Beams", count: int) -> "Beams":
        """Return these, and the first `count` of the others."""
        pairs = zip(self, others, strict=True)
        return Beams(*(torch.cat([mine, new[:, :count]], dim=1) for mine, new in pairs))

    def best(self, count: int) -> "Beams":
        """Those that are worth most."""
        worth, places = self.worth.topk(count)
        tokens = self.tokens.take_along_dim(places[..., None], dim=1)
        return Beams(worth, tokens, self.rows.take_along_dim(places, dim=1))


def _cut(sequences: Tensor, start: int, end: int) -> Tensor:
    """Without what lies after the last end, if every row has one."""
    ends = sequences[:, start:] == end
    first_end = ends.int().argmax(dim=1).masked_fill(~ends.any(dim=1), ends.shape[1] - 1)
    return sequences[:, : start + int(first_end.max()) + 1]


def _special_tokens(
    model: nn.Module,
    config: TransformerConfig,
    start: int | None,
    end: int | None,
    filler: int | None,
) -> tuple[int, int, int]:
    """Return the first token of a target, the end token, and what finished rows are filled with."""
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
    end = NO_TOKEN if end is None else end
    return start or 0, end, max(end, 0) if filler is None else filler


def _check_choices(
    max_new_tokens: int,
    num_beams: int,
    do_sample: bool,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
) -> None:
    rules = {
        f"max_new_tokens ({max_new_tokens}) must be at least 1": max_new_tokens >= 1,
        f"num_beams ({num_beams}) must be at least 1": num_beams >= 1,
        f"temperature ({temperature}) must be more than 0": temperature > 0,
        f"top_k ({top_k}) must be at least 1": top_k is None or top_k >= 1,
        f"top_p ({top_p}) must be more than 0 and at most 1": top_p is None or 0 < top_p <= 1,
        f"num_beams ({num_beams}) must be 1 with do_sample": num_beams == 1 or not do_sample,
        f"temperature ({temperature}), top_k ({top_k}) and top_p ({top_p}) need do_sample=True": (
            do_sample or (temperature, top_k, top_p) == (1.0, None, None)
        ),
    }
    for rule, holds in rules.items():
        if not holds:
            raise ValueError(rule)


def _check_prompt(input_ids: Tensor, attention_mask: Tensor | None) -> None:
    check_ids(input_ids)
    if attention_mask is not None:
        check_same_shape("attention_mask", attention_mask, input_ids)


def _check_left_padding(attention_mask: Tensor) -> None:
    """Refuse padding between a prompt and its continuation, which no training has shown."""
    real = attention_mask.bool()
    wrong = (real[:, :-1] & ~real[:, 1:]).any(dim=1) | ~real[:, -1]
    if wrong.any():
        raise ValueError(
            f"rows {wrong.nonzero().flatten().tolist()} of attention_mask have padding that is not "
            "on the left: new tokens follow the last one of a row"
        )


def _check_positions(config: TransformerConfig, length: int, max_new_tokens: int) -> None:
    needed = length + max_new_tokens - 1  # the last token is not read
    if needed > config.max_positions:
        raise ValueError(
            f"{length} tokens and max_new_tokens ({max_new_tokens}) need {needed} positions, more "
            f"than max_positions ({config.max_positions})"
        )


def _writer(model: nn.Module) -> TransformerConfig:
    """Return the configuration of the stack that writes."""
    if not isinstance(model, TransformerForCausalLM | Transformer):
        raise ValueError(
            "only a TransformerForCausalLM or a Transformer can write, got a "
            f"{type(model).__name__}"
        )
    return model.config.decoder or model.config
