"""The decoder: layers that attend to their own past, and to the output of an encoder."""

from functools import partial

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from glassformer.layers.kv_cache import KVCache, LayerCache
from glassformer.layers.masks import padding_mask
from glassformer.layers.multihead import MultiHeadAttention
from glassformer.models.builders import build_attention, build_feed_forward, build_norm
from glassformer.models.config import TransformerConfig
from glassformer.models.embeddings import Embeddings, check_ids
from glassformer.models.encoder import init_weights
from glassformer.models.from_pretrained import FromPretrained


class TransformerDecoderLayer(nn.Module):
    """Causal self-attention, cross-attention to the memory, then the feed-forward network.

    Each of the three adds its output to its input. Self-attention is always causal, and a mask that
    you pass applies as well. Without `cross_attention` in the config, the second of the three is
    left out.

    Shapes: Hidden states (batch, seq, d_model) to the same; memory (batch, memory_seq, d_model).

    Raises:
        ValueError: There is cross-attention and no memory, or a memory and no cross-attention.

    Source: Vaswani et al. 2017, section 3.1, post-norm; pre-norm: Xiong et al. 2020, figure 1;
    without cross-attention: Radford et al. 2018, section 3.1.

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> TransformerDecoderLayer(config)(torch.randn(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.norm_first = config.norm_first
        self.attention = build_attention(config)
        self.attention_norm = build_norm(config)
        self.cross_attention: MultiHeadAttention | None = None
        if config.cross_attention:
            self.cross_attention = build_attention(config, crosses=True)
            self.cross_attention_norm = build_norm(config)
        self.feed_forward = build_feed_forward(config)
        self.feed_forward_norm = build_norm(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        hidden: Float[Tensor, "batch seq d_model"],
        memory: Float[Tensor, "batch memory_seq d_model"] | None = None,
        attn_mask: Bool[Tensor, "#batch #heads #seq k_len"] | None = None,
        memory_mask: Bool[Tensor, "#batch #heads #seq memory_seq"] | None = None,
        cache: LayerCache | None = None,
        position_ids: Int[Tensor, "#batch seq"] | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Attend to the past and the memory, then apply the network, adding each result."""
        check_memory(memory, self.cross_attention is not None)
        back = partial(self._look_back, attn_mask, cache, position_ids)
        across = partial(self._look_across, memory, memory_mask, cache)
        if self.norm_first:
            hidden = hidden + back(self.attention_norm(hidden))
            if self.cross_attention is not None:
                hidden = hidden + across(self.cross_attention_norm(hidden))
            return hidden + self.feed_forward(self.feed_forward_norm(hidden))
        hidden = self.attention_norm(hidden + back(hidden))
        if self.cross_attention is not None:
            hidden = self.cross_attention_norm(hidden + across(hidden))
        return self.feed_forward_norm(hidden + self.feed_forward(hidden))

    def _look_back(
        self,
        attn_mask: Tensor | None,
        cache: LayerCache | None,
        position_ids: Tensor | None,
        hidden: Tensor,
    ) -> Tensor:
        """Attend to the tokens so far."""
        attended = self.attention(
            hidden,
            attn_mask=attn_mask,
            is_causal=True,
            cache=None if cache is None else cache.attention,
            position_ids=position_ids,
        )
        return self.dropout(attended)

    def _look_across(
        self,
        memory: Tensor | None,
        memory_mask: Tensor | None,
        cache: LayerCache | None,
        hidden: Tensor,
    ) -> Tensor:
        """Attend to the encoder's output."""
        assert self.cross_attention is not None
        kept = None if cache is None else cache.cross_attention
        attended = self.cross_attention(hidden, memory, attn_mask=memory_mask, cache=kept)
        return self.dropout(attended)


class TransformerDecoder(FromPretrained, nn.Module):
    """A stack of decoder layers: token ids in, one vector for each token out.

    Each vector depends on its token, on those before it, and on the memory. With a cache, pass only
    the ids that it doesn't hold yet, with an attention mask that covers those in the cache too.
    Padding on the left takes up no positions: the first real token has position 0.

    Shapes: Ids (batch, seq); attention mask (batch, past + seq); memory (batch, memory_seq,
    d_model) with its own attention mask (batch, memory_seq); output (batch, seq, d_model). Both
    masks have a tokenizer's format: 1 for a token, 0 for padding.

    Raises:
        ValueError: Ids, masks, memory, or cache don't fit the configuration or each other.

    Source: Vaswani et al. 2017, section 3.1, with memory = the encoder's output; without
    cross-attention: Radford et al. 2018, section 3.1.

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> TransformerDecoder(config)(torch.tensor([[1, 5, 2]])).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(
            TransformerDecoderLayer(config) for _ in range(config.num_layers)
        )
        final_norm = config.norm_first if config.final_norm is None else config.final_norm
        self.final_norm = build_norm(config) if final_norm else None
        init_weights(self, config.initializer_range)

    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Shaped[Tensor, "batch past_and_seq"] | None = None,
        memory: Float[Tensor, "batch memory_seq d_model"] | None = None,
        memory_attention_mask: Shaped[Tensor, "batch memory_seq"] | None = None,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Embed the ids, then pass them through every layer."""
        check_ids(input_ids)
        check_memory(memory, self.config.cross_attention)
        caches = [None] * len(self.layers) if cache is None else cache.layers_of(self)
        past = 0 if cache is None else cache.length
        attn_mask, position_ids = _places(input_ids, attention_mask, past)
        memory_mask = _memory_mask(memory, memory_attention_mask)  # (batch, 1, 1, memory_seq)
        hidden = self.embeddings(input_ids, position_ids=position_ids)  # (batch, seq, d_model)
        for layer, layer_cache in zip(self.layers, caches, strict=True):
            hidden = layer(hidden, memory, attn_mask, memory_mask, layer_cache, position_ids)
        return hidden if self.final_norm is None else self.final_norm(hidden)


def check_memory(memory: Tensor | None, cross_attention: bool) -> None:
    """Check that there is a memory if and only if there is cross-attention.

    Raises:
        ValueError: There is a memory without cross-attention, or cross-attention without a memory.
    """
    if cross_attention and memory is None:
        raise ValueError(
            "cross_attention is True, so the decoder needs a memory: the encoder's output, "
            "(batch, memory_seq, d_model)"
        )
    if memory is not None and not cross_attention:
        raise ValueError(
            f"a memory of shape {tuple(memory.shape)} was given, but cross_attention is False: "
            "nothing would read it"
        )


def _places(
    input_ids: Tensor, attention_mask: Tensor | None, past: int
) -> tuple[Tensor | None, Tensor]:
    """Return the mask over the past and the new tokens, and the new tokens' positions."""
    batch, seq = input_ids.shape
    if attention_mask is None:
        return None, torch.arange(past, past + seq, device=input_ids.device)[None]
    _check_mask("attention_mask", attention_mask, (batch, past + seq))
    position_ids = (attention_mask.long().cumsum(1) - 1).clamp(min=0)[:, past:]
    return padding_mask(attention_mask), position_ids


def _memory_mask(memory: Tensor | None, memory_attention_mask: Tensor | None) -> Tensor | None:
    if memory_attention_mask is None:
        return None
    there = None if memory is None else tuple(memory.shape[:2])
    _check_mask("memory_attention_mask", memory_attention_mask, there)
    return padding_mask(memory_attention_mask)


def _check_mask(name: str, mask: Tensor, shape: tuple[int, ...] | None) -> None:
    if shape is None:
        raise ValueError(f"{name} of shape {tuple(mask.shape)} was given, but no memory")
    if tuple(mask.shape) != shape:
        raise ValueError(f"{name} of shape {tuple(mask.shape)} must have shape {shape}")
