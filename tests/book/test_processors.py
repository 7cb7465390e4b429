"""The bench that checks the book with other instructions and from other seeds."""

import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from glassformer import checkpoints

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from _fetched import lend
from _trained import train
from processors import ROUNDS, SETS, environment, margins, said

ROOT = Path(__file__).parents[2]
PAGE = """\
# A page

It has [DEFAULT]{ equals="torch.backends.cpu.get_cpu_capability()" }, and the model
[lies between]{ holds="3 < trained('tiny') < 9 and max(x for x in (5, 7) if x < y) > 4" }.

```python
import torch


def trained(name):
    return 7


y = trained("tiny") + 1
```
"""


class Draw:
    """A recipe whose training draws its weights."""

    def build(self):
        return nn.Linear(3, 2)

    def train(self, model, report):
        nn.init.uniform_(model.weight)
        return {"loss": [0.5]}

    def files(self):
        return []


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Trains the recipe from a seed; gives its weights, and the name of their file."""
    monkeypatch.setattr(checkpoints, "SEED", checkpoints.SEED)  # to be put back
    monkeypatch.setattr(checkpoints, "find_recipe", lambda name: {"draw": Draw()}[name])
    monkeypatch.setattr(checkpoints, "recipe_key", lambda name, device: "key")

    def draw(seed):
        folder = tmp_path / str(seed)
        monkeypatch.setenv("GLASSFORMER_CACHE", str(folder))
        assert train(seed, ["draw"]).keys() == {"draw"}
        (file,) = folder.glob("*.safetensors")
        return checkpoints.trained("draw").model.weight, file.name

    return draw


def round_of(**numbers):
    """What a round found, as far as margins ask; a comparison for each number, with 10."""
    pairs = {name: [number, 10.0] for name, number in numbers.items()}
    rows = [{"page": "p", "comparison": name, "numbers": pair} for name, pair in pairs.items()]
    return {"comparisons": rows}


def test_another_seed_gives_other_weights_under_the_name_that_the_book_looks_for(drawn):
    (zero, name), (three, same_name) = drawn(0), drawn(3)
    torch.manual_seed(3)
    nn.Linear(3, 2)
    assert torch.equal(three, nn.init.uniform_(torch.empty(2, 3)))
    assert not torch.equal(three, zero)
    assert name == same_name == "draw-key.safetensors"


def test_each_set_of_instructions_has_a_round_and_each_of_five_seeds():
    assert {instructions for instructions, _ in ROUNDS.values()} == SETS.keys()
    assert {seed for instructions, seed in ROUNDS.values() if instructions == "native"} == {
        *range(5)
    }


def test_a_round_trains_anew_and_has_the_language_model_that_is_there(monkeypatch, tmp_path):
    there, folder = tmp_path / "there", tmp_path / "round"
    (there / "model-key").mkdir(parents=True)
    for name in ("model-key/model.safetensors", "gpt-key.safetensors", "one.whl", "one.lock"):
        (there / name).write_text(name)
    monkeypatch.setenv("GLASSFORMER_CACHE", str(there))
    for _ in range(2):
        lend(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["model-key", "one.whl"]
    found = folder / "model-key/model.safetensors"
    assert found.read_text() == "model-key/model.safetensors"


def test_a_round_has_the_instructions_that_it_names_and_no_others(monkeypatch, tmp_path):
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    plainest = environment("default", tmp_path)
    assert plainest["ATEN_CPU_CAPABILITY"] == "default"
    assert plainest["GLASSFORMER_CACHE"] == str(tmp_path)
    assert "ONEDNN_MAX_CPU_ISA" not in plainest
    assert not SETS["avx2"].keys() & environment("native", tmp_path).keys()


@pytest.mark.slow
def test_a_page_runs_with_these_instructions_and_says_what_it_compares(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    found = said("_checked.py", ["all", str(page)], environment("default", tmp_path))
    assert found["problems"] == []
    assert (found["chapters"], found["labs"]) == (1, 0)
    assert found["comparisons"] == [
        {"page": str(page), "comparison": "3 < trained('tiny')", "numbers": [3.0, 7.0]},
        {"page": str(page), "comparison": "trained('tiny') < 9", "numbers": [7.0, 9.0]},
        {
            "page": str(page),
            "comparison": "max((x for x in (5, 7) if x < y)) > 4",
            "numbers": [7.0, 4.0],
        },
    ]
    page.write_text(PAGE.replace("DEFAULT]", "SPARC]"))
    found = said("_checked.py", ["all", str(page)], environment("default", tmp_path))
    assert len(found["problems"]) == 1
    assert "DEFAULT" in found["problems"][0]


def test_a_margin_is_in_units_of_how_far_the_closest_round_lies_from_the_middle():
    found = {
        "one": round_of(below=4.0, above=11.0, crosses=9.0, still=3.0),
        "two": round_of(below=1.0, above=13.0, crosses=8.0, still=3.0),
        "three": round_of(below=2.0, above=14.0, crosses=11.0, still=3.0),
    }
    by_name = {row["comparison"]: row["margin"] for row in margins(found)}
    assert by_name == {"below": 6 / 2, "above": 1 / 2, "crosses": round(-1 / 2, 2)}
    assert list(by_name) == ["crosses", "above", "below"]


@pytest.mark.slow
def test_pages_hold_with_the_plainest_instructions(tmp_path):
    pages = ["docs/encoder/attention.md", "docs/decoder/masks.md"]
    found = said("_checked.py", ["all", *pages], environment("default", tmp_path))
    assert found["chapters"] == len(pages)
    assert found["problems"] == []
