"""Small GPTs trained on short windows of the stories, each with a different kind of positions."""

from collections.abc import Iterable, Iterator

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from glassbook.corpora.stories import END, make_stories, story_bytes, tokenizer
from glassformer.layers.alibi import use_alibi
from glassformer.models.config import TransformerConfig
from glassformer.models.task_models import TransformerForCausalLM
from glassformer.training.loop import Report, fit_language_model

KINDS = ("sinusoidal", "rotary", "ALiBi")
"""The kinds of positions; everything else in the models is the same."""

WINDOW = 64  # tokens read at once in training
LONGEST = 1024  # positions in the table of sines
D_MODEL = 64
STEPS, BATCH = 500, 16
RATE = 0.006


def build_one(kind: str) -> TransformerForCausalLM:
    """Build one untrained model: two layers of four heads.

    Raises:
        ValueError: There is no such kind.
    """
    if kind not in KINDS:
        raise ValueError(f"kind ({kind!r}) must be one of {', '.join(KINDS)}")
    model = TransformerForCausalLM(
        TransformerConfig(
            vocab_size=tokenizer().get_vocab_size(),
            d_model=D_MODEL,
            num_heads=4,
            num_layers=2,
            d_ff=4 * D_MODEL,
            activation="gelu_tanh",
            norm_eps=1e-5,
            norm_first=True,
            positions="sinusoidal" if kind == "sinusoidal" else "rotary",
            max_positions=LONGEST,
            scale_embeddings=True,
            embedding_norm=False,
            num_token_types=0,
            dropout=0.0,
            attn_dropout=0.0,
            initializer_range=D_MODEL**-0.5,  # as in the GPT of the stories
        )
    )
    return use_alibi(model) if kind == "ALiBi" else model


def build() -> nn.ModuleDict:
    """Build an untrained model of each kind."""
    return nn.ModuleDict({kind: build_one(kind) for kind in KINDS})


def story_stream(split: str) -> Int[Tensor, " tokens"]:
    """Return all stories of a split as one long text, with [END] after each."""
    texts = [story.text for story in make_stories()[split]]
    encodings = tokenizer().encode_batch(texts, add_special_tokens=False)
    return torch.tensor([token for encoding in encodings for token in (*encoding.ids, END)])


def rows_of(stream: Int[Tensor, " tokens"], length: int) -> Int[Tensor, "rows length"]:
    """Cut a text into rows of this length, and drop the leftover tokens."""
    return stream[: len(stream) // length * length].view(-1, length)


def train(model: nn.Module, report: Report) -> dict[str, list[float]]:
    """Train each model on random windows; return the losses by kind."""
    stream = story_stream("train").to(next(model.parameters()).device)
    return {
        kind: _fit(part, stream, number, report)
        for number, (kind, part) in enumerate(model.named_children())
    }


def _fit(model: nn.Module, stream: Tensor, number: int, report: Report) -> list[float]:
    def batches() -> Iterator[Tensor]:
        for _ in range(STEPS):
            first = torch.randint(len(stream) - WINDOW, (BATCH, 1), device=stream.device)
            yield stream[first + torch.arange(WINDOW + 1, device=stream.device)]

    def loss_fn(rows: Tensor) -> Tensor:
        return cross_entropy(model(rows[:, :-1]).mT, rows[:, 1:])

    def told(step: int, steps: int, text: str) -> None:
        report(number * steps + step, len(KINDS) * steps, text)

    return fit_language_model(model, batches(), loss_fn, steps=STEPS, rate=RATE, report=told)


def data() -> Iterable[bytes]:
    """Return the stories."""
    return [story_bytes()]
