"""The models that the project trained itself: read from files, or trained again."""

import json
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

import torch
from torch import Tensor, nn

from glassbook.recipes.registry import SEED, find_recipe, recipe_key
from glassformer.training.loop import Report, at_most
from glassformer.weights.checkpoints import cache_folder, default_device

FOLDER = Path(__file__).with_name("trained_weights")
"""The files of the project's trained models, one for each recipe."""

LIMIT = 4_500_000
"""Bytes of weights in a file; more are spread over several files."""

History = dict[str, list[float]]


@dataclass(frozen=True)
class Trained:
    """A model that the project trained itself, and how the training went.

    Attributes:
        model: In eval mode, on the default device.
        history: The measurements made during training, such as the loss of each step.
        seconds: How long training took.
        machine: The processor and the versions that it was trained with.
    """

    model: nn.Module
    history: History
    seconds: float
    machine: str


@dataclass(frozen=True)
class Record:
    """What a file says about a training, besides the weights.

    Attributes:
        key: The `recipe_key` of the recipe that was trained.
        history: The measurements made during training.
        first: The history of a training that ends after a few steps; empty if not recorded.
        seconds: How long training took.
        machine: The processor and the versions.
        parts: The number of files that share the weights.
    """

    key: str
    history: History
    first: History
    seconds: float
    machine: str
    parts: int = 1


class UnusableFileError(ValueError):
    """A file of trained weights cannot be used; the message says why."""


def trained(name: str) -> Trained:
    """Return a model that was trained by a recipe, from its file.

    The project has a file for each recipe, with the weights that were trained, rounded to float16.
    If it's missing or damaged, or if the recipe has changed, a warning says so, and the model is
    trained now. That file is kept in the folder `GLASSFORMER_CACHE`, by default
    `~/.cache/glassformer`, for the next time. Other processes wait for it.

    Raises:
        ValueError: There is no recipe of this name.
        CheckpointError: The folder cannot be created.
    """
    recipe, key = find_recipe(name), recipe_key(name)
    try:
        record, weights = read_file(FOLDER / f"{name}.safetensors", key)
    except UnusableFileError as reason:
        record, weights = _train_once(name, key, str(reason))
    with _own_generator():
        model = recipe.build()
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for parameter, weight in weights.items():
            parameters[parameter].copy_(weight)
    return Trained(
        model.to(default_device()).eval(), record.history, record.seconds, record.machine
    )


def train(
    name: str, steps: int | None = None, seed: int = SEED
) -> tuple[Record, dict[str, Tensor]]:
    """Train a recipe's model; return the record, without its time, and the trained weights.

    Args:
        name: The recipe.
        steps: The most steps of each of its training loops; all of them by default.
        seed: The seed of its random numbers.
    """
    recipe = find_recipe(name)
    with _own_generator(seed), _progress(name) as report, at_most(steps):
        model = recipe.build().to(default_device()).train()
        history = recipe.train(model, report)
    weights = {
        name: parameter.detach().cpu().half()
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    }
    return Record(recipe_key(name), history, {}, 0.0, _machine()), weights


def train_and_time(name: str) -> tuple[Record, dict[str, Tensor]]:
    """Train a recipe's model; its record says how long that took."""
    begun = time.perf_counter()
    record, weights = train(name)
    return replace(record, seconds=round(time.perf_counter() - begun, 1)), weights


def read_file(path: Path, key: str) -> tuple[Record, dict[str, Tensor]]:
    """Return the content of a file of trained weights, if a recipe with this key made it.

    Raises:
        UnusableFileError: It's missing or damaged, or another recipe made it.
    """
    record, weights = read_record(path)
    if record.key != key:
        raise UnusableFileError(f"{path.name} was made by another version of its recipe")
    return record, weights


def read_record(path: Path) -> tuple[Record, dict[str, Tensor]]:
    """Return the content of a file of trained weights, whatever recipe made it.

    Raises:
        UnusableFileError: It's missing or damaged, or one of its parts is.
    """
    record, weights = _read_part(path)
    for part in _parts(path, record.parts)[1:]:
        its_record, its_weights = _read_part(part)
        if its_record != record:
            raise UnusableFileError(f"{part.name} is of another training than {path.name}")
        weights |= its_weights
    return record, weights


def write_file(path: Path, record: Record, weights: Mapping[str, Tensor]) -> None:
    """Write a file of trained weights, with parts of at most `LIMIT` bytes beside it."""
    groups: list[dict[str, Tensor]] = [{}]
    for name, weight in weights.items():
        if sum(one.nbytes for one in [*groups[-1].values(), weight]) > LIMIT and groups[-1]:
            groups.append({})
        groups[-1][name] = weight
    record = replace(record, parts=len(groups))
    for part, group in zip(_parts(path, record.parts), groups, strict=True):
        _write_part(part, record, group)


def _parts(path: Path, count: int) -> list[Path]:
    """Return the paths of a file and of its further parts.

    >>> [part.name for part in _parts(Path("gpt.safetensors"), 2)]
    ['gpt.safetensors', 'gpt-2.safetensors']
    """
    return [path, *(path.with_stem(f"{path.stem}-{number}") for number in range(2, count + 1))]


def _read_part(path: Path) -> tuple[Record, dict[str, Tensor]]:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise UnusableFileError(f"{path.name} is missing")
    try:
        with safe_open(path, "pt") as file:
            note = json.loads((file.metadata() or {})["trained"])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        digest, record = note.pop("sha256"), Record(**note)
    except (OSError, SafetensorError, KeyError, ValueError, TypeError) as error:
        raise UnusableFileError(f"{path.name} is damaged ({error})") from error
    if digest != _digest(weights, record):
        raise UnusableFileError(f"{path.name} is damaged (its hash is not {digest})")
    return record, weights


def _write_part(path: Path, record: Record, weights: Mapping[str, Tensor]) -> None:
    """Write one file under another name first, so the file at `path` is always complete."""
    from safetensors.torch import save_file

    # Only one note: safetensors writes several in arbitrary order, so the bytes could differ.
    note = json.dumps(asdict(record) | {"sha256": _digest(weights, record)})
    handle, made = tempfile.mkstemp(dir=path.parent, suffix=".part")
    os.close(handle)
    try:
        save_file(dict(weights), made, {"trained": note})
        os.chmod(made, 0o644)
        os.replace(made, path)
    except BaseException:
        os.unlink(made)
        raise


def _train_once(name: str, key: str, reason: str) -> tuple[Record, dict[str, Tensor]]:
    """Train and keep a model, unless this or another process has done so before."""
    from filelock import FileLock

    path = cache_folder() / f"{name}-{key}.safetensors"
    lock = path.with_suffix(".lock")
    lock.touch()  # FileLock looks for it: it must be there even if another process trains
    with FileLock(lock):
        try:
            return read_file(path, key)
        except UnusableFileError:
            warnings.warn(f"{reason}: training the model now", stacklevel=3)
        write_file(path, *train_and_time(name))
        return read_file(path, key)


@contextmanager
def _own_generator(seed: int = SEED) -> Iterator[None]:
    """Seed torch's random numbers, and restore the caller's random state afterward."""
    with torch.random.fork_rng(), torch.enable_grad():
        torch.manual_seed(seed)
        yield


@contextmanager
def _progress(name: str) -> Iterator[Report]:
    """Report progress on a terminal, in a line that overwrites itself and is erased at the end."""
    terminal = sys.stderr.isatty()

    def report(done: int, total: int, text: str) -> None:
        line = f"training {name}: {done}/{total} {text}"
        if terminal:
            print(f"\r{line:79.79}", end="", file=sys.stderr, flush=True)

    try:
        yield report
    finally:
        if terminal:
            print("\r" + " " * 79, end="\r", file=sys.stderr, flush=True)


def _machine() -> str:
    """Return the processor and the versions that decide how numbers are rounded."""
    capability = torch.backends.cpu.get_cpu_capability()
    parts = [f"{platform.machine()} with {capability}", f"{torch.get_num_threads()} threads"]
    parts += [f"torch {torch.__version__}", f"Python {platform.python_version()}"]
    return ", ".join([str(default_device()), *parts])


def _digest(weights: Mapping[str, Tensor], record: Record) -> str:
    """Return a hash of the weights' names and bytes, and of what is said about them."""
    found = sha256(json.dumps(asdict(record)).encode())
    for name in sorted(weights):
        found.update(name.encode())
        found.update(weights[name].contiguous().view(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()
