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
    repeat_heads,
    scaled_dot_product_attention,
    softmax_rows,
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


def masks(q_len=Q_LEN, k_len=K_LEN, heads=HEADS):
    """Bool and float masks of every shape that broadcasts; each row keeps its first key."""

    def allowed(*shape):
        mask = torch.rand(shape) > 0.4
        mask[..., 0] = True
        return mask

    return {
        "none": None,
        "keys": allowed(k_len),
        "queries and keys": allowed(q_len, k_len),
        "padding": allowed(BATCH, 1, 1, k_len),
        "heads": allowed(heads, 1, k_len),
        "all axes": allowed(BATCH, heads, q_len, k_len),
        "bias": torch.randn(heads, q_len, k_len, dtype=DOUBLE),
        "bias of each query": torch.randn(q_len, 1, dtype=DOUBLE),
        "additive": torch.zeros(BATCH, 1, q_len, k_len, dtype=DOUBLE).masked_fill(
            ~allowed(BATCH, 1, q_len, k_len), -math.inf
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


def test_causal_equals_torch_at_every_length(subtests):
    for (q_len, k_len), attend in product(
        [(11, 11), (5, 11), (13, 11), (1, 11), (1, 1)],
        BOTH,
    ):
        with subtests.test(q_len=q_len, k_len=k_len, attend=attend):
            query, key, value = tensors(q_len, k_len)
            expected = F.scaled_dot_product_attention(query, key, value, is_causal=True)
            torch.testing.assert_close(attend(query, key, value, is_causal=True), expected, **EXACT)


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
    for q_len, name, attend in product([5, 13], masks(), BOTH):
        with subtests.test(q_len=q_len, name=name, attend=attend):
            query, key, value = tensors(q_len=q_len)
            mask = masks(q_len=q_len)[name]
            scores = masked(query @ key.mT / math.sqrt(HEAD_DIM), mask)
            future = torch.arange(K_LEN) > torch.arange(q_len)[:, None]
            expected = scores.masked_fill(future, -math.inf).softmax(-1) @ value
            output = attend(query, key, value, mask, is_causal=True)
            torch.testing.assert_close(output, expected, **EXACT)


def test_the_future_does_not_reach_the_past(subtests):
    for attend in BOTH:
        with subtests.test(attend=attend):
            query, key, value = tensors(q_len=K_LEN)
            before = attend(query, key, value, is_causal=True)
            key[..., 7:, :], value[..., 7:, :] = 100.0, -100.0
            after = attend(query, key, value, is_causal=True)
            assert torch.equal(after[..., :7, :], before[..., :7, :])
            assert not torch.isclose(after[..., 7:, :], before[..., 7:, :]).any()


def test_more_queries_than_keys_leave_the_first_ones_nothing(subtests):
    for attend in BOTH:
        with subtests.test(attend=attend):
            query, key, value = tensors(q_len=K_LEN + 2)
            mask, is_causal = causal_lower_right(None, True, K_LEN + 2, K_LEN)
            output = attend(query, key, value, mask, is_causal=is_causal)
            assert output[..., :2, :].eq(0).all()
            assert output[..., 2:, :].ne(0).all()


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


def test_padding_on_the_left_with_a_causal_mask_stays_finite_through_layers():
    """The first rows may see nothing but padding; a NaN there would reach every token next."""
    hidden = torch.randn(BATCH, Q_LEN, HEAD_DIM, dtype=DOUBLE)
    real = torch.tensor([False, False, True, True, True])
    for _ in range(3):
        hidden = hidden + scaled_dot_product_attention(hidden, hidden, hidden, real, is_causal=True)
    assert hidden.isfinite().all()


def test_scores_have_unit_variance_at_any_width():
    for head_dim in (17, 257):
        scores = attention_scores(torch.randn(499, head_dim), torch.randn(503, head_dim))
        assert scores.var().item() == pytest.approx(1.0, abs=0.1)


def test_scores_are_masked_before_the_softmax():
    query, key, _ = tensors()
    mask = masks()["all axes"]
    scores = attention_scores(query, key, mask)
    assert torch.equal(scores == -math.inf, ~mask)
    torch.testing.assert_close(scores[mask], (query @ key.mT)[mask] / math.sqrt(HEAD_DIM), **EXACT)


def test_rows_of_weights_sum_to_one_and_columns_do_not():
    query, key, _ = tensors()
    weights = attention_weights(query, key, is_causal=True)
    assert weights.min() >= 0
    torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH, HEADS, Q_LEN, dtype=DOUBLE))
    assert (weights.sum(-2) - 1).abs().min() > 0.01


def test_equal_queries_and_keys_of_a_random_table_give_the_identity():
    """Unit-variance vectors 768 wide score about √768 against themselves: softmax picks them."""
    vectors = torch.randn(1, 5, 768)
    assert attention_scores(vectors, vectors).diagonal(dim1=1, dim2=2).mean() > 20
    output = scaled_dot_product_attention(vectors, vectors, vectors)
    torch.testing.assert_close(output, vectors, rtol=0, atol=1e-4)


def test_equal_queries_and_keys_of_the_trained_table_give_almost_a_mean(trained, words):
    """The same computation on trained vectors: short ones, so no word prefers itself."""
    ids = words("time flies like an arrow", add_special_tokens=False, return_tensors="pt")
    with torch.no_grad():
        vectors = trained.embeddings.tokens(ids["input_ids"])
    weights = attention_weights(vectors, vectors)
    assert (weights - 1 / 5).abs().max() < 0.02


def test_queries_equal_to_keys_give_symmetric_scores_but_not_symmetric_weights():
    vectors = torch.randn(1, Q_LEN, HEAD_DIM, dtype=DOUBLE)
    scores = attention_scores(vectors, vectors)
    weights = attention_weights(vectors, vectors)
    torch.testing.assert_close(scores, scores.mT, **EXACT)
    assert (weights - weights.mT).abs().max() > 0.01


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


def test_softmax_of_rows_equals_torch_where_a_row_has_a_key():
    scores = torch.randn(BATCH, Q_LEN, K_LEN, dtype=DOUBLE)
    scores[0, 0, :-1] = -math.inf
    torch.testing.assert_close(softmax_rows(scores), scores.softmax(-1), **EXACT)


def test_shared_keys_equal_repeated_ones(subtests):
    for is_causal, (q_len, k_len), kv_heads, name in product(
        [False, True], [(1, K_LEN), (1, 1), (Q_LEN, K_LEN), (Q_LEN, Q_LEN)], [2, 1], masks()
    ):
        with subtests.test(
            is_causal=is_causal, q_len=q_len, k_len=k_len, kv_heads=kv_heads, name=name
        ):
            query = torch.randn(BATCH, 6, q_len, HEAD_DIM, dtype=DOUBLE)
            key = torch.randn(BATCH, kv_heads, k_len, HEAD_DIM, dtype=DOUBLE)
            value = torch.randn(BATCH, kv_heads, k_len, VALUE_DIM, dtype=DOUBLE)
            mask = masks(q_len, k_len, heads=6)[name]
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


def test_keys_are_repeated_only_for_many_queries_beside_a_mask(monkeypatch):
    kept, kernel = [], F.scaled_dot_product_attention

    def watched(query, key, value, *args, **choices):
        kept.append((key.shape[1], value.shape[1]))
        return kernel(query, key, value, *args, **choices)

    monkeypatch.setattr(F, "scaled_dot_product_attention", watched)
    padding = torch.rand(BATCH, 1, 1, K_LEN) > 0.4
    key = torch.randn(BATCH, 2, K_LEN, HEAD_DIM)
    for q_len, mask in product([1, Q_LEN], [None, padding]):
        fused_attention(torch.randn(BATCH, 6, q_len, HEAD_DIM), key, key, mask)
    assert kept == [(2, 2), (2, 2), (2, 2), (6, 6)]


def test_repeated_heads_serve_neighbors():
    heads = torch.tensor([2.0, 5.0, 7.0])[:, None, None].expand(BATCH, 3, K_LEN, HEAD_DIM)
    assert repeat_heads(heads, 6)[1, :, 4, 3].tolist() == [2, 2, 5, 5, 7, 7]


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
