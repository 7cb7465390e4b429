"""The decoder: layers that look back at their own tokens, and across at what an encoder read."""

from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from glassformer.config import TransformerConfig
from glassformer.embeddings import Embeddings, check_ids, check_same_shape
from glassformer.encoder import init_weights
from glassformer.feed_forward import FeedForward
from glassformer.masks import padding_mask
from glassformer.multihead import MultiHeadAttention


class TransformerDecoderLayer(nn.Module):
    """Attention to the tokens so far, to the memory if there is one, then feed-forward.

    Each of the three adds to what it reads. Self-attention is causal, whatever mask is given
    besides. Without `cross_attention` in the configuration the second of the three is left out.

    Shapes: hidden states (batch, seq, d_model) to the same; memory (batch, memory_seq, d_model).

    Raises:
        ValueError: there is cross-attention and no memory, or a memory and no cross-attention.

    Source: Vaswani et al. 2017, section 3.1, post-norm; pre-norm: Xiong et al. 2020, figure 1;
    without cross-attention: Radford et al. 2018, section 3.1.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.norm_first = config.norm_first
        self.attention = _attention(config)
        self.attention_norm = nn.LayerNorm(config.d_model, eps=config.norm_eps)
        self.cross_attention = _attention(config) if config.cross_attention else None
        self.cross_attention_norm = (
            nn.LayerNorm(config.d_model, eps=config.norm_eps) if config.cross_attention else None
        )
        self.feed_forward = FeedForward(
            config.d_model,
            config.d_ff,
            activation=config.activation,
            dropout=config.dropout,
            bias=config.bias,
        )
        self.feed_forward_norm = nn.LayerNorm(config.d_model, eps=config.norm_eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        hidden: Float[Tensor, "batch seq d_model"],
        memory: Float[Tensor, "batch memory_seq d_model"] | None = None,
        attn_mask: Bool[Tensor, "#batch #heads #seq k_len"] | None = None,
        memory_mask: Bool[Tensor, "#batch #heads #seq memory_seq"] | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Read the past, read the memory, and add what was found."""
        check_memory(memory, self.cross_attention is not None)
        if self.norm_first:
            normed = self.attention_norm(hidden)
            attended = self.attention(normed, attn_mask=attn_mask, is_causal=True)
            hidden = hidden + self.dropout(attended)
            if self.cross_attention is not None:
                normed = self.cross_attention_norm(hidden)
                attended = self.cross_attention(normed, memory, attn_mask=memory_mask)
                hidden = hidden + self.dropout(attended)
            return hidden + self.feed_forward(self.feed_forward_norm(hidden))
        attended = self.attention(hidden, attn_mask=attn_mask, is_causal=True)
        hidden = self.attention_norm(hidden + self.dropout(attended))
        if self.cross_attention is not None:
            attended = self.cross_attention(hidden, memory, attn_mask=memory_mask)
            hidden = self.cross_attention_norm(hidden + self.dropout(attended))
        return self.feed_forward_norm(hidden + self.feed_forward(hidden))


class TransformerDecoder(nn.Module):
    """Token ids in, one vector for each out, made of that token, those before it, and the memory.

    Shapes: ids and attention mask (batch, seq); memory (batch, memory_seq, d_model) with its own
    attention mask (batch, memory_seq); output (batch, seq, d_model). Both masks are a tokenizer's:
    1 for a token, 0 for padding.

    Raises:
        ValueError: ids, masks or memory that do not fit the configuration or each other.

    Source: Vaswani et al. 2017, section 3.1, with memory = the encoder's output; without
    cross-attention: Radford et al. 2018, section 3.1.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(
            TransformerDecoderLayer(config) for _ in range(config.num_layers)
        )
        final_norm = config.norm_first if config.final_norm is None else config.final_norm
        self.final_norm = nn.LayerNorm(config.d_model, eps=config.norm_eps) if final_norm else None
        init_weights(self, config.initializer_range)

    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Shaped[Tensor, "batch seq"] | None = None,
        memory: Float[Tensor, "batch memory_seq d_model"] | None = None,
        memory_attention_mask: Shaped[Tensor, "batch memory_seq"] | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Embed the ids, then pass them through every layer."""
        check_ids(input_ids)
        check_memory(memory, self.config.cross_attention)
        attn_mask = memory_mask = None
        if attention_mask is not None:
            check_same_shape("attention_mask", attention_mask, input_ids)
            attn_mask = padding_mask(attention_mask)  # (batch, 1, 1, seq)
        if memory_attention_mask is not None:
            _check_memory_mask(memory_attention_mask, memory)
            memory_mask = padding_mask(memory_attention_mask)  # (batch, 1, 1, memory_seq)
        hidden = self.embeddings(input_ids)  # (batch, seq, d_model)
        for layer in self.layers:
            hidden = layer(hidden, memory, attn_mask, memory_mask)
        return hidden if self.final_norm is None else self.final_norm(hidden)


def check_memory(memory: Tensor | None, cross_attention: bool) -> None:
    """Refuse cross-attention without a memory, and a memory without cross-attention.

    Raises:
        ValueError: one is there and not the other.
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


def _check_memory_mask(mask: Tensor, memory: Tensor | None) -> None:
    shape = None if memory is None else tuple(memory.shape[:2])
    if tuple(mask.shape) != shape:
        raise ValueError(
            f"memory_attention_mask of shape {tuple(mask.shape)} must have the (batch, memory_seq) "
            f"of the memory, {shape}"
        )


def _attention(config: TransformerConfig) -> MultiHeadAttention:
    return MultiHeadAttention(
        config.d_model,
        config.num_heads,
        num_kv_heads=config.num_kv_heads,
        head_dim=config.head_dim,
        bias=config.bias,
        dropout=config.attn_dropout,
    )
