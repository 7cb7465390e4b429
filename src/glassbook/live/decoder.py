"""A language model that runs in the reader's page: one step, from new tokens to the next one."""

import copy
from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer import TransformerForCausalLM
from glassformer.layers.kv_cache import KVBuffer, KVCache, LayerCache
from glassformer.models.decoder import TransformerDecoderLayer

OUTPUTS = "logits", "weights", "new_keys", "new_values"
"""What comes out, in this order."""


class DecoderStep(nn.Module):
    """A language model that takes and returns its keys and values, and shows its attention.

    The model's own code runs, with a cache that starts with the given keys and values. One sequence
    at a time. The output layer can read any layer's last hidden state, not only the last layer's.

    Args:
        model: A model whose layers' attentions all have the same sizes. Its weights are shared.

    Shapes: Ids (1, new); keys and values of the tokens before them (past, layers, kv_heads,
    head_dim), where past can be 0; `layers` (n,), counted from 0, says whose hidden states the
    output layer reads. Returns logits (n, vocab), the attention weights of the last token (layers,
    heads, past + new), and the new tokens' keys and values (new, layers, kv_heads, head_dim).

    >>> from glassformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=3, d_ff=16)
    >>> step = DecoderStep(TransformerForCausalLM(config).eval())
    >>> [tuple(shown.shape) for shown in step(**step.example(past=4, new=5))]
    [(1, 11), (3, 2, 9), (5, 3, 2, 4), (5, 3, 2, 4)]
    """

    def __init__(self, model: TransformerForCausalLM):
        super().__init__()
        shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
        self.model = copy.deepcopy(model, shared)  # the given one stays without hooks
        self._mask = torch.empty(0)
        self._weights: list[Tensor] = []
        self._hidden: list[Tensor] = []
        for layer in layers_of(self.model):
            layer.attention.recorder = self._show
            layer.attention.register_forward_pre_hook(self._give_mask, with_kwargs=True)
            layer.register_forward_hook(self._keep_hidden)

    def example(self, past: int, new: int) -> dict[str, Tensor]:
        """Return inputs for `new` tokens of id 0 after `past` tokens."""
        config = self.model.config
        attention = next(layers_of(self.model)).attention
        kept = torch.zeros(past, config.num_layers, attention.num_kv_heads, attention.head_dim)
        return {
            "input_ids": torch.zeros(1, new, dtype=torch.long),
            "keys": kept,
            "values": kept.clone(),
            "layers": torch.tensor([config.num_layers - 1]),
        }

    def forward(
        self,
        input_ids: Int[Tensor, "1 new"],
        keys: Float[Tensor, "past layers kv_heads head_dim"],
        values: Float[Tensor, "past layers kv_heads head_dim"],
        layers: Int[Tensor, " n"],
    ) -> tuple[Tensor, ...]:
        """Read the new tokens, and return what the class says."""
        past, new = keys.shape[0], input_ids.shape[1]
        positions = torch.arange(past + new)
        self._mask = positions <= positions[past:, None]  # (new, past + new)
        self._weights, self._hidden = [], []
        cache = GivenCache(keys, values)
        self.model.decoder(input_ids, cache=cache)
        hidden = torch.cat(self._hidden).index_select(0, layers)  # (n, d_model)
        norm = self.model.decoder.final_norm
        logits = self.model.lm_head(hidden if norm is None else norm(hidden))
        return logits, torch.cat(self._weights), *cache.new()

    def _give_mask(self, module: nn.Module, inputs: tuple, choices: dict) -> tuple[tuple, dict]:
        """Replace `is_causal`, which depends on lengths that aren't known yet, with its mask."""
        return inputs, choices | {"attn_mask": self._mask, "is_causal": False}

    def _show(self, name: str, tensor: Tensor) -> None:
        if name == "weights":
            self._weights.append(tensor[:, :, -1])  # (1, heads, past + new)

    def _keep_hidden(self, module: nn.Module, inputs: tuple, output: Tensor) -> None:
        self._hidden.append(output[:, -1])  # (1, d_model)


def layers_of(model: TransformerForCausalLM) -> Iterator[TransformerDecoderLayer]:
    """Yield the model's layers, in order."""
    for layer in model.decoder.layers:
        assert isinstance(layer, TransformerDecoderLayer)
        yield layer


class GivenCache(KVCache):
    """A cache that starts with given keys and values, and copies rather than writes in place.

    Shapes: (past, layers, kv_heads, head_dim), so the tokens' numbers follow one another.
    """

    def __init__(self, keys: Tensor, values: Tensor):
        super().__init__()
        self._past = keys.shape[0]
        self._buffers: list[GivenBuffer] = []
        for pair in zip(keys.unbind(1), values.unbind(1), strict=True):
            layer, buffer = (
                LayerCache(),
                GivenBuffer(*(past.transpose(0, 1)[None] for past in pair)),
            )
            layer.attention = buffer
            self._buffers.append(buffer)
            self._layers.append(layer)

    @property
    def length(self) -> int:
        """The number of tokens that were given."""
        return self._past

    def layers_of(self, decoder: nn.Module) -> list[LayerCache]:
        """Return the layers, in order."""
        return self._layers

    def new(self) -> Iterator[Tensor]:
        """Yield the new tokens' keys, then their values."""
        for tensors in zip(*(buffer.added for buffer in self._buffers), strict=True):
            stacked = torch.cat(tensors)  # (layers, kv_heads, new, head_dim)
            yield stacked.permute(2, 0, 1, 3)


class GivenBuffer(KVBuffer):
    """The given keys and values of one layer, and those added to them.

    Shapes: (1, kv_heads, length, head_dim).
    """

    def __init__(self, keys: Tensor, values: Tensor):
        super().__init__()
        self._given = keys, values
        self.added: tuple[Tensor, ...] = ()

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        """Return the given ones and the new ones, joined."""
        self.added = key, value
        pairs = zip(self._given, self.added, strict=True)
        return tuple(torch.cat(pair, dim=2) for pair in pairs)
