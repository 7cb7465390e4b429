"""The files of trained weights belong to the recipes, and training again gives what they say."""

import json
from dataclasses import replace

import pytest
import torch

from glassbook.bench.benchmarks import BENCH
from glassbook.recipes import capitals, retrain
from glassbook.recipes.registry import EXPERIMENTS, RECIPES, recipe_key
from glassbook.recipes.retrain import differences, first_steps, last_values, out_of_range, rekey
from glassbook.recipes.trained_models import FOLDER, Record, read_record, train, write_file

MAKE = "run `make weights`, or, if it still trains the same, `make weights ARGS=--rekey`"


def recorded(name):
    return read_record(FOLDER / f"{name}.safetensors")


def test_each_file_was_made_by_its_recipe_as_it_is():
    stale = [name for name in RECIPES if recorded(name)[0].key != recipe_key(name)]
    assert not stale, f"{stale}: {MAKE}"


def test_the_files_are_small_and_there_are_no_others():
    sizes = {path.name: path.stat().st_size for path in FOLDER.iterdir()}
    assert max(sizes.values()) < 5e6, sizes
    assert sum(sizes.values()) < 20e6, sizes
    owners = {name.partition(".")[0].rstrip("0123456789").rstrip("-") for name in sizes}
    assert owners == set(RECIPES)


def check_first_steps(name, kept=""):
    """Compare the first steps with the recorded ones, or with those whose name begins so."""
    found, first = (
        {key: row for key, row in history.items() if key.startswith(kept)}
        for history in (first_steps(name), recorded(name)[0].first)
    )
    assert first, name
    wrong = differences(found, first)
    assert not wrong, f"{name}: {wrong}: {MAKE}"


@pytest.mark.language_model
@pytest.mark.slow
def test_the_first_steps_of_each_training_are_as_recorded(monkeypatch, subtests):
    """Guards what the keys don't: the modules that recipes import, and the libraries."""
    monkeypatch.setattr(capitals, "RUNS", {"LoRA": capitals.RUNS["LoRA"]})
    for measured in ("answers_right", "story_loss"):  # they take longer, and train nothing
        monkeypatch.setattr(capitals, measured, lambda *_: torch.zeros(1))
    for name in RECIPES:
        if name not in EXPERIMENTS:  # test_long_reading measures again
            with subtests.test(name):
                check_first_steps(name, kept="LoRA: loss" if name == "capitals" else "")


@pytest.mark.language_model
@pytest.mark.nightly
def test_the_first_steps_of_all_runs_about_capitals_are_as_recorded():
    check_first_steps("capitals")


def recorded_seeds():
    """The last values of each recipe that was trained with several seeds, by bench/seeds.py."""
    return json.loads((BENCH / "results/seeds.json").read_text())["recipes"]


def test_the_recorded_seeds_begin_with_what_the_files_say():
    for name, parts in recorded_seeds().items():
        ends = last_values(recorded(name)[0].history)
        assert {part: values[0] for part, values in parts.items()} == pytest.approx(
            ends, abs=1e-4
        ), name
        assert {len(values) for values in parts.values()} == {5}, name


@pytest.mark.language_model
@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_each_training_ends_among_those_of_five_seeds(subtests):
    for name, parts in recorded_seeds().items():
        with subtests.test(name):
            assert out_of_range(last_values(train(name)[0].history), parts) == []


def test_a_history_ends_with_its_last_tenth_and_is_right_as_often_as_on_average():
    history = {
        "loss": [9.0] * 18 + [1.0, 2.0],
        "story": [3.0],
        "LoRA: right": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    }
    assert last_values(history) == {"loss": 1.5, "story": 3.0, "LoRA: right": 0.1}


def test_an_end_far_from_those_of_the_recorded_seeds_is_found():
    recorded_ends = {"loss": [2.0, 3.0, 2.5], "rate": [0.5, 0.5, 0.5]}
    inside = [(1.01, 0.5), (3.99, 0.5), (2.0, 0.476), (2.0, 0.524)]
    for loss, rate in inside:
        assert out_of_range({"loss": loss, "rate": rate}, recorded_ends) == [], (loss, rate)
    outside = [(0.99, 0.5), (4.01, 0.5), (2.0, 0.474), (2.0, 0.526), (float("nan"), 0.5)]
    for loss, rate in outside:
        assert len(out_of_range({"loss": loss, "rate": rate}, recorded_ends)) == 1, (loss, rate)
    assert out_of_range({"loss": 2.0}, recorded_ends) == ["found loss; recorded loss, rate"]


def test_another_loss_or_name_is_a_difference():
    assert not differences({"loss": [1.0, 2.0]}, {"loss": [1.0 + 1e-5, 2.0]})
    wrong = [{"loss": [1.0, 2.1]}, {"loss": [1.0]}, {"lost": [1.0, 2.0]}, {}]
    for found in wrong:
        assert differences(found, {"loss": [1.0, 2.0]}), found


def test_a_key_is_written_only_if_the_first_steps_are_the_same(monkeypatch, tmp_path):
    path, weights = tmp_path / "soup.safetensors", {"a": torch.ones(3).half()}
    before = Record("old", {"loss": [0.5]}, {"loss": [3.0]}, 7.0, "mine")
    write_file(path, before, weights)
    monkeypatch.setattr(retrain, "FOLDER", tmp_path)
    monkeypatch.setattr(retrain, "recipe_key", lambda name: "new")
    monkeypatch.setattr(retrain, "first_steps", lambda name: {"loss": [4.0]})
    assert rekey("soup") == ["loss: found [4.0]; recorded [3.0]"]
    assert read_record(path)[0] == before
    monkeypatch.setattr(retrain, "first_steps", lambda name: {"loss": [3.0]})
    assert rekey("soup") == []
    record, read = read_record(path)
    assert record == replace(before, key="new")
    assert read["a"].equal(weights["a"])
