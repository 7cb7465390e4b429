"""Right and wrong answers to the exercise on longer texts."""

import torch
from answers import Answers


def in_loops(
    scores,
    *,
    slope=lambda h, heads: 0.5 ** (8 * (h + 1) / heads),
    distance=lambda i, j, past: max(i + past - j, 0),
    change=lambda score, slope, far: score - slope * far,
):
    """Go through all heads, queries and keys."""
    heads, q_len, k_len = scores.shape
    biased = torch.empty_like(scores)
    for h in range(heads):
        for i in range(q_len):
            for j in range(k_len):
                far = distance(i, j, k_len - q_len)
                biased[h, i, j] = change(scores[h, i, j], slope(h, heads), far)
    return biased


def mean_slope(h, heads):
    return sum(0.5 ** (8 * (k + 1) / heads) for k in range(heads)) / heads


LONGER_TEXTS = {
    "check_alibi_scores": Answers(
        right=in_loops,
        wrong={
            "You add the": lambda s: in_loops(s, change=lambda x, m, d: x + m * d),
            "begin at 1": lambda s: in_loops(s, slope=lambda h, n: 0.5 ** (8 * h / n)),
            "too slowly": lambda s: in_loops(s, slope=lambda h, n: 0.5 ** ((h + 1) / n)),
            "same slope": lambda s: in_loops(s, slope=mean_slope),
            "You count the": lambda s: in_loops(s, distance=lambda i, j, past: max(i - j, 0)),
            "key's position": lambda s: in_loops(s, distance=lambda i, j, past: j),
            "multiply the scores": lambda s: in_loops(s, change=lambda x, m, d: x * (1 - m * d)),
            "You square the": lambda s: in_loops(s, change=lambda x, m, d: x - m * d * d),
        },
    ),
}
