"""Exercises for the chapter Many heads."""

from functools import partial

import torch
import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_multi_head", "check_split_heads"]


def _hidden(draw: Draw):
    yield "one sentence, two heads", (draw(1, 5, 14), 2)
    yield "three sentences, five heads", (draw(3, 7, 55), 5)


def _split(hidden, num_heads):
    return torch.stack(hidden.chunk(num_heads, dim=-1), dim=1)


check_split_heads = Exercise(
    asks="one piece of each vector per head, as (batch, heads, seq, head_dim)",
    reference=_split,
    examples=_hidden,
    mistakes={
        "The shape is right, but a direct view to that shape mixes up the words. First view "
        "as (batch, seq, heads, head_dim), then swap the middle axes.": (
            lambda x, n: x.reshape(x.shape[0], n, x.shape[1], -1)
        ),
        "The heads come after the words; swap axes 1 and 2.": (
            lambda x, n: x.unflatten(-1, (n, -1))
        ),
        "Each head takes numbers from all over the vector; it should take neighboring numbers.": (
            lambda x, n: x.unflatten(-1, (-1, n)).permute(0, 3, 1, 2)
        ),
        "The last two axes are swapped: each head should have one row per word.": (
            lambda x, n: _split(x, n).mT
        ),
        "Every head gets the whole vector; each should get one piece of it.": (
            lambda x, n: x[:, None].expand(-1, n, -1, -1)
        ),
    },
)


def _projections(draw: Draw):
    for name, heads, *shape in (
        ("one sentence, two heads", 2, 1, 5, 14),
        ("two sentences, three heads", 3, 2, 5, 21),
    ):
        width = shape[-1]
        turns = torch.linalg.qr(draw(4, width, width)).Q  # orthogonal, to keep the scores small
        yield name, (draw(*shape), *turns, heads)


def _multi_head(hidden, w_q, w_k, w_v, w_o, num_heads, scale=None, merge=None):
    """Compute all heads; some mistakes pass another scale or another way to merge."""
    query, key, value = (_split(F.linear(hidden, w), num_heads) for w in (w_q, w_k, w_v))
    output = F.scaled_dot_product_attention(query, key, value, scale=scale)
    merged = torch.cat(output.unbind(1), dim=-1) if merge is None else merge(output)
    return F.linear(merged, w_o)


check_multi_head = Exercise(
    asks="the output of all heads, merged and projected",
    reference=_multi_head,
    examples=_projections,
    mistakes={
        "You divide the scores by √d_model, but each head is only head_dim wide.": (
            lambda x, q, k, v, o, n: _multi_head(x, q, k, v, o, n, scale=x.shape[-1] ** -0.5)
        ),
        "The scores aren't divided by √head_dim.": partial(_multi_head, scale=1.0),
        "The last projection, w_o, is missing.": (
            lambda x, q, k, v, o, n: _multi_head(x, q, k, v, torch.eye(x.shape[-1]), n)
        ),
        "The heads are merged without swapping the axes back, which mixes up the words.": (
            lambda x, q, k, v, o, n: _multi_head(
                x, q, k, v, o, n, merge=lambda heads: heads.reshape(x.shape)
            )
        ),
        "This is a single head of the full width; split the projections into num_heads first.": (
            lambda x, q, k, v, o, n: _multi_head(x, q, k, v, o, 1)
        ),
        "The weights have the same layout as nn.Linear's, which multiplies by the transpose: "
        "x @ w.mT.": (lambda x, q, k, v, o, n: _multi_head(x, q.mT, k.mT, v.mT, o.mT, n)),
        "Queries and keys have swapped their projections.": (
            lambda x, q, k, v, o, n: _multi_head(x, k, q, v, o, n)
        ),
        "You don't project the values with w_v.": (
            lambda x, q, k, v, o, n: _multi_head(x, q, k, torch.eye(x.shape[-1]), o, n)
        ),
    },
)
