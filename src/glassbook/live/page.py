"""The element that reads a reader's own sentence in the page, with the book's own encoder."""

import base64
import gzip
import hashlib
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import torch

from glassbook.live.downloads import attribute, download
from glassbook.live.encoder import SHOWN, SwitchedEncoder
from glassbook.live.export import export
from glassformer import TransformerEncoder, default_checkpoint, load, read
from glassformer.views.grid import heatmap
from glassformer.views.palette import THEME, VIEWS
from glassformer.views.view import View
from glassformer.weights.checkpoints import cache_folder

STATIC = Path(__file__).parent / "static"
SCRIPT, WORKER, DRAW = (
    "glassformer-live.js",
    "glassformer-live-worker.js",
    "glassformer-live-draw.js",
)
MODEL, UNPACK = "glassformer-live-model.js", "glassformer-live-unpack.js"
RUNTIME, TOKENIZERS = "ort.wasm.bundle.min.mjs", "tokenizers.min.mjs"
NAME = "encoder"


@dataclass(frozen=True, repr=False)
class Live(View):
    """A still picture in a notebook; in a page, an element with the model behind it.

    Attributes:
        files: The files that the element loads, by their names in its markup.
        downloads: The bytes that a reader downloads to start the model.
    """

    files: dict[str, str]
    downloads: int
    element: str

    def _repr_page_(self) -> tuple[str, dict[str, str]]:
        """Return markup with `asset://NAME` as a placeholder for a URL, and each name's file."""
        return self.element, self.files


def live(text: str, *, layer: int, head: int) -> Live:
    """Export the encoder, and show a sentence that readers can replace by their own.

    Args:
        text: The sentence that's shown, recorded, until somebody starts the model.
        layer: The layer that's shown first, counted from 0.
        head: The head that's shown first, counted from 0.

    Raises:
        CheckpointError: The default checkpoint isn't available.
    """
    encoder = cast(TransformerEncoder, load(default_checkpoint()))
    reading = read(text, model=encoder)
    weights = reading.attentions
    still = heatmap(weights[layer, head], reading.tokens, reading.tokens)
    folder = cache_folder() / "live"
    packing, downloads = _model(encoder, folder)
    files = {name: str(STATIC / name) for name in (SCRIPT, WORKER, DRAW, MODEL, UNPACK)}
    files |= {name: str(STATIC / "vendor" / name) for name in (RUNTIME, TOKENIZERS)}
    files |= {name: str(path) for name, path in downloads.items()}
    layers, heads, seq, _ = weights.shape
    about = {
        "name": NAME,
        "layers": layers,
        "heads": heads,
        "headDim": encoder.config.d_model // heads,
        "worker": f"asset://{WORKER}",
        "draw": f"asset://{DRAW}",
        "model": f"asset://{MODEL}",
        "unpack": f"asset://{UNPACK}",
        "runtime": f"asset://{RUNTIME}",
        "tokenizers": f"asset://{TOKENIZERS}",
        "packing": packing,
        "downloads": [download(name, path) for name, path in downloads.items()],
    }
    recorded = {"tokens": reading.tokens, "dims": [layers, heads, seq, seq]}
    recorded["weights"] = base64.b64encode(
        (weights * 65535).round().to(torch.uint16).numpy().tobytes()
    ).decode()
    style = THEME.replace(VIEWS, "glass-live") + (STATIC / "live.css").read_text("utf-8")
    element = (
        f"<style>{style}</style><glass-live data-search-exclude data-files='{attribute(about)}' "
        f"data-recorded='{attribute(recorded)}' data-text='{escape(text)}' data-layer='{layer}' "
        f"data-head='{head}'>{still.html}</glass-live>"
        f'<script type="module" src="asset://{SCRIPT}"></script>'
    )
    size = sum(path.stat().st_size for path in downloads.values())
    return Live(still.html, still.text, files, size, element)


def _model(encoder: TransformerEncoder, folder: Path) -> tuple[dict[str, object], dict[str, Path]]:
    """Export the encoder into a folder; return how its weights are packed, and what to download."""
    switched = SwitchedEncoder(encoder)
    seq = torch.export.Dim("seq", min=2, max=switched.encoder.config.max_positions)
    axes = {name: {1: seq} for name in ("input_ids", "attention_mask", "token_type_ids")}
    with TemporaryDirectory() as made:
        packing = export(switched, switched.all_on(seq=7), axes, SHOWN, Path(made))
        found = {
            "runtime.bin": (STATIC / "vendor/ort-wasm-simd-threaded.wasm.gz").read_bytes(),
            f"{NAME}.graph": Path(made, "graph.onnx.gz").read_bytes(),
            f"{NAME}.weights": Path(made, "weights.gz").read_bytes(),
            f"{NAME}.tokenizer": _tokenizer(),
        }
    # Named by what they contain: pages that are built at the same time write the same files.
    paths = {}
    for name, data in found.items():
        paths[name] = folder / hashlib.sha256(data).hexdigest()[:16] / name
        if not paths[name].is_file():
            paths[name].parent.mkdir(parents=True, exist_ok=True)
            part = paths[name].with_suffix(".part")
            part.write_bytes(data)
            part.replace(paths[name])
    return packing, paths


def _tokenizer() -> bytes:
    """Return the checkpoint's tokenizer and its settings, as one compressed file."""
    folder = Path(default_checkpoint())
    files = (folder / "tokenizer.json", folder / "tokenizer_config.json")
    both = ",".join(file.read_text("utf-8") for file in files)
    return gzip.compress(f"[{both}]".encode(), 9, mtime=0)
