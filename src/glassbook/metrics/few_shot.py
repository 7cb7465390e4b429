"""A task that a language model learns only from examples in its prompt: opposites of words."""

import random

from glassbook.metrics.multiple_choice import Question

WORDS = """
hot cold warm, big small large, fast slow quick, happy sad glad
rich poor wealthy, easy hard simple, strong weak powerful, loud quiet noisy
begin end start, buy sell purchase, smart stupid clever, wet dry damp
dark bright dim, push pull shove, love hate adore, above below over
always never forever, false true wrong, broad narrow wide, sick healthy ill
calm angry peaceful, clean dirty pure, ugly beautiful hideous, cheap expensive affordable
enemy friend foe, question answer query, arrive leave come, laugh cry giggle
near far close, accept refuse receive, build destroy construct, remember forget recall
empty full vacant, final first last, increase decrease grow, correct incorrect right
tiny huge little, safe dangerous secure, brave afraid bold, polite rude courteous
"""

TRIPLES = tuple(tuple(entry.split()) for entry in WORDS.strip().replace("\n", ", ").split(", "))
"""Forty words, each with its opposite and with a word of about the same meaning."""


def opposite_questions(shots: int, *, shown: str = "opposite", seed: int = 0) -> list[Question]:
    """Ask for the opposite of each word, after examples with other words.

    The options are the word's opposite and synonym, and those of the next word in the
    list. The right one appears equally often in each position.

    Args:
        shots: The number of examples, drawn separately for each question.
        shown: What the examples show, "opposite" or "synonym".
        seed: The seed of the draw.

    Raises:
        ValueError: There aren't enough other words, or `shown` is something else.

    >>> opposite_questions(0)[0].options
    (' cold', ' warm', ' small', ' large')
    """
    if not 0 <= shots < len(TRIPLES):
        raise ValueError(f"shots ({shots}) must be from 0 to {len(TRIPLES) - 1}")
    if shown not in ("opposite", "synonym"):
        raise ValueError(f"shown ({shown!r}) must be 'opposite' or 'synonym'")
    column = 1 if shown == "opposite" else 2
    dice, found = random.Random(seed), []
    for place, (word, opposite, synonym) in enumerate(TRIPLES):
        others = [triple for triple in TRIPLES if triple[0] != word]
        examples = [f"{one[0]}: {one[column]}\n" for one in dice.sample(others, shots)]
        _, *strange = TRIPLES[(place + 1) % len(TRIPLES)]
        wrong, right = [synonym, *strange], place % 4
        options = (*wrong[:right], opposite, *wrong[right:])
        text = "".join(examples) + f"{word}:"
        found.append(Question(text, tuple(f" {option}" for option in options), right))
    return found
