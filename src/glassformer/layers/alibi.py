"""ALiBi: attention whose scores fall with distance, so no position vectors are needed."""

from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.layers.masks import combine_masks
from glassformer.layers.multihead import MultiHeadAttention

_Model = TypeVar("_Model", bound=nn.Module)


def alibi_slopes(num_heads: int) -> Float[Tensor, "{num_heads}"]:
    """Return each head's slope: how much its scores fall with each position of distance.

    The slopes of 8 heads are 1/2, 1/4, …, 1/256. For any power of two, the last slope is 1/256 as
    well. Other numbers of heads get the slopes of the next lower power, then every other slope of
    the next higher one.

    Shapes: (num_heads).

    Raises:
        ValueError: `num_heads` is less than one.

    Source: Press, Smith, and Lewis 2022, section 3; other numbers of heads: transformers 5.23,
    `build_alibi_tensor` of Bloom.

    >>> alibi_slopes(4)
    tensor([0.2500, 0.0625, 0.0156, 0.0039])
    """
    if num_heads < 1:
        raise ValueError(f"num_heads ({num_heads}) must be at least 1")
    lower = 1 << num_heads.bit_length() - 1  # the largest power of two up to num_heads
    whole = torch.arange(1, lower + 1) / lower
    between = (2 * torch.arange(num_heads - lower) + 1) / (2 * lower)
    return 2 ** (-8 * torch.cat([whole, between]))


def alibi_bias(num_heads: int, q_len: int, k_len: int) -> Float[Tensor, "{num_heads} q_len k_len"]:
    """Return the bias to add to the scores: minus the slope times the distance.

    The queries are the last positions, as in `causal_mask`. Keys after a query get 0, since that
    mask hides them.

    Shapes: (num_heads, q_len, k_len).

    Source: Press, Smith, and Lewis 2022, section 3, figure 3.

    >>> alibi_bias(1, 2, 3) * 256
    tensor([[[-1., -0., -0.],
             [-2., -1., -0.]]])
    """
    query = torch.arange(k_len - q_len, k_len)[:, None]
    distance = (query - torch.arange(k_len)).clamp(min=0)  # (q_len, k_len)
    return -alibi_slopes(num_heads)[:, None, None] * distance


class AlibiAttention(MultiHeadAttention):
    """Self-attention whose scores fall with distance.

    Shapes: As `MultiHeadAttention`.

    Raises:
        ValueError: As `MultiHeadAttention`.

    Source: Press, Smith, and Lewis 2022, section 3.

    >>> attention = AlibiAttention(d_model=8, num_heads=4)
    >>> attention(torch.randn(1, 3, 8), is_causal=True).shape
    torch.Size([1, 3, 8])
    """

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, is_causal: bool
    ) -> Tensor:
        """Add the bias to the mask."""
        bias = alibi_bias(self.num_heads, query.shape[2], key.shape[2]).to(query)
        return super()._attend(query, key, value, combine_masks(attn_mask, bias), is_causal)


def use_alibi(model: _Model) -> _Model:
    """Replace each layer's attention with an `AlibiAttention` that has the same weights.

    The model, a `TransformerForCausalLM`, is changed in place and returned. Its positions must be
    rotary, since all others are added to the embeddings and would stay there.

    Raises:
        ValueError: The model's positions aren't rotary.
    """
    parts: Any = model
    positions = parts.config.positions
    if not positions.startswith("rotary"):
        raise ValueError(f"positions ({positions!r}) must be rotary: others stay in the embeddings")
    for layer in parts.decoder.layers:
        attention = layer.attention
        assert isinstance(attention, MultiHeadAttention)
        layer.attention = _with_alibi(attention)
    return model


def _with_alibi(attention: MultiHeadAttention) -> AlibiAttention:
    """Return an `AlibiAttention` of the same sizes and weights."""
    made = AlibiAttention(
        attention.q_proj.in_features,
        attention.num_heads,
        num_kv_heads=attention.num_kv_heads,
        head_dim=attention.head_dim,
        qkv_bias=attention.q_proj.bias is not None,
        out_bias=attention.out_proj.bias is not None,
        qk_norm_eps=None if attention.q_norm is None else attention.q_norm.eps,
        sliding_window=attention.sliding_window,
        dropout=attention.dropout,
    )
    made.load_state_dict(attention.state_dict())
    return made.to(attention.q_proj.weight).train(attention.training)
