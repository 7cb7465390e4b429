"""Attention in newer models: normalized queries and keys, a window, and optional biases."""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor, nn

from glassformer.layers.kv_cache import KeysValues
from glassformer.layers.masks import combine_masks
from glassformer.layers.multihead import AttentionHead, MultiHeadAttention
from glassformer.layers.norms import RMSNorm
from glassformer.layers.sliding_window import window_mask
from glassformer.models.config import TransformerConfig


class VariedAttention(MultiHeadAttention):
    """Multi-head attention with the variations of newer models.

    With `qk_norm_eps`, each head's queries and keys are divided by their root mean square before
    they're rotated, so scores can't grow with their length. With a `window`, a token sees only the
    last `window` tokens, including itself. `qkv_bias` and `out_bias` default to `bias`.

    Shapes: as `MultiHeadAttention`; with a window, `attn_mask` may also cover tokens that a cache
    no longer keeps.

    Raises:
        ValueError: as `MultiHeadAttention`; the window is less than one.

    Source: norms: Dehghani et al. 2023, section 2, and transformers 5.23, `Qwen3Attention`; the
    window: Jiang et al. 2023, section 2; biases: transformers 5.23, `Qwen2Attention`.

    >>> attention = VariedAttention(d_model=8, num_heads=4, qk_norm_eps=1e-6, window=2)
    >>> attention(torch.randn(1, 3, 8), is_causal=True).shape
    torch.Size([1, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        bias: bool = True,
        qkv_bias: bool | None = None,
        out_bias: bool | None = None,
        qk_norm_eps: float | None = None,
        window: int | None = None,
        **choices: Any,
    ):
        first_bias = bias if qkv_bias is None else qkv_bias
        super().__init__(d_model, num_heads, bias=first_bias, **choices)
        if window is not None and window < 1:
            raise ValueError(f"window ({window}) must be at least 1")
        joined = self.out_proj.in_features  # num_heads * head_dim
        self.out_proj = nn.Linear(joined, d_model, bias=bias if out_bias is None else out_bias)
        self.q_norm: RMSNorm | None = None
        self.k_norm: RMSNorm | None = None
        if qk_norm_eps is not None:
            self.q_norm = RMSNorm(self.head_dim, qk_norm_eps)
            self.k_norm = RMSNorm(self.head_dim, qk_norm_eps)
        self.window = window

    def head(self, index: int) -> AttentionHead:
        """Return a copy of one head as an `AttentionHead`.

        Raises:
            ValueError: as `MultiHeadAttention.head`, or it has norms or a window, which
                `AttentionHead` can't have.
        """
        if self.q_norm is not None or self.window is not None:
            raise ValueError(
                f"head {index} has norms ({self.q_norm}) or a window ({self.window}), which "
                "AttentionHead can't have"
            )
        return super().head(index)

    def extra_repr(self) -> str:
        """Return the sizes that the projections don't show."""
        window = "" if self.window is None else f", window={self.window}"
        return super().extra_repr() + window

    def _turn_and_keep(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        cache: KeysValues | None,
        position_ids: Tensor | None,
    ) -> tuple[Tensor, ...]:
        """Normalize queries and keys first, so the cache keeps normalized keys."""
        if self.q_norm is not None and self.k_norm is not None:
            query, key = self.q_norm(query), self.k_norm(key)
        return super()._turn_and_keep(query, key, value, cache, position_ids)

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, is_causal: bool
    ) -> Tensor:
        """Attend within the window or, without one, to everything."""
        if self.window is not None:
            q_len, k_len = query.shape[2], key.shape[2]
            if attn_mask is not None:  # only for these keys
                attn_mask = attn_mask[..., -k_len:]
            if k_len > self.window:
                near = window_mask(q_len, k_len, self.window, device=query.device)
                attn_mask = combine_masks(attn_mask, near)
        return super()._attend(query, key, value, attn_mask, is_causal)


def attention_kind(
    config: TransformerConfig, *, crosses: bool
) -> Callable[..., MultiHeadAttention]:
    """Return a builder of a layer's attention: `VariedAttention` if the configuration varies it.

    Otherwise, it's `MultiHeadAttention`. The builder already has the configuration's choices.

    Attention that `crosses` to another sequence has no window and no norms.
    """
    choices: dict[str, Any] = {"qkv_bias": config.qkv_bias, "out_bias": config.out_bias}
    if not crosses:
        choices["window"] = config.sliding_window
        choices["qk_norm_eps"] = config.norm_eps if config.qk_norm else None
    if all(choice is None for choice in choices.values()):
        return MultiHeadAttention
    return partial(VariedAttention, **choices)
