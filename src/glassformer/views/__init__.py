"""Pictures of what a model does: heatmaps, tables of shapes, and bertviz's viewers."""

from glassformer.views.grid import heatmap
from glassformer.views.path import shapes

__all__ = ["heatmap", "shapes"]
