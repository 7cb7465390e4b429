"""Exercises for the chapter on the decoder layer."""

from functools import partial

import torch
import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise
from glassbook.exercises.norms_and_residuals import layer_parts

__all__ = ["check_cross_attention", "check_decoder_layer"]

SIZES = (
    ("one sentence as long as its memory", (1, 5, 7), (1, 5, 7)),
    ("two sentences with longer memories", (2, 3, 11), (2, 13, 11)),
)
"""The shapes of the decoder's hidden state and of the memory."""


def _two_sentences(draw: Draw):
    for name, x, memory in SIZES:
        width = x[-1]
        yield name, (draw(*x), draw(*memory), *draw(3, width, width))


def _cross_attention(hidden, memory, w_q, w_k, w_v, scale=None):
    query, key, value = F.linear(hidden, w_q), F.linear(memory, w_k), F.linear(memory, w_v)
    return F.scaled_dot_product_attention(query, key, value, scale=scale)


def _values_of_hidden(hidden, memory, w_q, w_k, w_v):
    query, key, value = F.linear(hidden, w_q), F.linear(memory, w_k), F.linear(hidden, w_v)
    return F.scaled_dot_product_attention(query, key, value)


def _causal_across(hidden, memory, w_q, w_k, w_v):
    query, key, value = F.linear(hidden, w_q), F.linear(memory, w_k), F.linear(memory, w_v)
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)


check_cross_attention = Exercise(
    asks="a weighted average of the memory's values for each word in the decoder",
    reference=_cross_attention,
    examples=_two_sentences,
    mistakes={
        "Your queries come from the memory, and your keys and values from the decoder. It's "
        "the other way around: the decoder asks.": lambda x, m, q, k, v: _cross_attention(
            m, x, q, k, v
        ),
        "The values come from the decoder. They should come from the memory, as the keys do.": (
            _values_of_hidden
        ),
        "You don't use the memory: this is self-attention.": (
            lambda x, m, q, k, v: _cross_attention(x, x, q, k, v)
        ),
        "You don't use the decoder's words: the memory attends to itself.": (
            lambda x, m, q, k, v: _cross_attention(m, m, q, k, v)
        ),
        "There's a causal mask, but the decoder may attend to the whole source.": (_causal_across),
        "The scores aren't divided by √d.": partial(_cross_attention, scale=1.0),
        "Keys and values have swapped their projections.": (
            lambda x, m, q, k, v: _cross_attention(x, m, q, v, k)
        ),
        "The keys come from both sentences. Use only the memory's.": (
            lambda x, m, q, k, v: _cross_attention(x, torch.cat([m, x], 1), q, k, v)
        ),
    },
)


def _layers(draw: Draw):
    for name, x, memory in SIZES:
        attend, feed, *norms = layer_parts(draw, x[-1])
        across, _, norm, _ = layer_parts(draw, x[-1])
        yield name, (draw(*x), draw(*memory), attend, across, feed, *norms, norm)


def _decoder_layer(hidden, memory, attend, attend_across, feed, norm_1, norm_2, norm_3):
    hidden = norm_1(hidden + attend(hidden))
    hidden = norm_2(hidden + attend_across(hidden, memory))
    return norm_3(hidden + feed(hidden))


def _across_first(x, m, attend, across, feed, norm_1, norm_2, norm_3):
    x = norm_1(x + across(x, m))
    x = norm_2(x + attend(x))
    return norm_3(x + feed(x))


def _no_residual_across(x, m, attend, across, feed, norm_1, norm_2, norm_3):
    x = norm_2(across(norm_1(x + attend(x)), m))
    return norm_3(x + feed(x))


def _memory_asks(x, m, attend, across, feed, norm_1, norm_2, norm_3):
    x = norm_1(x + attend(x))
    x = norm_2(x + across(m, x))
    return norm_3(x + feed(x))


def _pre_norm(x, m, attend, across, feed, norm_1, norm_2, norm_3):
    x = x + attend(norm_1(x))
    x = x + across(norm_2(x), m)
    return x + feed(norm_3(x))


def _without_memory(x, m, attend, across, feed, norm_1, norm_2, norm_3):
    x = norm_1(x + attend(x))
    return norm_3(x + feed(x))


def _normed_once(x, m, attend, across, feed, norm_1, norm_2, norm_3):
    x = x + attend(x)
    x = x + across(x, m)
    return norm_3(x + feed(x))


def _side_by_side(x, m, attend, across, feed, norm_1, norm_2, norm_3):
    x = norm_2(norm_1(x + attend(x)) + across(x, m))
    return norm_3(x + feed(x))


check_decoder_layer = Exercise(
    asks="the output of a post-norm decoder layer",
    reference=_decoder_layer,
    examples=_layers,
    mistakes={
        "The layer attends to the memory first. It should attend to its own sentence first.": (
            _across_first
        ),
        "The residual around cross-attention is missing.": _no_residual_across,
        "The memory provides the queries, but the decoder should: attend_across(hidden, "
        "memory).": _memory_asks,
        "This is pre-norm; here each norm comes after its addition.": _pre_norm,
        "The layer never reads the memory.": _without_memory,
        "Only the last norm is there; each of the three sub-layers has one.": _normed_once,
        "Cross-attention reads the layer's input. It should read the result of self-attention.": (
            _side_by_side
        ),
    },
)
