"""Exercises of the chapter on translation."""

import torch.nn.functional as F

from glassformer.exercises.checking import Draw, Exercise

__all__ = ["check_loss", "check_shift"]

CHAPTER = "decoder/translation.md"


def _targets(draw: Draw):
    yield "two sentences", (draw(2, 5).argsort(),)
    yield "one that is longer", (draw(1, 11).argsort(),)


check_shift = Exercise(
    asks="the decoder's input, and its target at each position",
    chapter=CHAPTER,
    reference=lambda ids: (ids[:, :-1], ids[:, 1:]),
    examples=_targets,
    mistakes={
        "Reading and answering are exchanged: the answer is what follows.": (
            lambda ids: (ids[:, 1:], ids[:, :-1])
        ),
        "Each place is asked for the token that it has just read.": (
            lambda ids: (ids[:, :-1], ids[:, :-1])
        ),
        "The answers are moved and nothing is cut: after the last token nothing follows, and "
        "roll brings the first one round.": lambda ids: (ids, ids.roll(-1, dims=1)),
        "The decoder reads its last token too, for which there is no answer.": (
            lambda ids: (ids, ids[:, 1:])
        ),
        "It is the sentences that are moved against each other; move along the words.": (
            lambda ids: (ids[:-1], ids[1:])
        ),
        "The answers lie two places ahead. They are shifted once.": (
            lambda ids: (ids[:, :-2], ids[:, 2:])
        ),
    },
)


def _answers(draw: Draw):
    for name, pad_token_id, vocab, lengths in (
        ("two sentences of 3 and 5 words, padded with 0", 0, 7, (3, 5)),
        ("three sentences of 1, 4 and 7 words, padded with 9", 9, 11, (1, 4, 7)),
    ):
        logits = draw(len(lengths), max(lengths), vocab)
        labels = draw.ids(vocab, len(lengths), max(lengths))
        for row, length in enumerate(lengths):
            labels[row, length:] = pad_token_id
        yield name, (logits, labels, pad_token_id)


def _losses(logits, labels):
    """Return the loss of each place, (batch, seq)."""
    return F.cross_entropy(logits.mT, labels, reduction="none")


def _loss(logits, labels, pad_token_id):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_token_id)


check_loss = Exercise(
    asks="the mean cross-entropy over all labels that aren't padding",
    chapter=CHAPTER,
    reference=_loss,
    examples=_answers,
    mistakes={
        "Padding is asked for like a word.": lambda z, y, pad: _losses(z, y).mean(),
        "Padding counts nothing in the sum, and still counts when it comes to dividing.": (
            lambda z, y, pad: (_losses(z, y) * (y != pad)).mean()
        ),
        "This is the sum; divide by how many labels are not padding.": (
            lambda z, y, pad: (_losses(z, y) * (y != pad)).sum()
        ),
        "Only padding is asked for: turn the comparison round.": (
            lambda z, y, pad: _losses(z, y)[y == pad].mean()
        ),
        "Each sentence is averaged first, then the sentences: a short one counts as much as a long "
        "one. Average over all labels at once.": lambda z, y, pad: (
            (_losses(z, y) * (y != pad)).sum(1) / (y != pad).sum(1)
        ).mean(),
        "The sum is divided by the number of sentences, and not of labels.": (
            lambda z, y, pad: (_losses(z, y) * (y != pad)).sum() / len(y)
        ),
        "The minus is missing: a loss is the smaller the better.": (
            lambda z, y, pad: -_loss(z, y, pad)
        ),
        "The padding token is taken to be 0; it is given as pad_token_id.": (
            lambda z, y, pad: _loss(z, y, 0)
        ),
    },
)
