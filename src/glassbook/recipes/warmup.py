"""Warm-up: a learning rate that starts small, and an experiment on which stacks need it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from glassformer.models.config import TransformerConfig
from glassformer.models.encoder import TransformerEncoder
from glassformer.training.loop import Report, fit, one_thread
from glassformer.weights.checkpoints import default_device

SYMBOLS = 20
LENGTH = 12  # symbols in a sequence
WIDTH = 32  # d_model
BATCH = 32  # sequences per step
STEPS = 300
ATTEMPTS = 3  # per run, from different weights


@dataclass(frozen=True)
class Run:
    """One way to train a stack to write sequences backward.

    Attributes:
        norm_first: Pre-norm instead of post-norm.
        depth: Layers in the stack.
        peak: The learning rate after the warm-up.
        warm_up: Steps of the warm-up.
    """

    norm_first: bool
    depth: int
    peak: float = 0.01
    warm_up: int = 0

    def __str__(self) -> str:
        start = f"warm-up {self.warm_up}" if self.warm_up else "no warm-up"
        norm = "pre" if self.norm_first else "post"
        return f"{norm}-norm, {self.depth} layers, rate {self.peak}, {start}"


RUNS = (
    *(Run(norm_first, depth) for depth in (2, 4, 12) for norm_first in (False, True)),
    Run(False, 12, warm_up=100),
    Run(False, 12, peak=0.003),
)
"""The runs of `train`, each repeated `ATTEMPTS` times."""


class Reverser(nn.Module):
    """An encoder and a linear layer that predict a sequence backward, all positions at once.

    Shapes: Symbols (batch, seq) to logits (batch, seq, vocab).
    """

    def __init__(self, norm_first: bool, depth: int):
        super().__init__()
        config = TransformerConfig(
            vocab_size=SYMBOLS,
            d_model=WIDTH,
            num_heads=2,
            num_layers=depth,
            d_ff=2 * WIDTH,
            norm_first=norm_first,
            max_positions=LENGTH,
            num_token_types=0,
            dropout=0.0,
            attn_dropout=0.0,
            pad_token_id=None,
            initializer_range=0.1,  # BERT's 0.02, scaled to this width: 0.02 * sqrt(768 / 32)
        )
        self.encoder = TransformerEncoder(config)
        self.head = nn.Linear(WIDTH, SYMBOLS)

    def forward(self, symbols: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq vocab"]:
        """Score each symbol for each position of the reversed sequence."""
        return self.head(self.encoder(symbols))


def warm_up(step: int, steps: int) -> float:
    """Return the share of the full learning rate at a step: a linear rise, then a constant.

    Source: the first half of Vaswani et al. 2017, equation 3, without the decay.
    """
    return min(1.0, (step + 1) / steps) if steps else 1.0


def build() -> nn.Module:
    """Return a module without weights: `train` builds its stacks, and none of them is kept."""
    return nn.Module()


def train(model: nn.Module, report: Report) -> dict[str, list[float]]:
    """Train a stack for each attempt; return the accuracy at each step, by run and attempt."""
    history = {}
    with one_thread():
        for number, run in enumerate(RUNS):
            for attempt in range(ATTEMPTS):
                report(number * ATTEMPTS + attempt, len(RUNS) * ATTEMPTS, str(run))
                stack = Reverser(run.norm_first, run.depth).to(default_device())
                history[f"{run}, attempt {attempt}"] = train_one(stack, run)
    return history


def train_one(model: nn.Module, run: Run) -> list[float]:
    """Train on fresh random sequences; return the accuracy at each step."""
    device = next(model.parameters()).device
    accuracies: list[float] = []

    def batches() -> Iterator[Int[Tensor, "batch seq"]]:
        for _ in range(STEPS):
            yield torch.randint(SYMBOLS, (BATCH, LENGTH), device=device)

    def loss_fn(symbols: Int[Tensor, "batch seq"]) -> Tensor:
        logits, wanted = model(symbols), symbols.flip(1)  # (batch, seq, vocab), (batch, seq)
        accuracies.append((logits.argmax(-1) == wanted).float().mean().item())
        return cross_entropy(logits.flatten(0, 1), wanted.flatten())

    optimizer = torch.optim.Adam(model.parameters(), lr=run.peak, fused=True)
    fit(model, batches(), loss_fn, optimizer, lr_factor=lambda step: warm_up(step, run.warm_up))
    return accuracies


def data() -> Iterable[bytes]:
    """Return nothing: the sequences are random."""
    return ()
