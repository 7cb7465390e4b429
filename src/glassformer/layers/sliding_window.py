"""A sliding window: each token sees only the last few, and the cache keeps only those."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glassformer.layers.kv_cache import KVBuffer, KVCache, LayerCache


def window_mask(
    q_len: int, k_len: int, window: int, *, device: torch.device | str | None = None
) -> Bool[Tensor, "{q_len} {k_len}"]:
    """Hide from each query the keys that are `window` or more positions before its own.

    The queries are the last positions, as in `causal_mask`, which hides the future; this hides only
    the distant past.

    Shapes: The mask is (q_len, k_len).

    Raises:
        ValueError: A length or the window is less than one.

    Source: Beltagy, Peters, and Cohan 2020, section 3.1; transformers 5.23,
    `sliding_window_overlay`, for where the window begins.

    >>> window_mask(3, 4, window=2)
    tensor([[ True,  True,  True,  True],
            [False,  True,  True,  True],
            [False, False,  True,  True]])
    """
    if q_len < 1 or k_len < 1 or window < 1:
        raise ValueError(
            f"q_len ({q_len}), k_len ({k_len}), and window ({window}) must be at least 1"
        )
    seen = torch.ones(q_len, k_len, dtype=torch.bool, device=device)
    return seen.triu(k_len - q_len - window + 1)


class WindowKVBuffer(KVBuffer):
    """The keys and values of the last tokens: those that the next token can still see.

    A buffer grows as in `KVBuffer`. When it holds more than two windows, the last one moves
    to a new buffer, so a token costs little more than one write.

    Shapes: Keys and values (batch, kv_heads, at most window - 1, head_dim).

    Raises:
        ValueError: The window is less than one.
    """

    def __init__(self, window: int) -> None:
        super().__init__()
        if window < 1:
            raise ValueError(f"window ({window}) must be at least 1")
        self.window = window
        self._recent = KVBuffer()

    def append(
        self,
        key: Float[Tensor, "batch kv_heads new head_dim"],
        value: Float[Tensor, "batch kv_heads new head_dim"],
    ) -> tuple[Tensor, ...]:
        """Write new keys and values; return them after those that the first new token still sees.

        Raises:
            ValueError: As `KVBuffer.append`.
        """
        seen = _last(self._recent.append(key, value), self.window - 1 + key.shape[2])
        self.length += key.shape[2]
        if self._recent.length > 2 * self.window:
            recent = KVBuffer()
            recent.append(*self.tensors())
            self._recent = recent
        return seen

    def tensors(self) -> tuple[Tensor, ...]:
        """Return the keys and values of the last `window - 1` tokens, or of fewer at first."""
        return _last(self._recent.tensors(), self.window - 1)

    def reorder(self, indices: Int[Tensor, " new_batch"]) -> None:
        """Replace each row i with what was row indices[i]."""
        self._recent.reorder(indices)


class SlidingWindowCache(KVCache):
    """A cache for a decoder with a sliding window: each layer keeps no more than the window.

    It's used like a `KVCache`, with the same results but less memory.

    Source: Jiang et al. 2023, section 2, "Rolling Buffer Cache"; transformers 5.23,
    `DynamicSlidingWindowLayer`, for the number of tokens kept.

    >>> from glassformer import TransformerConfig, TransformerForCausalLM
    >>> sizes = {"vocab_size": 11, "d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 16}
    >>> model = TransformerForCausalLM(TransformerConfig(**sizes, sliding_window=3)).eval()
    >>> cache = SlidingWindowCache()
    >>> with torch.no_grad():
    ...     logits = model(torch.tensor([[1, 5, 2, 7, 9]]), cache=cache)
    >>> cache.length, next(iter(cache)).attention.tensors()[0].shape
    (5, torch.Size([1, 2, 2, 4]))
    """

    def layers_of(self, decoder: nn.Module) -> list[LayerCache]:
        """Return a cache for each of the decoder's `layers`, in order, made at the first call.

        Raises:
            ValueError: The decoder has no sliding window, or the cache was filled by another one.
        """
        window = getattr(getattr(decoder, "config", None), "sliding_window", None)
        if window is None:
            raise ValueError(
                f"{type(decoder).__name__} has no sliding_window: it looks back at everything, "
                "which a KVCache keeps"
            )
        is_new = self._decoder is None
        layers = super().layers_of(decoder)
        if is_new:
            for layer in layers:
                layer.attention = WindowKVBuffer(window)
        return layers


def _last(kept: tuple[Tensor, ...], count: int) -> tuple[Tensor, ...]:
    return tuple(one[:, :, max(one.shape[2] - count, 0) :] for one in kept)
