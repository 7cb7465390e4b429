"""Llama, and Mistral, Qwen2 and Qwen3, each a switch or two on its block: as in transformers."""

import random
from itertools import product

import pytest
import torch
from small_models import (
    SEEDS,
    SIZES,
    TOLERANCE,
    VOCAB,
    answer,
    check_gradients,
    keep_norms_exact,
    small_model,
)

from glassformer import (
    KVCache,
    TransformerConfig,
    TransformerDecoder,
    TransformerForCausalLM,
    from_hf,
    generate,
    load,
    record,
)
from glassformer.layers.sliding_window import SlidingWindowCache

BODIES = {
    **{"llama": "LlamaModel", "mistral": "MistralModel", "qwen2": "Qwen2Model"},
    "qwen3": "Qwen3Model",
}
WRITERS = {kind: body.replace("Model", "ForCausalLM") for kind, body in BODIES.items()}
BATCH, SEQ, NEW, END, FILLER = 5, 11, 17, 2, 7


@pytest.fixture(autouse=True)
def exact_norms(monkeypatch):
    keep_norms_exact(monkeypatch)


def draw(kind, seed):
    """A configuration whose sizes all differ; the seed goes through what a family can choose."""
    chance = random.Random(f"{kind} {seed}")
    kv_heads, group = chance.choice([(1, 3), (2, 3), (3, 2), (5, 1), (2, 2)])
    head_dim, d_ff, layers = (
        2 * chance.choice([5, 7, 11]),
        chance.choice([37, 41, 53]),
        2 + seed % 2,
    )
    config = {
        "num_attention_heads": kv_heads * group,
        "num_key_value_heads": kv_heads,
        "num_hidden_layers": layers,
        "hidden_size": kv_heads * group * 2 * chance.choice([3, 4]),
        "intermediate_size": d_ff,
        "vocab_size": VOCAB,
        "max_position_embeddings": 61,
        "hidden_act": ("silu", "gelu_new", "relu")[seed % 3],
        "rms_norm_eps": (1e-6, 1e-5, 1e-2)[seed // 2],
        "rope_parameters": {"rope_type": "default", "rope_theta": (10000.0, 500.0)[seed % 2]},
        "tie_word_embeddings": seed % 3 == 1,
        "pad_token_id": (None, FILLER)[seed % 2],
        "eos_token_id": None,
    }
    if kind == "llama":
        config |= dict.fromkeys(("attention_bias", "mlp_bias"), seed in (1, 4))
    if kind == "mistral":
        config["sliding_window"] = (3, 2, 5, 10, 60, None)[seed]
    if kind != "qwen2" and seed % 2:
        config["head_dim"] = head_dim
    if kind == "qwen3":
        config |= {"attention_bias": seed in (1, 4), "head_dim": head_dim}
    return config


def pair(kind, seed, dtype=torch.float32, make=WRITERS):
    theirs = small_model(make[kind], std=0.15, **draw(kind, seed)).to(dtype)
    return theirs, from_hf(theirs)


@pytest.fixture
def ids():
    return torch.randint(VOCAB, (BATCH, SEQ))


@pytest.fixture
def real():
    """Rows of unequal length, padded on the left."""
    return torch.arange(SEQ) >= torch.tensor([[0], [4], [1], [10], [0]])


def test_outputs_equal(ids, tmp_path, subtests):
    for kind, (seed, dtype) in product(WRITERS, SEEDS):
        with subtests.test(kind=kind, seed=seed, dtype=dtype):
            theirs, ours = pair(kind, seed, dtype)
            assert type(ours) is TransformerForCausalLM
            theirs.save_pretrained(tmp_path)
            with torch.no_grad():
                output, expected = ours(ids), answer(theirs, ids)
                assert output.dtype == dtype
                assert (output - expected).abs().max() < TOLERANCE[dtype]
                assert load(tmp_path)(ids).equal(output)


def test_padding_on_the_left_takes_no_position(ids, real, subtests):
    for kind, (seed, dtype) in product(WRITERS, SEEDS):
        with subtests.test(kind=kind, seed=seed, dtype=dtype):
            theirs, ours = pair(kind, seed, dtype)
            positions = (real.long().cumsum(1) - 1).clamp(min=0)
            with torch.no_grad():
                expected = theirs(ids, attention_mask=real.long(), position_ids=positions).logits
                assert (ours(ids, real.long()) - expected)[real].abs().max() < TOLERANCE[dtype]


def test_gradients_equal(ids, subtests):
    for kind, (seed, dtype) in product(WRITERS, SEEDS):
        with subtests.test(kind=kind, seed=seed, dtype=dtype):
            theirs, ours = pair(kind, seed, dtype)
            for logits in (theirs(ids).logits, ours(ids)):
                logits.square().mean().backward()
            check_gradients(ours, theirs, TOLERANCE[dtype])


def test_every_hidden_state_attention_and_turned_key_is_equal(ids, subtests):
    for kind, seed in product(WRITERS, range(6)):
        with subtests.test(kind=kind, seed=seed):
            theirs, _ = pair(kind, seed, torch.float64, BODIES)
            theirs.set_attn_implementation("eager")
            ours = from_hf(theirs)
            close = {"rtol": 0.0, "atol": 2e-6}  # theirs takes the softmax in float32
            with torch.no_grad(), record(ours) as tape:
                output = ours(ids)
                expected = theirs(
                    ids, output_hidden_states=True, output_attentions=True, use_cache=True
                )
            assert type(ours) is TransformerDecoder
            torch.testing.assert_close(output, expected.last_hidden_state, **close)
            *states, _ = expected.hidden_states  # the last one is normalized there
            for our, their in zip(tape.hidden_states, states, strict=False):
                torch.testing.assert_close(our, their, **close)
            for our, their in zip(tape.attentions, expected.attentions, strict=True):
                torch.testing.assert_close(our, their.double(), **close)
            for number, layer in enumerate(expected.past_key_values.layers):
                kept = layer.keys.shape[2]  # of a window, the last ones
                key = tape[f"layers.{number}.attention.key"][:, :, SEQ - kept :]
                torch.testing.assert_close(key, layer.keys, **close)


def test_with_a_cache_in_pieces_as_at_once(ids, real, subtests):
    for kind, (seed, dtype) in product(WRITERS, SEEDS):
        with subtests.test(kind=kind, seed=seed, dtype=dtype):
            _, model = pair(kind, seed, dtype)
            caches = [KVCache()]
            if model.config.sliding_window is not None:
                caches.append(SlidingWindowCache())
            with torch.no_grad():
                whole, ends = model(ids, real), (3, 4, 9, SEQ)
                for cache in caches:
                    parts = [
                        model(ids[:, start:end], real[:, :end], cache)
                        for start, end in zip((0, *ends), ends, strict=False)
                    ]
                    assert (torch.cat(parts, dim=1) - whole)[real].abs().max() < TOLERANCE[dtype]


def test_writes_token_for_token_as_transformers(ids, real, subtests):
    cases = [(1, 1), (2, 1), (5, 1), (2, 3)]
    for kind, (seed, beams) in product(WRITERS, cases):
        with subtests.test(kind=kind, seed=seed, beams=beams):
            theirs, ours = pair(kind, seed)
            given = {"attention_mask": real.long(), "max_new_tokens": NEW, "pad_token_id": FILLER}
            given |= {"eos_token_id": (None, END)[seed % 2], "use_cache": seed // 2 != 1}
            given |= {"num_beams": beams}
            expected = theirs.generate(ids, **given, do_sample=False)
            assert generate(ours, ids, **given).tolist() == expected.tolist()


def test_switches_that_make_a_family():
    """What differs from a Llama of the same sizes, and nothing else."""
    kinds = ("llama", "mistral", "qwen2", "qwen3")
    sizes = {**SIZES["llama"], "num_key_value_heads": 2, "head_dim": 10}
    read = {kind: TransformerConfig.from_hf({"model_type": kind, **sizes}) for kind in kinds}
    differs = {
        kind: {
            name: value
            for name, value in vars(config).items()
            if value != getattr(read["llama"], name)
        }
        for kind, config in read.items()
    }
    assert differs == {
        "llama": {},
        "mistral": {"sliding_window": 4096},
        "qwen2": {"qkv_bias": True},
        "qwen3": {"qk_norm": True},
    }


def test_a_window_that_nobody_uses_has_no_effect():
    given = {"model_type": "qwen2", "sliding_window": 7, "use_sliding_window": False}
    assert TransformerConfig.from_hf(given).sliding_window is None
