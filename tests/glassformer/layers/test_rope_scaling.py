"""Scaled rotary positions against those of transformers, in models and alone."""

from dataclasses import replace
from itertools import product

import pytest
import torch
import transformers
from small_models import SIZES, TOLERANCE, keep_norms_exact, randomized, small_config

from glassformer import KVCache, RotaryPositions, TransformerConfig, from_hf
from glassformer.layers.rope_scaling import (
    SCALINGS,
    LinearScaling,
    RopeScaling,
    rotary_positions,
)

BATCH, SHORT, LONG, ORIGINAL, LONGEST, VOCAB, NEW = 5, 13, 53, 31, 127, 101, 23
LLAMA3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
KINDS = {
    "linear": {"rope_type": "linear", "factor": 2.5},
    "dynamic": {"rope_type": "dynamic", "factor": 3.0},
    "llama3": {"rope_type": "llama3", "factor": 8.0, **LLAMA3},
    "yarn": {"rope_type": "yarn", "factor": 4.0},
    "yarn, magnitude": {"rope_type": "yarn", "factor": 4.0, "attention_factor": 1.5},
    "yarn, bounds": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 2.0, "beta_slow": 0.25},
    "yarn, bounds between pairs": {
        **{"rope_type": "yarn", "factor": 4.0, "truncate": False},
        **{"beta_fast": 2.0, "beta_slow": 0.25},
    },
    "yarn, two slopes": {
        **{"rope_type": "yarn", "factor": 40.0, "mscale": 0.5, "mscale_all_dim": 0.25}
    },
    "yarn, one pair": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 1e9, "beta_slow": 1e8},
}


CASES = [*((kind, torch.float64) for kind in KINDS), ("llama3", torch.float32)]


def parameters(kind):
    """Return the field `rope_parameters` of transformers."""
    given = {"rope_theta": 700.0, **KINDS[kind]}
    if kind in ("linear", "dynamic"):
        return given
    return {**given, "original_max_position_embeddings": ORIGINAL}


def sizes(kind):
    longest = ORIGINAL if kind == "dynamic" else LONGEST
    return {"num_key_value_heads": 2, "max_position_embeddings": longest, "hidden_size": 84}


def config_of(kind, **changes):
    given = {**sizes(kind), "rope_parameters": parameters(kind), **changes}
    return small_config("LlamaForCausalLM", **given)


@pytest.fixture(autouse=True)
def exact_norms(monkeypatch):
    keep_norms_exact(monkeypatch)


def llama(kind, dtype=torch.float32):
    return randomized(transformers.LlamaForCausalLM(config_of(kind)), std=0.15).to(dtype)


def close(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=TOLERANCE[ours.dtype])


def padded(seq):
    """Return which tokens are real, in rows of unequal length, padded on the left."""
    return torch.arange(seq) >= torch.tensor([[2], [4], [3], [seq - 1], [5]])


def places(real):
    return (real.long().cumsum(1) - 1).clamp(min=0)


def test_each_kind_of_transformers_that_is_built_is_compared():
    assert {given["rope_type"] for given in KINDS.values()} == SCALINGS.keys()
    assert len({BATCH, SHORT, LONG, ORIGINAL, LONGEST, VOCAB, NEW}) == 7


def test_logits_equal(subtests):
    for (kind, dtype), seq in product(CASES, [SHORT, LONG]):
        with subtests.test(kind=kind, dtype=dtype, seq=seq):
            theirs = llama(kind, dtype)
            ids = torch.randint(VOCAB, (BATCH, seq))
            with torch.no_grad():
                logits = from_hf(theirs)(ids)
                close(logits, theirs(ids).logits)
                theirs.config.rope_parameters = {"rope_type": "default", "rope_theta": 700.0}
                unscaled = transformers.LlamaForCausalLM(theirs.config).to(dtype).eval()
                unscaled.load_state_dict(theirs.state_dict())
                changed = (unscaled(ids).logits - logits).abs().max() > 1e-3
            assert changed == (kind != "dynamic" or seq == LONG)


def test_logits_equal_with_a_cache_past_the_original_length(subtests):
    for kind, dtype in CASES:
        with subtests.test(kind=kind, dtype=dtype):
            theirs, real = llama(kind, dtype), padded(LONG)
            ours, cache, kept = from_hf(theirs), KVCache(), None
            ids, at = torch.randint(VOCAB, (BATCH, LONG)), places(real)
            ends = (SHORT, ORIGINAL - 1, ORIGINAL + 2, ORIGINAL + 3, ORIGINAL + 9, LONG)
            with torch.no_grad():
                for start, end in zip((0, *ends), ends, strict=False):
                    mask, rows = real[:, :end].long(), real[:, start:end]
                    given = {"attention_mask": mask, "past_key_values": kept, "use_cache": True}
                    expected = theirs(ids[:, start:end], position_ids=at[:, start:end], **given)
                    kept = expected.past_key_values
                    close(ours(ids[:, start:end], mask, cache)[rows], expected.logits[rows])


def test_dynamic_frequencies_depend_on_what_was_read_before_as_in_transformers():
    theirs, other = llama("dynamic", torch.float64), llama("dynamic", torch.float64)
    ours, ids = from_hf(theirs), torch.randint(VOCAB, (BATCH, LONG))
    other(ids)
    if other.model.rotary_emb.max_seq_len_cached != LONG:
        pytest.skip("this transformers keeps the longest length under a wrong name, and forgets it")
    lengths = (ORIGINAL, 37, LONG, 37, ORIGINAL, SHORT, ORIGINAL, 37)
    found = []
    with torch.no_grad():
        for length in lengths:
            found.append(ours(ids[:, :length]))
            close(found[-1], theirs(ids[:, :length]).logits)
    assert found[1].equal(found[7])  # read after a text no longer than those of training
    assert not found[1].equal(found[3])  # read after a longer one
    assert found[0].equal(found[6])
    assert not found[0].equal(found[4])


def test_frequencies_equal_to_the_last_bit(subtests):
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    for kind, head_dim in product(KINDS, [6, 14, 64]):
        with subtests.test(kind=kind, head_dim=head_dim):
            config = config_of(kind, head_dim=head_dim)
            there = LlamaRotaryEmbedding(config)
            scaling = TransformerConfig.from_hf(config).rope_scaling
            assert scaling.frequencies(head_dim, 700.0).equal(there.inv_freq)
            assert scaling.magnitude == there.attention_scaling


def test_both_pairings_are_scaled_alike():
    x, at = torch.randn(BATCH, SHORT, 14), torch.arange(SHORT) * 6
    for pairing in ({"interleaved": True}, {"interleaved": False}):
        rotary = rotary_positions(14, LinearScaling(factor=3.0), theta=700.0, **pairing)
        plain = RotaryPositions(14, theta=700.0, **pairing)
        torch.testing.assert_close(rotary(x, at), plain(x, at // 3), rtol=0, atol=2e-5)


def test_frequencies_stay_as_they_are_when_a_model_changes_its_type(subtests):
    for kind in KINDS:
        with subtests.test(kind=kind):
            scaling = TransformerConfig.from_hf(config_of(kind)).rope_scaling
            rotary = rotary_positions(14, scaling, theta=700.0, interleaved=False)
            x, at = torch.randn(BATCH, LONG, 14), torch.arange(LONG)
            expected = rotary(x.bfloat16(), at)
            assert rotary.bfloat16()(x.bfloat16(), at).equal(expected)
            assert rotary.frequencies.dtype == torch.float32
            assert not rotary.state_dict()
            assert rotary.to_empty(device="cpu")(x.bfloat16(), at).equal(expected)


def test_both_spellings_of_a_config_mean_the_same(subtests):
    for kind, spelling in product(KINDS, ["rope_parameters", "rope_scaling", "type"]):
        with subtests.test(kind=kind, spelling=spelling):
            expected = TransformerConfig.from_hf(config_of(kind))
            assert type(expected.rope_scaling) is SCALINGS[KINDS[kind]["rope_type"]]
            given = parameters(kind)
            del given["rope_theta"]
            if spelling == "type":
                given["type"] = given.pop("rope_type")
            holder = "rope_parameters" if spelling == "rope_parameters" else "rope_scaling"
            written = {**SIZES["llama"], **sizes(kind), "rope_theta": 700.0, holder: given}
            from_file = TransformerConfig.from_hf({"model_type": "llama", **written})
            assert from_file == replace(expected, head_dim=None)
            assert TransformerConfig.from_hf(transformers.LlamaConfig(**written)) == expected


def from_rope(**given):
    sizes = {"model_type": "llama", "max_position_embeddings": 124}
    return TransformerConfig.from_hf({**sizes, "rope_scaling": given})


def test_the_length_of_training_may_stand_beside_or_be_left_out():
    given = {"rope_type": "llama3", "factor": 8.0, **LLAMA3}
    assert from_rope(**given).rope_scaling.original_max_positions == 124
    beside = {"model_type": "llama", "original_max_position_embeddings": 31}
    config = TransformerConfig.from_hf({**beside, "rope_scaling": given})
    assert config.rope_scaling.original_max_positions == 31


def test_generation_may_go_on_to_the_length_that_the_factor_reaches(subtests):
    for kind in ["linear", "dynamic"]:
        with subtests.test(kind=kind):
            assert from_rope(rope_type=kind, factor=2.5).max_positions == 310


def test_yarn_knows_its_factor_from_the_lengths():
    given = {"rope_type": "yarn", "factor": None, "original_max_position_embeddings": 31}
    assert from_rope(**given).rope_scaling.factor == 4.0


def test_what_a_kind_does_not_read_is_ignored_by_its_full_name():
    with pytest.warns(UserWarning, match=r"no field rope_scaling\.low_freq_factor$"):
        config = from_rope(rope_type="linear", factor=2.0, low_freq_factor=1.0)
    assert config.rope_scaling == LinearScaling(factor=2.0)


def test_what_cannot_be_built_is_refused(subtests):
    rows = [
        (
            {"rope_type": "longrope"},
            r"rope_type \('longrope'\) .* builds only 'default', 'linear', ",
        ),
        ({"rope_type": "linear"}, r"rope_type \('linear'\) needs factor: the config has none"),
        ({"rope_type": "llama3", "factor": 8.0}, r"needs low_freq_factor, high_freq_factor: "),
        ({"rope_type": "linear", "factor": 0.0}, r"factor \(0.0\) must be more than 0"),
        (
            {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 4, "high_freq_factor": 4},
            r"low_freq_factor \(4.0\) must be less than high_freq_factor \(4.0\)",
        ),
        (
            {"rope_type": "linear", "type": "dynamic"},
            r"rope_scaling.rope_type \('linear'\) and rope_scaling.type \('dynamic'\) must be",
        ),
    ]
    for given, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            from_rope(**given)


def test_scaling_without_rotary_positions_is_refused():
    with pytest.raises(ValueError, match=r"rope_scaling \(Linear.*\) needs rotary .* 'learned'"):
        TransformerConfig(rope_scaling=LinearScaling(factor=2.0))


def test_a_scaling_says_its_own_frequencies():
    with pytest.raises(NotImplementedError, match="RopeScaling"):
        RopeScaling(factor=2.0).frequencies(14, 700.0)
