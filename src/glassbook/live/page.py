"""The element that reads a reader's own sentence in the page, with the book's own encoder."""

import base64
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

NAME = "encoder"


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
    fractions = (weights * 65535).round().to(torch.uint16)
    recorded = {
        "tokens": reading.tokens,
        "dims": list(weights.shape),
        "weights": base64.b64encode(fractions.numpy().tobytes()).decode(),
    }
    packing, files = exported(NAME, fingerprint(encoder), lambda folder: _write(encoder, folder))
    about = {
        "name": NAME,
        "layers": weights.shape[0],
        "heads": weights.shape[1],
        "headDim": encoder.config.d_model // encoder.config.num_heads,
        "packing": packing,
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
        scripts={"draw": "glassformer-live-draw.js"},
        data={"recorded": json.dumps(recorded), "text": text, "layer": layer, "head": head},
    )


def _write(encoder: TransformerEncoder, folder: Path) -> dict[str, object]:
    """Write the graph, the weights, and the tokenizer; return how the weights are packed."""
    switched = SwitchedEncoder(encoder)
    seq = torch.export.Dim("seq", min=2, max=encoder.config.max_positions)
    axes = {name: {1: seq} for name in ("input_ids", "attention_mask", "token_type_ids")}
    settings = ("tokenizer.json", "tokenizer_config.json")
    both = ",".join((Path(default_checkpoint()) / name).read_text("utf-8") for name in settings)
    (folder / "tokenizer.gz").write_bytes(gzip.compress(f"[{both}]".encode(), 9, mtime=0))
    return export(switched, switched.all_on(seq=7), axes, SHOWN, folder)
