import math
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from glassformer import RotaryPositions, record
from glassformer.layers.kv_cache import KVBuffer
from glassformer.layers.multihead import (
    AttentionHead,
    MultiHeadAttention,
    merge_heads,
    split_heads,
)

BATCH, Q_LEN, K_LEN, HEADS, HEAD_DIM = 2, 5, 11, 3, 7
D_MODEL = HEADS * HEAD_DIM
EXACT = {"rtol": 0.0, "atol": 1e-13}


def hidden(seq, width=D_MODEL):
    return torch.randn(BATCH, seq, width, dtype=torch.float64)


def torch_twin(ours, *, dropout=0.0):
    """torch's own layer with our weights: its three projections stand in one matrix."""
    twin = nn.MultiheadAttention(D_MODEL, HEADS, dropout=dropout, batch_first=True).double()
    projections = [ours.q_proj, ours.k_proj, ours.v_proj]
    with torch.no_grad():
        twin.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
        twin.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
        twin.out_proj.weight.copy_(ours.out_proj.weight)
        twin.out_proj.bias.copy_(ours.out_proj.bias)
    return twin


@pytest.fixture
def ours():
    return MultiHeadAttention(D_MODEL, HEADS).double()


@pytest.fixture
def real():
    """True where a key is a token: the batch has unequal lengths."""
    return torch.arange(K_LEN) < torch.tensor([[K_LEN], [3]])


def test_equals_torchs_layer(ours, real, subtests):
    x, key, value = hidden(Q_LEN), hidden(K_LEN), hidden(K_LEN)
    blocked = torch.ones(Q_LEN, Q_LEN, dtype=torch.bool).triu(1)
    mask, padding = {"attn_mask": real[:, None, None, :]}, {"key_padding_mask": ~real}
    rows = [
        ("alone", ours(x), (x, x, x), {}),
        ("causal", ours(x, is_causal=True), (x, x, x), {"attn_mask": blocked}),
        ("with padding", ours(x, key, value, **mask), (x, key, value), padding),
        ("values are the keys", ours(x, key), (x, key, key), {}),
    ]
    for name, output, inputs, choices in rows:
        with subtests.test(name):
            expected, _ = torch_twin(ours)(*inputs, **choices)
            torch.testing.assert_close(output, expected, **EXACT)


def test_a_loop_over_heads_equals_all_heads_at_once(ours, real, subtests):
    for is_causal, padded in [(False, False), (False, True), (True, True)]:
        with subtests.test(is_causal=is_causal, padded=padded):
            x = hidden(K_LEN)
            mask = real if padded else None
            heads = []
            for index in range(HEADS):
                rows = slice(index * HEAD_DIM, (index + 1) * HEAD_DIM)
                head = AttentionHead(D_MODEL, HEAD_DIM).double()
                for name in ("q_proj", "k_proj", "v_proj"):
                    getattr(head, name).weight.data = getattr(ours, name).weight.data[rows]
                    getattr(head, name).bias.data = getattr(ours, name).bias.data[rows]
                heads.append(head)
            per_head = None if mask is None else mask[:, None, :]
            all_heads = None if mask is None else mask[:, None, None, :]
            side_by_side = [head(x, attn_mask=per_head, is_causal=is_causal) for head in heads]
            output = ours(x, attn_mask=all_heads, is_causal=is_causal)
            expected = ours.out_proj(torch.cat(side_by_side, dim=-1))
            torch.testing.assert_close(output, expected, **EXACT)


def test_a_head_taken_out_is_that_head(subtests):
    for bias in [True, False]:
        with subtests.test(bias=bias):
            layer = (
                MultiHeadAttention(13, 6, num_kv_heads=2, head_dim=HEAD_DIM, bias=bias)
                .double()
                .eval()
            )
            x = hidden(Q_LEN, 13)
            side_by_side = torch.cat([layer.head(index)(x) for index in range(6)], dim=-1)
            torch.testing.assert_close(layer(x), layer.out_proj(side_by_side), **EXACT)
            assert not layer.head(0).training
            with pytest.raises(ValueError, match="head 6 is not one of 0 to 5"):
                layer.head(6)
            with pytest.raises(ValueError, match="head -1 is not one of 0 to 5"):
                layer.head(-1)


def test_one_head_is_as_wide_as_asked_and_has_projections_of_its_own():
    head = AttentionHead(768, 64)
    assert {(p.in_features, p.out_features) for p in head.children()} == {(768, 64)}
    assert not torch.equal(head.q_proj.weight, head.k_proj.weight)
    x = torch.randn(1, 5, 768)
    q, k, v = (p(x) for p in (head.q_proj, head.k_proj, head.v_proj))
    expected = ((q @ k.mT) / math.sqrt(64)).softmax(-1) @ v
    torch.testing.assert_close(head(x), expected)
    # Separate projections: no token's row of weights singles out the token itself.
    weights = ((q @ k.mT) / math.sqrt(64)).softmax(-1)
    assert weights.diagonal(dim1=1, dim2=2).max() < 0.9


def test_one_head_attends_from_queries_to_other_keys(real):
    head = AttentionHead(D_MODEL, HEAD_DIM).double()
    query, key, value = hidden(Q_LEN), hidden(K_LEN), hidden(K_LEN)
    q, k, v = head.q_proj(query), head.k_proj(key), head.v_proj(value)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=real[:, None, :])
    torch.testing.assert_close(head(query, key, value, attn_mask=real[:, None, :]), expected)


def test_width_of_heads_may_be_given_and_is_then_free_of_d_model():
    layer = MultiHeadAttention(13, 3, head_dim=HEAD_DIM)
    assert layer.q_proj.weight.shape == (21, 13)
    assert layer.out_proj.weight.shape == (13, 21)
    assert layer(torch.randn(BATCH, Q_LEN, 13)).shape == (BATCH, Q_LEN, 13)


def test_shared_keys_and_values_equal_a_layer_where_they_are_written_out():
    """Key-value head i serves the queries' heads 3i, 3i + 1 and 3i + 2."""
    shared = MultiHeadAttention(13, 6, num_kv_heads=2, head_dim=HEAD_DIM).double()
    full = MultiHeadAttention(13, 6, head_dim=HEAD_DIM).double()
    state = shared.state_dict()
    for name in ("k_proj", "v_proj"):
        for kind in ("weight", "bias"):
            first, second = state[f"{name}.{kind}"].split(HEAD_DIM)
            state[f"{name}.{kind}"] = torch.cat([first] * 3 + [second] * 3)
    full.load_state_dict(state)
    x = hidden(Q_LEN, 13)
    torch.testing.assert_close(shared(x, is_causal=True), full(x, is_causal=True), **EXACT)
    assert shared.k_proj.out_features == 2 * HEAD_DIM


def test_shared_heads_recorded_equal_those_of_the_kernel(real, subtests):
    for kv_heads, (is_causal, padded) in product(
        [6, 2, 1], [(False, False), (False, True), (True, True)]
    ):
        with subtests.test(kv_heads=kv_heads, is_causal=is_causal, padded=padded):
            layer = MultiHeadAttention(13, 6, num_kv_heads=kv_heads, head_dim=HEAD_DIM).double()
            mask = real[:, None, None, :] if padded else None
            x = hidden(K_LEN, 13)
            output = layer(x, attn_mask=mask, is_causal=is_causal)
            with record(layer):
                torch.testing.assert_close(
                    layer(x, attn_mask=mask, is_causal=is_causal), output, **EXACT
                )


@pytest.fixture
def rotary_layer():
    rotary = RotaryPositions(10, theta=500.0)
    return MultiHeadAttention(13, 6, num_kv_heads=2, head_dim=10, rotary=rotary).double()


def by_hand(layer, x, positions):
    """Each head's queries and keys turned, one head at a time."""
    heads = []
    for index in range(6):
        rows, shared = slice(10 * index, 10 * index + 10), slice(*((0, 10), (10, 20))[index // 3])
        query = layer.q_proj(x)[..., rows]
        key, value = (projection(x)[..., shared] for projection in (layer.k_proj, layer.v_proj))
        query, key = (layer.rotary(tensor, positions) for tensor in (query, key))
        heads.append(F.scaled_dot_product_attention(query, key, value, is_causal=True))
    return layer.out_proj(torch.cat(heads, dim=-1))


def test_rotary_attention_turns_queries_and_keys_and_not_values(rotary_layer):
    x, positions = hidden(Q_LEN, 13), torch.tensor([[0, 1, 2, 3, 4], [7, 3, 31, 2, 11]])
    output = rotary_layer(x, is_causal=True, position_ids=positions)
    torch.testing.assert_close(output, by_hand(rotary_layer, x, positions), **EXACT)
    output = rotary_layer(x, is_causal=True)
    torch.testing.assert_close(output, by_hand(rotary_layer, x, torch.arange(Q_LEN)), **EXACT)


def test_positions_go_on_from_the_length_of_the_cache(rotary_layer):
    rotary_layer.requires_grad_(False)
    x, cache = hidden(K_LEN, 13), KVBuffer()
    parts = [rotary_layer(part, is_causal=True, cache=cache) for part in x.split((5, 1, 5), dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), rotary_layer(x, is_causal=True), **EXACT)
    assert cache.tensors()[0].shape == (BATCH, 2, K_LEN, 10)


def test_the_place_of_the_whole_sequence_changes_nothing(rotary_layer):
    x, positions = hidden(Q_LEN, 13), torch.arange(Q_LEN)[None]
    shifted = rotary_layer(x, position_ids=positions + 19)
    torch.testing.assert_close(shifted, rotary_layer(x, position_ids=positions), rtol=0, atol=1e-5)
    spread = rotary_layer(x, position_ids=positions * 19)
    assert (spread - shifted).abs().max() > 1e-3


def test_queries_and_keys_are_recorded_turned(rotary_layer):
    x, positions = hidden(Q_LEN, 13), torch.tensor([[3, 1, 4, 15, 9]])
    with record(rotary_layer) as tape:
        output = rotary_layer(x, is_causal=True, position_ids=positions)
    key = split_heads(rotary_layer.k_proj(x), 2)
    assert torch.equal(tape["key"], rotary_layer.rotary(key, positions[:, None]))
    assert torch.equal(tape["value"], split_heads(rotary_layer.v_proj(x), 2))
    assert not torch.equal(tape["query"], split_heads(rotary_layer.q_proj(x), 6))
    expected = rotary_layer(x, is_causal=True, position_ids=positions)
    torch.testing.assert_close(output, expected, **EXACT)


def test_parameters_are_four_projections():
    count = sum(p.numel() for p in MultiHeadAttention(768, 12).parameters())
    assert count == 4 * (768 * 768 + 768)
    assert (
        sum(p.numel() for p in MultiHeadAttention(768, 12, bias=False).parameters()) == 4 * 768**2
    )


def test_dropout_acts_on_the_weights_in_training_only():
    layer = MultiHeadAttention(D_MODEL, HEADS, dropout=0.3).double()
    with torch.no_grad():
        for projection in (layer.q_proj, layer.k_proj):
            projection.weight.zero_(), projection.bias.zero_()
        layer.v_proj.weight.zero_(), layer.v_proj.bias.fill_(1.0)
        layer.out_proj.weight.copy_(torch.eye(D_MODEL)), layer.out_proj.bias.zero_()
    x = hidden(101)
    torch.testing.assert_close(layer.eval()(x), torch.ones_like(x), **EXACT)
    # Uniform weights over 101 keys, each kept with 0.7 and divided by it: sums of kept / 70.7.
    kept = layer.train()(x)[..., 0] * 101 * 0.7
    torch.testing.assert_close(kept, kept.round(), rtol=0, atol=1e-9)
    assert kept.mean().item() / 101 == pytest.approx(0.7, abs=0.02)
    assert kept.unique().numel() > 5


def test_causal_queries_are_the_last_positions(ours):
    """One head and all of them: the last rows of the whole square, as after a cache."""
    x = torch.randn(BATCH, K_LEN, D_MODEL, dtype=torch.float64)
    for attention in (ours, ours.head(2)):
        whole = attention(x, is_causal=True)
        last = attention(x[:, -Q_LEN:], x, is_causal=True)
        torch.testing.assert_close(last, whole[:, -Q_LEN:], **EXACT)


def test_heads_are_split_and_merged_in_order():
    x = torch.arange(BATCH * Q_LEN * D_MODEL, dtype=torch.float32).view(BATCH, Q_LEN, D_MODEL)
    heads = split_heads(x, HEADS)
    assert heads.shape == (BATCH, HEADS, Q_LEN, HEAD_DIM)
    assert torch.equal(heads[1, 2, 4], x[1, 4, 2 * HEAD_DIM :])
    assert torch.equal(merge_heads(heads), x)


SHARED = {"num_kv_heads": 2, "head_dim": 10}


def varied(**choices):
    """An attention of 6 heads with random biases and norms."""
    attention = MultiHeadAttention(13, 6, **SHARED, **choices).double()
    for parameter in attention.parameters():
        nn.init.normal_(parameter)
    return attention.requires_grad_(False)


def by_torch(attention, x, mask=None, is_causal=False):
    """The same with torch's norm, mask, and kernel."""
    heads = {
        name: split_heads(getattr(attention, f"{name}_proj")(x), count)
        for name, count in {"q": 6, "k": 2, "v": 2}.items()
    }
    for name in ("q", "k"):
        norm = getattr(attention, f"{name}_norm")
        if norm is not None:
            heads[name] = F.rms_norm(heads[name], (10,), norm.weight, norm.eps)
    if attention.rotary is not None:
        heads |= {name: attention.rotary(heads[name], torch.arange(K_LEN)) for name in ("q", "k")}
    output = F.scaled_dot_product_attention(
        *heads.values(), attn_mask=mask, is_causal=is_causal, enable_gqa=True
    )
    return attention.out_proj(merge_heads(output))


def test_queries_and_keys_are_normalized_before_they_are_rotated(subtests):
    for eps, rotary in product([1e-6, 0.5], [None, RotaryPositions(10)]):
        with subtests.test(eps=eps, rotary=rotary):
            attention, x = varied(qk_norm_eps=eps, rotary=rotary), hidden(K_LEN, 13)
            expected = by_torch(attention, x, is_causal=True)
            torch.testing.assert_close(attention(x, is_causal=True), expected, rtol=0, atol=1e-10)


def test_a_window(subtests):
    back = torch.arange(K_LEN)[:, None] - torch.arange(K_LEN)
    for window, eps in product([1, 3, 10, 11, 99], [None, 1e-6]):
        with subtests.test(window=window, eps=eps):
            attention, x = varied(sliding_window=window, qk_norm_eps=eps), hidden(K_LEN, 13)
            expected = by_torch(attention, x, mask=(back >= 0) & (back < window))
            torch.testing.assert_close(attention(x, is_causal=True), expected, rtol=0, atol=1e-10)


def test_queries_of_a_cached_memory_are_normalized():
    attention, memory, cache = varied(qk_norm_eps=1e-6), hidden(K_LEN, 13), KVBuffer()
    for x in hidden(Q_LEN, 13).split((2, 3), dim=1):
        output = attention(x, memory, cache=cache)
        torch.testing.assert_close(output, attention(x, memory), **EXACT)


def test_biases(subtests):
    answers = [True, False, None]
    for bias, qkv_bias, out_bias in product([True, False], answers, answers):
        with subtests.test(bias=bias, qkv_bias=qkv_bias, out_bias=out_bias):
            attention = varied(bias=bias, qkv_bias=qkv_bias, out_bias=out_bias)
            first = bias if qkv_bias is None else qkv_bias
            for name in ("q_proj", "k_proj", "v_proj"):
                assert (getattr(attention, name).bias is not None) is first
            assert (attention.out_proj.bias is not None) is (bias if out_bias is None else out_bias)


def test_names_of_the_parameters():
    weights = [f"{name}_proj.weight" for name in ("q", "k", "v", "out")]
    assert [*varied(bias=False).state_dict()] == weights
    norms = ["q_norm.weight", "k_norm.weight"]
    assert [*varied(bias=False, qk_norm_eps=1e-6).state_dict()] == weights + norms


def test_repr_names_the_sizes_and_the_window():
    text = repr(MultiHeadAttention(14, 6, num_kv_heads=2, head_dim=5, dropout=0.25))
    assert "num_heads=6, head_dim=5, num_kv_heads=2, dropout=0.25" in text
    assert "num_kv_heads=2, dropout=0.0, sliding_window=7" in repr(varied(sliding_window=7))
    assert "window" not in repr(varied())


def test_a_head_can_be_taken_out_where_only_biases_vary():
    attention = varied(qkv_bias=False)
    assert attention.head(5).k_proj.weight.equal(attention.k_proj.weight[10:])
    assert attention.head(5).q_proj.bias is None


@pytest.mark.usefixtures("unhooked")
class TestBadInput:
    def test_sizes(self, subtests):
        rows = [
            ({"d_model": 768, "num_heads": 10}, r"num_heads \(10\) must divide d_model \(768\)"),
            ({"d_model": 0, "num_heads": 1}, r"d_model \(0\) must be at least 1"),
            ({"d_model": 8, "num_heads": 0}, r"num_heads \(0\) must be at least 1"),
            ({"d_model": 8, "num_heads": 2, "head_dim": 0}, r"head_dim \(0\) must be at least 1"),
            ({"d_model": 8, "num_heads": 2, "num_kv_heads": 0}, r"num_kv_heads \(0\) must be at"),
            (
                {"d_model": 12, "num_heads": 6, "num_kv_heads": 4},
                r"num_kv_heads \(4\) must divide num_heads \(6\)",
            ),
            ({"d_model": 8, "num_heads": 2, "dropout": 1.5}, r"dropout \(1.5\) must be at least 0"),
            (
                {"d_model": 8, "num_heads": 2, "sliding_window": 0},
                r"sliding_window \(0\) must be at",
            ),
        ]
        for sizes, message in rows:
            with subtests.test(message), pytest.raises(ValueError, match=message):
                MultiHeadAttention(**sizes)
        with pytest.raises(ValueError, match=r"head_dim \(-1\) must be at least 1"):
            AttentionHead(8, -1)

    def test_inputs(self, subtests):
        rows = [
            ((2, 5, 20), None, None),
            ((5, 21), None, None),
            ((2, 0, 21), None, None),
            ((0, 5, 21), None, None),
            ((2, 5, 21), (3, 11, 21), None),
            ((2, 5, 21), (2, 11, 21), (2, 7, 21)),
        ]
        for (query, key, value), make in product(
            rows, [lambda: AttentionHead(21, 7), lambda: MultiHeadAttention(21, 3)]
        ):
            with subtests.test(query=query, key=key, value=value, make=make):
                inputs = [
                    None if shape is None else torch.ones(shape) for shape in (query, key, value)
                ]
                with pytest.raises(ValueError, match=r"\(batch, seq, 21\).*none empty.*got \("):
                    make()(*inputs)

    def test_mask_that_forgets_the_heads(self, ours, real):
        with pytest.raises(ValueError, match=r"attn_mask of shape \(2, 11\) .* padding_mask"):
            ours(hidden(K_LEN), attn_mask=real)

    def test_another_sequence_for_a_rotary_attention(self, rotary_layer):
        message = r"key of shape \(2, 11, 13\) was passed to a rotary attention"
        with pytest.raises(ValueError, match=message):
            rotary_layer(hidden(Q_LEN, 13), hidden(K_LEN, 13))

    def test_one_head_of_an_attention_that_does_more(self, rotary_layer, subtests):
        rows = [
            (rotary_layer, r"head 1 has rotary \(RotaryPositions\(10, theta=500.0.*which Att"),
            (varied(qk_norm_eps=0.5), r"head 1 has q_norm \(RMSNorm\(10, eps=0.5\)\), which Att"),
            (varied(sliding_window=3), r"head 1 has sliding_window \(3\), which AttentionHead"),
        ]
        for attention, message in rows:
            with subtests.test(message), pytest.raises(ValueError, match=message):
                attention.head(1)
