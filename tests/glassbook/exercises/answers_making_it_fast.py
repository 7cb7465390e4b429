"""Right and wrong answers to the exercises on making it fast."""

import math

import torch
from answers import Answers


def one_by_one(maximum, total, output, scores, value):
    """Add each score as a block of its own."""
    for score, row in zip(scores, value, strict=True):
        if score > maximum:
            total, output = (old * math.exp(maximum - score) for old in (total, output))
            maximum = score
        power = math.exp(score - maximum)
        total, output = total + power, output + power * row
    return maximum, total, output


def all_at_once(scale, maximum, total, output, scores, value):
    """Scale the old sums by two factors, which `scale` computes from the maxima."""
    top = max(maximum, max(scores))
    weights = torch.stack([torch.exp(score - top) for score in scores])
    first, second = scale(float(maximum), float(top))
    return top, first * total + sum(weights), second * output + value.T @ weights


def powers_of(scores, top):
    return torch.e ** (scores - top)


def own_maximum(maximum, total, output, scores, value):
    top = max(scores)
    weights, shrink = powers_of(scores, top), torch.e ** (maximum - top)
    return top, total * shrink + weights.sum(), output * shrink + weights @ value


def block_alone(maximum, total, output, scores, value):
    top = max(maximum, max(scores))
    weights = powers_of(scores, top)
    return top, weights.sum(), weights @ value


def averaged(*given):
    maximum, total, output = one_by_one(*given)
    return maximum, total, output / total


def as_they_are(maximum, total, output, scores, value):
    top = max(maximum, max(scores))
    shrink, weights = math.exp(maximum - top), torch.e**scores
    return top, total * shrink + weights.sum(), output * shrink + weights @ value


def unweighted(maximum, total, output, scores, value):
    top, total, _ = one_by_one(maximum, total, output, scores, value)
    return top, total, output * math.exp(maximum - top) + sum(value)


def upside_down(maximum, total, output, scores, value):
    top = max(maximum, max(scores))
    weights, grow = powers_of(scores, top), torch.exp(top - maximum)
    return top, total * grow + weights.sum(), output * grow + weights @ value


def token_by_token(p, q, token, *, chance=None, gap=None, whole=True):
    """Go through the vocabulary with Python's numbers."""
    p_list, q_list = p.tolist(), q.tolist()
    gap = gap or (lambda p, q: p - q if p > q else 0.0)
    left = [gap(a, b) for a, b in zip(p_list, q_list, strict=True)]
    total = sum(left) if whole else 1.0
    chance = chance or (lambda p, q: 1.0 if p >= q else p / q)
    accepted = chance(p_list[token], q_list[token])
    return accepted, torch.tensor([one / total for one in left])


def others_only(p, q, token):
    left = p.clone()
    left[token] = 0
    return token_by_token(p, q, token)[0], left / (1 - p[token])


MAKING_IT_FAST = {
    "check_online_update": Answers(
        right=one_by_one,
        wrong={
            "don't change the old sums": lambda *given: all_at_once(
                lambda old, new: (1, 1), *given
            ),
            "but not the sum of values": lambda *given: all_at_once(
                lambda old, new: (math.exp(old - new), 1), *given
            ),
            "old sums up": upside_down,
            "block's own": own_maximum,
            "lose the old sums": block_alone,
            "by the sum too early": averaged,
            "don't subtract": as_they_are,
            "without weights": unweighted,
        },
    ),
    "check_rejection": Answers(
        right=token_by_token,
        wrong={
            "upside down": lambda *given: token_by_token(
                *given, chance=lambda p, q: q / p if q < p else 1.0
            ),
            "more than 1": lambda *given: token_by_token(*given, chance=lambda p, q: p / q),
            "as often as the model": lambda *given: token_by_token(*given, chance=lambda p, q: p),
            "the replacement from p": lambda *given: token_by_token(*given, gap=lambda p, q: p),
            "sum to one": lambda *given: token_by_token(*given, whole=False),
            "too often": lambda *given: token_by_token(*given, gap=lambda p, q: max(q - p, 0.0)),
            "absolute value": lambda *given: token_by_token(*given, gap=lambda p, q: abs(p - q)),
            "rejected token out of p": others_only,
        },
    ),
}
