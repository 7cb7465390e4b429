"""Masks: who may attend to whom.

Everywhere in glassformer a boolean mask is True where a position **may be attended to**. Tokenizers
return 1 and 0 instead, additive masks hold 0 and −inf, and `torch.nn.MultiheadAttention` takes True
where a position is ignored. All conversions are here.
"""

import math

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

# Bool: True may be attended to. Float: added to the scores. Either broadcasts to the scores.
Mask = Bool[Tensor, "*#scores"] | Float[Tensor, "*#scores"]


def causal_mask(
    q_len: int, k_len: int | None = None, *, device: torch.device | str | None = None
) -> Bool[Tensor, "{q_len} keys"]:
    """Make the mask that hides the future: query i may attend to keys up to i + k_len − q_len.

    With as many keys as queries, that's the lower triangle. With more keys, the queries are the
    last positions, as they are when earlier keys come from a cache. With fewer keys, the first
    queries come before every key and may attend to nothing.

    Shapes: The mask is (q_len, k_len); k_len defaults to q_len.

    Raises:
        ValueError: A length is less than one.

    Source: Vaswani et al. 2017, section 3.2.3.

    >>> causal_mask(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    k_len = q_len if k_len is None else k_len
    if q_len < 1 or k_len < 1:
        raise ValueError(f"q_len ({q_len}) and k_len ({k_len}) must be at least 1")
    return torch.ones(q_len, k_len, dtype=torch.bool, device=device).tril(k_len - q_len)


def causal_lower_right(
    attn_mask: Mask | None,
    is_causal: bool,
    q_len: int,
    k_len: int,
    *,
    device: torch.device | str | None = None,
) -> tuple[Mask | None, bool]:
    """Replace `is_causal` with a mask if the queries are the last positions, as with a cache.

    In torch's attention function, `is_causal` aligns the first query with the first key, in the
    upper left corner of the scores. Here the last query is aligned with the last key, in the lower
    right one, as in `causal_mask`. With equal lengths there is no difference, and a single query
    has no key in its future.

    Shapes: `attn_mask` broadcasts to (..., q_len, k_len), and so does the mask that is returned.
    The flag returned with it says whether `is_causal` still has to be passed on.

    Raises:
        ValueError: As `combine_masks`.

    Source: `torch.nn.attention.bias.causal_lower_right` of torch 2.13, for the name.

    >>> mask, is_causal = causal_lower_right(None, True, 2, 3)
    >>> mask, is_causal
    (tensor([[ True,  True, False],
            [ True,  True,  True]]), False)
    """
    if not is_causal or q_len == 1:
        return attn_mask, False
    if q_len == k_len:
        return attn_mask, True
    return combine_masks(attn_mask, causal_mask(q_len, k_len, device=device)), False


def padding_mask(attention_mask: Shaped[Tensor, "batch k_len"]) -> Bool[Tensor, "batch 1 1 k_len"]:
    """Turn a tokenizer's mask, 1 for a token and 0 for padding, into one that fits the scores.

    The two axes of size one are those of the heads and the queries: every query of every head
    skips the same padding.

    Shapes: (batch, k_len) to (batch, 1, 1, k_len).

    Raises:
        ValueError: The mask is not two-dimensional, or neither bool nor integer.

    >>> padding_mask(torch.tensor([[1, 1, 0]]))
    tensor([[[[ True,  True, False]]]])
    """
    if attention_mask.ndim != 2:
        raise ValueError(
            "attention_mask must have shape (batch, seq), with 1 for a token and 0 for padding, "
            f"got shape {tuple(attention_mask.shape)}"
        )
    if attention_mask.is_floating_point() or attention_mask.is_complex():
        raise ValueError(
            "attention_mask must be bool or integer, with 1 for a token and 0 for padding, "
            f"got {attention_mask.dtype}"
        )
    return attention_mask.bool()[:, None, None, :]


def combine_masks(*masks: Shaped[Tensor, "..."] | None) -> Shaped[Tensor, "..."] | None:
    """Combine masks: a pair blocked by any of them stays blocked. None blocks nothing.

    Shapes: Any that broadcast together; the result has the broadcast shape. Boolean masks make a
    boolean mask. If one of them is float, the result is float: the sum of all, ready to be added.

    Raises:
        ValueError: A mask is neither bool nor float, or two shapes do not broadcast.

    >>> combine_masks(causal_mask(2), torch.tensor([False, True]))
    tensor([[False, False],
            [False,  True]])
    """
    present = [mask for mask in masks if mask is not None]
    if not present:
        return None
    for mask in present:
        _check_dtype(mask)
    try:
        torch.broadcast_shapes(*(mask.shape for mask in present))
    except RuntimeError as error:
        shapes = ", ".join(str(tuple(mask.shape)) for mask in present)
        raise ValueError(f"masks of shapes {shapes} do not broadcast together") from error
    floats = [mask for mask in present if mask.is_floating_point()]
    combined = present[0] if not floats else additive_mask(present[0], floats[0].dtype)
    for mask in present[1:]:
        combined = combined + additive_mask(mask, combined.dtype) if floats else combined & mask
    return combined


def additive_mask(mask: Shaped[Tensor, "*mask"], dtype: torch.dtype) -> Float[Tensor, "*mask"]:
    """Turn a mask into numbers to add to the scores: 0 where attention is allowed, −inf elsewhere.

    float16, bfloat16, and wider types hold −inf exactly. A large finite number in its place may
    overflow, or leave weight on a hidden key. Of torch's 8-bit types, only float8_e5m2 can hold it:
    the others turn it into a finite number or NaN, so mask in a wider type. A float mask is only
    cast to `dtype`.

    Shapes: As `mask`.

    Raises:
        ValueError: The mask is neither bool nor float, or `dtype` is not a float type.

    >>> additive_mask(torch.tensor([True, False]), torch.float32)
    tensor([0., -inf])
    """
    _check_dtype(mask)
    if not dtype.is_floating_point:
        raise ValueError(f"an additive mask needs a float dtype to hold -inf, got {dtype}")
    if mask.is_floating_point():
        return mask.to(dtype)
    allowed = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
    return allowed.masked_fill(~mask, -math.inf)


def invert_mask(mask: Bool[Tensor, "*mask"]) -> Bool[Tensor, "*mask"]:
    """Convert a mask to the opposite convention, True where a position is ignored, or back.

    `torch.nn.MultiheadAttention` takes `attn_mask` and `key_padding_mask` that way, and so do the
    layers that torch builds on it.

    Shapes: As `mask`.

    Raises:
        ValueError: The mask is not bool; inverting 1 and 0 bit by bit gives −2 and −1.

    >>> invert_mask(torch.tensor([True, False]))
    tensor([False,  True])
    """
    if mask.dtype != torch.bool:
        raise ValueError(f"only a bool mask can be inverted, got {mask.dtype}")
    return ~mask


def check_mask(mask: Shaped[Tensor, "..."], scores_shape: tuple[int, ...]) -> None:
    """Raise an error if a mask doesn't fit scores of this shape.

    Raises:
        ValueError: The mask is neither bool nor float, or does not broadcast to `scores_shape`.
    """
    _check_dtype(mask)
    try:
        fits = torch.broadcast_shapes(mask.shape, scores_shape) == tuple(scores_shape)
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(
            f"attn_mask of shape {tuple(mask.shape)} does not broadcast to the scores' shape "
            f"(..., q_len, k_len) = {tuple(scores_shape)}; padding_mask makes (batch, 1, 1, k_len) "
            "from a tokenizer's (batch, k_len)"
        )


def _check_dtype(mask: Tensor) -> None:
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise ValueError(
            "a mask must be bool (True may be attended to) or float (added to the scores), "
            f"got {mask.dtype}; padding_mask converts a tokenizer's 1 and 0"
        )
