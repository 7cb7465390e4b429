"""Answers to the exercises: for each a right one, and wrong ones with what is said of them."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Answers:
    """What a checker has to accept, and to refuse.

    Attributes:
        right: Written neither as the reference nor as the page's solution.
        wrong: Pairs of a pattern, which the verdict must match, and a wrong answer.
    """

    right: Callable
    wrong: dict[str, Callable]
