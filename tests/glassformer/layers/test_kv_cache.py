import copy
from dataclasses import replace

import pytest
import torch

from glassformer import KVCache, MultiHeadAttention, TransformerConfig
from glassformer.layers.kv_cache import KVBuffer
from glassformer.models.decoder import TransformerDecoder

BATCH, SEQ, MEMORY, HEADS, HEAD_DIM = 3, 7, 5, 2, 11
D_MODEL = HEADS * HEAD_DIM
CONFIG = TransformerConfig(
    vocab_size=29,
    d_model=D_MODEL,
    num_heads=HEADS,
    num_layers=2,
    d_ff=13,
    max_positions=17,
    num_token_types=0,
)
EXACT = {"rtol": 0.0, "atol": 1e-13}


@pytest.fixture
def attention():
    return MultiHeadAttention(D_MODEL, HEADS).double().requires_grad_(False)


@pytest.fixture
def decoder():
    return TransformerDecoder(CONFIG).double().eval().requires_grad_(False)


def keys(length, batch=BATCH, heads=HEADS, head_dim=HEAD_DIM):
    return torch.randn(batch, heads, length, head_dim)


def hidden(seq, batch=BATCH):
    return torch.randn(batch, seq, D_MODEL, dtype=torch.float64)


def test_what_was_written_is_given_back_in_order():
    cache, pieces = KVBuffer(), [(keys(n), keys(n)) for n in (2, 1, 1, 5, 1)]
    for key, value in pieces:
        given = cache.append(key, value)
    for side in (0, 1):
        assert given[side].equal(torch.cat([piece[side] for piece in pieces], dim=2))
        assert cache.tensors()[side].equal(given[side])
    assert cache.length == 10


def test_a_token_costs_a_write_and_seldom_a_copy():
    cache, buffers = KVBuffer(), set()
    for _ in range(64):
        cache.append(keys(1), keys(1))
        buffers.add(cache.tensors()[0].data_ptr())
    assert len(buffers) <= 7  # 1, 2, 4, ... 64


def test_attention_in_pieces_equals_attention_at_once(attention, subtests):
    for pieces in [(1,) * SEQ, (3, 4), (2, 1, 4), (SEQ,)]:
        with subtests.test(pieces=pieces):
            x, cache = hidden(SEQ), KVBuffer()
            parts = [attention(one, is_causal=True, cache=cache) for one in x.split(pieces, dim=1)]
            whole = attention(x, is_causal=True)
            torch.testing.assert_close(torch.cat(parts, dim=1), whole, **EXACT)


def test_shared_key_value_heads_are_kept_once():
    attention = MultiHeadAttention(D_MODEL, HEADS, num_kv_heads=1).requires_grad_(False)
    x, cache = hidden(SEQ).float(), KVBuffer()
    output = attention(x, is_causal=True, cache=cache)
    assert cache.tensors()[0].shape == (BATCH, 1, SEQ, HEAD_DIM)
    torch.testing.assert_close(output, attention(x, is_causal=True))


def test_a_memory_is_projected_once(attention):
    memory, cache = hidden(MEMORY), KVBuffer()
    first = attention(hidden(2), memory, cache=cache)
    assert first.shape == (BATCH, 2, D_MODEL)
    query = hidden(1)
    expected = attention(query, memory)
    for projection in (attention.k_proj, attention.v_proj):
        projection.register_forward_hook(lambda *_: pytest.fail("projected again"))
    torch.testing.assert_close(attention(query, memory, cache=cache), expected, **EXACT)
    assert cache.length == MEMORY


def test_bytes_by_formula(decoder):
    cache = KVCache()
    assert cache.nbytes == 0
    decoder(torch.ones(BATCH, SEQ, dtype=torch.long), cache=cache)
    # keys and values, in float64, of two layers
    assert cache.nbytes == 2 * 8 * 2 * BATCH * HEADS * SEQ * HEAD_DIM


def test_reordered_rows_go_on_as_those_they_came_from_with_their_memory(subtests):
    for cross_attention in [False, True]:
        with subtests.test(cross_attention=cross_attention):
            config = replace(CONFIG, cross_attention=cross_attention)
            decoder = TransformerDecoder(config).double().eval().requires_grad_(False)
            ids, rows = torch.randint(1, 29, (BATCH, SEQ)), torch.tensor([2, 0, 2, 1, 1])
            memory, cache = hidden(MEMORY) if cross_attention else None, KVCache()
            decoder(ids[:, :-1], memory=memory, cache=cache)
            cache.reorder(rows)
            moved = None if memory is None else memory[rows]
            output = decoder(ids[rows, -1:], memory=moved, cache=cache)
            expected = decoder(ids[rows], memory=moved)[:, -1:]
            torch.testing.assert_close(output, expected, **EXACT)


@pytest.mark.usefixtures("unhooked")
class TestBadInput:
    def test_rows_that_are_not_there(self, decoder):
        cache = KVCache()
        decoder(torch.ones(BATCH, 1, dtype=torch.long), cache=cache)
        for rows in [[0, 3], [-1, 0]]:
            with pytest.raises(ValueError, match=r"are not all rows of a batch of 3") as error:
                cache.reorder(torch.tensor(rows))
            assert str(rows) in str(error.value)
        with pytest.raises(ValueError, match=r"\[0\] are not all rows of a batch of 0"):
            KVCache().reorder(torch.tensor([0]))

    def test_keys_of_another_batch_or_model(self):
        cache = KVBuffer()
        cache.append(keys(2), keys(2))
        for other in [{"batch": 2}, {"heads": 5}, {"head_dim": 13}]:
            with pytest.raises(ValueError, match=r"holds .* = \(3, 2, 11\), but the new keys are"):
                cache.append(keys(1, **other), keys(1, **other))
            assert cache.length == 2

    def test_the_cache_of_another_model(self, decoder):
        cache = KVCache()
        ids = torch.ones(BATCH, 3, dtype=torch.long)
        decoder(ids, cache=cache)
        with pytest.raises(ValueError, match=r"another model: it holds 3 tokens .* with 2 layers"):
            copy.deepcopy(decoder)(ids, cache=cache)

    def test_another_memory(self, attention):
        cache = KVBuffer()
        attention(hidden(1), hidden(MEMORY), cache=cache)
        for batch, length in [(BATCH, 4), (2, MEMORY)]:
            with pytest.raises(
                ValueError, match=rf"\(3, 5\), but got one of \({batch}, {length}\)"
            ):
                attention(hidden(1, batch), hidden(length, batch), cache=cache)

    def test_gradients(self):
        attention = MultiHeadAttention(D_MODEL, HEADS)
        with pytest.raises(ValueError, match=r"keeps no gradients.*torch\.no_grad"):
            attention(hidden(2).float(), is_causal=True, cache=KVBuffer())
