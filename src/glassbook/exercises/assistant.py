"""Exercises for the chapter on assistants."""

from torch.nn.functional import logsigmoid

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_dpo_loss"]


def _answers(draw: Draw):
    for name, batch, beta in (("seven pairs", 7, 0.1), ("eleven pairs", 11, 0.5)):
        log_probs = [-10 - 3 * draw(batch).abs() for _ in range(4)]
        yield f"{name}, beta {beta}", (*log_probs, beta)


def _loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    margin = (chosen - reference_chosen) - (rejected - reference_rejected)
    return -logsigmoid(beta * margin)


check_dpo_loss = Exercise(
    asks="the DPO loss, averaged over the pairs",
    reference=lambda chosen, rejected, reference_chosen, reference_rejected, beta: _loss(
        chosen, rejected, reference_chosen, reference_rejected, beta
    ).mean(),
    examples=_answers,
    mistakes={
        "The reference is left out: subtract its log-probability from the model's.": (
            lambda c, r, rc, rr, b: _loss(c, r, 0, 0, b).mean()
        ),
        "This makes the rejected answers likelier: the chosen and rejected answers are swapped.": (
            lambda c, r, rc, rr, b: _loss(r, c, rr, rc, b).mean()
        ),
        "Beta is left out: multiply the difference by it before the sigmoid.": (
            lambda c, r, rc, rr, b: _loss(c, r, rc, rr, 1).mean()
        ),
        "Beta multiplies the loss; it belongs inside the sigmoid.": (
            lambda c, r, rc, rr, b: b * _loss(c, r, rc, rr, 1).mean()
        ),
        "The minus is missing: you want this quantity to be large, but training makes a loss "
        "small.": (lambda c, r, rc, rr, b: -_loss(c, r, rc, rr, b).mean()),
        "The logarithm is missing: this is the negative of the choice's probability.": (
            lambda c, r, rc, rr, b: -(-_loss(c, r, rc, rr, b)).exp().mean()
        ),
        "The losses are summed; take their mean.": (
            lambda c, r, rc, rr, b: _loss(c, r, rc, rr, b).sum()
        ),
        "You add the two gains; subtract the rejected answer's gain from the chosen answer's.": (
            lambda c, r, rc, rr, b: -logsigmoid(b * (c - rc + r - rr)).mean()
        ),
    },
)
