"""Exercises for the chapter on the whole encoder."""

from functools import partial

from glassbook.exercises.checking import Draw, Exercise
from glassbook.exercises.norms_and_residuals import layer_parts

__all__ = ["check_count", "check_stack"]


def _stacks(draw: Draw):
    for name, depth, *shape in (
        ("one sentence through two layers", 2, 1, 5, 7),
        ("two sentences through three layers", 3, 2, 5, 11),
    ):
        yield name, (draw(*shape), [layer_parts(draw, shape[-1]) for _ in range(depth)])


def _stack(hidden, layers):
    for attend, feed, norm_1, norm_2 in layers:
        hidden = norm_1(hidden + attend(hidden))
        hidden = norm_2(hidden + feed(hidden))
    return hidden


def _pre_norm_stack(hidden, layers):
    for attend, feed, norm_1, norm_2 in layers:
        hidden = hidden + attend(norm_1(hidden))
        hidden = hidden + feed(norm_2(hidden))
    return hidden


def _without_residuals(hidden, layers):
    for attend, feed, norm_1, norm_2 in layers:
        hidden = norm_2(feed(norm_1(attend(hidden))))
    return hidden


def _without_norms(hidden, layers):
    for attend, feed, _, _ in layers:
        hidden = hidden + attend(hidden)
        hidden = hidden + feed(hidden)
    return hidden


def _one_norm_a_layer(hidden, layers):
    for attend, feed, _, norm_2 in layers:
        hidden = hidden + attend(hidden)
        hidden = norm_2(hidden + feed(hidden))
    return hidden


check_stack = Exercise(
    asks="the hidden state after the last of several post-norm layers",
    reference=_stack,
    examples=_stacks,
    mistakes={
        "This is pre-norm; BERT normalizes after each addition.": _pre_norm_stack,
        "The residuals are missing: add each sub-layer's output to its input.": _without_residuals,
        "The norms are missing.": _without_norms,
        "The norm after attention is missing: each layer has two norms.": _one_norm_a_layer,
        "Every layer reads the input; each should read the output of the one before it.": (
            lambda hidden, layers: _stack(hidden, layers[-1:])
        ),
        "You run only the first layer. Is the return inside the loop?": (
            lambda hidden, layers: _stack(hidden, layers[:1])
        ),
        "You run the layers from last to first.": (
            lambda hidden, layers: _stack(hidden, layers[::-1])
        ),
        "You run the first layer again and again; each layer has its own weights.": (
            lambda hidden, layers: _stack(hidden, layers[:1] * len(layers))
        ),
    },
)


def _sizes(draw: Draw):
    yield "a small model", (101, 7, 13, 3, 17, 5)
    yield "another", (997, 11, 23, 5, 31, 3)


def _count(
    vocab_size,
    d_model,
    d_ff,
    num_layers,
    max_positions,
    num_token_types,
    biases=1,
    norms=2,
    first_norm=1,
):
    tables = (vocab_size + max_positions + num_token_types) * d_model
    attention = 4 * (d_model * d_model + biases * d_model)
    network = 2 * d_model * d_ff + biases * (d_ff + d_model)
    layer = attention + network + norms * 2 * d_model
    return tables + first_norm * 2 * d_model + num_layers * layer


check_count = Exercise(
    asks="the number of parameters in the encoder",
    reference=_count,
    examples=_sizes,
    mistakes={
        "The biases are missing: each of the six linear layers has one, as wide as its "
        "output.": partial(_count, biases=0),
        "The norms are missing: each has a weight and a bias, d_model wide.": (
            partial(_count, norms=0, first_norm=0)
        ),
        "The embeddings' norm is missing.": partial(_count, first_norm=0),
        "The layers' norms are missing.": partial(_count, norms=0),
        "You count one norm per layer, but there are two.": partial(_count, norms=1),
        "The positions are missing; they have a table, too.": (
            lambda v, d, f, n, p, t: _count(v, d, f, n, 0, t)
        ),
        "The token types are missing; they have a small table, too.": (
            lambda v, d, f, n, p, t: _count(v, d, f, n, p, 0)
        ),
        "You count only one layer; there are num_layers.": lambda v, d, f, n, p, t: _count(
            v, d, f, 1, p, t
        ),
        "You count a pooler, d_model to d_model. It belongs to a classification head; the "
        "encoder itself has none.": (lambda v, d, f, n, p, t: _count(v, d, f, n, p, t) + d * d + d),
        "Attention's output projection is missing: each layer has four projections from "
        "d_model to d_model.": (
            lambda v, d, f, n, p, t: _count(v, d, f, n, p, t) - n * (d * d + d)
        ),
    },
)
