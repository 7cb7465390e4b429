"""Pictures of what a model does: flows, arcs, heatmaps, plots, and bertviz's viewers."""

from glassformer.views.arcs import arcs
from glassformer.views.attention_plane import attention_plane
from glassformer.views.bars import bars, dots
from glassformer.views.beams import beam_tree
from glassformer.views.by_hand import by_hand
from glassformer.views.chains import chains
from glassformer.views.decoding import decoding
from glassformer.views.decoding_steps import decoding_steps
from glassformer.views.embedding_map import embedding_map
from glassformer.views.flow import beside, flow
from glassformer.views.grid import heatmap
from glassformer.views.head_activations import HeadActivations, head_activations
from glassformer.views.heads import heads_apart, shared_heads
from glassformer.views.levels import levels
from glassformer.views.lookup import lookup
from glassformer.views.low_rank import low_rank
from glassformer.views.merging import merges
from glassformer.views.next_tokens import next_tokens
from glassformer.views.order import reading_order
from glassformer.views.page import Viewer
from glassformer.views.panels import bar_panels, scatter_panels
from glassformer.views.plots import lines, scatter
from glassformer.views.position_dials import position_dials
from glassformer.views.ring import ring
from glassformer.views.roofline import roofline
from glassformer.views.rotary import dials, hands
from glassformer.views.sampling import sampling
from glassformer.views.slots import slots
from glassformer.views.stream import residual_stream
from glassformer.views.strips import strips
from glassformer.views.teaching import teacher_forcing
from glassformer.views.traffic import traffic
from glassformer.views.tree import tree
from glassformer.views.view import View
from glassformer.views.viewers import cross_view, head_view, model_view, neuron_view
from glassformer.views.whole import whole
from glassformer.views.workers import workers

__all__ = [
    "HeadActivations",
    "View",
    "Viewer",
    "arcs",
    "attention_plane",
    "bar_panels",
    "bars",
    "beam_tree",
    "beside",
    "by_hand",
    "chains",
    "cross_view",
    "decoding",
    "decoding_steps",
    "dials",
    "dots",
    "embedding_map",
    "flow",
    "hands",
    "head_activations",
    "head_view",
    "heads_apart",
    "heatmap",
    "levels",
    "lines",
    "lookup",
    "low_rank",
    "merges",
    "model_view",
    "neuron_view",
    "next_tokens",
    "position_dials",
    "reading_order",
    "residual_stream",
    "ring",
    "roofline",
    "sampling",
    "scatter",
    "scatter_panels",
    "shared_heads",
    "slots",
    "strips",
    "teacher_forcing",
    "traffic",
    "tree",
    "whole",
    "workers",
]
