"""Exercises with checkers: hand over your function, and be told whether it is right, or why not."""

from glassformer.exercises.attention import check_attention, check_softmax
from glassformer.exercises.checking import Exercise
from glassformer.exercises.many_heads import check_multi_head, check_split_heads
from glassformer.exercises.tokens import check_embed, check_one_hot
from glassformer.exercises.verdict import Verdict

__all__ = [
    "Exercise",
    "Verdict",
    "check_attention",
    "check_embed",
    "check_multi_head",
    "check_one_hot",
    "check_softmax",
    "check_split_heads",
]
