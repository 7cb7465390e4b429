import math

import pytest
import torch
from torch import nn
from torch.nn.attention import bias

from glassformer.layers.masks import (
    additive_mask,
    causal_lower_right,
    causal_mask,
    check_mask,
    combine_masks,
    invert_mask,
    padding_mask,
)

T, F = True, False


def test_causal_mask_puts_the_queries_last():
    assert causal_mask(3).tolist() == [[T, F, F], [T, T, F], [T, T, T]]
    assert causal_mask(2, 5).tolist() == [[T, T, T, T, F], [T, T, T, T, T]]
    assert causal_mask(3, 2).tolist() == [[F, F], [T, F], [T, T]]
    assert causal_mask(1, 7).all()


def test_masks_are_made_on_the_device_asked_for():
    assert causal_mask(3, 5, device="meta").device.type == "meta"
    assert causal_lower_right(None, True, 3, 5, device="meta")[0].device.type == "meta"


def test_the_lower_right_is_where_torch_has_it_and_needs_no_mask_if_that_says_it(subtests):
    """As attention reads what is returned: `is_causal` starts at the upper left."""
    for q_len, k_len in [(2, 5), (3, 7), (7, 3), (1, 3), (1, 1), (5, 5)]:
        with subtests.test(q_len=q_len, k_len=k_len):
            mask, is_causal = causal_lower_right(None, True, q_len, k_len)
            assert (mask is None) == (q_len in (1, k_len))
            seen = torch.ones(q_len, k_len, dtype=torch.bool) if mask is None else mask
            seen = seen.tril() if is_causal else seen
            assert seen.equal(torch.ones(q_len, k_len).tril(k_len - q_len).bool())
            if q_len <= k_len:
                assert seen.equal(bias.causal_lower_right(q_len, k_len)._materialize())


def test_beside_the_lower_right_the_other_mask_stays():
    padding = torch.tensor([[F, T, T]])
    mask, is_causal = causal_lower_right(padding, True, 2, 3)
    assert mask.tolist() == [[F, T, F], [F, T, T]]
    assert not is_causal
    assert causal_lower_right(padding, False, 2, 3) == (padding, False)
    assert causal_lower_right(padding, True, 3, 3) == (padding, True)


def test_the_opposite_of_ours_is_what_torchs_module_takes():
    """True is blocked there; the same attention comes out of the inverted mask."""
    layer = nn.MultiheadAttention(6, 2, batch_first=True)
    hidden = torch.randn(2, 5, 6)
    _, weights = layer(hidden, hidden, hidden, attn_mask=invert_mask(causal_mask(5)))
    assert weights.triu(1).eq(0).all()
    assert weights.tril().sum().item() == pytest.approx(2 * 5, rel=1e-6)


def test_padding_mask_fits_batch_heads_queries_keys(subtests):
    for dtype in [torch.int64, torch.int32, torch.bool]:
        with subtests.test(dtype=dtype):
            mask = padding_mask(torch.tensor([[1, 1, 0], [1, 0, 0]], dtype=dtype))
            assert mask.dtype == torch.bool
            assert mask.tolist() == [[[[T, T, F]]], [[[T, F, F]]]]


def test_combined_masks_block_whatever_one_of_them_blocks():
    padding = padding_mask(torch.tensor([[1, 1, 0], [0, 1, 1]]))
    combined = combine_masks(causal_mask(3), None, padding)
    assert combined.tolist() == [
        [[[T, F, F], [T, T, F], [T, T, F]]],
        [[[F, F, F], [F, T, F], [F, T, T]]],
    ]


def test_combined_masks_add_up_as_soon_as_one_is_float():
    bias = torch.tensor([[0.5, -2.0], [3.0, 7.0]])
    expected = torch.tensor([[0.5, -math.inf], [3.0, 7.0]])
    assert torch.equal(combine_masks(causal_mask(2), bias), expected)
    assert torch.equal(combine_masks(bias, causal_mask(2)), expected)
    assert torch.equal(combine_masks(bias, bias, causal_mask(2)), 2 * expected)


def test_combined_masks_of_nothing_are_nothing():
    assert combine_masks() is None
    assert combine_masks(None, None) is None
    mask = causal_mask(3)
    assert torch.equal(combine_masks(None, mask), mask)


def test_additive_mask_is_zero_or_minus_infinity_in_every_float_type(subtests):
    for dtype in [torch.float16, torch.bfloat16, torch.float32, torch.float64]:
        with subtests.test(dtype=dtype):
            mask = additive_mask(causal_mask(2), dtype)
            assert mask.dtype == dtype
            assert mask.tolist() == [[0.0, -math.inf], [0.0, 0.0]]


def test_additive_mask_only_converts_what_is_float_already():
    mask = torch.tensor([[0.5, -math.inf]], dtype=torch.float64)
    assert torch.equal(additive_mask(mask, torch.float32), mask.float())


@pytest.mark.usefixtures("unhooked")
def test_what_makes_no_mask_is_refused(subtests):
    square, ones = causal_mask(3), torch.ones(2, 1, 3, dtype=torch.int64)
    rows = [
        (causal_mask, (0, 3), r"q_len \(0\) and k_len .* must be at least 1"),
        (causal_mask, (-1,), r"q_len \(-1\) and k_len .* must be at least 1"),
        (causal_mask, (3, 0), r"q_len \(3\) and k_len .* must be at least 1"),
        (invert_mask, (ones,), r"only a bool mask can be inverted, got torch\.int64"),
        (padding_mask, (ones,), r"shape \(batch, seq\).*got shape \(2, 1, 3\)"),
        (padding_mask, (torch.zeros(2, 3),), r"bool or integer.*got torch\.float32"),
        (combine_masks, (square, causal_mask(2, 5)), r"\(3, 3\), \(2, 5\) do not broadcast"),
        (combine_masks, (square, square.long()), r"must be bool .* got torch\.int64"),
        (additive_mask, (square, torch.int64), r"float dtype to hold -inf, got torch\.int64"),
        (additive_mask, (square.byte(), torch.float32), r"must be bool .* got torch\.uint8"),
    ]
    for make, given, message in rows:
        with subtests.test(message, make=make), pytest.raises(ValueError, match=message):
            make(*given)


def test_check_mask_takes_what_broadcasts_and_no_more():
    for shape in [(), (5,), (3, 1), (2, 1, 1, 5), (2, 7, 3, 5)]:
        check_mask(torch.ones(shape, dtype=torch.bool), (2, 7, 3, 5))
    for shape in [(3,), (5, 3), (2, 5), (1, 2, 7, 3, 5)]:
        with pytest.raises(ValueError, match=r"does not broadcast .* \(2, 7, 3, 5\)"):
            check_mask(torch.ones(shape, dtype=torch.bool), (2, 7, 3, 5))
