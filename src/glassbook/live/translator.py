"""The element in which the translator writes, in the reader's page, word by word."""

from pathlib import Path
from typing import cast

import torch
from jaxtyping import Int
from torch import Tensor, nn

from glassbook.live.downloads import exported, fingerprint
from glassbook.live.element import Live, element
from glassbook.live.export import export, in_halves
from glassbook.recipes import trained
from glassbook.recipes.translation import END, START, UNKNOWN, encode, tokenizers
from glassformer import MultiHeadAttention, Transformer, generate, record
from glassformer.views.grid import heatmap

NAME = "translator"
OUTPUTS = "logits", "weights"


class ShownTranslator(nn.Module):
    """A translator that also returns its cross-attention; one pair at a time.

    Shapes: Source ids (1, src_len), target ids (1, tgt_len); returns logits (tgt_len, vocab) and
    weights (layers, heads, tgt_len, src_len).

    >>> from glassbook.recipes import trained
    >>> shown = ShownTranslator(trained("translator").model)
    >>> [tuple(one.shape) for one in shown(torch.tensor([[5, 6, 2]]), torch.tensor([[1, 7]]))]
    [(2, 257), (2, 4, 2, 3)]
    """

    def __init__(self, model: Transformer):
        super().__init__()
        self.model = model
        self._weights: list[Tensor] = []
        for path, module in model.named_modules():
            if path.endswith("cross_attention") and isinstance(module, MultiHeadAttention):
                module.recorder = self._show

    def forward(
        self, src_ids: Int[Tensor, "1 src_len"], tgt_ids: Int[Tensor, "1 tgt_len"]
    ) -> tuple[Tensor, Tensor]:
        """Read a source and the beginning of its translation."""
        self._weights = []
        logits = self.model(src_ids, tgt_ids)
        return logits[0], torch.cat(self._weights)

    def _show(self, name: str, tensor: Tensor) -> None:
        if name == "weights":
            self._weights.append(tensor)


def translator(german: str, examples: list[str]) -> Live:
    """Export the translator, and show a translation that readers can replace by their own.

    Args:
        german: The sentence that's shown first.
        examples: Sentences that readers can choose from.
    """
    model = cast(Transformer, trained("translator").model)
    source, (reading, writing) = encode(tokenizers()[0], [german]), tokenizers()
    written = generate(
        model, source, max_new_tokens=40, eos_token_id=END, decoder_start_token_id=START
    )
    with record(model) as tape, torch.no_grad():
        model(source, written[:, :-1])
    words = [writing.id_to_token(token) for token in written[0, 1:].tolist()]
    weights = tape.cross_attentions[-1][0].mean(dim=0)  # (tgt_len, src_len)
    last = len(tape.cross_attentions) - 1
    read = [reading.id_to_token(token) for token in source[0].tolist()]
    packing, files = exported(NAME, fingerprint(model), lambda folder: _write(model, folder))
    about = {
        "name": NAME,
        "layers": model.config.num_layers,
        "heads": model.config.num_heads,
        "packing": packing,
        "start": START,
        "end": END,
        "unknown": UNKNOWN,
        "reads": [reading.id_to_token(token) for token in range(reading.get_vocab_size())],
        "writes": [writing.id_to_token(token) for token in range(writing.get_vocab_size())],
        "examples": examples,
    }
    return element(
        "translator",
        heatmap(
            weights,
            words,
            read,
            axes=("written", "read"),
            caption=f"Cross-attention of layer {last}, averaged over heads",
        ),
        about,
        files,
        scripts={"draw": "glassformer-live-draw.js"},
        data={"text": german},
    )


def _write(model: Transformer, folder: Path) -> dict[str, object]:
    """Write the graph and the weights into a folder; return how they are packed."""
    most = model.config.max_positions
    axes = {
        "src_ids": {1: torch.export.Dim("src_len", min=2, max=most)},
        "tgt_ids": {1: torch.export.Dim("tgt_len", min=1, max=most)},
    }
    example = {"src_ids": torch.tensor([[5, 6, 7, 8, END]]), "tgt_ids": torch.tensor([[START, 5]])}
    return export(ShownTranslator(model), example, axes, OUTPUTS, folder, in_halves)
