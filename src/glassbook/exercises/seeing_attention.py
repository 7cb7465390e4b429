"""Exercises for the chapter Seeing attention."""

import torch

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_leave_one_out", "check_received"]


def _weights(draw: Draw):
    yield "two layers of three heads", (draw(2, 3, 5, 5).softmax(-1),)
    yield "three layers of two heads", (draw(3, 2, 7, 7).softmax(-1),)


check_received = Exercise(
    asks="how much attention each token receives from all tokens, averaged over layers and heads",
    reference=lambda weights: weights.mean(dim=(0, 1)).sum(dim=0),
    examples=_weights,
    mistakes={
        "Every row sums to one, wherever its word looks. The attention a token receives is "
        "in its column: sum over the queries, dim=-2.": (lambda w: w.sum(-1).mean(dim=(0, 1))),
        "This is the average attention a token receives from one word; sum over the words.": (
            lambda w: w.mean(dim=(0, 1, 2))
        ),
        "You sum the heads; average them.": lambda w: w.sum(dim=(0, 1, 2)),
        "The diagonal holds the attention each word gives to itself.": (
            lambda w: w.mean(dim=(0, 1)).diagonal()
        ),
        "You count only the last layer.": lambda w: w[-1].mean(0).sum(0),
        "You count only the first head in each layer.": lambda w: w[:, 0].mean(0).sum(0),
        "This is the attention that [CLS], the first token, gives to each token; sum over "
        "all rows.": (lambda w: w.mean(dim=(0, 1))[0]),
    },
)


def _scorers(draw: Draw):
    for name, seq in (("five tokens", 5), ("eleven tokens", 11)):
        table, places = draw(14), draw(seq)
        mask_id = len(table) - 1  # the vocabulary's last token, which is in no sentence

        def score(ids, table=table, places=places):
            return table[ids].dot(places[: len(ids)]).tanh()

        yield name, (score, draw.ids(mask_id, seq), mask_id)


def _without_each(score, ids, mask_id):
    """Return the score of every sentence that has one token replaced."""
    replaced = ids.where(~torch.eye(len(ids), dtype=torch.bool), mask_id)
    return torch.stack([score(row) for row in replaced])


def _one_more_each_time(score, ids, mask_id):
    replaced, scores = ids.clone(), []
    for place in range(len(ids)):
        replaced[place] = mask_id
        scores.append(score(replaced))
    return score(ids) - torch.stack(scores)


def _cut_out(score, ids, mask_id):
    rest = [torch.cat([ids[:place], ids[place + 1 :]]) for place in range(len(ids))]
    return score(ids) - torch.stack([score(row) for row in rest])


check_leave_one_out = Exercise(
    asks="for each token, how far the score falls if that token alone is hidden",
    reference=lambda score, ids, mask_id: score(ids) - _without_each(score, ids, mask_id),
    examples=_scorers,
    mistakes={
        "The sign is flipped: if hiding a token lowers the score, the token has helped.": (
            lambda score, ids, m: _without_each(score, ids, m) - score(ids)
        ),
        "Tokens stay hidden in later rounds: hide each token in a fresh copy of the ids.": (
            _one_more_each_time
        ),
        "You cut the token out, which moves all the tokens after it. Replace it with mask_id.": (
            _cut_out
        ),
        "These are the scores without each token. How far is each below the whole sentence's "
        "score?": (_without_each),
        "The sign is lost: hiding a token can also raise the score.": (
            lambda score, ids, m: (score(ids) - _without_each(score, ids, m)).abs()
        ),
        "You keep only the token and hide everything else. Hide the token instead.": (
            lambda score, ids, m: (
                score(ids)
                - torch.stack(
                    [score(ids.where(keep, m)) for keep in torch.eye(len(ids), dtype=torch.bool)]
                )
            )
        ),
    },
)
