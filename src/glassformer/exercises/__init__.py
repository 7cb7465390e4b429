"""Exercises with checkers: hand over your function, and be told whether it is right, or why not.

Each checker is in the module of its chapter, as `glassformer.exercises.attention`. A page that uses
one imports that module alone, so that an exercise added elsewhere is nothing to it.
"""

from glassformer.exercises.checking import Exercise
from glassformer.exercises.every import checkers
from glassformer.exercises.verdict import Verdict

__all__ = ["Exercise", "Verdict", "checkers"]
