"""Exercises for the chapter on tokens and embeddings."""

import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_embed", "check_one_hot"]


def _ids(draw: Draw):
    for name, vocab_size, *shape in (("one sentence", 11, 1, 5), ("two sentences", 7, 2, 13)):
        yield name, (draw.ids(vocab_size, *shape), vocab_size)


def _one_hot(ids, vocab_size):
    return F.one_hot(ids, vocab_size).double()


check_one_hot = Exercise(
    asks="the one-hot vectors of ids",
    reference=_one_hot,
    examples=_ids,
    mistakes={
        "Your rows are the vocabulary and your columns the tokens; it's the other way around.": (
            lambda ids, size: _one_hot(ids, size).mT
        ),
        "The ones are one column too far to the left: ids start at 0.": (
            lambda ids, size: _one_hot((ids - 1) % size, size)
        ),
        "You sum over the sentence: the sum shows which words occur but not in which order.": (
            lambda ids, size: _one_hot(ids, size).sum(1)
        ),
        "Zeros and ones are swapped: only the id's column is 1.": (
            lambda ids, size: 1 - _one_hot(ids, size)
        ),
        "Integers can't be multiplied by a table of floats: end with .double() or .float().": (
            lambda ids, size: F.one_hot(ids, size)
        ),
        "You put the id itself where the 1 belongs.": (
            lambda ids, size: _one_hot(ids, size) * ids[..., None]
        ),
    },
)


def _tables(draw: Draw):
    for name, vocab_size, places, width, *shape in (
        ("one sentence", 11, 7, 3, 1, 5),
        ("two sentences", 17, 13, 5, 2, 7),
    ):
        yield name, (draw.ids(vocab_size, *shape), draw(vocab_size, width), draw(places, width))


def _embed(ids, token_table, position_table):
    return F.embedding(ids, token_table) + position_table.narrow(0, 0, ids.shape[1])


check_embed = Exercise(
    asks="for each token, the sum of its row and its position's row",
    reference=_embed,
    examples=_tables,
    mistakes={
        "The positions are missing: a token has the same vector at every position.": (
            lambda ids, rows, places: rows[ids]
        ),
        "Every token gets position 0; the second token's position is 1.": (
            lambda ids, rows, places: rows[ids] + places[0]
        ),
        "Your positions start at 1; they should start at 0.": (
            lambda ids, rows, places: rows[ids] + places[1 : ids.shape[1] + 1]
        ),
        "You look up the position's row by the token's id; use the token's place in the "
        "sentence.": (lambda ids, rows, places: rows[ids] + places[ids % len(places)]),
        "The tokens are missing: these are only the positions.": (
            lambda ids, rows, places: places[: ids.shape[1]].expand(*ids.shape, -1)
        ),
        "You multiply the token's row by the position's; add them.": (
            lambda ids, rows, places: rows[ids] * places[: ids.shape[1]]
        ),
    },
)
