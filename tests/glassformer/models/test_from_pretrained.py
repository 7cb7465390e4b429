"""Models loaded by their own name."""

import sys
from importlib.resources import files
from pathlib import Path

import pytest
import torch
from small_models import small_model

from glassformer import CheckpointError, TransformerDecoder, TransformerEncoder, load
from glassformer.weights.families.registry import ARCHITECTURES
from glassformer.weights.pretrained import load_as

BUILDS = sorted({built.build for built in ARCHITECTURES.values()}, key=lambda one: one.__name__)


def test_types_are_offered_to_who_imports_the_package():
    assert (files("glassformer") / "py.typed").is_file()


def test_a_model_loads_its_own_kind_and_no_other(tmp_path, subtests):
    for name in ARCHITECTURES:
        with subtests.test(name=name):
            saved, kind = tmp_path / name, ARCHITECTURES[name].build
            small_model(name).save_pretrained(saved)
            ours, same = kind.from_pretrained(saved), load(str(saved))
            assert type(ours) is type(same) is kind
            assert not ours.training
            assert ours.config == same.config
            for key, weight in same.state_dict().items():
                assert torch.equal(ours.state_dict()[key], weight)
            for other in [one for one in BUILDS if not issubclass(kind, one)]:
                message = rf"{name}, which is a {kind.__name__} here, not a {other.__name__}: call"
                with pytest.raises(CheckpointError, match=message):
                    other.from_pretrained(saved)


def test_another_kind_is_refused_before_its_weights_are_read(tmp_path):
    small_model("BertModel").save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"none")
    with pytest.raises(ValueError, match=r"call TransformerEncoder\.from_pretrained, or load"):
        TransformerDecoder.from_pretrained(tmp_path)


def test_a_class_made_of_ours_is_another_one(tmp_path):
    class Own(TransformerEncoder):
        pass

    small_model("BertModel").save_pretrained(tmp_path)
    with pytest.raises(CheckpointError, match="a TransformerEncoder here, not a Own: call"):
        Own.from_pretrained(tmp_path)


def test_a_mapped_model_is_the_same_and_leaves_the_file_alone(tmp_path, subtests):
    for name in ARCHITECTURES:
        with subtests.test(name=name):
            saved = tmp_path / name
            small_model(name).save_pretrained(saved)
            before = (saved / "model.safetensors").read_bytes()
            copied = load(saved).state_dict()
            ours = load_as(ARCHITECTURES[name].build, saved, mapped=True)
            assert not ours.training
            assert copied.keys() == ours.state_dict().keys()
            for key, weight in ours.state_dict().items():
                assert torch.equal(weight, copied[key])
                assert weight.is_contiguous()
            for parameter in ours.parameters():
                assert parameter.requires_grad
                torch.nn.init.zeros_(parameter)
            assert (saved / "model.safetensors").read_bytes() == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc for what is mapped")
def test_only_a_mapped_model_keeps_the_file_in_use(tmp_path):
    def mapped():
        return str(tmp_path / "model.safetensors") in Path("/proc/self/maps").read_text()

    small_model("LlamaForCausalLM").save_pretrained(tmp_path)
    kept = load(tmp_path)
    assert not mapped()
    del kept
    kept = load_as(torch.nn.Module, tmp_path, mapped=True)
    assert mapped()
    assert kept is not None
