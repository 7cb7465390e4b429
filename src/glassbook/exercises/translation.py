"""Exercises for the chapter on translation."""

import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_loss", "check_shift"]


def _targets(draw: Draw):
    yield "two sentences", (draw(2, 5).argsort(),)
    yield "one longer sentence", (draw(1, 11).argsort(),)


check_shift = Exercise(
    asks="the decoder's input, and its target at each position",
    reference=lambda ids: (ids[:, :-1], ids[:, 1:]),
    examples=_targets,
    mistakes={
        "Input and target are swapped: the target is the token that follows.": (
            lambda ids: (ids[:, 1:], ids[:, :-1])
        ),
        "At each position, the target is the token just read; it should be the next token.": (
            lambda ids: (ids[:, :-1], ids[:, :-1])
        ),
        "You shift the targets but don't cut anything off: nothing follows the last token, "
        "and roll wraps the first token around.": lambda ids: (ids, ids.roll(-1, dims=1)),
        "The decoder also reads the last token, which has no target.": (
            lambda ids: (ids, ids[:, 1:])
        ),
        "You shift along the sentences; shift along the words.": (lambda ids: (ids[:-1], ids[1:])),
        "Your targets are two positions ahead. Shift them only once.": (
            lambda ids: (ids[:, :-2], ids[:, 2:])
        ),
    },
)


def _answers(draw: Draw):
    for name, pad_token_id, vocab, lengths in (
        ("two sentences of 3 and 5 words, padded with 0", 0, 7, (3, 5)),
        ("three sentences of 1, 4, and 7 words, padded with 9", 9, 11, (1, 4, 7)),
    ):
        logits = draw(len(lengths), max(lengths), vocab)
        labels = draw.ids(vocab, len(lengths), max(lengths))
        for row, length in enumerate(lengths):
            labels[row, length:] = pad_token_id
        yield name, (logits, labels, pad_token_id)


def _losses(logits, labels):
    """Return the loss at each position, (batch, seq)."""
    return F.cross_entropy(logits.mT, labels, reduction="none")


def _loss(logits, labels, pad_token_id):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_token_id)


check_loss = Exercise(
    asks="the mean cross-entropy over all labels that aren't padding",
    reference=_loss,
    examples=_answers,
    mistakes={
        "You score padding like a word.": lambda z, y, pad: _losses(z, y).mean(),
        "You leave padding out of the sum but still count it when you divide.": (
            lambda z, y, pad: (_losses(z, y) * (y != pad)).mean()
        ),
        "This is the sum; divide it by the number of labels that aren't padding.": (
            lambda z, y, pad: (_losses(z, y) * (y != pad)).sum()
        ),
        "You score only padding: reverse the comparison.": (
            lambda z, y, pad: _losses(z, y)[y == pad].mean()
        ),
        "You average each sentence first, then average over sentences: a short sentence "
        "counts as much as a long one. Average over all labels at once.": lambda z, y, pad: (
            (_losses(z, y) * (y != pad)).sum(1) / (y != pad).sum(1)
        ).mean(),
        "You divide the sum by the number of sentences; divide it by the number of labels.": (
            lambda z, y, pad: (_losses(z, y) * (y != pad)).sum() / len(y)
        ),
        "The minus is missing: a smaller loss is better.": (lambda z, y, pad: -_loss(z, y, pad)),
        "You take the padding token to be 0; it's given as pad_token_id.": (
            lambda z, y, pad: _loss(z, y, 0)
        ),
    },
)
