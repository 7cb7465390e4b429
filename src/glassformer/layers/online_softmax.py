"""Attention by online softmax: block by block, without ever storing a whole row of scores.

This is the arithmetic of FlashAttention. What makes FlashAttention fast is a kernel that keeps each
block in the processor's small, fast memory.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from glassformer.layers.attention import attention_scores
from glassformer.layers.masks import Mask, check_mask, combine_masks


def online_attention(
    query: Float[Tensor, "*batch q_len head_dim"],
    key: Float[Tensor, "*batch k_len head_dim"],
    value: Float[Tensor, "*batch k_len value_dim"],
    attn_mask: Mask | None = None,
    is_causal: bool = False,
    *,
    block_size: int = 128,
) -> Float[Tensor, "*batch q_len value_dim"]:
    """Average the values as `scaled_dot_product_attention` does, one block of scores at a time.

    For each block of queries, go through the blocks of keys and keep the largest score so far, the
    sum of the exponentials, and the sum of the values weighted by them. With `is_causal`, skip the
    blocks that are entirely in the future. While gradients are recorded, autograd keeps the scores
    of all blocks; FlashAttention recomputes them instead.

    Shapes: Query (..., q_len, head_dim), key (..., k_len, head_dim), value (..., k_len, value_dim),
    output (..., q_len, value_dim); `attn_mask` broadcasts to (..., q_len, k_len).

    Raises:
        ValueError: A length or the block size is less than one, or as `attention_scores`.

    Source: Milakov and Gimelshein 2018, algorithm 3; Dao et al. 2022, algorithm 1; dividing only
    once, at the end: Dao 2023, section 3.1.

    >>> query, key, value = torch.randn(2, 3, 5), torch.randn(2, 7, 5), torch.randn(2, 7, 11)
    >>> online_attention(query, key, value, block_size=2).shape
    torch.Size([2, 3, 11])
    """
    *batch, q_len, _ = query.shape
    k_len = key.shape[-2]
    if min(q_len, k_len, block_size) < 1:
        raise ValueError(
            f"q_len ({q_len}), k_len ({k_len}), and block_size ({block_size}) must be at least 1"
        )
    if attn_mask is not None:
        check_mask(attn_mask, (*batch, q_len, k_len))
        attn_mask = attn_mask.expand(*batch, q_len, k_len)  # a view, which takes no memory
    places = torch.arange(max(q_len, k_len), device=query.device)
    outputs = []
    for rows in places[:q_len].split(block_size):
        maximum = query.new_full((*batch, len(rows), 1), -math.inf)
        total = torch.zeros_like(maximum)
        output = query.new_zeros(*batch, len(rows), value.shape[-1])
        for columns in places[:k_len].split(block_size):
            if is_causal and columns[0] > rows[-1]:
                break  # everything left is in the future
            causal = columns <= rows[:, None] if is_causal else None
            given = None if attn_mask is None else attn_mask[..., rows[:, None], columns]
            scores = attention_scores(
                query[..., rows, :], key[..., columns, :], combine_masks(causal, given)
            )
            maximum, total, output = add_block(
                maximum, total, output, scores, value[..., columns, :]
            )
        outputs.append(output / total.masked_fill(total == 0, 1.0))  # no key seen: zeros
    return torch.cat(outputs, dim=-2)


def add_block(
    maximum: Float[Tensor, "*batch q_len 1"],
    total: Float[Tensor, "*batch q_len 1"],
    output: Float[Tensor, "*batch q_len value_dim"],
    scores: Float[Tensor, "*batch q_len block"],
    value: Float[Tensor, "*batch block value_dim"],
) -> tuple[Tensor, Tensor, Tensor]:
    """Add a block of scores and values to the running maximum, total, and output.

    With m the maximum of all scores so far, `total` is the sum of exp(score − m), and `output` the
    sum of exp(score − m) times the value. A larger maximum scales both down. At first, the maximum
    is −inf, and both sums are zero.

    Shapes: Maximum and total (..., q_len, 1), output (..., q_len, value_dim), before and after;
    scores (..., q_len, block), −inf where a query may not look; value (..., block, value_dim).

    Source: Milakov and Gimelshein 2018, algorithm 3.

    >>> nothing, one = torch.tensor([[-torch.inf]]), torch.ones(1, 1)
    >>> add_block(nothing, 0 * one, 0 * one, scores=3 * one, value=5 * one)
    (tensor([[3.]]), tensor([[1.]]), tensor([[5.]]))
    """
    # The maximum changes no result, so gradients need not pass through it.
    new_maximum = torch.maximum(maximum, scores.detach().amax(dim=-1, keepdim=True))
    reference = new_maximum.masked_fill(new_maximum == -math.inf, 0.0)  # −inf − −inf would be NaN
    powers = (scores - reference).exp()  # (..., q_len, block), at most 1
    shrink = (maximum - reference).exp()  # (..., q_len, 1): 1 if the maximum stays
    total = total * shrink + powers.sum(dim=-1, keepdim=True)
    output = output * shrink + powers @ value
    return new_maximum, total, output
