"""Learning by asking: the training that the small language models share."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from glassformer.recipes import Report

WARM_UP = 0.1  # of the steps


def fit(
    model: nn.Module, ask: Callable[[], Tensor], *, steps: int, rate: float, report: Report
) -> list[float]:
    """Ask, and move the weights towards a better answer, again and again; the loss of each step.

    `ask` draws a batch and gives the loss of the model's answers. The learning rate rises to
    `rate` in the first tenth of the steps, and then falls evenly to nothing.

    Source: Devlin et al. 2019, appendix A.2, for optimizer and learning rate; Liu et al. 2019,
    section 3.1, for the quicker second average of the optimizer.
    """

    def share(step: int) -> float:
        return min((step + 1) / (WARM_UP * steps), 1.0) * (1 - step / steps)

    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    losses: list[float] = []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # on matrices this small, threads wait for each other
    try:
        for step in range(1, steps + 1):
            loss = ask()
            optimizer.zero_grad()
            loss.backward()
            clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            report(step, steps, f"loss {losses[-1]:.2f}")
    finally:
        torch.set_num_threads(threads)
    return losses
