"""Right and wrong answers to the exercise on assistants."""

import torch
from answers import Answers


def dpo(chosen, rejected, was_chosen, was_rejected, beta, *, log=torch.log):
    """Odds of the choice by the change of the odds, without logsigmoid."""
    ratio = torch.exp(beta * (chosen - was_chosen)) / torch.exp(beta * (rejected - was_rejected))
    return -log(ratio / (1 + ratio)).mean()


ASSISTANT = {
    "check_dpo_loss": Answers(
        right=dpo,
        wrong={
            "reference is left out": lambda c, r, rc, rr, b: dpo(c, r, 0 * c, 0 * r, b),
            "rejected answers likelier": lambda c, r, rc, rr, b: dpo(r, c, rr, rc, b),
            "Beta is left out": lambda c, r, rc, rr, b: dpo(c, r, rc, rr, 1),
            "Beta multiplies the loss": lambda c, r, rc, rr, b: b * dpo(c, r, rc, rr, 1),
            "minus is missing": lambda *given: -dpo(*given),
            "logarithm is missing": lambda *given: dpo(*given, log=lambda share: share),
            "summed": lambda *given: len(given[0]) * dpo(*given),
            "You add the": lambda c, r, rc, rr, b: dpo(c, -r, rc, -rr, b),
        },
    ),
}
