import inspect
import math
import re
from functools import partial
from itertools import product

import pytest
import torch
import torch.nn.functional as F

from glassformer.layers.attention import (
    attention_scores,
    attention_weights,
    fused_attention,
    scaled_dot_product_attention,
)
from glassformer.layers.masks import causal_lower_right

BATCH, HEADS, Q_LEN, K_LEN, HEAD_DIM, VALUE_DIM = 2, 3, 5, 11, 7, 13
DOUBLE = torch.float64
EXACT = {"rtol": 0.0, "atol": 1e-14}
BOTH = (scaled_dot_product_attention, fused_attention)


def tensors(q_len=Q_LEN, k_len=K_LEN, dtype=DOUBLE):
    make = partial(torch.randn, dtype=dtype)
    return (
        make(BATCH, HEADS, q_len, HEAD_DIM),
        make(BATCH, HEADS, k_len, HEAD_DIM),
        make(BATCH, HEADS, k_len, VALUE_DIM),
    )


def masks(q_len=Q_LEN, heads=HEADS):
    """Bool and float masks of every shape that broadcasts; each row keeps its first key."""

    def allowed(*shape):
        mask = torch.rand(shape) > 0.4
        mask[..., 0] = True
        return mask

    return {
        "none": None,
        "keys": allowed(K_LEN),
        "queries and keys": allowed(q_len, K_LEN),
        "padding": allowed(BATCH, 1, 1, K_LEN),
        "heads": allowed(heads, 1, K_LEN),
        "all axes": allowed(BATCH, heads, q_len, K_LEN),
        "bias": torch.randn(heads, q_len, K_LEN, dtype=DOUBLE),
        "bias of each query": torch.randn(q_len, 1, dtype=DOUBLE),
        "additive": torch.zeros(BATCH, 1, q_len, K_LEN, dtype=DOUBLE).masked_fill(
            ~allowed(BATCH, 1, q_len, K_LEN), -math.inf
        ),
    }


def masked(scores, mask):
    if mask is None:
        return scores
    return scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask


def by_hand(query, key, value):
    """Equation 1 with Python's own arithmetic, for one sequence."""
    root = math.sqrt(len(query[0]))
    rows = []
    for q in query:
        powers = [math.exp(sum(a * b for a, b in zip(q, k, strict=True)) / root) for k in key]
        weights = [power / sum(powers) for power in powers]
        rows.append([sum(w * v[j] for w, v in zip(weights, value, strict=True)) for j in range(2)])
    return rows


def test_equals_the_formula_worked_by_hand():
    query = [[0.5, -1.0, 2.0]]
    key = [[1.0, 0.0, 0.25], [-0.5, 3.0, 1.0]]
    value = [[7.0, -2.0], [0.5, 11.0]]
    tensor = partial(torch.tensor, dtype=DOUBLE)
    for attend in BOTH:
        output = attend(tensor(query), tensor(key), tensor(value))
        torch.testing.assert_close(output, tensor(by_hand(query, key, value)), **EXACT)


def test_equals_torch_with_every_kind_of_mask(subtests):
    for name, attend in product(masks(), BOTH):
        with subtests.test(name=name, attend=attend):
            query, key, value = tensors()
            mask = masks()[name]
            wide = None if mask is None else mask.expand(BATCH, HEADS, Q_LEN, K_LEN)
            expected = F.scaled_dot_product_attention(query, key, value, attn_mask=wide)
            output = attend(query, key, value, mask)
            assert output.shape == (BATCH, HEADS, Q_LEN, VALUE_DIM)
            torch.testing.assert_close(output, expected, **EXACT)


def test_takes_what_torch_takes(subtests):
    for enable_gqa, scale, is_causal in product(
        [False, True], [None, 0.3, 0.0, -2.0], [False, True]
    ):
        with subtests.test(enable_gqa=enable_gqa, scale=scale, is_causal=is_causal):
            query, key, value = tensors()
            if enable_gqa:
                query = torch.randn(BATCH, 2 * HEADS, Q_LEN, HEAD_DIM, dtype=DOUBLE)
            choices = {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
            expected = F.scaled_dot_product_attention(query, key, value, **choices)
            output = scaled_dot_product_attention(query, key, value, **choices)
            torch.testing.assert_close(output, expected, **EXACT)


def test_shared_heads_need_no_batch():
    query, key = torch.randn(6, Q_LEN, HEAD_DIM), torch.randn(2, K_LEN, HEAD_DIM)
    expected = F.scaled_dot_product_attention(query, key, key, enable_gqa=True)
    output = scaled_dot_product_attention(query, key, key, enable_gqa=True)
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-6)


def test_the_signature_is_that_of_torch():
    """torch's function is built in: its schema says which arguments must be named."""
    (theirs,) = torch._C._jit_get_schemas_for_operator("aten::scaled_dot_product_attention")
    ours = inspect.signature(scaled_dot_product_attention).parameters.values()
    named = inspect.Parameter.KEYWORD_ONLY
    assert [(p.name, p.kind is named) for p in ours] == [
        (argument.name, argument.kwarg_only) for argument in theirs.arguments
    ]
    defaults = [None if p.default is inspect.Parameter.empty else p.default for p in ours]
    assert defaults == [argument.default_value for argument in theirs.arguments]


def test_a_causal_mask_at_the_lower_right_keeps_the_other_mask(subtests):
    """Queries that are the last positions: as the last rows of the full square, mask and all."""
    for q_len, name, attend in product([1, 2, 5, 11], masks(), BOTH):
        with subtests.test(q_len=q_len, name=name, attend=attend):
            query, key, value = tensors(q_len=K_LEN)
            mask = masks(q_len=K_LEN)[name]
            past = torch.ones(K_LEN, K_LEN, dtype=torch.bool).tril()
            scores = masked(query @ key.mT / math.sqrt(HEAD_DIM), mask)
            full = scores.masked_fill(~past, -math.inf).softmax(-1) @ value
            if mask is not None and mask.ndim > 1 and mask.shape[-2] == K_LEN:
                mask = mask[..., -q_len:, :]
            mask, is_causal = causal_lower_right(mask, True, q_len, K_LEN)
            output = attend(query[..., -q_len:, :], key, value, mask, is_causal=is_causal)
            torch.testing.assert_close(output, full[..., -q_len:, :], **EXACT)


def test_a_causal_query_sees_the_keys_up_to_its_own_number_and_keeps_the_other_mask(subtests):
    for q_len, name, attend in product([1, 5, 13], masks(), BOTH):
        with subtests.test(q_len=q_len, name=name, attend=attend):
            query, key, value = tensors(q_len=q_len)
            mask = masks(q_len=q_len)[name]
            scores = masked(query @ key.mT / math.sqrt(HEAD_DIM), mask)
            future = torch.arange(K_LEN) > torch.arange(q_len)[:, None]
            expected = scores.masked_fill(future, -math.inf).softmax(-1) @ value
            output = attend(query, key, value, mask, is_causal=True)
            torch.testing.assert_close(output, expected, **EXACT)


def test_a_query_that_may_attend_to_nothing_gives_zeros_both_ways(subtests):
    for kind, attend in product(["bool", "additive"], BOTH):
        with subtests.test(kind=kind, attend=attend):
            query, key, value = (t.requires_grad_() for t in tensors())
            mask = torch.ones(Q_LEN, K_LEN, dtype=torch.bool)
            mask[2] = False
            mask[0, 3] = False
            given = mask
            if kind == "additive":
                given = torch.zeros(Q_LEN, K_LEN, dtype=DOUBLE).masked_fill(~mask, -math.inf)
            output = attend(query, key, value, given)
            assert output[..., 2, :].eq(0).all()
            output.square().sum().backward()
            assert query.grad[..., 2, :].eq(0).all()
            grads = [t.grad.clone() for t in (query, key, value)]
            # The other rows have the gradients that they have without it.
            query.grad = key.grad = value.grad = None
            rows = [0, 1, 3, 4]
            attend(query[..., rows, :], key, value, given[rows]).square().sum().backward()
            for with_row, t in zip(grads, (query, key, value), strict=True):
                torch.testing.assert_close(with_row, t.grad, **EXACT)


def test_scores_are_masked_before_the_softmax():
    query, key, _ = tensors()
    mask = masks()["all axes"]
    scores = attention_scores(query, key, mask)
    assert torch.equal(scores == -math.inf, ~mask)
    torch.testing.assert_close(scores[mask], (query @ key.mT)[mask] / math.sqrt(HEAD_DIM), **EXACT)


def test_dropout_zeroes_weights_and_raises_the_others():
    query, key, _ = tensors(q_len=101, k_len=103)
    weights = attention_weights(query, key)
    seen = torch.eye(103, dtype=DOUBLE).expand(BATCH, HEADS, 103, 103)
    dropped = scaled_dot_product_attention(query, key, seen, dropout_p=0.3)
    kept = dropped != 0
    assert kept.double().mean().item() == pytest.approx(0.7, abs=0.01)
    torch.testing.assert_close(dropped[kept], weights[kept] / 0.7, rtol=1e-12, atol=0)


def test_half_precision_is_masked_exactly(subtests):
    for dtype, attend in product([torch.float16, torch.bfloat16], BOTH):
        with subtests.test(dtype=dtype, attend=attend):
            query, key, value = tensors(dtype=dtype)
            mask = masks()["all axes"]
            expected = attend(query.float(), key.float(), value.float(), mask)
            step = torch.finfo(dtype).eps
            output = attend(query, key, value, mask)
            torch.testing.assert_close(output.float(), expected, rtol=4 * step, atol=4 * step)
            value[..., 3, :] = torch.finfo(dtype).max
            mask[..., 3] = False
            torch.testing.assert_close(
                attend(query, key, value, mask),
                attend(query, key, value.clone().index_fill_(-2, torch.tensor(3), 0), mask),
            )


def test_shared_keys_equal_repeated_ones(subtests):
    for is_causal, q_len, kv_heads, name in product([False, True], [1, Q_LEN], [2, 1], masks()):
        with subtests.test(is_causal=is_causal, q_len=q_len, kv_heads=kv_heads, name=name):
            query = torch.randn(BATCH, 6, q_len, HEAD_DIM, dtype=DOUBLE)
            key = torch.randn(BATCH, kv_heads, K_LEN, HEAD_DIM, dtype=DOUBLE)
            value = torch.randn(BATCH, kv_heads, K_LEN, VALUE_DIM, dtype=DOUBLE)
            mask = masks(q_len, heads=6)[name]
            output = fused_attention(query, key, value, mask, is_causal=is_causal)
            repeated = [kept.repeat_interleave(6 // kv_heads, dim=1) for kept in (key, value)]
            expected = scaled_dot_product_attention(query, *repeated, mask, is_causal=is_causal)
            torch.testing.assert_close(output, expected, rtol=0, atol=1e-13)


@pytest.mark.usefixtures("unhooked")
def test_a_mask_for_shared_keys_has_the_queries_heads(subtests):
    query, key = torch.randn(BATCH, 6, 1, HEAD_DIM), torch.randn(BATCH, 2, K_LEN, HEAD_DIM)
    message = r"attn_mask of shape .*not broadcast.*2, 6, 1, 11"
    for shape in [(4, 1, K_LEN), (BATCH, 2, 1, K_LEN), (BATCH, 6, 1, Q_LEN)]:
        with subtests.test(shape=shape), pytest.raises(ValueError, match=message):
            fused_attention(query, key, key, torch.ones(shape, dtype=torch.bool))


@pytest.mark.usefixtures("unhooked")
def test_heads_that_cannot_be_shared_evenly_are_refused():
    query, key = torch.randn(BATCH, 7, Q_LEN, HEAD_DIM), torch.randn(BATCH, 3, K_LEN, HEAD_DIM)
    with pytest.raises(ValueError, match=r"num_heads \(7\) must be a multiple of the 3 key-value"):
        scaled_dot_product_attention(query, key, key, enable_gqa=True)


@pytest.mark.usefixtures("unhooked")
def test_what_does_not_fit_is_refused(subtests):
    query, key, value = tensors()
    rows = [((query, key[..., :5], value), r"same width.*\(2, 3, 5, 7\).*\(2, 3, 11, 5\)")]
    for shape in [(5, 5), (2, 11), (2, 3, 5, 7), (3, 2, 1, 1), (1, 2, 3, 5, 11)]:
        mask = torch.ones(shape, dtype=torch.bool)
        message = rf"attn_mask of shape {re.escape(str(shape))} .*not broadcast.*2, 3, 5, 11"
        rows.append(((query, key, value, mask), message))
    numbers = torch.ones(Q_LEN, K_LEN, dtype=torch.int64)
    rows.append(((query, key, value, numbers), r"must be bool .* got torch\.int64"))
    for attend, (given, message) in product(BOTH, rows):
        with subtests.test(message, attend=attend), pytest.raises(ValueError, match=message):
            attend(*given)
