"""Right and wrong answers to the exercises on looking inside a language model."""

import torch
from answers import Answers


def scores_in_loops(weights, length, *, ahead=1, queries=None):
    """Find each token's earlier place in a text, and look a number of places ahead of it."""
    text = [-1, *range(length), *range(length)]
    queries = range(length + 1, len(text)) if queries is None else queries(len(text))
    found = [weights[:, :, query, text.index(text[query]) + ahead] for query in queries]
    return sum(found) / len(found)


def whole_diagonal(weights, length):
    queries = range(length - 1, 2 * length + 1)
    found = [weights[:, :, query, query - length + 1] for query in queries]
    return torch.stack(found).mean(0)


def through(hidden, layers):
    for layer in layers:
        hidden = layer(hidden)
    return hidden


def spliced(hidden, source, layers, layer, position, *, end=None, shift=0):
    """Cut both streams where the layer begins, and lay the pieces together."""
    mine, other = through(hidden, layers[:layer]), through(source, layers[:layer])
    start = position + shift
    end = start + 1 if end is None else end
    return through(torch.cat([mine[:start], other[start:end], mine[end:]]), layers[layer:])


def averaged(hidden, source, layers, layer, position):
    mine, other = through(hidden, layers[:layer]), through(source, layers[:layer])
    both = mine.clone()
    both[position] = torch.stack([mine[position], other[position]]).mean(0)
    return through(both, layers[layer:])


def early_source(hidden, source, layers, layer, position):
    mine = through(hidden, layers[:layer])
    return through(
        torch.cat([mine[:position], source[position][None], mine[position + 1 :]]), layers[layer:]
    )


def at_each_layer(hidden, source, layers, layer, position):
    mine, other = through(hidden, layers[:layer]), through(source, layers[:layer])
    for step in layers[layer:]:
        mine = torch.cat([mine[:position], other[position][None], mine[position + 1 :]])
        mine, other = step(mine), step(other)
    return mine


LOOKING_INSIDE = {
    "check_induction_scores": Answers(
        right=scores_in_loops,
        wrong={
            "weight on the same token": lambda w, n: scores_in_loops(w, n, ahead=0),
            "two positions": lambda w, n: scores_in_loops(w, n, ahead=2),
            "You include the": whole_diagonal,
            "rows and columns": lambda w, n: scores_in_loops(w.transpose(2, 3), n),
            "You sum the": lambda w, n: n * scores_in_loops(w, n),
            "You average over": lambda w, n: scores_in_loops(w, n).mean(0),
            "token just before": lambda w, n: w.diagonal(-1, -2, -1)[..., n:].mean(-1),
        },
    ),
    "check_patched_run": Answers(
        right=spliced,
        wrong={
            "next position": lambda *given: spliced(*given, shift=1),
            "after the layer": lambda h, s, layers, k, p: spliced(h, s, layers, k + 1, p),
            "every position": lambda h, s, layers, k, p: through(s, layers),
            "later positions": lambda h, *given: spliced(h, *given, end=len(h)),
            "You average the": averaged,
            "You take the": early_source,
            "You patch again": at_each_layer,
            "The runs are": lambda h, s, *given: spliced(s, h, *given),
        },
    ),
}
