"""Exercises for the chapter on shared keys and values."""

from functools import partial

import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_grouped"]


def _groups(draw: Draw):
    yield (
        "one sentence, four query heads, two key-value heads",
        (draw(1, 4, 5, 7), *draw(2, 1, 2, 11, 7)),
    )
    yield (
        "two sentences, six query heads, three key-value heads",
        (draw(2, 6, 5, 7), *draw(2, 2, 3, 11, 7)),
    )


def _grouped(query, key, value, share=lambda heads, times: heads.repeat_interleave(times, dim=1)):
    times = query.shape[1] // key.shape[1]
    return F.scaled_dot_product_attention(query, share(key, times), share(value, times))


check_grouped = Exercise(
    asks="the output of attention with keys and values shared by neighboring heads",
    reference=lambda query, key, value: F.scaled_dot_product_attention(
        query, key, value, enable_gqa=True
    ),
    examples=_groups,
    mistakes={
        "The key-value heads alternate, but neighboring query heads should share one: use "
        "repeat_interleave instead of repeat.": lambda q, k, v: _grouped(
            q, k, v, lambda h, n: h.repeat(1, n, 1, 1)
        ),
        "All heads read the first key-value head.": partial(_grouped, share=lambda h, n: h[:, :1]),
        "You average the key-value heads; each serves its own group.": (
            lambda q, k, v: _grouped(q, k, v, lambda h, n: h.mean(1, keepdim=True))
        ),
        "The values alternate, but the keys don't: repeat both the same way.": (
            lambda q, k, v: F.scaled_dot_product_attention(
                q,
                k.repeat_interleave(q.shape[1] // k.shape[1], dim=1),
                v.repeat(1, q.shape[1] // v.shape[1], 1, 1),
            )
        ),
        "You average the queries within each group, which merges their heads; only keys and "
        "values are shared.": lambda q, k, v: F.scaled_dot_product_attention(
            q.unflatten(1, (k.shape[1], -1)).mean(2), k, v
        ),
        "Keys and values are swapped.": lambda q, k, v: _grouped(q, v, k),
        "The result's heads aren't in the same order as the query heads.": (
            lambda q, k, v: _grouped(q.flip(1), k, v)
        ),
    },
)
