"""Right and wrong answers to the exercises of the chapters on language models."""

import torch
from answers import Answers


def chances(logits, ids, places, ahead=1):
    """The probability of the token at each place, read so many rows before it."""
    rows = logits.softmax(-1)
    return torch.stack([rows[place - ahead, ids[place]] for place in places])


def of_answer(logits, ids, prompt, ahead=1):
    return chances(logits, ids, range(prompt, len(ids)), ahead)


LANGUAGE_MODELS = {
    "check_answer_score": Answers(
        lambda z, ids, prompt: of_answer(z, ids, prompt).prod().log(),
        {
            "You don't shift": lambda z, ids, p: of_answer(z, ids, p, ahead=0).log().sum(),
            "You score the": lambda z, ids, p: of_answer(z, ids, 1).prod().log(),
            "mean over the answer": lambda z, ids, p: (
                of_answer(z, ids, p).log().sum() / (len(ids) - p)
            ),
            "sum the probabilities": lambda z, ids, p: of_answer(z, ids, p).sum(),
            "the answer's last": lambda z, ids, p: of_answer(z, ids, len(ids) - 1)[0].log(),
            "only the answer's first": lambda z, ids, p: chances(z, ids, [p])[0].log(),
            "You leave out": lambda z, ids, p: of_answer(z, ids, p + 1).log().sum(),
            "is the loss": lambda z, ids, p: -of_answer(z, ids, p).prod().log(),
            "sum the raw": lambda z, ids, p: sum(
                z[place - 1, ids[place]] for place in range(p, len(ids))
            ),
        },
    ),
}
