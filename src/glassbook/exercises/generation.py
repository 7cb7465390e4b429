"""Exercises for the chapter on generation."""

from functools import partial

import torch
import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_greedy", "check_top_p"]


def _writers(draw: Draw):
    """Yield made-up models, whose logits depend on the token and its position."""
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
    asks="the prompt, followed by the likeliest token each time, up to the end token",
    reference=_greedy,
    examples=_writers,
    mistakes={
        "You read the next token from the first position; the last position predicts what "
        "follows.": (
            lambda model, ids, n, end: _greedy(model, ids, n, end, lambda z: z[0].argmax())
        ),
        "You take the least likely token.": partial(_greedy, choose=lambda z: z[-1].argmin()),
        "Your function continues after the end token.": lambda model, ids, n, end: _greedy(
            model, ids, n, -1
        ),
        "The end token is part of the text; append it before you stop.": (
            lambda model, ids, n, end: _greedy(model, ids, n, end, keep=False)
        ),
        "The prompt is missing from the result.": (
            lambda model, ids, n, end: _greedy(model, ids, n, end)[len(ids) :]
        ),
        "Your function writes one token too few.": lambda model, ids, n, end: _greedy(
            model, ids, n - 1, end
        ),
        "You count the prompt's tokens as new tokens.": (
            lambda model, ids, n, end: _greedy(model, ids, n - len(ids), end)
        ),
        "You choose all tokens at once, after reading only the prompt. The model has to read "
        "each token before you choose the next.": lambda model, ids, n, end: torch.cat(
            [ids, model(ids)[-1].topk(min(n, model(ids).shape[-1])).indices]
        ),
    },
)


def _next_logits(draw: Draw):
    yield "seven tokens, and p = 0.9", (draw(7), 0.9)
    yield "three rows, and p = 0.6", (draw(3, 11), 0.6)
    chances = torch.tensor([0.1, 0.7, 0.2])
    yield "probabilities of 0.1, 0.7, and 0.2, and p = 0.5", (chances.log(), 0.5)


def _top_p(logits, p):
    rows = logits.reshape(-1, logits.shape[-1])
    return torch.stack([_top_p_of_one(row.softmax(-1), p) for row in rows]).view(logits.shape)


def _top_p_of_one(chances, p):
    """Process one row, token by token, starting with the likeliest."""
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
    """Return the probabilities after dropping some positions of the sorted row."""
    _, order = _sorted(logits)
    return logits.masked_fill(dropped.scatter(-1, order, dropped), -torch.inf).softmax(-1)


def _unsorted(logits, p):
    chances = logits.softmax(-1)
    return logits.masked_fill(chances.cumsum(-1) - chances >= p, -torch.inf).softmax(-1)


def _kept_from_the_end(logits, p):
    worst_first, order = logits.softmax(-1).sort(dim=-1)
    dropped = worst_first.cumsum(-1) - worst_first >= p
    return logits.masked_fill(dropped.scatter(-1, order, dropped), -torch.inf).softmax(-1)


check_top_p = Exercise(
    asks="the probabilities of the smallest set of likeliest tokens whose sum reaches p, "
    "rescaled to sum to one",
    reference=_top_p,
    examples=_next_logits,
    mistakes={
        "You drop the token that brings the sum to p; it's the last one to keep.": (
            lambda z, p: _kept(z, (_sorted(z).values.cumsum(-1) > p)).nan_to_num()
        ),
        "The probabilities you keep don't sum to one: divide by their sum.": (
            lambda z, p: z.softmax(-1) * (_top_p(z, p) > 0)
        ),
        "You sum the probabilities in vocabulary order; sort them first.": _unsorted,
        "Your probabilities are in sorted order; put each one back at its token's position.": (
            lambda z, p: _top_p(z, p).sort(dim=-1, descending=True).values
        ),
        "You compare each token's probability with p; compare their running sum.": (
            lambda z, p: z.masked_fill(z.softmax(-1) < p, -torch.inf).softmax(-1).nan_to_num()
        ),
        "You don't drop any tokens.": lambda z, p: z.softmax(-1),
        "You keep the least likely tokens: sort with descending=True.": _kept_from_the_end,
        "You keep only the likeliest token, whatever p is.": (
            lambda z, p: F.one_hot(z.argmax(-1), z.shape[-1]).double()
        ),
    },
)
