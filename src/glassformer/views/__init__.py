"""Pictures of what a model does: flows, arcs, heatmaps, tables of shapes, and bertviz's viewers."""

from glassformer.views.arcs import arcs
from glassformer.views.flow import beside, flow
from glassformer.views.grid import heatmap
from glassformer.views.growth import growth
from glassformer.views.page import Viewer
from glassformer.views.path import shapes
from glassformer.views.strips import strips
from glassformer.views.view import View
from glassformer.views.viewers import cross_view, head_view, model_view, neuron_view

__all__ = [
    "View",
    "Viewer",
    "arcs",
    "beside",
    "cross_view",
    "flow",
    "growth",
    "head_view",
    "heatmap",
    "model_view",
    "neuron_view",
    "shapes",
    "strips",
]
