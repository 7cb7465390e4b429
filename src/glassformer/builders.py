"""Functions that build the parts of a layer as the configuration specifies."""

from torch import nn

from glassformer.config import TransformerConfig
from glassformer.feed_forward import FeedForward, GatedFeedForward
from glassformer.multihead import MultiHeadAttention
from glassformer.norms import NORMS
from glassformer.rope_scaling import rotary_positions
from glassformer.varied_attention import attention_kind


def build_attention(config: TransformerConfig, *, crosses: bool = False) -> MultiHeadAttention:
    """Build self-attention, or, with `crosses`, attention to another sequence.

    Only self-attention can be rotary or have a window: two sequences share no positions.
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
    return attention_kind(config, crosses=crosses)(
        config.d_model,
        config.num_heads,
        num_kv_heads=config.num_kv_heads,
        head_dim=head_dim,
        bias=config.bias,
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
