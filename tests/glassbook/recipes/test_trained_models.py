"""Models that the project trained: from its files, or trained again where those don't serve."""

import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from glassbook.recipes import trained, trained_models
from glassbook.recipes.trained_models import Record, UnusableFileError, read_file, write_file
from glassformer import CheckpointError

AGAIN = "line.safetensors is missing: training the model now"


class Line:
    """A recipe that fits a line, and counts how often it is asked to."""

    def __init__(self):
        self.trainings = 0

    def build(self):
        return torch.nn.Linear(3, 2)

    def train(self, model, report):
        self.trainings += 1
        assert model.training
        assert torch.is_grad_enabled()
        model(torch.rand(5, 3)).square().sum().backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        report(1, 2, "half of it")
        return {"loss": [0.1 + 0.2, 1e-30], "accuracy": [1.0]}


@pytest.fixture
def line(monkeypatch, tmp_path):
    """The recipe "line", with no file in the project and an empty cache."""
    recipe = Line()
    (tmp_path / "shipped").mkdir()
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(trained_models, "FOLDER", tmp_path / "shipped")
    monkeypatch.setattr(trained_models, "find_recipe", lambda name: {"line": recipe}[name])
    monkeypatch.setattr(trained_models, "recipe_key", lambda name: f"key of {name}")
    return recipe


def ship(tmp_path, **changes):
    """Train the line, put its file into the project, and return the file."""
    record, weights = trained_models.train("line")
    path = tmp_path / "shipped" / "line.safetensors"
    write_file(path, replace(record, **changes), weights)
    return path


def test_a_file_of_the_project_is_read_and_nothing_is_trained(line, tmp_path):
    ship(tmp_path)
    first, second = trained("line"), trained("line")
    assert line.trainings == 1  # in `ship`
    torch.manual_seed(0)
    untrained = line.build()
    for name, weight in first.model.state_dict().items():
        assert torch.equal(weight, second.model.state_dict()[name])
        assert torch.equal(weight, weight.half().float())
        assert not torch.equal(weight, untrained.state_dict()[name])
    assert first.history == second.history == {"loss": [0.1 + 0.2, 1e-30], "accuracy": [1.0]}
    assert f"torch {torch.__version__}" in first.machine
    assert first.model is not second.model
    for model in (first.model, second.model):
        assert not model.training
        assert all(p.grad is None and p.requires_grad for p in model.parameters())
    assert not (tmp_path / "cache").exists()


def test_without_its_file_a_model_is_trained_once_and_kept(line, tmp_path):
    with pytest.warns(UserWarning, match=AGAIN):
        first = trained("line")
    second = trained("line")  # a warning would be an error
    assert line.trainings == 1
    assert torch.equal(first.model.weight, second.model.weight)
    (path,) = (tmp_path / "cache").glob("*.safetensors")
    assert path.name == "line-key of line.safetensors"


def test_training_starts_from_the_seed_and_leaves_the_callers_generator_alone(line):
    torch.manual_seed(5)
    expected = torch.rand(7)
    weights = []
    for seed in (5, 11):
        torch.manual_seed(seed)
        with torch.no_grad():
            weights.append(trained_models.train("line")[1]["weight"])
        if seed == 5:
            assert torch.equal(torch.rand(7), expected)
    assert torch.equal(*weights)


DAMAGES = {
    "empty": lambda data: b"",
    "cut off": lambda data: data[: len(data) // 2],
    "a bit of a weight": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "the history": lambda data: data.replace(b"[1.0]", b"[0.0]"),
    "something else": lambda data: b"not safetensors at all",
}


def test_a_damaged_file_is_named_and_the_model_trained(line, tmp_path):
    path = ship(tmp_path)
    whole, before = path.read_bytes(), trained("line").model.weight
    for number, (name, damage) in enumerate(DAMAGES.items()):
        path.write_bytes(damage(whole))
        assert path.read_bytes() != whole, name
        with pytest.raises(UnusableFileError, match=r"line\.safetensors is damaged \("):
            read_file(path, "key of line")
        for kept in (tmp_path / "cache").glob("*"):
            kept.unlink()
        with pytest.warns(UserWarning, match=r"line\.safetensors is damaged .*training the model"):
            assert torch.equal(trained("line").model.weight, before), name
        assert line.trainings == 2 + number


def test_a_changed_recipe_is_trained_anew(line, tmp_path):
    ship(tmp_path, key="key of the recipe before")
    with pytest.warns(UserWarning, match="was made by another version of its recipe: training"):
        trained("line")
    assert line.trainings == 2


def test_only_what_was_trained_is_in_the_file(line, tmp_path, monkeypatch):
    build = line.build

    def half_frozen():
        model = build()
        model.bias.requires_grad_(False)
        return model

    monkeypatch.setattr(line, "build", half_frozen)
    path = ship(tmp_path)
    with safe_open(path, "pt") as file:
        assert [*file.keys()] == ["weight"]
    torch.manual_seed(0)
    drawn = build()
    model = trained("line").model
    assert model.bias.equal(drawn.bias)
    assert not model.weight.equal(drawn.weight)


def test_large_weights_are_spread_over_several_files(tmp_path, monkeypatch):
    monkeypatch.setattr(trained_models, "LIMIT", 30)
    record = Record("k", {"loss": [1.0]}, {}, 2.0, "mine")
    weights = {name: torch.rand(5).half() for name in "abcdefg"}  # 10 bytes each
    path = tmp_path / "many.safetensors"
    write_file(path, record, weights)
    names = ["many-2.safetensors", "many-3.safetensors", "many.safetensors"]
    assert sorted(file.name for file in tmp_path.iterdir()) == names
    found, read = read_file(path, "k")
    assert found == replace(record, parts=3)
    assert read.keys() == weights.keys()
    assert all(read[name].equal(weights[name]) for name in weights)
    (tmp_path / names[1]).unlink()
    with pytest.raises(UnusableFileError, match=r"many-3\.safetensors is missing"):
        read_file(path, "k")
    write_file(tmp_path / "other.safetensors", replace(record, seconds=3.0), weights)
    (tmp_path / "other-3.safetensors").rename(tmp_path / names[1])
    with pytest.raises(UnusableFileError, match=r"many-3.* another training than many\.safe"):
        read_file(path, "k")


def test_what_fails_keeps_nothing(line, monkeypatch, tmp_path):
    def fail(*args):
        raise RuntimeError("out of flour")

    for place, name in [(line, "train"), (os, "replace")]:
        with monkeypatch.context() as patch:
            patch.setattr(place, name, fail)
            with (
                pytest.raises(RuntimeError, match="out of flour"),
                pytest.warns(UserWarning, match=AGAIN),
            ):
                trained("line")
        assert not [p for p in (tmp_path / "cache").iterdir() if p.suffix != ".lock"], name


@pytest.mark.usefixtures("line")
def test_a_folder_that_cannot_be_made(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(CheckpointError, match=r"file/cache cannot be created .* GLASSFORMER_CACHE"):
        trained("line")


@pytest.mark.usefixtures("line")
def test_progress_is_one_line_that_is_gone_at_the_end(capsys, monkeypatch):
    trained_models.train("line")
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    trained_models.train("line")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("\rtraining line: 1/2 half of it ")
    assert "\n" not in err
    assert err.endswith("\r" + " " * 79 + "\r")


def test_another_that_asks_waits_for_the_one_that_trains(line, monkeypatch):
    """Two start at once; one of them trains, and both have its weights."""
    start, train = threading.Barrier(2), line.train

    def slowly(model, report):
        time.sleep(0.3)  # in which the other one would begin as well
        return train(model, report)

    def ask(_):
        start.wait()
        return trained("line").model.weight

    monkeypatch.setattr(line, "train", slowly)
    with ThreadPoolExecutor(2) as pool, pytest.warns(UserWarning, match=AGAIN):
        first, second = pool.map(ask, range(2))
    assert first.equal(second)
    assert line.trainings == 1


def test_tied_weights_are_tied_again(line, monkeypatch, tmp_path):
    def build():
        pair = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
        pair[1].weight = pair[0].weight
        return pair

    monkeypatch.setattr(line, "build", build)
    ship(tmp_path)
    model = trained("line").model
    assert model[0].weight is model[1].weight
    assert line.trainings == 1


def test_a_note_that_says_too_little_is_damage(tmp_path):
    path = tmp_path / "x.safetensors"
    save_file({"a": torch.zeros(2)}, path, {"trained": json.dumps({"sha256": "", "key": "k"})})
    with pytest.raises(UnusableFileError, match=r"x\.safetensors is damaged \(.*missing"):
        read_file(path, "k")
