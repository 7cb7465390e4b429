"""Exercises of the chapter on assistants."""

from torch.nn.functional import logsigmoid

from glassformer.exercises.checking import Draw, Exercise

__all__ = ["check_dpo_loss"]

CHAPTER = "language-models/assistant.md"


def _answers(draw: Draw):
    for name, batch, beta in (("seven pairs", 7, 0.1), ("eleven pairs", 11, 0.5)):
        log_probs = [-10 - 3 * draw(batch).abs() for _ in range(4)]
        yield f"{name}, beta {beta}", (*log_probs, beta)


def _loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    margin = (chosen - reference_chosen) - (rejected - reference_rejected)
    return -logsigmoid(beta * margin)


check_dpo_loss = Exercise(
    asks="the DPO loss, averaged over the pairs",
    chapter=CHAPTER,
    reference=lambda chosen, rejected, reference_chosen, reference_rejected, beta: _loss(
        chosen, rejected, reference_chosen, reference_rejected, beta
    ).mean(),
    examples=_answers,
    mistakes={
        "The reference is left out: subtract its log-probability from the model's.": (
            lambda c, r, rc, rr, b: _loss(c, r, 0, 0, b).mean()
        ),
        "This makes the rejected answers likelier: two of the four are exchanged.": (
            lambda c, r, rc, rr, b: _loss(r, c, rr, rc, b).mean()
        ),
        "Beta is left out: multiply the difference by it before the sigmoid.": (
            lambda c, r, rc, rr, b: _loss(c, r, rc, rr, 1).mean()
        ),
        "Beta multiplies the loss; it belongs inside the sigmoid.": (
            lambda c, r, rc, rr, b: b * _loss(c, r, rc, rr, 1).mean()
        ),
        "The minus is missing: this is what to make large, and a loss is made small.": (
            lambda c, r, rc, rr, b: -_loss(c, r, rc, rr, b).mean()
        ),
        "The logarithm is missing: this is minus the probability of the choice.": (
            lambda c, r, rc, rr, b: -(-_loss(c, r, rc, rr, b)).exp().mean()
        ),
        "The losses are summed; take their mean.": (
            lambda c, r, rc, rr, b: _loss(c, r, rc, rr, b).sum()
        ),
        "The two gains are added; take the chosen answer's minus the rejected one's.": (
            lambda c, r, rc, rr, b: -logsigmoid(b * (c - rc + r - rr)).mean()
        ),
    },
)
