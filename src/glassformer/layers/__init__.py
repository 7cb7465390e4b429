"""What models are made of: attention and its masks, positions, norms, and feed-forward networks."""

from glassformer.layers.alibi import AlibiAttention, alibi_bias, alibi_slopes, use_alibi
from glassformer.layers.attention import (
    attention_scores,
    attention_weights,
    fused_attention,
    repeat_heads,
    scaled_dot_product_attention,
    softmax_rows,
)
from glassformer.layers.experts import MixtureOfExperts, balancing_loss, choose_experts
from glassformer.layers.feed_forward import FeedForward, GatedFeedForward
from glassformer.layers.kv_cache import KeysValues, KVCache, LayerCache
from glassformer.layers.masks import (
    additive_mask,
    causal_lower_right,
    causal_mask,
    check_mask,
    combine_masks,
    invert_mask,
    padding_mask,
)
from glassformer.layers.multihead import AttentionHead, MultiHeadAttention, merge_heads, split_heads
from glassformer.layers.norms import RMSNorm, layer_norm
from glassformer.layers.online_softmax import add_block, online_attention
from glassformer.layers.patches import Patches
from glassformer.layers.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    rotary_frequencies,
    sinusoids,
)
from glassformer.layers.rope_scaling import (
    DynamicRotaryPositions,
    DynamicScaling,
    LinearScaling,
    Llama3Scaling,
    RopeScaling,
    ScaledRotaryPositions,
    YarnScaling,
    rotary_positions,
)
from glassformer.layers.sliding_window import SlidingWindowCache, WindowKeysValues, window_mask

__all__ = [
    "AlibiAttention",
    "AttentionHead",
    "DynamicRotaryPositions",
    "DynamicScaling",
    "FeedForward",
    "GatedFeedForward",
    "KVCache",
    "KeysValues",
    "LayerCache",
    "LearnedPositions",
    "LinearScaling",
    "Llama3Scaling",
    "MixtureOfExperts",
    "MultiHeadAttention",
    "Patches",
    "RMSNorm",
    "RopeScaling",
    "RotaryPositions",
    "ScaledRotaryPositions",
    "SinusoidalPositions",
    "SlidingWindowCache",
    "WindowKeysValues",
    "YarnScaling",
    "add_block",
    "additive_mask",
    "alibi_bias",
    "alibi_slopes",
    "attention_scores",
    "attention_weights",
    "balancing_loss",
    "causal_lower_right",
    "causal_mask",
    "check_mask",
    "choose_experts",
    "combine_masks",
    "fused_attention",
    "invert_mask",
    "layer_norm",
    "merge_heads",
    "online_attention",
    "padding_mask",
    "repeat_heads",
    "rotary_frequencies",
    "rotary_positions",
    "scaled_dot_product_attention",
    "sinusoids",
    "softmax_rows",
    "split_heads",
    "use_alibi",
    "window_mask",
]
