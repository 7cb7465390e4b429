"""Exercises of the chapter on tokens and embeddings."""

import torch.nn.functional as F

from glassformer.exercises.checking import Draw, Exercise

__all__ = ["check_embed", "check_one_hot"]

CHAPTER = "encoder/tokens.md"


def _ids(draw: Draw):
    for name, vocab_size, *shape in (("one sentence", 11, 1, 5), ("two sentences", 7, 2, 13)):
        yield name, (draw.ids(vocab_size, *shape), vocab_size)


def _one_hot(ids, vocab_size):
    return F.one_hot(ids, vocab_size).double()


check_one_hot = Exercise(
    asks="the one-hot vectors of ids",
    chapter=CHAPTER,
    reference=_one_hot,
    examples=_ids,
    mistakes={
        "The rows are the vocabulary and the columns the tokens; it is the other way round.": (
            lambda ids, size: _one_hot(ids, size).mT
        ),
        "The ones stand one place too far left: ids are counted from 0.": (
            lambda ids, size: _one_hot((ids - 1) % size, size)
        ),
        "One vector for a whole sentence says which words are in it, and forgets where.": (
            lambda ids, size: _one_hot(ids, size).sum(1)
        ),
        "Every place is one but the id's: zeros and ones are exchanged.": (
            lambda ids, size: 1 - _one_hot(ids, size)
        ),
        "Integers cannot be multiplied with a table of floats: end with .double() or .float().": (
            lambda ids, size: F.one_hot(ids, size)
        ),
        "The id itself stands in the place of the 1.": (
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
    asks="for each token the sum of its row and its position's row",
    chapter=CHAPTER,
    reference=_embed,
    examples=_tables,
    mistakes={
        "The positions are missing: equal tokens have equal vectors, wherever they stand.": (
            lambda ids, rows, places: rows[ids]
        ),
        "Every token has the position 0; the second one stands at 1.": (
            lambda ids, rows, places: rows[ids] + places[0]
        ),
        "Positions are counted from 0, and yours from 1.": (
            lambda ids, rows, places: rows[ids] + places[1 : ids.shape[1] + 1]
        ),
        "The row of the position is looked up by the token's id; it is the place that counts.": (
            lambda ids, rows, places: rows[ids] + places[ids % len(places)]
        ),
        "The tokens are missing: only the positions are there.": (
            lambda ids, rows, places: places[: ids.shape[1]].expand(*ids.shape, -1)
        ),
        "Token and position are multiplied; they are added.": (
            lambda ids, rows, places: rows[ids] * places[: ids.shape[1]]
        ),
    },
)
