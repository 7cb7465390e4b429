"""Functions that build the parts of a layer as the configuration specifies."""

from torch import nn

from glassformer.layers.feed_forward import FeedForward, GatedFeedForward
from glassformer.layers.kv_cache import KVCache
from glassformer.layers.multihead import MultiHeadAttention
from glassformer.layers.norms import NORMS
from glassformer.layers.rope_scaling import rotary_positions
from glassformer.layers.sliding_window import SlidingWindowCache
from glassformer.models.config import TransformerConfig


def build_attention(config: TransformerConfig, *, crosses: bool = False) -> MultiHeadAttention:
    """Build self-attention, or, with `crosses`, attention to another sequence.

    Only self-attention can be rotary or have a window, because two sequences share no positions.
    It alone has norms of queries and keys.
    """
    head_dim = config.head_dim or config.d_model // config.num_heads
    rotary = None
    if config.positions in ("rotary", "rotary_halves") and not crosses:
        rotary = rotary_positions(
            head_dim,
            config.rope_scaling,
            theta=config.rope_theta,
            interleaved=config.positions == "rotary",
        )
    return MultiHeadAttention(
        config.d_model,
        config.num_heads,
        num_kv_heads=config.num_kv_heads,
        head_dim=head_dim,
        bias=config.bias,
        qkv_bias=config.qkv_bias,
        out_bias=config.out_bias,
        qk_norm_eps=config.norm_eps if config.qk_norm and not crosses else None,
        sliding_window=None if crosses else config.sliding_window,
        dropout=config.attn_dropout,
        rotary=rotary,
    )


def build_feed_forward(config: TransformerConfig) -> nn.Module:
    """Build a network of two linear layers, or of three if it has a gate."""
    kind = GatedFeedForward if config.gated else FeedForward
    return kind(
        config.d_model,
        config.d_ff,
        activation=config.activation,
        dropout=config.dropout,
        bias=config.bias,
    )


def build_norm(config: TransformerConfig) -> nn.Module:
    """Build a layer norm or an RMSNorm.

    >>> build_norm(TransformerConfig(d_model=8, num_heads=2, norm="rms", norm_eps=1e-6))
    RMSNorm(8, eps=1e-06)
    """
    return NORMS[config.norm](config.d_model, eps=config.norm_eps)


def build_cache(config: TransformerConfig) -> KVCache:
    """Build an empty cache that keeps as much as a decoder with this configuration can see.

    >>> type(build_cache(TransformerConfig(sliding_window=512))).__name__
    'SlidingWindowCache'
    """
    return KVCache() if config.sliding_window is None else SlidingWindowCache()
