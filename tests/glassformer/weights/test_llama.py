"""Our decoder as a Llama: rotary positions, shared key-value heads, RMS norms, a gate."""

from itertools import product

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from small_models import CLOSE, VOCAB, check_gradients, small_model

from glassformer import (
    CheckpointError,
    KVCache,
    TransformerConfig,
    TransformerDecoder,
    TransformerForCausalLM,
    from_hf,
    generate,
    load,
    record,
)

BATCH, SEQ, D_MODEL, D_FF, LAYERS, HEADS = 5, 11, 84, 37, 3, 6
HEAD_DIM, POSITIONS, NEW = D_MODEL // HEADS, 61, 17
END, FILLER = 2, 7
EVERYTHING = {"output_hidden_states": True, "output_attentions": True, "use_cache": True}


def rope(theta):
    return {"rope_parameters": {"rope_type": "default", "rope_theta": theta}}


KINDS = {
    "a key head a head": {},
    "two key heads": {"num_key_value_heads": 2, "tie_word_embeddings": True},
    "one key head": {"num_key_value_heads": 1, **rope(500.0)},
    "narrow heads": {"num_key_value_heads": 2, "head_dim": 10, "rms_norm_eps": 0.1},
    "wide heads": {"num_key_value_heads": 3, "head_dim": 22, "hidden_act": "gelu_new"},
    "biases": {"num_key_value_heads": 2, "attention_bias": True, "mlp_bias": True},
}


def llama(kind="two key heads", make="LlamaForCausalLM", **changes):
    return small_model(make, std=0.15, **KINDS[kind] | changes)


@pytest.fixture
def ids():
    return torch.randint(VOCAB, (BATCH, SEQ))


@pytest.fixture
def real():
    """Rows of unequal length, padded on the left."""
    return torch.arange(SEQ) >= torch.tensor([[0], [4], [1], [10], [0]])


def test_sizes_differ():
    sizes = {BATCH, SEQ, VOCAB, D_MODEL, D_FF, LAYERS, HEADS, HEAD_DIM, POSITIONS, NEW}
    assert len(sizes) == 10


def test_logits_equal_transformers(ids, subtests):
    for kind in KINDS:
        with subtests.test(kind=kind):
            theirs = llama(kind)
            ours = from_hf(theirs)
            assert isinstance(ours, TransformerForCausalLM)
            with torch.no_grad():
                expected = theirs(ids).logits
                torch.testing.assert_close(ours(ids), expected, **CLOSE)
                torch.testing.assert_close(ours(ids, last_only=True), expected[:, -1:], **CLOSE)


def test_body_equals_transformers(ids, subtests):
    for kind in KINDS:
        with subtests.test(kind=kind):
            theirs = llama(kind, "LlamaModel")
            ours = from_hf(theirs)
            assert isinstance(ours, TransformerDecoder)
            with torch.no_grad():
                torch.testing.assert_close(ours(ids), theirs(ids).last_hidden_state, **CLOSE)


def test_every_hidden_state_attention_and_turned_key_is_equal(ids, subtests):
    for kind in KINDS:
        with subtests.test(kind=kind):
            theirs = llama(kind, "LlamaModel", attn_implementation="eager")
            ours = from_hf(theirs)
            with torch.no_grad(), record(ours) as tape:
                ours(ids)
                expected = theirs(ids, **EVERYTHING)
            *states, _ = expected.hidden_states  # the last one is normalised there
            for our, their in zip(tape.hidden_states, states, strict=False):
                torch.testing.assert_close(our, their, **CLOSE)
            for our, their in zip(tape.attentions, expected.attentions, strict=True):
                torch.testing.assert_close(our, their, **CLOSE)
            for number, layer in enumerate(expected.past_key_values.layers):
                ours = [tape[f"layers.{number}.attention.{kept}"] for kept in ("key", "value")]
                torch.testing.assert_close(ours, [layer.keys, layer.values], **CLOSE)


def test_left_padding_equals_transformers_with_positions_that_skip_it(ids, real, subtests):
    for kind in KINDS:
        with subtests.test(kind=kind):
            theirs = llama(kind)
            positions = (real.long().cumsum(1) - 1).clamp(min=0)
            with torch.no_grad():
                expected = theirs(ids, attention_mask=real.long(), position_ids=positions).logits
                logits = from_hf(theirs)(ids, real.long())
            torch.testing.assert_close(logits[real], expected[real], **CLOSE)


def test_a_row_padded_on_the_left_gives_what_it_gives_alone(ids, real):
    model = from_hf(llama())
    with torch.no_grad():
        logits = model(ids, real)
        torch.testing.assert_close(logits[1:2, 4:], model(ids[1:2, 4:]), **CLOSE)


def test_far_positions_turn_by_the_same_angle():
    theirs = llama(max_position_embeddings=4001)
    ids = torch.randint(VOCAB, (1, 4001))
    with torch.no_grad():
        torch.testing.assert_close(from_hf(theirs)(ids), theirs(ids).logits, **CLOSE)


def test_gradients_equal(ids, subtests):
    for kind in KINDS:
        with subtests.test(kind=kind):
            theirs = llama(kind)
            ours = from_hf(theirs)
            for logits in (theirs(ids).logits, ours(ids)):
                logits.square().mean().backward()
            check_gradients(ours, theirs, 2e-5)


def test_writes_token_for_token_as_transformers(ids, real, subtests):
    for end, (number, kind) in product([None, END], enumerate(KINDS)):
        with subtests.test(end=end, kind=kind):
            theirs = llama(kind)
            given = {"attention_mask": real.long(), "max_new_tokens": NEW, "pad_token_id": FILLER}
            given |= {"eos_token_id": end, "use_cache": number % 2 == 0}
            expected = theirs.generate(ids, **given, do_sample=False)
            assert generate(from_hf(theirs), ids, **given).tolist() == expected.tolist()


def test_in_bfloat16_it_is_as_close_to_the_exact_model_as_theirs(ids):
    theirs = llama()
    with torch.no_grad():
        exact = from_hf(theirs)(ids)
        half = theirs.bfloat16()
        errors = [
            (model(ids) - exact).square().mean().sqrt()
            for model in (from_hf(half), lambda given: half(given).logits)
        ]
    assert from_hf(half)(ids).dtype == torch.bfloat16
    assert 0 < errors[0] < 1.2 * errors[1]


def test_bytes_of_the_cache_by_key_value_heads(ids):
    for kv_heads in (6, 3, 2, 1):
        model, cache = from_hf(llama(num_key_value_heads=kv_heads)), KVCache()
        with torch.no_grad():
            model(ids, cache=cache)
        # keys and values, in float32
        assert cache.nbytes == 2 * 4 * LAYERS * BATCH * kv_heads * SEQ * HEAD_DIM


def test_with_a_cache_in_pieces_as_at_once(ids, real):
    model, cache = from_hf(llama()), KVCache()
    with torch.no_grad():
        whole = model(ids, real)
        ends = (3, 4, 9, SEQ)
        parts = [
            model(ids[:, start:end], real[:, :end], cache)
            for start, end in zip((0, *ends), ends, strict=False)
        ]
    torch.testing.assert_close(torch.cat(parts, dim=1)[real], whole[real], **CLOSE)


def test_load_equals_from_hf(ids, tmp_path, subtests):
    for kind, make in product(KINDS, ["LlamaForCausalLM", "LlamaModel"]):
        with subtests.test(kind=kind, make=make):
            theirs = llama(kind, make)
            theirs.save_pretrained(tmp_path)
            with torch.no_grad():
                assert load(tmp_path)(ids).equal(from_hf(theirs)(ids))


def test_load_from_several_files(ids, tmp_path):
    theirs = llama()
    theirs.save_pretrained(tmp_path, max_shard_size="40KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 2
    with torch.no_grad():
        assert load(tmp_path)(ids).equal(from_hf(theirs)(ids))


def test_the_last_map_is_the_table_of_tokens_where_it_is_tied():
    for tied in (True, False):
        model = from_hf(llama(tie_word_embeddings=tied))
        assert (model.lm_head.weight is model.decoder.embeddings.tokens.weight) is tied


def test_missing_and_unexpected_weights_are_listed(tmp_path):
    llama(tie_word_embeddings=False).save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    weights["model.layers.0.self_attn.z_proj.weight"] = weights.pop(
        "model.layers.0.self_attn.k_proj.weight"
    )
    del weights["lm_head.weight"]
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"missing: lm_head\.weight") as error:
        load(tmp_path)
    message = str(error.value)
    assert "missing: model.layers.0.self_attn.k_proj.weight" in message
    assert "unexpected: model.layers.0.self_attn.z_proj.weight" in message


def test_frequencies_of_old_checkpoints_are_knowingly_unused(ids, tmp_path):
    theirs = llama()
    theirs.save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    for layer in range(LAYERS):
        weights[f"model.layers.{layer}.self_attn.rotary_emb.inv_freq"] = torch.zeros(HEAD_DIM // 2)
    save_file(weights, tmp_path / "model.safetensors")
    with torch.no_grad():
        assert load(tmp_path)(ids).equal(from_hf(theirs)(ids))


def test_defaults_are_those_of_transformers():
    expected = TransformerConfig.from_hf({"model_type": "llama"})
    written_out = {"num_kv_heads": 32, "head_dim": 128}  # as LlamaConfig does
    live = TransformerConfig.from_hf(transformers.LlamaConfig())
    assert {name: getattr(live, name) for name in written_out} == written_out
    for name in vars(expected):
        assert name in written_out or getattr(live, name) == getattr(expected, name), name


def test_fields_are_taken_over_by_their_names_here():
    theirs = llama("narrow heads", **rope(500.0), attention_dropout=0.25).config
    assert TransformerConfig.from_hf(theirs) == TransformerConfig(
        vocab_size=VOCAB,
        d_model=D_MODEL,
        num_heads=HEADS,
        num_kv_heads=2,
        head_dim=10,
        num_layers=LAYERS,
        d_ff=D_FF,
        activation="silu",
        gated=True,
        norm="rms",
        norm_eps=0.1,
        norm_first=True,
        positions="rotary_halves",
        max_positions=POSITIONS,
        rope_theta=500.0,
        embedding_norm=False,
        num_token_types=0,
        dropout=0.0,
        attn_dropout=0.25,
        bias=False,
        tie_embeddings=False,
        pad_token_id=None,
    )


def test_the_base_of_the_frequencies_is_found_wherever_it_stands():
    everywhere = [
        {"rope_theta": 500.0},
        {"rope_theta": 500.0, "rope_scaling": None},
        {"rope_parameters": {"rope_theta": 500.0}},
        {"rope_theta": 500.0, "rope_parameters": {"rope_type": "default"}},
        {"rope_theta": 500.0, "rope_scaling": {"type": "default"}},
        rope(500.0) | {"rope_theta": 500.0},
    ]
    for given in everywhere:
        config = TransformerConfig.from_hf({"model_type": "llama", **given})
        assert config.rope_theta == 500.0, given


def test_what_is_not_built_is_refused(subtests):
    rows = [
        ({"rope_scaling": {"type": "longrope"}}, r"rope_type \('longrope'\) is not honored"),
        (
            {"rope_parameters": {"rope_theta": 1e4, "partial_rotary_factor": 0.5}},
            r"partial_rotary_factor \(0.5\) is not honored for llama",
        ),
        (
            {"rope_theta": 1e4} | rope(500.0),
            r"rope_theta \(10000.0\) and rope_parameters.rope_theta \(500.0\) must be equal",
        ),
        ({"sliding_window": 4096}, r"sliding_window \(4096\) is not honored for llama"),
        ({"layer_types": ["full_attention"]}, r"layer_types \(.*\) is not honored for llama"),
        ({"attention_bias": True, "mlp_bias": False}, r"mlp_bias \(False\) and attention_bias"),
        ({"hidden_act": "mish"}, r"hidden_act \('mish'\) must be one of gelu,"),
        ({"head_dim": 7}, r"head_dim \(7\) must be even: positions \('rotary_halves'\)"),
    ]
    for changes, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            TransformerConfig.from_hf({"model_type": "llama", **changes})
