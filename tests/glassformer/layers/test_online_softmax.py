"""Attention in blocks is attention: against torch's kernel, and against ours with whole rows."""

from itertools import product

import pytest
import torch
import torch.nn.functional as F

from glassformer.layers import online_softmax as module
from glassformer.layers.attention import scaled_dot_product_attention
from glassformer.layers.online_softmax import add_block, online_attention

BATCH, HEADS, HEAD_DIM, VALUE_DIM = 2, 3, 7, 13
DOUBLE = torch.float64
EXACT = {"rtol": 0.0, "atol": 1e-12}


def tensors(q_len, k_len, dtype=DOUBLE):
    shapes = ((q_len, HEAD_DIM), (k_len, HEAD_DIM), (k_len, VALUE_DIM))
    return [torch.randn(BATCH, HEADS, *shape, dtype=dtype) for shape in shapes]


def masks(q_len, k_len):
    """Masks of several shapes; the second query of `blind` may attend to nothing."""
    blind = torch.rand(q_len, k_len) > 0.4
    blind[min(1, q_len - 1)] = False
    return {
        "none": None,
        "keys": torch.arange(k_len) < 4,
        "padding": torch.rand(BATCH, 1, 1, k_len) > 0.4,
        "blind": blind,
        "bias": torch.randn(HEADS, q_len, k_len, dtype=DOUBLE),
    }


def test_output_and_gradients_equal_those_of_whole_rows(subtests):
    for q_len, block_size, is_causal, name in product(
        [5, 17], [1, 3, 11, 64], [False, True], masks(2, 2)
    ):
        with subtests.test(q_len=q_len, block_size=block_size, is_causal=is_causal, name=name):
            given = [t.requires_grad_() for t in tensors(q_len, 11)]
            mask = masks(q_len, 11)[name]
            weight = torch.randn(BATCH, HEADS, q_len, VALUE_DIM, dtype=DOUBLE)
            results = []
            for output in (
                scaled_dot_product_attention(*given, mask, is_causal=is_causal),
                online_attention(*given, mask, is_causal, block_size=block_size),
            ):
                results.append([output, *torch.autograd.grad((output * weight).sum(), given)])
            if name == "blind":
                assert results[1][0][..., 1, :].eq(0).all()
            torch.testing.assert_close(results[1], results[0], **EXACT)


def test_equals_torch_in_both_types(subtests):
    for (dtype, atol), is_causal in product(
        [(DOUBLE, 1e-12), (torch.float32, 2e-6)], [True, False]
    ):
        with subtests.test(dtype=dtype, is_causal=is_causal):
            given = tensors(13, 11, dtype)
            expected = F.scaled_dot_product_attention(*given, is_causal=is_causal)
            output = online_attention(*given, is_causal=is_causal, block_size=3)
            torch.testing.assert_close(output, expected, rtol=0.0, atol=atol)


def test_huge_scores_overflow_nowhere(subtests):
    """The scores rise or fall from key to key, so that every block raises the maximum, or none."""
    for order, size in product([1, -1], [1e3, 1e30]):
        with subtests.test(order=order, size=size):
            query = torch.ones(2, 3, 1)
            key = (order * size * torch.arange(7.0)).expand(2, 7)[..., None]
            value = torch.randn(2, 7, 5)
            output = online_attention(query, key, value, block_size=2)
            best = value[:, 6 if order == 1 else 0]  # it alone is left
            torch.testing.assert_close(output, best[:, None].expand(2, 3, 5), rtol=0.0, atol=0.0)


def test_one_axis_in_front_is_not_needed():
    query, key, value = (t[0, 0] for t in tensors(5, 11))
    expected = scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close(online_attention(query, key, value, block_size=3), expected, **EXACT)


def seen_blocks(monkeypatch, q_len, k_len, **choices):
    """Return the shapes of all scores that are computed."""
    shapes = []

    def watched(maximum, total, output, scores, value):
        shapes.append(tuple(scores.shape[-2:]))
        return add_block(maximum, total, output, scores, value)

    monkeypatch.setattr(module, "add_block", watched)
    online_attention(*tensors(q_len, k_len), **choices)
    return shapes


def test_scores_are_made_a_block_at_a_time(monkeypatch):
    rows, columns = (3, 2), (3, 3, 3, 2)
    expected = [(row, column) for row in rows for column in columns]
    assert seen_blocks(monkeypatch, 5, 11, block_size=3) == expected


def test_what_is_wholly_in_the_future_is_skipped(monkeypatch):
    """Of four by four blocks, ten are on the diagonal or below."""
    assert len(seen_blocks(monkeypatch, 11, 11, block_size=3)) == 16
    assert len(seen_blocks(monkeypatch, 11, 11, block_size=3, is_causal=True)) == 10


@pytest.mark.usefixtures("unhooked")
def test_what_does_not_fit_is_refused(subtests):
    query, key, value = tensors(5, 11)
    sizes = r"q_len \(5\), k_len \(11\), and block_size \((0|-3)\) must be at least 1"
    wrong_mask = torch.ones(5, 7, dtype=torch.bool)
    rows = [
        ((query, key, value), {"block_size": 0}, sizes),
        ((query, key, value), {"block_size": -3}, sizes),
        (tensors(5, 0), {}, r"k_len \(0\)"),
        ((query[..., :6], key, value), {}, r"query \(2, 3, 5, 6\), key \(2, 3, 11, 7\)"),
        ((query, key, value, wrong_mask), {}, r"attn_mask of shape \(5, 7\) does not broadcast"),
    ]
    for given, choices, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            online_attention(*given, **choices)
