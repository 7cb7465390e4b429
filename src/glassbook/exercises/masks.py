"""Exercises for the chapter on masks."""

import torch

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_decoder_mask", "check_masked_weights"]


def _paddings(draw: Draw):
    lengths = torch.tensor([5, 3, 2])
    yield (
        "three sentences of 5, 3, and 2 words",
        ((torch.arange(int(lengths.max())) < lengths[:, None]).long(),),
    )
    yield "one of 5, padded on the left", (torch.tensor([[0, 0, 1, 1, 1, 1, 1]]),)


def _decoder_mask(attention_mask):
    seq = attention_mask.shape[1]
    causal = torch.arange(seq)[:, None] >= torch.arange(seq)
    return causal & attention_mask.bool()[:, None, None, :]


def _triangle(mask, diagonal=0):
    seq = mask.shape[1]
    return torch.ones(seq, seq, dtype=torch.bool).tril(diagonal)


def _real(mask):
    return mask.bool()[:, None, None]


check_decoder_mask = Exercise(
    asks="a mask that hides the future and the padding from every word",
    reference=_decoder_mask,
    examples=_paddings,
    mistakes={
        "A pair is allowed if either mask allows it. Both must allow it: use & instead of |.": (
            lambda m: _triangle(m) | _real(m)
        ),
        "No word sees itself, so the first word sees nothing: keep the diagonal.": (
            lambda m: _triangle(m, -1) & _real(m)
        ),
        "Every word sees the next word, which it shouldn't.": lambda m: _triangle(m, 1) & _real(m),
        "Words see the future instead of the past: take the lower triangle.": (
            lambda m: _triangle(m).mT & _real(m)
        ),
        "True and False are swapped: True means that a word may look there.": (
            lambda m: ~(_triangle(m) & _real(m))
        ),
        "You mask padding in the rows, which keeps padding from looking. Mask it along the "
        "last axis, the keys: words shouldn't look at padding.": (
            lambda m: _triangle(m) & m.bool()[:, None, :, None]
        ),
        "Nothing keeps the words from looking at padding.": (
            lambda m: _triangle(m).expand(len(m), 1, -1, -1)
        ),
        "Nothing keeps the words from looking at the future.": (
            lambda m: _real(m).expand(-1, -1, m.shape[1], -1)
        ),
        "The heads' axis is missing: (batch, 1, seq, seq).": (
            lambda m: _decoder_mask(m).squeeze(1)
        ),
    },
)


def _masked(draw: Draw):
    yield (
        "two sentences with a causal mask",
        (draw(2, 5, 5), torch.ones(5, 5, dtype=torch.bool).tril()),
    )
    yield "keys of another sentence, eight pairs allowed", (draw(3, 7), draw.ids(2, 3, 7).bool())
    yield (
        "two words, where the second may look at nothing",
        (draw(2, 3), torch.tensor([[True] * 3, [False] * 3])),
    )


def _masked_weights(scores, mask):
    powers = scores.exp() * mask
    return (powers / powers.sum(-1, keepdim=True)).nan_to_num()


check_masked_weights = Exercise(
    asks="weights that are zero where the mask is False and sum to one over the rest",
    reference=_masked_weights,
    examples=_masked,
    mistakes={
        "You don't use the mask.": lambda s, m: s.softmax(-1),
        "You mask the weights after the softmax, so they no longer sum to one. Mask the scores.": (
            lambda s, m: s.softmax(-1) * m
        ),
        "You multiply the scores by the mask. A score of 0 hides nothing: e⁰ is 1.": (
            lambda s, m: (s * m).softmax(-1)
        ),
        "A row that may look at nothing contains only −∞, so its softmax is NaN. It should "
        "be all zeros.": lambda s, m: s.masked_fill(~m, -torch.inf).softmax(-1),
        "A row that may look at nothing looks at everything equally: its scores are all the "
        "same large negative number, and the softmax depends only on differences. The row "
        "should be all zeros.": (
            lambda s, m: s.masked_fill(~m, torch.finfo(s.dtype).min).softmax(-1)
        ),
        "True and False are swapped: True means that a word may look there.": (
            lambda s, m: _masked_weights(s, ~m)
        ),
        "Replacing a score with a merely small number still lets attention through. Use −∞.": (
            lambda s, m: s.masked_fill(~m, -10.0).softmax(-1)
        ),
        "You add the mask to the scores as a number, which raises the allowed pairs and "
        "hides none.": lambda s, m: (s + m).softmax(-1),
    },
)
