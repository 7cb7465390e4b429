"""Exercises for the chapter on classification."""

import torch
import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_cross_entropy", "check_mean_pool"]


def _padded(draw: Draw):
    lengths = torch.tensor([5, 3, 1])
    yield (
        "three sentences of 5, 3, and 1 words",
        (draw(3, 5, 7), (torch.arange(int(lengths.max())) < lengths[:, None]).long()),
    )
    yield "two sentences without padding", (draw(2, 3, 11), torch.ones(2, 3, dtype=torch.long))


def _mean_pool(hidden, attention_mask):
    return (hidden * attention_mask[..., None]).sum(1) / attention_mask.sum(1, keepdim=True)


check_mean_pool = Exercise(
    asks="the mean of each sentence's token vectors, without padding",
    reference=_mean_pool,
    examples=_padded,
    mistakes={
        "You average the padding, too.": lambda h, m: h.mean(1),
        "You set padding to zero but still count it in the division.": (
            lambda h, m: (h * m[..., None]).mean(1)
        ),
        "This is the sum; divide by the number of tokens.": (
            lambda h, m: (h * m[..., None]).sum(1)
        ),
        "This is the first vector, [CLS]'s, which is another way to pool.": (lambda h, m: h[:, 0]),
        "This is the maximum in each dimension, not the average.": (
            lambda h, m: h.masked_fill(m[..., None] == 0, -torch.inf).amax(1)
        ),
        "The average runs along d_model, but it should run along the words: dim=1.": (
            lambda h, m: h.mean(-1)
        ),
        "You average all sentences together; average each sentence separately.": (
            lambda h, m: _mean_pool(h, m).mean(0).expand(len(h), -1)
        ),
        "You divide every sum by the number of tokens in the whole batch.": (
            lambda h, m: (h * m[..., None]).sum(1) / m.sum()
        ),
    },
)


def _questions(draw: Draw):
    for name, batch, classes in (
        ("five examples of three classes", 5, 3),
        ("eleven of seven", 11, 7),
    ):
        yield name, (draw(batch, classes), draw.ids(classes, batch))
    logits = 3e3 * draw(3, 5)
    yield "logits in the thousands", (logits, logits.argmin(-1))


def _picked(scores, labels):
    return scores[torch.arange(len(labels)), labels]


check_cross_entropy = Exercise(
    asks="the mean of −log p, where p is the probability of the right class",
    reference=lambda logits, labels: F.cross_entropy(logits, labels),
    examples=_questions,
    mistakes={
        "The minus is missing: a smaller loss is better.": (lambda z, y: -F.cross_entropy(z, y)),
        "You sum the losses; average them.": (lambda z, y: F.cross_entropy(z, y, reduction="sum")),
        "You return one number per example; average them.": (
            lambda z, y: F.cross_entropy(z, y, reduction="none")
        ),
        "The log is missing: you averaged the probabilities.": (
            lambda z, y: -_picked(z.softmax(-1), y).mean()
        ),
        "The softmax runs along the batch, but it should run along the classes: dim=-1.": (
            lambda z, y: -_picked(z.log_softmax(0), y).mean()
        ),
        "The softmax is missing: these are the logits of the right classes.": (
            lambda z, y: -_picked(z, y).mean()
        ),
        "You sum over all classes; only the right one counts.": (
            lambda z, y: -z.log_softmax(-1).sum(-1).mean()
        ),
        "You take the softmax first and then its logarithm. A small probability underflows to 0, "
        "and its logarithm is infinite: use log_softmax or logsumexp.": (
            lambda z, y: -_picked(z.softmax(-1).log(), y).mean()
        ),
        "You use the logarithm to base 2; the loss uses the natural one.": (
            lambda z, y: F.cross_entropy(z, y) / torch.tensor(2.0).log()
        ),
    },
)
