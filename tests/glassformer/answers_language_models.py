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
            "Nothing is shifted": lambda z, ids, p: of_answer(z, ids, p, ahead=0).log().sum(),
            "prompt is scored, too": lambda z, ids, p: of_answer(z, ids, 1).prod().log(),
            "mean over the answer": lambda z, ids, p: (
                of_answer(z, ids, p).log().sum() / (len(ids) - p)
            ),
            "probabilities are summed": lambda z, ids, p: of_answer(z, ids, p).sum(),
            "Only the last token": lambda z, ids, p: of_answer(z, ids, len(ids) - 1)[0].log(),
            "Only the first token": lambda z, ids, p: chances(z, ids, [p])[0].log(),
            "first token is left out": lambda z, ids, p: of_answer(z, ids, p + 1).log().sum(),
            "minus is too much": lambda z, ids, p: -of_answer(z, ids, p).prod().log(),
            "summed as they are": lambda z, ids, p: sum(
                z[place - 1, ids[place]] for place in range(p, len(ids))
            ),
        },
    ),
}
