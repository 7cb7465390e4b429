from itertools import product

import pytest
import torch
import transformers
from safetensors.torch import save_file
from small_models import CLOSE, SIZES, VOCAB, small_config, small_model

from glassformer import (
    CheckpointError,
    TransformerConfig,
    TransformerForCausalLM,
    from_hf,
    generate,
    load,
)
from glassformer.models.decoder import TransformerDecoder

BATCH, SEQ, D_MODEL, NEW = 3, 11, 35, 17


@pytest.fixture
def ids():
    return torch.randint(VOCAB, (BATCH, SEQ))


def test_sizes_differ():
    sizes = [v for k, v in SIZES["gpt2"].items() if k not in ("bos_token_id", "eos_token_id")]
    sizes += [BATCH, SEQ, NEW, 4 * D_MODEL, D_MODEL // SIZES["gpt2"]["n_head"]]
    assert len(set(sizes)) == len(sizes)


def test_language_model_equals_transformers(ids, subtests):
    rows = [
        {},
        {"n_inner": 41, "activation_function": "relu", "layer_norm_epsilon": 0.1},
        {"tie_word_embeddings": False},
    ]
    for changes in rows:
        with subtests.test(changes=changes):
            theirs = small_model("GPT2LMHeadModel", **changes)
            ours = from_hf(theirs)
            assert isinstance(ours, TransformerForCausalLM)
            with torch.no_grad():
                torch.testing.assert_close(ours(ids), theirs(ids).logits, **CLOSE)
                torch.testing.assert_close(
                    ours(ids, last_only=True), theirs(ids).logits[:, -1:], **CLOSE
                )


def test_body_equals_transformers(ids):
    theirs = small_model("GPT2Model")
    ours = from_hf(theirs)
    assert isinstance(ours, TransformerDecoder)
    with torch.no_grad():
        torch.testing.assert_close(ours(ids), theirs(ids).last_hidden_state, **CLOSE)


def test_left_padding_equals_transformers_with_positions_that_skip_it(ids):
    theirs = small_model("GPT2LMHeadModel")
    mask = torch.arange(SEQ) >= torch.tensor([[0], [4], [1]])
    positions = (mask.long().cumsum(1) - 1).clamp(min=0)
    with torch.no_grad():
        expected = theirs(ids, attention_mask=mask.long(), position_ids=positions).logits
        logits = from_hf(theirs)(ids, mask)
    torch.testing.assert_close(logits[mask], expected[mask], **CLOSE)


def test_writes_token_for_token_as_transformers(ids, subtests):
    for use_cache, changes in product([True, False], [{}, {"tie_word_embeddings": False}]):
        with subtests.test(use_cache=use_cache, changes=changes):
            config = small_config(
                "GPT2LMHeadModel", **changes, eos_token_id=None, initializer_range=0.3
            )
            theirs = transformers.GPT2LMHeadModel(config).eval()
            mask = (torch.arange(SEQ) >= torch.tensor([[0], [4], [1]])).long()
            given = {"attention_mask": mask, "max_new_tokens": NEW, "pad_token_id": 7}
            expected = theirs.generate(ids, **given, use_cache=use_cache, do_sample=False)
            written = generate(from_hf(theirs), ids, **given, use_cache=use_cache)
            assert written.tolist() == expected.tolist()
            assert expected[:, SEQ:].unique().numel() > 5


def test_load_equals_from_hf(ids, tmp_path, subtests):
    for size, make in product(["5GB", "20KB"], ["GPT2Model", "GPT2LMHeadModel"]):
        with subtests.test(size=size, make=make):
            theirs, directory = small_model(make), tmp_path / f"{make} {size}"
            theirs.save_pretrained(directory, max_shard_size=size)
            assert (len(list(directory.glob("*.safetensors"))) > 2) is (size == "20KB")
            with torch.no_grad():
                assert load(directory)(ids).equal(from_hf(theirs)(ids))


def test_a_file_of_the_body_alone_serves_the_language_model(ids, tmp_path):
    theirs = small_model("GPT2LMHeadModel")
    theirs.save_pretrained(tmp_path)
    weights = dict(theirs.transformer.state_dict())  # as OpenAI's own files have them
    weights["h.0.attn.bias"] = torch.ones(1, 1, 43, 43)  # the causal mask, which they hold too
    save_file(weights, tmp_path / "model.safetensors")
    with torch.no_grad():
        assert load(tmp_path)(ids).equal(from_hf(theirs)(ids))
    save_file({**weights, "wxe.weight": torch.ones(43, 35)}, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"unexpected: wxe\.weight"):
        load(tmp_path)


def test_defaults_are_those_of_transformers():
    expected = TransformerConfig.from_hf({"model_type": "gpt2"})
    live = TransformerConfig.from_hf(transformers.GPT2Config())
    assert live.d_ff == 4 * live.d_model
    assert live == expected


def test_the_last_map_is_the_table_of_tokens_where_it_is_tied():
    model = from_hf(small_model("GPT2LMHeadModel"))
    assert model.lm_head.weight is model.decoder.embeddings.tokens.weight
    untied = from_hf(small_model("GPT2LMHeadModel", tie_word_embeddings=False))
    assert untied.lm_head.weight is not untied.decoder.embeddings.tokens.weight


def test_a_causal_model_has_no_memory():
    with pytest.raises(ValueError, match=r"cross_attention \(True\) needs a memory"):
        TransformerForCausalLM(TransformerConfig(cross_attention=True))


def test_what_is_not_built_is_refused(subtests):
    rows = [
        ("scale_attn_weights", False),
        ("scale_attn_by_inverse_layer_idx", True),
        ("add_cross_attention", True),
        ("reorder_and_upcast_attn", True),
    ]
    for name, value in rows:
        with (
            subtests.test(name=name, value=value),
            pytest.raises(ValueError, match=rf"{name} \({value}\) is not honored for gpt2"),
        ):
            TransformerConfig.from_hf(small_config("GPT2Model", **{name: value}))
