"""Exercises of the chapter on generation."""

import torch
import torch.nn.functional as F

from glassformer.exercises.checking import Draw, Exercise

__all__ = ["check_cached_step", "check_greedy", "check_top_p"]

CHAPTER = "decoder/generation.md"


def _writers(draw: Draw):
    """Made-up models: the logits of a place come from the token there and its place."""
    for name, vocab, prompt, count, end in (
        ("a prompt of two tokens, and no end", 11, 2, 5, 11),
        ("a prompt of three, and an end at token 3", 7, 3, 13, 3),
    ):
        table, places = draw(vocab, vocab), draw(prompt + count, vocab)

        def logits(ids, table=table, places=places):
            return table[ids] + places[: len(ids)]

        yield name, (logits, draw.ids(vocab, prompt), count, end)


def _greedy(model, ids, max_new_tokens, end, choose=lambda logits: logits[-1].argmax(), keep=True):
    for _ in range(max_new_tokens):
        token = choose(model(ids))
        if token == end and not keep:
            break
        ids = torch.cat([ids, token[None]])
        if token == end:
            break
    return ids


check_greedy = Exercise(
    asks="the prompt, and after it the likeliest token each time, up to the end token",
    chapter=CHAPTER,
    reference=_greedy,
    examples=_writers,
    mistakes={
        "The next token is read off the first place; it is the last that tells what follows.": (
            lambda model, ids, n, end: _greedy(model, ids, n, end, lambda z: z[0].argmax())
        ),
        "The least likely token is taken.": (
            lambda model, ids, n, end: _greedy(model, ids, n, end, lambda z: z[-1].argmin())
        ),
        "It goes on after the end token.": lambda model, ids, n, end: _greedy(model, ids, n, -1),
        "The end token itself belongs to the text; append it before you stop.": (
            lambda model, ids, n, end: _greedy(model, ids, n, end, keep=False)
        ),
        "The prompt is missing.": (
            lambda model, ids, n, end: _greedy(model, ids, n, end)[len(ids) :]
        ),
        "It writes one token too few.": lambda model, ids, n, end: _greedy(model, ids, n - 1, end),
        "The prompt is counted among the new tokens.": (
            lambda model, ids, n, end: _greedy(model, ids, n - len(ids), end)
        ),
        "All tokens are chosen at once, from one reading of the prompt. Each choice has to be read "
        "before the next.": lambda model, ids, n, end: torch.cat(
            [ids, model(ids)[-1].topk(min(n, model(ids).shape[-1])).indices]
        ),
    },
)


def _next_logits(draw: Draw):
    yield "seven tokens, and p = 0.9", (draw(7), 0.9)
    yield "three rows, and p = 0.6", (draw(3, 11), 0.6)
    chances = torch.tensor([0.1, 0.7, 0.2])
    yield "chances of 0.1, 0.7 and 0.2, and p = 0.5", (chances.log(), 0.5)


def _top_p(logits, p):
    rows = logits.reshape(-1, logits.shape[-1])
    return torch.stack([_top_p_of_one(row.softmax(-1), p) for row in rows]).view(logits.shape)


def _top_p_of_one(chances, p):
    """One row, token by token from the likeliest on."""
    kept, total = torch.zeros_like(chances), 0.0
    for token in chances.argsort(descending=True):
        kept[token] = chances[token]
        total += chances[token]
        if total >= p:
            break
    return kept / kept.sum()


def _sorted(logits):
    return logits.softmax(-1).sort(dim=-1, descending=True)


def _kept(logits, dropped):
    """Probabilities again, after some places of the sorted row are dropped."""
    _, order = _sorted(logits)
    return logits.masked_fill(dropped.scatter(-1, order, dropped), -torch.inf).softmax(-1)


def _unsorted(logits, p):
    chances = logits.softmax(-1)
    return logits.masked_fill(chances.cumsum(-1) - chances >= p, -torch.inf).softmax(-1)


check_top_p = Exercise(
    asks="the probabilities of the fewest tokens, likeliest first, that have p, with a sum of one",
    chapter=CHAPTER,
    reference=_top_p,
    examples=_next_logits,
    mistakes={
        "The token with which the sum reaches p is dropped; it is the last to stay.": (
            lambda z, p: _kept(z, (_sorted(z).values.cumsum(-1) > p)).nan_to_num()
        ),
        "What is left does not sum to one: divide by the sum.": (
            lambda z, p: z.softmax(-1) * (_top_p(z, p) > 0)
        ),
        "The probabilities are summed in the order of the vocabulary; sort them first.": _unsorted,
        "The probabilities are in the order of their size; put each back to its token.": (
            lambda z, p: _top_p(z, p).sort(dim=-1, descending=True).values
        ),
        "Each token is compared with p by itself; it is their sum that counts.": (
            lambda z, p: z.masked_fill(z.softmax(-1) < p, -torch.inf).softmax(-1).nan_to_num()
        ),
        "Nothing is dropped.": lambda z, p: z.softmax(-1),
        "The worst tokens are kept: sort with descending=True.": (
            lambda z, p: _kept_from_the_end(z, p)
        ),
        "Only the best token is kept, whatever p is.": (
            lambda z, p: F.one_hot(z.argmax(-1), z.shape[-1]).double()
        ),
    },
)


def _kept_from_the_end(logits, p):
    worst_first, order = logits.softmax(-1).sort(dim=-1)
    dropped = worst_first.cumsum(-1) - worst_first >= p
    return logits.masked_fill(dropped.scatter(-1, order, dropped), -torch.inf).softmax(-1)


def _steps(draw: Draw):
    for name, past, d in (("a past as long as it is wide", 5, 5), ("eleven tokens", 11, 7)):
        yield name, (draw(d), *draw(2, past, d), *draw(3, d, d))


def _look(query, keys, values, is_causal=False):
    """Return the attention of a single query."""
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
    asks="the output of the new token, and keys and values with its own after them",
    chapter=CHAPTER,
    reference=_cached_step,
    examples=_steps,
    mistakes={
        "The new token does not look at itself: add its key and value before you attend.": (
            _looks_at_the_past_alone
        ),
        "The new key and value are used, and then not kept: give back the longer tensors.": (
            lambda x, k, v, q, wk, wv: (_cached_step(x, k, v, q, wk, wv)[0], k, v)
        ),
        "With is_causal=True torch lets a first query see the first key alone. The new token is "
        "the last one, and may see all: no mask.": _causal_from_the_first,
        "The last key and value are overwritten; put the new ones after them.": _overwrites,
        "The new key and value stand in front; the cache is in the order of the words.": _in_front,
        "What is kept is the token's vector; keep its key and its value.": _keeps_the_input,
        "The new token looks at itself alone, so the past is lost.": (
            lambda x, k, v, q, wk, wv: (wv @ x, *_cached_step(x, k, v, q, wk, wv)[1:])
        ),
        "w_q is missing: the query is the token's vector itself.": (
            lambda x, k, v, q, wk, wv: _cached_step(x, k, v, torch.eye(len(x)), wk, wv)
        ),
    },
)
