"""Llama's checkpoints; that its models equal those of transformers is in test_decoder_families."""

import pytest
import torch
from safetensors.torch import load_file, save_file
from small_models import LLAMA, VOCAB, small_model

from glassformer import TransformerConfig, from_hf, load


def llama():
    return small_model("LlamaForCausalLM", std=0.15, num_key_value_heads=2)


@pytest.fixture
def ids():
    return torch.randint(VOCAB, (5, 11))


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


def test_frequencies_of_old_checkpoints_are_knowingly_unused(ids, tmp_path):
    theirs = llama()
    theirs.save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    for layer in range(LLAMA["num_hidden_layers"]):
        weights[f"model.layers.{layer}.self_attn.rotary_emb.inv_freq"] = torch.zeros(7)
    save_file(weights, tmp_path / "model.safetensors")
    with torch.no_grad():
        assert load(tmp_path)(ids).equal(from_hf(theirs)(ids))


def test_the_base_of_the_frequencies_is_found_wherever_it_stands():
    everywhere = [
        {"rope_theta": 500.0},
        {"rope_theta": 500.0, "rope_scaling": None},
        {"rope_parameters": {"rope_theta": 500.0}},
        {"rope_theta": 500.0, "rope_parameters": {"rope_type": "default"}},
        {"rope_theta": 500.0, "rope_scaling": {"type": "default"}},
        {"rope_theta": 500.0, "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
    ]
    for given in everywhere:
        config = TransformerConfig.from_hf({"model_type": "llama", **given})
        assert config.rope_theta == 500.0, given
