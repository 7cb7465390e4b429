"""Exercises for the chapter on induction heads and activation patching."""

import torch

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_induction_scores", "check_patched_run"]


def _repeated(draw: Draw):
    yield "three layers of five heads, 3 tokens twice", (draw(3, 5, 7, 7).softmax(-1), 3)
    yield "five layers of three heads, 11 tokens twice", (draw(5, 3, 23, 23).softmax(-1), 11)


def _looked_back(weights, length, back=None):
    """Return the second copy's weights on tokens some distance back, (layers, heads, length)."""
    query = torch.arange(length + 1, 2 * length + 1)
    return weights[..., query, query - (length - 1 if back is None else back)]


check_induction_scores = Exercise(
    asks="for each head, the mean weight on what came after the same token the first time",
    reference=lambda weights, length: _looked_back(weights, length).mean(-1),
    examples=_repeated,
    mistakes={
        "This is the weight on the same token in the first copy. The token that followed it "
        "is one position later.": lambda w, n: _looked_back(w, n, n).mean(-1),
        "This is two positions after the earlier copy; you want the one right after it.": (
            lambda w, n: _looked_back(w, n, n - 2).mean(-1)
        ),
        "You include the first copy's tokens in the average, but they have nothing to look "
        "back at. Keep only the second copy's queries.": lambda w, n: w.diagonal(
            1 - n, -2, -1
        ).mean(-1),
        "Rows and columns are swapped: a row is a query, and a column is a key.": (
            lambda w, n: _looked_back(w.mT, n).mean(-1)
        ),
        "You sum the weights; divide the sum by the number of tokens.": (
            lambda w, n: _looked_back(w, n).sum(-1)
        ),
        "You average over the layers; each head in each layer has its own score.": (
            lambda w, n: _looked_back(w, n).mean((0, -1))
        ),
        "This is the weight on the token just before, at a distance of 1 instead of length - 1.": (
            lambda w, n: _looked_back(w, n, 1).mean(-1)
        ),
    },
)


def _runs(draw: Draw):
    for name, count, layer, position, seq, width in (
        ("three layers, patched before layer 1 at position 2", 3, 1, 2, 5, 7),
        ("five layers, patched before layer 2 at position 3", 5, 2, 3, 11, 13),
    ):
        layers = [_layer(draw(width, width)) for _ in range(count)]
        yield name, (draw(seq, width), draw(seq, width), layers, layer, position)


def _layer(weight):
    """Return a layer where each position sees itself and those before it."""
    return lambda hidden: hidden + torch.tanh(hidden.cumsum(0) @ weight)


def _run(hidden, source, layers, at, put):
    """Return a run's output, with `put` applied before the layers that `at` names."""
    for number, layer in enumerate(layers):
        if number in at:
            hidden = put(hidden, source)
        hidden, source = layer(hidden), layer(source)
    return hidden


def _put(first, last=None, share=1.0):
    """Return a function that copies a state and puts the source's vectors at some positions."""

    def put(hidden, source):
        changed, places = hidden.clone(), slice(first, first + 1 if last is None else last)
        changed[places] = (1 - share) * hidden[places] + share * source[places]
        return changed

    return put


def _from_the_start(hidden, source, layers, layer, position):
    def put(stream, _):
        changed = stream.clone()
        changed[position] = source[position]
        return changed

    return _run(hidden, source, layers, [layer], put)


check_patched_run = Exercise(
    asks="the last layer's output in a run with one vector patched in from another run",
    reference=lambda hidden, source, layers, layer, position: _run(
        hidden, source, layers, [layer], _put(position)
    ),
    examples=_runs,
    mistakes={
        "The vector goes to the next position: count positions from zero.": (
            lambda h, s, layers, k, p: _run(h, s, layers, [k], _put(p + 1))
        ),
        "You patch after the layer; patch before it.": (
            lambda h, s, layers, k, p: _run(h, s, layers, [k + 1], _put(p))
        ),
        "You patch every position, so this is the other run. Change only one position.": (
            lambda h, s, layers, k, p: _run(h, s, layers, [k], _put(0, len(h)))
        ),
        "You also patch the later positions; change only one position.": (
            lambda h, s, layers, k, p: _run(h, s, layers, [k], _put(p, len(h)))
        ),
        "You average the two vectors; replace this run's vector with the other run's.": (
            lambda h, s, layers, k, p: _run(h, s, layers, [k], _put(p, share=0.5))
        ),
        "You take the source's vector before the first layer. Run the source through the "
        "earlier layers, too.": _from_the_start,
        "You patch again before each later layer; patch only once.": (
            lambda h, s, layers, k, p: _run(h, s, layers, range(k, len(layers)), _put(p))
        ),
        "The runs are swapped: this is the source's output, patched from `hidden`.": (
            lambda h, s, layers, k, p: _run(s, h, layers, [k], _put(p))
        ),
    },
)
