"""The training loop for every model in the book."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

Report = Callable[[int, int, str], None]
"""Training calls it as report(done, total, text), as often as it likes."""

Batch = TypeVar("Batch")
WARM_UP = 0.1  # of the steps
_most: list[int | None] = [None]  # steps of `fit`, innermost block last


def fit(
    model: nn.Module,
    batches: Iterable[Batch],
    loss_fn: Callable[[Batch], Tensor],
    optimizer: Optimizer,
    *,
    share: Callable[[int], float] = lambda step: 1.0,
    max_norm: float | None = None,
    report: Callable[[int, str], None] = lambda step, text: None,
) -> list[float]:
    """Train the model on each batch in turn; return the loss of each step.

    Each step, counted from 0, uses `share(step)` of the optimizer's learning rates. A gradient
    longer than `max_norm` is clipped to that length. `report` gets the number of steps done, and
    the loss.
    """
    schedule = LambdaLR(optimizer, share)
    losses: list[float] = []
    for batch in islice(batches, _most[-1]):
        loss = loss_fn(batch)
        optimizer.zero_grad()
        loss.backward()
        if max_norm is not None:
            clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        report(len(losses), f"loss {losses[-1]:.2f}")
    return losses


def fit_language_model(
    model: nn.Module,
    batches: Iterable[Batch],
    loss_fn: Callable[[Batch], Tensor],
    *,
    steps: int,
    rate: float,
    report: Report,
) -> list[float]:
    """Fit a small language model with AdamW and a learning rate that rises to `rate`, then falls.

    Source: Devlin et al. 2019, appendix A.2, for optimizer and learning rate; Liu et al. 2019,
    section 3.1, for the optimizer's second beta.
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), fused=True)
    with one_thread():
        return fit(
            model,
            batches,
            loss_fn,
            optimizer,
            share=partial(slope, steps=steps),
            max_norm=1.0,
            report=lambda step, text: report(step, steps, text),
        )


def slope(step: int, steps: int) -> float:
    """Return a step's share of the full rate: it rises for a tenth of the steps, then falls to 0.

    Source: Devlin et al. 2019, appendix A.2.
    """
    return min((step + 1) / (WARM_UP * steps), 1.0) * (1 - step / steps)


@contextmanager
def at_most(steps: int | None) -> Iterator[None]:
    """Let `fit` take only the first steps inside the block, to compare them with recorded ones."""
    _most.append(steps)
    try:
        yield
    finally:
        _most.pop()


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute in one thread inside the block: on small matrices, threads wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
