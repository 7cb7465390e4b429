"""The models that the project trained itself: how, and where their weights are."""

from glassbook.recipes.trained_models import Trained, trained

__all__ = ["Trained", "trained"]
