"""What models are made of: attention and its masks, positions, norms, and feed-forward networks."""

from glassformer.layers.alibi import AlibiAttention, use_alibi
from glassformer.layers.attention import (
    attention_scores,
    attention_weights,
    scaled_dot_product_attention,
)
from glassformer.layers.experts import MixtureOfExperts, balancing_loss
from glassformer.layers.feed_forward import FeedForward, GatedFeedForward
from glassformer.layers.kv_cache import KVCache
from glassformer.layers.masks import (
    additive_mask,
    causal_mask,
    combine_masks,
    invert_mask,
    padding_mask,
)
from glassformer.layers.multihead import AttentionHead, MultiHeadAttention, merge_heads, split_heads
from glassformer.layers.norms import RMSNorm, layer_norm
from glassformer.layers.online_softmax import online_attention
from glassformer.layers.patches import Patches
from glassformer.layers.positions import LearnedPositions, RotaryPositions, SinusoidalPositions
from glassformer.layers.rope_scaling import (
    DynamicScaling,
    LinearScaling,
    Llama3Scaling,
    RopeScaling,
    YarnScaling,
    rotary_positions,
)
from glassformer.layers.sliding_window import SlidingWindowCache, window_mask

__all__ = [
    "AlibiAttention",
    "AttentionHead",
    "DynamicScaling",
    "FeedForward",
    "GatedFeedForward",
    "KVCache",
    "LearnedPositions",
    "LinearScaling",
    "Llama3Scaling",
    "MixtureOfExperts",
    "MultiHeadAttention",
    "Patches",
    "RMSNorm",
    "RopeScaling",
    "RotaryPositions",
    "SinusoidalPositions",
    "SlidingWindowCache",
    "YarnScaling",
    "additive_mask",
    "attention_scores",
    "attention_weights",
    "balancing_loss",
    "causal_mask",
    "combine_masks",
    "invert_mask",
    "layer_norm",
    "merge_heads",
    "online_attention",
    "padding_mask",
    "rotary_positions",
    "scaled_dot_product_attention",
    "split_heads",
    "use_alibi",
    "window_mask",
]
