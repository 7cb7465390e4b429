"""Exercises for the chapter on the KV cache."""

import torch
import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_cached_step"]


def _steps(draw: Draw):
    for name, past, d in (("a past as long as it's wide", 5, 5), ("eleven tokens", 11, 7)):
        yield name, (draw(d), *draw(2, past, d), *draw(3, d, d))


def _look(query, keys, values, is_causal=False):
    """Return attention's output for a single query."""
    return F.scaled_dot_product_attention(query[None], keys, values, is_causal=is_causal).squeeze(0)


def _cached_step(x, keys, values, w_q, w_k, w_v):
    keys, values = torch.vstack([keys, w_k @ x]), torch.vstack([values, w_v @ x])
    return _look(w_q @ x, keys, values), keys, values


def _looks_at_the_past_alone(x, keys, values, w_q, w_k, w_v):
    output = _look(w_q @ x, keys, values)
    return output, torch.vstack([keys, w_k @ x]), torch.vstack([values, w_v @ x])


def _causal_from_the_first(x, keys, values, w_q, w_k, w_v):
    keys, values = torch.vstack([keys, w_k @ x]), torch.vstack([values, w_v @ x])
    return _look(w_q @ x, keys, values, is_causal=True), keys, values


def _overwrites(x, keys, values, w_q, w_k, w_v):
    keys, values = torch.vstack([keys[:-1], w_k @ x]), torch.vstack([values[:-1], w_v @ x])
    return _look(w_q @ x, keys, values), keys, values


def _in_front(x, keys, values, w_q, w_k, w_v):
    keys, values = torch.vstack([w_k @ x, keys]), torch.vstack([w_v @ x, values])
    return _look(w_q @ x, keys, values), keys, values


def _keeps_the_input(x, keys, values, w_q, w_k, w_v):
    keys, values = torch.vstack([keys, x]), torch.vstack([values, x])
    return _look(w_q @ x, keys, values), keys, values


check_cached_step = Exercise(
    asks="the new token's output, and the keys and values with its own appended",
    reference=_cached_step,
    examples=_steps,
    mistakes={
        "The new token doesn't attend to itself: append its key and value before you attend.": (
            _looks_at_the_past_alone
        ),
        "You use the new key and value but don't keep them: return the longer tensors.": (
            lambda x, k, v, q, wk, wv: (_cached_step(x, k, v, q, wk, wv)[0], k, v)
        ),
        "With is_causal=True, torch lets the first query see only the first key. The new "
        "token is the last token and may see all keys: use no mask.": _causal_from_the_first,
        "You overwrite the last key and value; append the new ones after them.": _overwrites,
        "The new key and value come first; the cache is in the order of the words.": _in_front,
        "You keep the token's vector; keep its key and its value.": _keeps_the_input,
        "The new token attends only to itself, so the past is lost.": (
            lambda x, k, v, q, wk, wv: (wv @ x, *_cached_step(x, k, v, q, wk, wv)[1:])
        ),
        "w_q is missing: the query is the token's vector itself.": (
            lambda x, k, v, q, wk, wv: _cached_step(x, k, v, torch.eye(len(x)), wk, wv)
        ),
    },
)
