"""Exercises of the chapter on what models are trained for."""

import torch
import torch.nn.functional as F

from glassformer.exercises.checking import Draw, Exercise

__all__ = ["check_hide", "check_perplexity"]

CHAPTER = "family/tasks.md"


def _chosen(draw: Draw):
    for name, mask_id, *shape in (
        ("two sentences, six words chosen", 101, 2, 7),
        ("three, 16 words chosen", 103, 3, 11),
    ):
        yield name, (draw.ids(mask_id, *shape), draw.ids(2, *shape).bool(), mask_id)


def _hide(ids, chosen, mask_id):
    return ids.where(~chosen, mask_id), ids.where(chosen, -100)


check_hide = Exercise(
    asks="the ids with a mask at each chosen position, and labels for those positions only",
    chapter=CHAPTER,
    reference=_hide,
    examples=_chosen,
    mistakes={
        "Every token is a label; only what is hidden is asked for, and −100 stands elsewhere.": (
            lambda ids, chosen, m: (_hide(ids, chosen, m)[0], ids)
        ),
        "The labels are made from ids that are already masked: the answer is the mask token.": (
            lambda ids, chosen, m: (_hide(ids, chosen, m)[0], torch.where(chosen, m, -100))
        ),
        "The labels are those of the tokens that are not hidden.": (
            lambda ids, chosen, m: (_hide(ids, chosen, m)[0], ids.where(~chosen, -100))
        ),
        "The tokens that were not chosen are hidden.": (
            lambda ids, chosen, m: (_hide(ids, ~chosen, m)[0], _hide(ids, chosen, m)[1])
        ),
        "Where nothing is asked the label is 0, which is a token; it should be −100, which "
        "cross_entropy ignores.": lambda ids, chosen, m: (_hide(ids, chosen, m)[0], ids * chosen),
        "Nothing is hidden: the answer stands in what the model reads.": (
            lambda ids, chosen, m: (ids, _hide(ids, chosen, m)[1])
        ),
        "The two results are exchanged: first the ids, then the labels.": (
            lambda ids, chosen, m: _hide(ids, chosen, m)[::-1]
        ),
    },
)


def _texts(draw: Draw):
    for name, vocab, *shape in (("one text", 7, 1, 5), ("two texts", 13, 2, 11)):
        yield name, (draw(*shape, vocab), draw.ids(vocab, *shape))


def _surprises(logits, ids, shift=1):
    """−log p of each token, given those before it; or, with no shift, up to it."""
    seq = ids.shape[1]
    return F.cross_entropy(logits[:, : seq - shift].mT, ids[:, shift:], reduction="none")


check_perplexity = Exercise(
    asks="e to the power of the mean of −log p over all next tokens",
    chapter=CHAPTER,
    reference=lambda logits, ids: _surprises(logits, ids).mean().exp(),
    examples=_texts,
    mistakes={
        "Nothing is shifted: the logits of a place are about the token that follows.": (
            lambda z, ids: _surprises(z, ids, shift=0).mean().exp()
        ),
        "The targets are shifted twice: the logits of a place are about the very next token.": (
            lambda z, ids: _surprises(z, ids, shift=2).mean().exp()
        ),
        "This is the loss; the perplexity is e to that.": lambda z, ids: _surprises(z, ids).mean(),
        "The losses are summed, and should be averaged: longer texts are not more perplexing.": (
            lambda z, ids: _surprises(z, ids).sum().exp()
        ),
        "This is the average of e to each loss; it should be e to the average.": (
            lambda z, ids: _surprises(z, ids).exp().mean()
        ),
        "The logarithm is the natural one, and yours is taken back with a power of 2.": (
            lambda z, ids: 2 ** _surprises(z, ids).mean()
        ),
        "The minus is missing: this falls as the model gets worse.": (
            lambda z, ids: (-_surprises(z, ids).mean()).exp()
        ),
        "Places are moved the wrong way: the logits of a place are about what follows it.": (
            lambda z, ids: F.cross_entropy(z[:, 1:].flatten(0, 1), ids[:, :-1].flatten()).exp()
        ),
    },
)
