"""The files that a reader downloads to start a model: exported once, kept, and described."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from html import escape
from pathlib import Path

from torch import nn

from glassbook.live.export import WEIGHTS
from glassformer import layers, models
from glassformer.weights.checkpoints import cache_folder

PACKING = "packing.json"


def exported(
    name: str, weights: str, write: Callable[[Path], dict[str, object]]
) -> tuple[dict[str, object], dict[str, Path]]:
    """Return a model's packing and its files, by the names that the page's worker knows.

    They're kept in a folder of `GLASSFORMER_CACHE`, and written again if the model's code, the
    code that exports it, or its weights have changed. Other processes wait.

    Args:
        name: The model's name.
        weights: What identifies its weights.
        write: Writes a graph, weights, and a tokenizer into a folder; returns the packing.
    """
    from filelock import FileLock

    folder = cache_folder() / "live"
    folder.mkdir(parents=True, exist_ok=True)
    folder /= f"{name}-{_key(weights)}"
    if not folder.is_dir():
        with FileLock(f"{folder}.lock"):
            if not folder.is_dir():
                _write(folder, write)
                _keep_newest(name)
    packing = json.loads((folder / PACKING).read_text("utf-8"))
    found = {f"{name}.graph": folder / "graph.onnx.gz"}
    for path in sorted(folder.glob(f"{WEIGHTS}*.gz")):
        found[f"{name}.{path.stem}"] = path
    if (folder / "tokenizer.gz").is_file():
        found[f"{name}.tokenizer"] = folder / "tokenizer.gz"
    return packing, found


def download(name: str, path: Path) -> dict[str, object]:
    """Describe a file so that a page can check what it has downloaded."""
    data = path.read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    return {"name": name, "url": f"asset://{name}", "size": len(data), "sha256": sha256}


def attribute(value: object) -> str:
    """Write a value as JSON for an attribute of an element.

    >>> attribute({"text": "it's"})
    '{&quot;text&quot;:&quot;it&#x27;s&quot;}'
    """
    return escape(json.dumps(value, separators=(",", ":")))


def fingerprint(model: nn.Module) -> str:
    """Return a hash of a model's weights."""
    weights = model.state_dict().values()
    return hashlib.sha256(b"".join(one.cpu().numpy().tobytes() for one in weights)).hexdigest()


def _key(weights: str) -> str:
    """Return a hash of the weights and of the code that makes the files from them."""
    folders = [Path(__file__).parent]
    folders += [Path(str(package.__file__)).parent for package in (layers, models)]
    sources = [path for folder in folders for path in sorted(folder.glob("*.py"))]
    code = b"".join(path.read_bytes() for path in sources)
    return hashlib.sha256(weights.encode() + code).hexdigest()[:16]


def _keep_newest(name: str) -> None:
    """Remove a model's files but for those of the last three versions; others may use them."""
    found = [path for path in (cache_folder() / "live").glob(f"{name}-*") if path.is_dir()]
    for old in sorted(found, key=lambda folder: folder.stat().st_mtime)[:-3]:
        shutil.rmtree(old, ignore_errors=True)


def _write(folder: Path, write: Callable[[Path], dict[str, object]]) -> None:
    """Write the files into another folder first, so `folder` is always complete."""
    with tempfile.TemporaryDirectory(dir=folder.parent, suffix=".part") as made:
        part = Path(made) / "files"
        part.mkdir()
        (part / PACKING).write_text(json.dumps(write(part)), encoding="utf-8")
        for path in (part / "graph.onnx", part / "graph.onnx.data"):
            path.unlink()
        os.replace(part, folder)
