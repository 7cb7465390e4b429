"""Exercises for the chapter on a real language model."""

import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_answer_score"]


def _answered(draw: Draw):
    for name, seq, vocab, prompt in (
        ("eleven tokens, five of them in the prompt", 11, 13, 5),
        ("thirteen tokens, seven of them in the prompt", 13, 17, 7),
    ):
        yield name, (draw(seq, vocab), draw.ids(vocab, seq), prompt)


def _log_probs(logits, ids, first=1, shift=1):
    """Return the log-probability of each token from position `first` on."""
    asked = logits[first - shift : len(ids) - shift]
    return -F.cross_entropy(asked, ids[first:], reduction="none")


check_answer_score = Exercise(
    asks="the log-probability of the answer's tokens, summed",
    reference=lambda logits, ids, prompt: _log_probs(logits, ids)[prompt - 1 :].sum(),
    examples=_answered,
    mistakes={
        "You don't shift anything: the logits at a position predict the token that follows.": (
            lambda z, ids, prompt: _log_probs(z, ids, prompt, shift=0).sum()
        ),
        "You score the prompt, too; score only the answer's tokens.": (
            lambda z, ids, prompt: _log_probs(z, ids).sum()
        ),
        "This is the mean over the answer's tokens; the score is their sum.": (
            lambda z, ids, prompt: _log_probs(z, ids, prompt).mean()
        ),
        "You sum the probabilities; sum their logarithms.": (
            lambda z, ids, prompt: _log_probs(z, ids, prompt).exp().sum()
        ),
        "You score only the answer's last token.": (
            lambda z, ids, prompt: _log_probs(z, ids, prompt)[-1]
        ),
        "You score only the answer's first token.": (
            lambda z, ids, prompt: _log_probs(z, ids, prompt)[0]
        ),
        "You leave out the answer's first token: the prompt's last logits predict it.": (
            lambda z, ids, prompt: _log_probs(z, ids, prompt + 1).sum()
        ),
        "This is the loss: drop the minus, which gives the best answer the lowest score.": (
            lambda z, ids, prompt: -_log_probs(z, ids, prompt).sum()
        ),
        "You sum the raw logits; first take the log_softmax over the vocabulary.": (
            lambda z, ids, prompt: z[prompt - 1 : -1].gather(1, ids[prompt:, None]).sum()
        ),
    },
)
