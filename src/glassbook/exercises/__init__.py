"""Exercises with checkers: pass your function, and they tell you if it's right or what's wrong.

Checkers are in modules by subject, such as `glassbook.exercises.attention`. A page imports only
the module that it uses, so an exercise added elsewhere doesn't rerun the page.
"""

from glassbook.exercises.checking import Exercise
from glassbook.exercises.every import checkers
from glassbook.exercises.verdict import Verdict

__all__ = ["Exercise", "Verdict", "checkers"]
