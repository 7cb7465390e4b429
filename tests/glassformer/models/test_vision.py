"""The vision transformer, equal to that of transformers on random small configurations."""

import random
from itertools import product

import pytest
import torch
from small_models import SEEDS, TOLERANCE, answer, check_gradients, small_model

from glassformer import TransformerConfig, from_hf, load, record
from glassformer.models.vision import PatchEmbeddings, VisionEncoder, VisionForImageClassification

MAKES = {"ViTModel": VisionEncoder, "ViTForImageClassification": VisionForImageClassification}


def draw(seed):
    """A configuration whose sizes all differ, and images that fit it."""
    chance = random.Random(seed)
    heads, layers = chance.sample((1, 2, 3, 4), 2)
    down, across, head_dim, d_ff, labels = chance.sample((3, 5, 7, 11, 13), 5)
    channels, batch = chance.sample((1, 2, 3, 5), 2)
    size = [down * chance.choice((2, 3)) + seed % down, across * chance.choice((3, 4))]
    config = {
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "hidden_size": heads * head_dim,
        "intermediate_size": 2 * d_ff,
        "num_labels": labels,
        "image_size": size if seed % 2 else max(size),
        "patch_size": [down, across] if seed % 2 else max(down, across),
        "num_channels": channels,
        "hidden_act": ("gelu", "gelu_new", "relu")[seed % 3],
        "layer_norm_eps": (1e-12, 1e-5, 1e-3)[seed // 2],
        "qkv_bias": seed % 3 != 1,
    }
    torch.manual_seed(seed)
    height, width = size if seed % 2 else (max(size), max(size))
    return config, torch.randn(batch, channels, height, width)


def pair(make, seed, dtype=torch.float32):
    config, images = draw(seed)
    theirs = small_model(make, std=0.15, **config).to(dtype)
    return theirs, from_hf(theirs), images.to(dtype)


def test_outputs_and_gradients_equal_live_and_from_a_directory(tmp_path, subtests):
    for make, (seed, dtype) in product(MAKES, SEEDS):
        with subtests.test(make=make, seed=seed, dtype=dtype):
            theirs, ours, images = pair(make, seed, dtype)
            assert type(ours) is MAKES[make]
            theirs.save_pretrained(tmp_path)
            with torch.no_grad():
                output = ours(images)
                assert output.dtype == dtype
                assert (output - answer(theirs, images)).abs().max() < TOLERANCE[dtype]
                assert load(tmp_path)(images).equal(output)
            for output in (answer(theirs, images), ours(images)):
                output.square().mean().backward()
            check_gradients(ours, theirs, TOLERANCE[dtype])


def test_every_hidden_state_and_attention_weight_is_equal(subtests):
    for seed, dtype in SEEDS:
        with subtests.test(seed=seed, dtype=dtype):
            theirs, _, images = pair("ViTModel", seed, dtype)
            theirs.set_attn_implementation("eager")
            ours = from_hf(theirs)
            with torch.no_grad(), record(ours) as tape:
                ours(images)
                expected = theirs(images, output_attentions=True, output_hidden_states=True)
            assert len(tape.attentions) == len(expected.attentions)
            for our, their in zip(tape.attentions, expected.attentions, strict=True):
                assert (our - their).abs().max() < 2e-5  # theirs takes the softmax in float32
            for our, their in zip(tape.hidden_states, expected.hidden_states, strict=True):
                assert (our - their).abs().max() < 2e-5


@pytest.mark.usefixtures("unhooked")
def test_a_configuration_without_patches():
    with pytest.raises(ValueError, match=r"patches \(None\) must say how images are cut"):
        PatchEmbeddings(TransformerConfig())


@pytest.mark.usefixtures("unhooked")
def test_images_of_another_size():
    _, ours, images = pair("ViTModel", 1)
    with pytest.raises(ValueError, match=r"images must have shape .* got \("):
        ours(images.mT)
