"""Exercises for the chapters on making it fast and on generating text fast."""

import torch
import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_online_update", "check_rejection"]


def _blocks(draw: Draw):
    for name, width, maximum, scores in (
        ("five scores that raise the maximum", 7, 0.5, 3 + draw(5)),
        ("three scores below the maximum", 5, 9.0, draw(3)),
        ("seven large scores", 3, 20.0, 23 + draw(7)),
    ):
        total, output = 1 + draw(2)[0].square(), draw(width)
        yield name, (torch.tensor(maximum), total, output, scores, draw(len(scores), width))


def _update(
    maximum,
    total,
    output,
    scores,
    value,
    *,
    largest=torch.maximum,
    sum_by=lambda old, new: (old - new).exp(),
    output_by=None,
    powers=lambda scores, new: (scores - new).exp(),
    added=lambda powers, value: powers @ value,
):
    """Add a block; each step is a parameter, so a mistake can replace it."""
    new = largest(maximum, scores.max())
    weights = powers(scores, new)
    by = (sum_by(maximum, new), (output_by or sum_by)(maximum, new))
    return new, total * by[0] + weights.sum(), output * by[1] + added(weights, value)


def _divided(*given):
    maximum, total, output = _update(*given)
    return maximum, total, output / total


check_online_update = Exercise(
    asks="the largest score, the sum of exponentials, and the sum of values, with a block added",
    reference=lambda maximum, total, output, scores, value: _update(
        maximum, total, output, scores, value
    ),
    examples=_blocks,
    mistakes={
        "You don't change the old sums when the maximum grows. Multiply them by "
        "exp(old maximum − new maximum).": (
            lambda *given: _update(*given, sum_by=lambda old, new: torch.ones(()))
        ),
        "You scale down the sum of exponentials, but not the sum of values.": (
            lambda *given: _update(*given, output_by=lambda old, new: torch.ones(()))
        ),
        "You scale the old sums up; the factor is exp(old maximum − new maximum).": (
            lambda *given: _update(*given, sum_by=lambda old, new: (new - old).exp())
        ),
        "Your new maximum is the block's own. Take the larger of that and the old one.": (
            lambda *given: _update(*given, largest=lambda old, new: new)
        ),
        "You lose the old sums; add the block to them.": (
            lambda *given: _update(*given, sum_by=lambda old, new: torch.zeros(()))
        ),
        "You divide by the sum too early; divide only once, after the last block.": (_divided),
        "You don't subtract the maximum from the scores: it's exp(score − maximum).": (
            lambda *given: _update(*given, powers=lambda scores, new: scores.exp())
        ),
        "You add the values without weights; multiply each by its exponential first.": (
            lambda *given: _update(*given, added=lambda powers, value: value.sum(0))
        ),
    },
)


def _proposals(draw: Draw):
    for name, vocab, token, more in (
        ("seven tokens, of which token 3 is proposed too often", 7, 3, 3.0),
        ("eleven tokens, of which token 5 is proposed too rarely", 11, 5, -3.0),
    ):
        logits = draw(2, vocab)
        logits[:, token] = 0
        p, q = logits + torch.tensor([[0.0], [more]]) * F.one_hot(torch.tensor(token), vocab)
        yield name, (p.softmax(-1), q.softmax(-1), token)
    q = F.one_hot(torch.tensor(3), 5).double()
    yield "five tokens, and a draft that is sure of token 3", (draw(5).softmax(-1), q, 3)


def _rejection(
    p,
    q,
    token,
    *,
    accept=lambda p, q: min(1.0, p / q),
    left=lambda p, q: (p - q).clamp(min=0),
    divide=True,
):
    rest = left(p, q)
    return accept(float(p[token]), float(q[token])), rest / rest.sum() if divide else rest


def _without(p, q, token):
    others = p * (torch.arange(len(p)) != token)
    return _rejection(p, q, token)[0], others / others.sum()


check_rejection = Exercise(
    asks="the probability of accepting a proposed token, and the distribution of its replacement",
    reference=lambda p, q, token: _rejection(p, q, token),
    examples=_proposals,
    mistakes={
        "The ratio is upside down: divide p by q.": (
            lambda *given: _rejection(*given, accept=lambda p, q: min(1.0, q / p))
        ),
        "Your probability can be more than 1. If p is larger than q, it should be 1.": (
            lambda *given: _rejection(*given, accept=lambda p, q: p / q)
        ),
        "You accept the token as often as the model would write it, but the draft has already "
        "proposed it: divide by q.": lambda *given: _rejection(*given, accept=lambda p, q: p),
        "You draw the replacement from p. Draw it from what's left of p: max(0, p − q).": (
            lambda *given: _rejection(*given, left=lambda p, q: p)
        ),
        "What's left of p doesn't sum to one: divide it by its sum.": (
            lambda *given: _rejection(*given, divide=False)
        ),
        "Your replacement is a token that the draft proposes too often: take p − q, not q − p.": (
            lambda *given: _rejection(*given, left=lambda p, q: (q - p).clamp(min=0))
        ),
        "You take the absolute value of p − q. Where it's negative, nothing is left: use 0.": (
            lambda *given: _rejection(*given, left=lambda p, q: (p - q).abs())
        ),
        "You leave only the rejected token out of p; subtract q for every token.": _without,
    },
)
