"""Exercises for the chapter on positions."""

import torch
import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_order_blind", "check_sinusoids"]


def _tables(draw: Draw):
    yield "seven positions of width 10", (7, 10)
    yield "thirteen positions of width 6", (13, 6)


def _sinusoids(length, d_model, first=0, exponent=-2.0, waves=(torch.sin, torch.cos)):
    """Return sines and cosines side by side, of angles that mistakes can change."""
    pair = torch.arange(d_model // 2)
    angle = torch.arange(first, first + length)[:, None] * 10000 ** (exponent * pair / d_model)
    return torch.stack([wave(angle) for wave in waves], dim=-1).flatten(1)


def _halves(length, d_model):
    table = _sinusoids(length, d_model)
    return torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)


check_sinusoids = Exercise(
    asks="the table of sines and cosines",
    reference=_sinusoids,
    examples=_tables,
    mistakes={
        "You put all sines before all cosines, as Marian does; here they alternate.": _halves,
        "Your cosines come first; the sines should.": (
            lambda n, d: _sinusoids(n, d, waves=(torch.cos, torch.sin))
        ),
        "Positions start at 0; yours start at 1.": lambda n, d: _sinusoids(n, d, first=1),
        "Pair c turns by 10000^(−2c / d_model) radians per position; your 2 is missing, so "
        "all pairs turn too fast.": (lambda n, d: _sinusoids(n, d, exponent=-1.0)),
        "Pair c turns by 10000^(−2c / d_model) radians per position; your exponent is twice "
        "as large, so all pairs turn too slowly. Do your columns count c, or 2c?": lambda n, d: (
            _sinusoids(n, d, exponent=-4.0)
        ),
        "Your exponent lacks its minus: the pairs should turn more and more slowly.": (
            lambda n, d: _sinusoids(n, d, exponent=2.0)
        ),
        "All your pairs turn at the same speed; each needs its own.": (
            lambda n, d: _sinusoids(n, d, exponent=0.0)
        ),
        "Rows should be positions and columns the width; yours are swapped.": (
            lambda n, d: _sinusoids(n, d).mT
        ),
    },
)


def _readers(draw: Draw):
    """Yield models that read a sentence in different ways, some of which depend on its order."""
    seq, d_model = 11, 5
    weight, places = draw(d_model, d_model), draw(seq, d_model)

    def attend(hidden):
        return F.scaled_dot_product_attention(hidden @ weight, hidden, hidden)

    def neighbors(hidden):
        return hidden + hidden.roll(1, dims=0) + hidden.roll(-1, dims=0)

    models = {
        "attention": attend,
        "attention with positions": lambda hidden: attend(hidden + places),
        "a network for each word": lambda hidden: (hidden @ weight).tanh(),
        "a running sum": lambda hidden: hidden.cumsum(0),
        "a sum of neighbors": neighbors,
        "a difference of neighbors": lambda hidden: hidden - hidden.roll(1, dims=0),
        "the average of all words": lambda hidden: hidden.mean(0).expand(seq, -1),
    }
    yield from ((name, (model, draw(seq, d_model))) for name, model in models.items())


def _order_blind(model, hidden, order=None):
    order = torch.randperm(len(hidden), generator=Draw().generator) if order is None else order
    return torch.allclose(model(hidden[order]), model(hidden)[order])


check_order_blind = Exercise(
    asks="True if shuffling the words only shuffles the output, and False otherwise",
    reference=_order_blind,
    examples=_readers,
    mistakes={
        "You compare the output with that of the unshuffled sentence, but it may be "
        "shuffled, too: shuffle one of the two outputs the same way before you compare.": (
            lambda model, hidden: torch.allclose(model(hidden.flip(0)), model(hidden))
        ),
        "Reversing is only one order among many, and a sum of neighbors doesn't change with "
        "it. Shuffle.": (
            lambda model, hidden: _order_blind(model, hidden, list(reversed(range(len(hidden)))))
        ),
        "You don't shuffle anything, so every model passes.": lambda model, hidden: True,
        "No model passes your test; attention should.": lambda model, hidden: False,
        "True and False are swapped.": lambda model, hidden: not _order_blind(model, hidden),
        "You move every word by one position, and many models don't notice that. Shuffle.": (
            lambda model, hidden: _order_blind(model, hidden, torch.arange(len(hidden)).roll(1))
        ),
    },
)
