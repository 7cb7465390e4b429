"""Exercises for the chapters on what models are trained for and on the next word."""

import torch
import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_hide", "check_perplexity"]


def _chosen(draw: Draw):
    for name, mask_id, *shape in (
        ("two sentences, six words chosen", 101, 2, 7),
        ("three sentences, 16 words chosen", 103, 3, 11),
    ):
        yield name, (draw.ids(mask_id, *shape), draw.ids(2, *shape).bool(), mask_id)


def _hide(ids, chosen, mask_id):
    return ids.where(~chosen, mask_id), ids.where(chosen, -100)


check_hide = Exercise(
    asks="the ids with a mask at each chosen position, and labels for those positions only",
    reference=_hide,
    examples=_chosen,
    mistakes={
        "Every token is a label; only hidden tokens should be labels, with −100 everywhere else.": (
            lambda ids, chosen, m: (_hide(ids, chosen, m)[0], ids)
        ),
        "You make the labels from ids that are already masked, so every answer is the mask "
        "token.": (lambda ids, chosen, m: (_hide(ids, chosen, m)[0], torch.where(chosen, m, -100))),
        "You label the tokens that aren't hidden; label the hidden ones.": (
            lambda ids, chosen, m: (_hide(ids, chosen, m)[0], ids.where(~chosen, -100))
        ),
        "You hide the tokens that weren't chosen; hide the chosen ones.": (
            lambda ids, chosen, m: (_hide(ids, ~chosen, m)[0], _hide(ids, chosen, m)[1])
        ),
        "Where there's nothing to predict, your label is 0, which is a token; use −100, "
        "which cross_entropy ignores.": lambda ids, chosen, m: (
            _hide(ids, chosen, m)[0],
            ids * chosen,
        ),
        "You don't hide anything: the model can read the answer in its input.": (
            lambda ids, chosen, m: (ids, _hide(ids, chosen, m)[1])
        ),
        "The two results are swapped: return the ids first, then the labels.": (
            lambda ids, chosen, m: _hide(ids, chosen, m)[::-1]
        ),
    },
)


def _texts(draw: Draw):
    for name, vocab, *shape in (("one text", 7, 1, 5), ("two texts", 13, 2, 11)):
        yield name, (draw(*shape, vocab), draw.ids(vocab, *shape))


def _surprises(logits, ids, shift=1):
    """Return −log p of each token, given those before it, or, with no shift, those up to it."""
    seq = ids.shape[1]
    return F.cross_entropy(logits[:, : seq - shift].mT, ids[:, shift:], reduction="none")


check_perplexity = Exercise(
    asks="e to the power of the mean of −log p over all next tokens",
    reference=lambda logits, ids: _surprises(logits, ids).mean().exp(),
    examples=_texts,
    mistakes={
        "You don't shift anything: the logits at a position predict the token that follows.": (
            lambda z, ids: _surprises(z, ids, shift=0).mean().exp()
        ),
        "You shift the targets twice: the logits at a position predict the very next token.": (
            lambda z, ids: _surprises(z, ids, shift=2).mean().exp()
        ),
        "This is the loss; the perplexity is e to the power of the loss.": lambda z, ids: (
            _surprises(z, ids).mean()
        ),
        "You sum the losses; average them: a text isn't more perplexing because it's longer.": (
            lambda z, ids: _surprises(z, ids).sum().exp()
        ),
        "This is the average of e to the power of each loss; take e to the power of the "
        "average loss.": (lambda z, ids: _surprises(z, ids).exp().mean()),
        "The logarithm is natural, but you undo it with a power of 2; use e.": (
            lambda z, ids: 2 ** _surprises(z, ids).mean()
        ),
        "The minus is missing: your result falls as the model gets worse.": (
            lambda z, ids: (-_surprises(z, ids).mean()).exp()
        ),
        "You shift the wrong way: the logits at a position predict the token after it.": (
            lambda z, ids: F.cross_entropy(z[:, 1:].flatten(0, 1), ids[:, :-1].flatten()).exp()
        ),
    },
)
