"""Exercises of the chapter on attention."""

import torch.nn.functional as F

from glassformer.exercises.checking import Draw, Exercise

__all__ = ["check_attention", "check_softmax"]

CHAPTER = "encoder/attention.md"


def _scores(draw: Draw):
    yield "three queries and five keys", (draw(3, 5),)
    yield "two sentences with seven heads", (draw(2, 7, 3, 11),)
    yield "scores in the thousands", (3e3 * draw(3, 5),)


check_softmax = Exercise(
    asks="weights that sum to one along the keys",
    chapter=CHAPTER,
    reference=lambda scores: F.softmax(scores, dim=-1),
    examples=_scores,
    mistakes={
        "The columns sum to one, and the rows should: sum along the keys, dim=-1.": (
            lambda scores: scores.softmax(-2)
        ),
        "All weights together sum to one, and each row should.": (
            lambda scores: scores.exp() / scores.exp().sum()
        ),
        "A score in the thousands has an infinite power: first subtract the largest of its row.": (
            lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True)
        ),
        "The scores are divided by their sum, but nothing makes them positive: take exp first.": (
            lambda scores: scores / scores.sum(-1, keepdim=True)
        ),
        "The rows do not sum to one: divide by their sums.": (
            lambda scores: (scores - scores.amax(-1, keepdim=True)).exp()
        ),
        "These are logarithms of weights.": lambda scores: scores.log_softmax(-1),
        "A sigmoid looks at each score alone; in a softmax the keys compete.": (
            lambda scores: scores.sigmoid()
        ),
    },
)


def _queries(draw: Draw):
    yield "a sentence that looks at itself", (draw(5, 7), draw(5, 7), draw(5, 7))
    yield "queries and keys of different sentences", (draw(3, 7), draw(11, 7), draw(11, 5))
    yield (
        "two sentences with three heads",
        (draw(2, 3, 5, 7), draw(2, 3, 11, 7), draw(2, 3, 11, 13)),
    )


def _attention(query, key, value, scale=None, axis=-1):
    """Attention over the words, with a scale and an axis that can be had wrong."""
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return (query @ key.transpose(-2, -1) * scale).softmax(axis) @ value


check_attention = Exercise(
    asks="the average of the values, weighted by how well each key matches the query",
    chapter=CHAPTER,
    reference=lambda query, key, value: F.scaled_dot_product_attention(query, key, value),
    examples=_queries,
    mistakes={
        "The scores are not divided by √head_dim.": (
            lambda q, k, v: _attention(q, k, v, scale=1.0)
        ),
        "The scores are divided by head_dim, and not by its square root.": (
            lambda q, k, v: _attention(q, k, v, scale=1 / q.shape[-1])
        ),
        "The scores are multiplied by √head_dim, not divided.": (
            lambda q, k, v: _attention(q, k, v, scale=q.shape[-1] ** 0.5)
        ),
        "The scores are divided by the root of how many keys there are; it is their width that "
        "counts, head_dim.": (lambda q, k, v: _attention(q, k, v, scale=k.shape[-2] ** -0.5)),
        "The softmax runs along the queries, so that the columns sum to one. Along the keys it is "
        "dim=-1.": lambda q, k, v: _attention(q, k, v, axis=-2),
        "Query and key are swapped: each row of scores belongs to one query.": (
            lambda q, k, v: _attention(k, q, v)
        ),
        "These are the weights; the average of the values is still to come.": (
            lambda q, k, v: (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        ),
        "There is no softmax: the scores themselves weigh the values.": (
            lambda q, k, v: q @ k.mT / q.shape[-1] ** 0.5 @ v
        ),
        "The keys are averaged, and the values should be.": (lambda q, k, v: _attention(q, k, k)),
    },
)
