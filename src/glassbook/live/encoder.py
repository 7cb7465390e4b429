"""The encoder that runs in the reader's page: what it shows, and a switch for each part."""

from functools import partial
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer import MultiHeadAttention, TransformerEncoder

PARTS = (
    *(f"embeddings.{name}" for name in ("tokens", "positions", "token_types")),
    *(f"layers.0.{name}" for name in ("attention.out_proj", "attention_norm")),
    *(f"layers.0.feed_forward{name}" for name in (".up_proj", ".activation", "")),
)
"""The modules whose outputs show what happens up to the end of the first layer."""
SHOWN = "weights", "scores", "query", "key", "value", "output", *PARTS, "hidden"
"""What comes out, in this order: first what `record` calls so, of all layers."""


class SwitchedEncoder(nn.Module):
    """An encoder that shows its attention and has a switch for each part: 1 is on, 0 is off.

    The encoder's own code runs; hooks multiply what passes through it by the switches. One sequence
    at a time.

    Args:
        encoder: A post-norm encoder that adds position vectors, such as BERT's.

    Shapes: Ids, attention mask, and token types (1, seq). `heads` (layers, heads) switches heads,
    `residuals` (layers, 2) the sums around attention and the network, `positions` (1,) the
    position vectors; `scale` (1,) multiplies the queries. Returns weights and scores (layers,
    heads, seq, seq), queries, keys, values, and outputs (layers, heads, seq, head_dim), what
    `PARTS` names, each (seq, its width), and the hidden states (layers + 1, seq, d_model).

    Raises:
        ValueError: The encoder adds no position vectors.

    >>> from glassformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=3, d_ff=16)
    >>> switched = SwitchedEncoder(TransformerEncoder(config))
    >>> shapes = [tuple(shown.shape) for shown in switched(**switched.all_on(seq=5))]
    >>> shapes[1:4], shapes[6], shapes[-1]
    ([(3, 2, 5, 5), (3, 2, 5, 4), (3, 2, 5, 4)], (5, 8), (4, 5, 8))
    """

    def __init__(self, encoder: TransformerEncoder):
        super().__init__()
        self.encoder = encoder
        self._switches: dict[str, Tensor] = {}
        self._shown: dict[str, list[Tensor]] = {}
        embeddings = encoder.embeddings
        if embeddings.positions is None:
            raise ValueError(f"positions ({encoder.config.positions}) must be added vectors")
        embeddings.positions.register_forward_hook(self._switch_positions)
        embeddings.register_forward_hook(self._show_hidden)
        for number, layer in enumerate(encoder.layers):
            attention = cast(MultiHeadAttention, layer.attention)
            attention.recorder = self._show
            attention.q_proj.register_forward_hook(self._scale_queries)
            attention.out_proj.register_forward_pre_hook(partial(self._switch_heads, number))
            for place, name in enumerate(("attention", "feed_forward")):
                inputs: list[Tensor] = []  # what the sub-layer reads is what its residual adds
                sub_layer, norm = layer.get_submodule(name), layer.get_submodule(f"{name}_norm")
                sub_layer.register_forward_pre_hook(partial(_keep_input, inputs))
                switch = partial(self._switch_residual, inputs, number, place)
                norm.register_forward_pre_hook(switch)
            layer.register_forward_hook(self._show_hidden)
        for path in PARTS:
            encoder.get_submodule(path).register_forward_hook(partial(self._show_part, path))

    def all_on(self, seq: int) -> dict[str, Tensor]:
        """Return inputs for `seq` tokens of id 0, with everything switched on."""
        layers, heads = self.encoder.config.num_layers, self.encoder.config.num_heads
        ids = torch.zeros(1, seq, dtype=torch.long)
        return {
            "input_ids": ids,
            "attention_mask": torch.ones_like(ids),
            "token_type_ids": torch.zeros_like(ids),
            "heads": torch.ones(layers, heads),
            "residuals": torch.ones(layers, 2),
            "positions": torch.ones(1),
            "scale": torch.ones(1),
        }

    def forward(
        self,
        input_ids: Int[Tensor, "1 seq"],
        attention_mask: Int[Tensor, "1 seq"],
        token_type_ids: Int[Tensor, "1 seq"],
        heads: Float[Tensor, "layers heads"],
        residuals: Float[Tensor, "layers 2"],
        positions: Float[Tensor, "1"],
        scale: Float[Tensor, "1"],
    ) -> tuple[Tensor, ...]:
        """Read one sequence, and return what the class says."""
        self._switches = {"heads": heads, "residuals": residuals}
        self._switches |= {"positions": positions, "scale": scale}
        self._shown = {name: [] for name in SHOWN}
        self.encoder(input_ids, attention_mask, token_type_ids)
        return tuple(torch.cat(tensors) for tensors in self._shown.values())

    def _show(self, name: str, tensor: Tensor) -> None:
        if name in self._shown:
            self._shown[name].append(tensor)

    def _show_hidden(self, module: nn.Module, inputs: tuple, output: Tensor) -> None:
        self._show("hidden", output)

    def _show_part(self, path: str, module: nn.Module, inputs: tuple, output: Tensor) -> None:
        self._show(path, output[0])

    def _switch_positions(self, module: nn.Module, inputs: tuple, output: Tensor) -> Tensor:
        return output * self._switches["positions"]

    def _scale_queries(self, module: nn.Module, inputs: tuple, output: Tensor) -> Tensor:
        return output * self._switches["scale"]

    def _switch_heads(self, number: int, module: nn.Module, inputs: tuple[Tensor]) -> Tensor:
        switches = self._switches["heads"][number]  # (heads,)
        outputs = inputs[0].unflatten(-1, (switches.shape[0], -1))  # (1, seq, heads, head_dim)
        return (outputs * switches[:, None]).flatten(-2)

    def _switch_residual(
        self, kept: list[Tensor], number: int, place: int, module: nn.Module, inputs: tuple[Tensor]
    ) -> Tensor:
        """Take the residual, which the sum already contains, out of it where its switch is off."""
        off = 1 - self._switches["residuals"][number, place]
        return inputs[0] - off * kept.pop()


def _keep_input(kept: list[Tensor], module: nn.Module, inputs: tuple[Tensor]) -> None:
    kept.append(inputs[0])
