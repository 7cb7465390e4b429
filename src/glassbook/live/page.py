"""Elements that read a reader's own sentence in the page, with the book's own encoder."""

import base64
import copy
import gzip
import json
from pathlib import Path
from typing import cast

import torch

from glassbook.live.downloads import exported, fingerprint
from glassbook.live.element import Live, element
from glassbook.live.encoder import SHOWN, SwitchedEncoder
from glassbook.live.export import export
from glassformer import TransformerEncoder, default_checkpoint, load, read
from glassformer.views.grid import heatmap
from glassformer.views.view import View

NAME = "encoder"


SCRIPTS = {"draw": "glassformer-live-draw.js", "reader": "glassformer-live-reader.js"}
"""The scripts that these elements share, by what they call them."""


def live(text: str, *, layer: int, head: int) -> Live:
    """Export the encoder, and show a sentence that readers can replace by their own.

    Args:
        text: The sentence that's shown, recorded, until somebody starts the model.
        layer: The layer that's shown first, counted from 0.
        head: The head that's shown first, counted from 0.

    Raises:
        CheckpointError: The default checkpoint isn't available.
    """
    encoder, about, files = _shipped()
    reading = read(text, model=encoder)
    weights = reading.attentions
    fractions = (weights * 65535).round().to(torch.uint16)
    recorded = {
        "tokens": reading.tokens,
        "dims": list(weights.shape),
        "weights": base64.b64encode(fractions.numpy().tobytes()).decode(),
    }
    return element(
        "encoder",
        heatmap(
            weights[layer, head],
            reading.tokens,
            reading.tokens,
            caption=f"Layer {layer}, head {head}",
        ),
        about,
        files,
        scripts=SCRIPTS,
        data={"recorded": json.dumps(recorded), "text": text, "layer": layer, "head": head},
    )


def walk(text: str, others: list[str], *, head: int) -> Live:
    """Let readers put their own sentence into the pictures of a page that follows one.

    Each picture stands below a heading whose id begins with `step-`. Without scripts, and in a
    notebook, nothing is shown.

    Args:
        text: The page's sentence.
        others: The sentences that the page compares it with.
        head: The head of the first layer that the page follows, counted from 0.

    Raises:
        CheckpointError: The default checkpoint isn't available.
    """
    _, about, files = _shipped()
    data = {"text": text, "others": json.dumps(others), "head": head}
    return element("walk", View("", text), about, files, scripts=SCRIPTS, data=data)


def _shipped() -> tuple[TransformerEncoder, dict[str, object], dict[str, Path]]:
    """Return the encoder, what scripts have to know about it, and its files."""
    encoder = cast(TransformerEncoder, load(default_checkpoint()))
    packing, files = exported(NAME, fingerprint(encoder), lambda folder: _write(encoder, folder))
    config = encoder.config
    about: dict[str, object] = {
        "name": NAME,
        "layers": config.num_layers,
        "heads": config.num_heads,
        "headDim": config.d_model // config.num_heads,
        "packing": packing,
    }
    return encoder, about, files


def _write(encoder: TransformerEncoder, folder: Path) -> dict[str, object]:
    """Write the graph, the weights, and the tokenizer; return how the weights are packed."""
    switched = SwitchedEncoder(copy.deepcopy(encoder))  # the given one stays without hooks
    seq = torch.export.Dim("seq", min=2, max=encoder.config.max_positions)
    axes = {name: {1: seq} for name in ("input_ids", "attention_mask", "token_type_ids")}
    settings = ("tokenizer.json", "tokenizer_config.json")
    both = ",".join((Path(default_checkpoint()) / name).read_text("utf-8") for name in settings)
    (folder / "tokenizer.gz").write_bytes(gzip.compress(f"[{both}]".encode(), 9, mtime=0))
    return export(switched, switched.all_on(seq=7), axes, SHOWN, folder)
