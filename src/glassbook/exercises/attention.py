"""Exercises for the chapter on attention."""

import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_attention", "check_softmax"]


def _scores(draw: Draw):
    yield "three queries and five keys", (draw(3, 5),)
    yield "two sentences with seven heads", (draw(2, 7, 3, 11),)
    yield "scores in the thousands", (3e3 * draw(3, 5),)


check_softmax = Exercise(
    asks="weights that sum to one along the keys",
    reference=lambda scores: F.softmax(scores, dim=-1),
    examples=_scores,
    mistakes={
        "The columns sum to one, but the rows should: sum along the keys, dim=-1.": (
            lambda scores: scores.softmax(-2)
        ),
        "All weights together sum to one, but each row should.": (
            lambda scores: scores.exp() / scores.exp().sum()
        ),
        "exp of a score in the thousands overflows to infinity: first subtract the largest "
        "score in its row.": (lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True)),
        "You divide the scores by their sum, but nothing makes them positive: take exp first.": (
            lambda scores: scores / scores.sum(-1, keepdim=True)
        ),
        "The rows don't sum to one: divide each row by its sum.": (
            lambda scores: (scores - scores.amax(-1, keepdim=True)).exp()
        ),
        "These are the logarithms of the weights.": lambda scores: scores.log_softmax(-1),
        "A sigmoid treats each score separately; in a softmax, the keys compete.": (
            lambda scores: scores.sigmoid()
        ),
    },
)


def _queries(draw: Draw):
    yield "a sentence that attends to itself", (draw(5, 7), draw(5, 7), draw(5, 7))
    yield "queries and keys of different sentences", (draw(3, 7), draw(11, 7), draw(11, 5))
    yield (
        "two sentences with three heads",
        (draw(2, 3, 5, 7), draw(2, 3, 11, 7), draw(2, 3, 11, 13)),
    )


def _attention(query, key, value, scale=None, axis=-1):
    """Compute attention over the words; some mistakes pass another scale or axis."""
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return (query @ key.transpose(-2, -1) * scale).softmax(axis) @ value


check_attention = Exercise(
    asks="the average of the values, weighted by how well each key matches the query",
    reference=lambda query, key, value: F.scaled_dot_product_attention(query, key, value),
    examples=_queries,
    mistakes={
        "The scores aren't divided by √head_dim.": (lambda q, k, v: _attention(q, k, v, scale=1.0)),
        "You divide the scores by head_dim; divide them by its square root.": (
            lambda q, k, v: _attention(q, k, v, scale=1 / q.shape[-1])
        ),
        "You multiply the scores by √head_dim; divide them.": (
            lambda q, k, v: _attention(q, k, v, scale=q.shape[-1] ** 0.5)
        ),
        "You divide the scores by the square root of the number of keys; use the keys' "
        "width, head_dim.": (lambda q, k, v: _attention(q, k, v, scale=k.shape[-2] ** -0.5)),
        "The softmax runs along the queries, so the columns sum to one. Run it along the "
        "keys: dim=-1.": lambda q, k, v: _attention(q, k, v, axis=-2),
        "Query and key are swapped: each row of scores belongs to one query.": (
            lambda q, k, v: _attention(k, q, v)
        ),
        "These are the weights; now use them to average the values.": (
            lambda q, k, v: (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        ),
        "There's no softmax: you weight the values by the scores themselves.": (
            lambda q, k, v: q @ k.mT / q.shape[-1] ** 0.5 @ v
        ),
        "You average the keys; average the values.": (lambda q, k, v: _attention(q, k, k)),
    },
)
