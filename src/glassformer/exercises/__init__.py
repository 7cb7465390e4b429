"""Exercises with checkers: hand over your function, and be told whether it is right, or why not."""

from glassformer.exercises.applications import check_nearest
from glassformer.exercises.attention import check_attention, check_softmax
from glassformer.exercises.checking import Exercise
from glassformer.exercises.classification import check_cross_entropy, check_mean_pool
from glassformer.exercises.decoder_layer import check_cross_attention, check_decoder_layer
from glassformer.exercises.feed_forward import check_feed_forward, check_gelu
from glassformer.exercises.generation import check_cached_step, check_greedy, check_top_p
from glassformer.exercises.many_heads import check_multi_head, check_split_heads
from glassformer.exercises.masks import check_decoder_mask, check_masked_weights
from glassformer.exercises.modern_block import (
    check_gated,
    check_grouped,
    check_rms_norm,
    check_rotary,
)
from glassformer.exercises.norms_and_residuals import check_layer_norm, check_pre_norm
from glassformer.exercises.positions import check_order_blind, check_sinusoids
from glassformer.exercises.seeing_attention import check_leave_one_out, check_received
from glassformer.exercises.tasks import check_hide, check_perplexity
from glassformer.exercises.tokens import check_embed, check_one_hot
from glassformer.exercises.translation import check_loss, check_shift
from glassformer.exercises.verdict import Verdict
from glassformer.exercises.whole_encoder import check_count, check_stack

__all__ = [
    "Exercise",
    "Verdict",
    "check_attention",
    "check_cached_step",
    "check_count",
    "check_cross_attention",
    "check_cross_entropy",
    "check_decoder_layer",
    "check_decoder_mask",
    "check_embed",
    "check_feed_forward",
    "check_gated",
    "check_gelu",
    "check_greedy",
    "check_grouped",
    "check_hide",
    "check_layer_norm",
    "check_leave_one_out",
    "check_loss",
    "check_masked_weights",
    "check_mean_pool",
    "check_multi_head",
    "check_nearest",
    "check_one_hot",
    "check_order_blind",
    "check_perplexity",
    "check_pre_norm",
    "check_received",
    "check_rms_norm",
    "check_rotary",
    "check_shift",
    "check_sinusoids",
    "check_softmax",
    "check_split_heads",
    "check_stack",
    "check_top_p",
]
