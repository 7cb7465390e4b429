"""The KV cache: the keys and values of the tokens read so far, stored instead of recomputed."""

from collections.abc import Iterator

from jaxtyping import Float, Int
from torch import Tensor, nn


class KVBuffer:
    """The keys and values that an attention layer has computed so far, in a growing buffer.

    A full buffer is replaced by one twice as long, so a new token usually costs one write, not a
    copy of all earlier ones.

    Shapes: Keys and values (batch, kv_heads, length, head_dim).
    """

    def __init__(self) -> None:
        self.length = 0
        self._buffer: Tensor | None = None  # (2, batch, kv_heads, room, head_dim)

    def append(
        self,
        key: Float[Tensor, "batch kv_heads new head_dim"],
        value: Float[Tensor, "batch kv_heads new head_dim"],
    ) -> tuple[Tensor, ...]:
        """Append new keys and values, and return all of them.

        Raises:
            ValueError: Batch, heads, or width differ from those in the cache, or the keys require
                gradients, which writing in place would break.
        """
        buffer, length = self._with_room_for(key), self.length + key.shape[2]
        buffer[0, :, :, self.length : length] = key
        buffer[1, :, :, self.length : length] = value
        self.length = length
        return self.tensors()

    def tensors(self) -> tuple[Tensor, ...]:
        """Return the cached keys and values, as views into the buffer, or nothing if it's empty."""
        return () if self._buffer is None else self._buffer[:, :, :, : self.length].unbind()

    def cross_tensors(self, batch: int, length: int) -> tuple[Tensor, ...]:
        """Return the cached keys and values of a memory of this size.

        Raises:
            ValueError: The cached memory has a different size.
        """
        keys, values = self.tensors()
        there = (keys.shape[0], self.length)
        if there != (batch, length):
            raise ValueError(
                f"the cache holds a memory of (batch, length) = {there}, but got one of "
                f"{(batch, length)}: a cache is for one model and one batch"
            )
        return keys, values

    def reorder(self, indices: Int[Tensor, " new_batch"]) -> None:
        """Set row i to the old row indices[i]."""
        if self._buffer is not None:
            self._buffer = self._buffer.index_select(1, indices)

    def _with_room_for(self, key: Tensor) -> Tensor:
        """Return the buffer, or a longer one if it has no room for these keys."""
        if key.requires_grad:
            raise ValueError(
                "a cache keeps no gradients: call the model under torch.no_grad(), or without a "
                "cache"
            )
        batch, heads, new, head_dim = key.shape
        if self._buffer is None:
            self._buffer = key.new_empty(2, batch, heads, new, head_dim)
        _, *there, room, width = self._buffer.shape
        if (*there, width) != (batch, heads, head_dim):
            raise ValueError(
                f"the cache holds (batch, heads, head_dim) = {(*there, width)}, but the new keys "
                f"are {(batch, heads, head_dim)}: a cache is for one model and one batch"
            )
        if self.length + new > room:
            longer = key.new_empty(2, batch, heads, max(2 * room, self.length + new), head_dim)
            longer[:, :, :, : self.length] = self._buffer[:, :, :, : self.length]
            self._buffer = longer
        return self._buffer


class LayerCache:
    """The keys and values of one decoder layer, named after its attention modules.

    Attributes:
        attention: Those of the tokens read so far; it grows.
        cross_attention: Those of the memory; it's filled once.
    """

    def __init__(self) -> None:
        self.attention = KVBuffer()
        self.cross_attention = KVBuffer()


class KVCache:
    """The keys and values of the tokens that a decoder has read, empty at first.

    Pass it to a decoder with only the new tokens: it takes the place of all earlier ones.

    Source: transformers 5.23, `DynamicCache` and `EncoderDecoderCache`, for the contents.

    >>> from glassformer import TransformerConfig, TransformerForCausalLM
    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> model, cache = TransformerForCausalLM(config).eval(), KVCache()
    >>> with torch.no_grad():
    ...     logits = model(torch.tensor([[1, 5, 2]]), cache=cache)
    >>> cache.length
    3
    """

    def __init__(self) -> None:
        self._decoder: nn.Module | None = None
        self._layers: list[LayerCache] = []

    def __iter__(self) -> Iterator[LayerCache]:
        return iter(self._layers)

    @property
    def length(self) -> int:
        """The number of tokens read so far, padding included."""
        return self._layers[0].attention.length if self._layers else 0

    @property
    def nbytes(self) -> int:
        """The size of all cached keys and values in bytes."""
        return sum(
            tensor.nbytes
            for layer in self
            for entries in (layer.attention, layer.cross_attention)
            for tensor in entries.tensors()
        )

    def layers_of(self, decoder: nn.Module) -> list[LayerCache]:
        """Return a cache for each of the decoder's `layers`, in order; the first call creates them.

        Raises:
            ValueError: The cache was filled by another decoder.
        """
        if self._decoder is None:
            self._decoder = decoder
            self._layers = [LayerCache() for _ in decoder.get_submodule("layers").children()]
        if self._decoder is not decoder:
            raise ValueError(
                f"the cache was filled by another model: it holds {self.length} tokens of a "
                f"{type(self._decoder).__name__} with {len(self._layers)} layers"
            )
        return self._layers

    def reorder(self, indices: Int[Tensor, " new_batch"]) -> None:
        """Set row i of the batch to the old row indices[i], as beam search requires.

        The batch grows or shrinks with the number of indices.

        Raises:
            ValueError: An index isn't a row of the batch.
        """
        batch = self._batch()
        if indices.numel() and not 0 <= int(indices.min()) <= int(indices.max()) < batch:
            raise ValueError(f"indices {indices.tolist()} are not all rows of a batch of {batch}")
        for layer in self:
            layer.attention.reorder(indices)
            layer.cross_attention.reorder(indices)

    def _batch(self) -> int:
        return next((tensor.shape[0] for layer in self for tensor in layer.attention.tensors()), 0)
