"""Exercises for the chapter on shared keys and values."""

from functools import partial

import torch
import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_grouped"]


def _groups(draw: Draw):
    for name, heads, shape in (
        ("one sentence, four query heads, two key-value heads", 4, (1, 2, 11, 7)),
        ("two sentences, six query heads, three key-value heads", 6, (2, 3, 11, 7)),
    ):
        causal = torch.ones(5, 11, dtype=torch.bool).tril(6)
        yield name, (draw(shape[0], heads, 5, 7), *draw(2, *shape), causal)


def _grouped(
    query, key, value, mask, share=lambda heads, times: heads.repeat_interleave(times, dim=1)
):
    times = query.shape[1] // key.shape[1]
    return F.scaled_dot_product_attention(query, share(key, times), share(value, times), mask)


check_grouped = Exercise(
    asks="the output of attention with keys and values shared by neighboring heads",
    reference=lambda query, key, value, mask: F.scaled_dot_product_attention(
        query, key, value, mask, enable_gqa=True
    ),
    examples=_groups,
    mistakes={
        "The key-value heads alternate, but neighboring query heads should share one: use "
        "repeat_interleave instead of repeat.": partial(
            _grouped, share=lambda h, n: h.repeat(1, n, 1, 1)
        ),
        "All heads read the first key-value head.": partial(_grouped, share=lambda h, n: h[:, :1]),
        "You average the key-value heads; each serves its own group.": (
            partial(_grouped, share=lambda h, n: h.mean(1, keepdim=True))
        ),
        "The values alternate, but the keys don't: repeat both the same way.": (
            lambda q, k, v, m: F.scaled_dot_product_attention(
                q,
                k.repeat_interleave(q.shape[1] // k.shape[1], dim=1),
                v.repeat(1, q.shape[1] // v.shape[1], 1, 1),
                m,
            )
        ),
        "You average the queries within each group, which merges their heads; only keys and "
        "values are shared.": lambda q, k, v, m: F.scaled_dot_product_attention(
            q.unflatten(1, (k.shape[1], -1)).mean(2), k, v, m
        ),
        "Keys and values are swapped.": lambda q, k, v, m: _grouped(q, v, k, m),
        "The result's heads aren't in the same order as the query heads.": (
            lambda q, k, v, m: _grouped(q.flip(1), k, v, m)
        ),
        "You don't use the mask.": lambda q, k, v, m: _grouped(q, k, v, None),
    },
)
