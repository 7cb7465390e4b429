"""A step of generation whose tensors keep their shapes and addresses, so a CUDA graph can hold it.

A growing cache has other shapes at each step, so each step has to be launched kernel by kernel,
which takes a GPU far longer than the computing does. Here the cache has room for the whole text
from the start, and a mask hides the places that nothing has been written to.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from glassformer import TransformerForCausalLM
from glassformer.layers.kv_cache import KeysValues, KVCache, LayerCache


class Room(KeysValues):
    """The keys and values of one layer, with room for the whole text.

    Shapes: the buffer is (2, batch, kv_heads, room, head_dim).
    """

    def __init__(self, buffer: Tensor, place: Tensor) -> None:
        super().__init__()
        self.buffer, self.place = buffer, place

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        """Write one token's key and value at its place; return all, with those not written yet."""
        self.buffer[0].index_copy_(2, self.place, key)
        self.buffer[1].index_copy_(2, self.place, value)
        return self.buffer.unbind()


class FixedStep(nn.Module):
    """Writes the most probable token after those written so far, always in the same memory.

    Shapes: a step takes nothing, and returns the tokens that it has written, (batch, 1).
    """

    def __init__(self, model: TransformerForCausalLM, batch: int, room: int) -> None:
        super().__init__()
        config, table = model.config, model.decoder.embeddings.tokens.weight
        heads = config.num_kv_heads or config.num_heads
        head_dim = config.head_dim or config.d_model // config.num_heads
        size = (2, batch, heads, room, head_dim)
        self.model = model
        self.places = torch.arange(room, device=table.device)
        self.place = torch.zeros(1, dtype=torch.long, device=table.device)
        self.ids = torch.zeros(batch, 1, dtype=torch.long, device=table.device)
        self.rooms = [Room(table.new_zeros(size), self.place) for _ in model.decoder.layers]

    def read(self, ids: Tensor) -> Tensor:
        """Read prompts, (batch, seq), and write the first token after each."""
        cache = KVCache()
        logits = self.model(ids, cache=cache, last_only=True)  # (batch, 1, vocab)
        for room, layer in zip(self.rooms, cache, strict=True):
            for buffer, kept in zip(room.buffer, layer.attention.kept(), strict=True):
                buffer[:, :, : ids.shape[1]] = kept
        self.place.fill_(ids.shape[1])
        return self.ids.copy_(logits.argmax(-1))

    def forward(self) -> Tensor:
        """Write one more token."""
        decoder, position_ids = self.model.decoder, self.place[None]
        seen = (self.places <= self.place)[None, None, None]  # (1, 1, 1, room)
        hidden = decoder.embeddings(self.ids, position_ids=position_ids)  # (batch, 1, d_model)
        for layer, room in zip(decoder.layers, self.rooms, strict=True):
            cache = LayerCache()
            cache.attention = room
            hidden = layer(hidden, attn_mask=seen, cache=cache, position_ids=position_ids)
        if decoder.final_norm is not None:
            hidden = decoder.final_norm(hidden)
        self.ids.copy_(self.model.lm_head(hidden).argmax(-1))
        self.place.add_(1)
        return self.ids


def writer(step: FixedStep, advance: Callable[[], Tensor]) -> Callable[[Tensor, int], Tensor]:
    """Return a function that continues prompts, (batch, seq), with `advance` for each step.

    `advance` is the step itself, compiled, or replayed from a graph. The result is the new tokens,
    (batch, new).
    """

    @torch.inference_mode()
    def write(ids: Tensor, new: int) -> Tensor:
        written = [step.read(ids).clone()]
        written += [advance().clone() for _ in range(new - 1)]
        return torch.cat(written, dim=1)

    return write


def captured(step: FixedStep, compiled: Callable[[], Tensor]) -> Callable[[], Tensor]:
    """Record a step as a CUDA graph; return a function that replays it.

    What the recording writes doesn't matter: a prompt is read anew before it is continued.
    """
    with torch.inference_mode():
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(3):
                step.place.zero_()
                compiled()
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        step.place.zero_()
        with torch.cuda.graph(graph):
            compiled()

    def replay() -> Tensor:
        graph.replay()
        return step.ids

    return replay
