"""Scaled dot-product attention, as plain functions: scores, their softmax, the weighted average.

Every function works on (..., seq, head_dim); the leading axes, usually batch and heads, stay as
they are.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from glassformer.layers.masks import Mask, additive_mask, causal_mask, check_mask, combine_masks


def attention_scores(
    query: Float[Tensor, "*batch q_len head_dim"],
    key: Float[Tensor, "*batch k_len head_dim"],
    attn_mask: Mask | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> Float[Tensor, "*batch q_len k_len"]:
    """Score how well each query matches each key; −inf where the query may not attend.

    A score is `q @ k / sqrt(head_dim)`. If two vectors have independent entries with mean 0 and
    variance 1, their dot product has variance head_dim; dividing by the square root makes it 1. A
    `scale` replaces `1 / sqrt(head_dim)`. With `is_causal`, query i sees the keys up to i, as in
    torch. If the queries are the last positions of a longer key sequence, use
    `causal_lower_right`.

    Shapes: Query (..., q_len, head_dim), key (..., k_len, head_dim), scores (..., q_len, k_len);
    `attn_mask` broadcasts to the scores: bool, True where a query may attend, or float, added.

    Raises:
        ValueError: Query and key have different widths, or the mask does not fit the scores.

    Source: Vaswani et al. 2017, section 3.2.1, equation 1, whose `Q` and `K` are query and key.

    >>> query, key = torch.ones(1, 2, 4), torch.ones(1, 3, 4)
    >>> attention_scores(query, key)
    tensor([[[2., 2., 2.],
             [2., 2., 2.]]])
    """
    mask = _whole_mask(query, key, attn_mask, is_causal)
    if scale is None:
        scores = query @ key.mT / math.sqrt(query.shape[-1])  # (..., q_len, k_len)
    else:
        scores = query @ key.mT * scale
    return scores if mask is None else scores + additive_mask(mask, scores.dtype)


def attention_weights(
    query: Float[Tensor, "*batch q_len head_dim"],
    key: Float[Tensor, "*batch k_len head_dim"],
    attn_mask: Mask | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> Float[Tensor, "*batch q_len k_len"]:
    """Distribute each query's attention over the keys: the softmax of its row of scores.

    Each row sums to one, except the row of a query that may attend to nothing: it's all zeros.

    Shapes: Query (..., q_len, head_dim), key (..., k_len, head_dim), weights (..., q_len, k_len).

    Raises:
        ValueError: As `attention_scores`.

    Source: Vaswani et al. 2017, section 3.2.1, equation 1.

    >>> alike = torch.zeros(1, 2, 4)
    >>> attention_weights(alike, alike, is_causal=True)
    tensor([[[1.0000, 0.0000],
             [0.5000, 0.5000]]])
    """
    return softmax_rows(attention_scores(query, key, attn_mask, is_causal, scale=scale))


def softmax_rows(
    scores: Float[Tensor, "*batch q_len k_len"],
) -> Float[Tensor, "*batch q_len k_len"]:
    """Apply the softmax over the keys; a row of only −inf becomes zeros.

    Such a row is filled before the softmax as well as after it: if a NaN is only masked
    afterward, the gradient is still NaN.

    Shapes: As `scores`.

    >>> softmax_rows(torch.tensor([[0.0, 0.0], [-torch.inf, -torch.inf]]))
    tensor([[0.5000, 0.5000],
            [0.0000, 0.0000]])
    """
    nothing = (scores == -math.inf).all(dim=-1, keepdim=True)  # (..., q_len, 1)
    return scores.masked_fill(nothing, 0.0).softmax(dim=-1).masked_fill(nothing, 0.0)


def scaled_dot_product_attention(
    query: Float[Tensor, "*batch q_len head_dim"],
    key: Float[Tensor, "*kv_batch k_len head_dim"],
    value: Float[Tensor, "*kv_batch k_len value_dim"],
    attn_mask: Mask | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Float[Tensor, "*batch q_len value_dim"]:
    """Average the values for each query, weighted by how well their keys match.

    The arguments and the result are those of torch's function of the same name. `dropout_p` is
    applied whenever it's not zero. With `enable_gqa`, several query heads share a key-value head.
    An `attn_mask` can be combined with `is_causal`, which torch doesn't allow: both apply.

    Shapes: Query (..., q_len, head_dim), key (..., k_len, head_dim), value (..., k_len, value_dim),
    output (..., q_len, value_dim); value_dim may differ from head_dim. With `enable_gqa`, the
    heads are the axis before the last two, and key and value may have fewer of them.

    Raises:
        ValueError: As `attention_scores` and `repeat_heads`.

    Source: Vaswani et al. 2017, section 3.2.1, equation 1, with value = V; torch 2.13,
    `torch.nn.functional.scaled_dot_product_attention`.

    >>> query, key, value = torch.randn(2, 3, 5), torch.randn(2, 7, 5), torch.randn(2, 7, 11)
    >>> scaled_dot_product_attention(query, key, value).shape
    torch.Size([2, 3, 11])
    """
    if enable_gqa:
        key, value = (repeat_heads(shared, query.shape[-3]) for shared in (key, value))
    weights = attention_weights(query, key, attn_mask, is_causal, scale=scale)
    weights = F.dropout(weights, dropout_p)  # (..., q_len, k_len)
    return weights @ value


def repeat_heads(
    heads: Float[Tensor, "*batch kv_heads seq head_dim"], num_heads: int
) -> Float[Tensor, "*batch {num_heads} seq head_dim"]:
    """Repeat each key-value head, once for each head of the queries that shares it.

    Shapes: (..., kv_heads, seq, head_dim) to (..., num_heads, seq, head_dim).

    Raises:
        ValueError: `num_heads` is not a multiple of the number of key-value heads.

    >>> repeat_heads(torch.randn(1, 2, 5, 3), num_heads=4).shape
    torch.Size([1, 4, 5, 3])
    """
    group, rest = divmod(num_heads, heads.shape[-3])
    if rest:
        raise ValueError(
            f"num_heads ({num_heads}) must be a multiple of the {heads.shape[-3]} key-value heads"
        )
    return heads if group == 1 else heads.repeat_interleave(group, dim=-3)


def fused_attention(
    query: Float[Tensor, "*batch q_len head_dim"],
    key: Float[Tensor, "*kv_batch k_len head_dim"],
    value: Float[Tensor, "*kv_batch k_len value_dim"],
    attn_mask: Mask | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
) -> Float[Tensor, "*batch q_len value_dim"]:
    """Compute the same attention with torch's fused kernel, which never stores the weights.

    The kernel takes either a mask or `is_causal`; if both are given, they're combined into one
    mask.

    Shapes and errors: as `scaled_dot_product_attention`; but if key and value are (batch, kv_heads,
    k_len, ...), they may have fewer heads than the query, each shared by a group of query heads.

    >>> query, (key, value) = torch.randn(3, 2, 3, 5), torch.randn(2, 3, 2, 7, 5)
    >>> ours = scaled_dot_product_attention(query, key, value)
    >>> torch.allclose(fused_attention(query, key, value), ours, atol=1e-6)
    True
    """
    causal_alone = is_causal and attn_mask is None
    mask = None if causal_alone else _whole_mask(query, key, attn_mask, is_causal)
    if mask is not None and mask.is_floating_point():
        mask = additive_mask(mask, query.dtype)
    attend = _grouped_kernel if _is_grouped(query, key) else F.scaled_dot_product_attention
    return attend(query, key, value, attn_mask=mask, dropout_p=dropout_p, is_causal=causal_alone)


def _grouped_kernel(
    query: Tensor, key: Tensor, value: Tensor, *, attn_mask: Tensor | None, **choices
) -> Tensor:
    """Call torch's kernel for query heads that share key-value heads.

    During generation, each head has one query. The queries that share a key-value head become the
    rows of one head, so each key is read only once. With more queries, torch shares the keys
    itself, but usually not with a mask; then they're repeated.
    """
    (_, heads, q_len, _), kv_heads = query.shape, key.shape[1]
    if q_len == 1 and not choices["is_causal"]:
        query = query.unflatten(1, (kv_heads, -1)).squeeze(3)  # (batch, kv_heads, group, head_dim)
        if attn_mask is not None and attn_mask.ndim > 2 and attn_mask.shape[-3] == heads:
            attn_mask = attn_mask.unflatten(-3, (kv_heads, -1)).squeeze(-2)
        output = F.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask, **choices)
        return output.flatten(1, 2)[:, :, None]  # (batch, heads, 1, value_dim)
    if attn_mask is None:
        return F.scaled_dot_product_attention(query, key, value, enable_gqa=True, **choices)
    key, value = (repeat_heads(shared, heads) for shared in (key, value))
    return F.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask, **choices)


def _whole_mask(
    query: Tensor, key: Tensor, attn_mask: Tensor | None, is_causal: bool
) -> Tensor | None:
    """Check `attn_mask` against the scores' shape, and combine it with the causal mask."""
    q_len, k_len = query.shape[-2], key.shape[-2]
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"query and key must have the same width to be multiplied: query {tuple(query.shape)}, "
            f"key {tuple(key.shape)}"
        )
    if attn_mask is not None:
        batch = query.shape[:-2]
        if not _is_grouped(query, key):
            batch = torch.broadcast_shapes(batch, key.shape[:-2])
        check_mask(attn_mask, (*batch, q_len, k_len))
        attn_mask = torch.atleast_2d(attn_mask)  # the fused kernel needs two axes
    causal = None
    if is_causal:  # cut from a square large enough for both lengths
        causal = causal_mask(max(q_len, k_len), device=query.device)[:q_len, :k_len]
    return combine_masks(attn_mask, causal)


def _is_grouped(query: Tensor, key: Tensor) -> bool:
    """Return whether query heads share key-value heads."""
    return query.ndim == 4 and query.shape[1] != key.shape[1]
