"""The encoder: embeddings, then layers of attention and feed-forward with residuals and norms."""

from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from glassformer.layers.masks import padding_mask
from glassformer.models.builders import build_attention, build_feed_forward, build_norm
from glassformer.models.config import TransformerConfig
from glassformer.models.embeddings import Embeddings, check_ids, check_same_shape
from glassformer.models.from_pretrained import FromPretrained


class TransformerEncoderLayer(nn.Module):
    """Attention, then a feed-forward network; each adds its output to the residual stream.

    Post-norm normalizes after each addition; pre-norm normalizes each sub-layer's input.

    Shapes: Hidden states (batch, seq, d_model) to the same.

    Source: Vaswani et al. 2017, section 3.1, post-norm; pre-norm: Xiong et al. 2020, figure 1.

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> TransformerEncoderLayer(config)(torch.randn(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.norm_first = config.norm_first
        self.attention = build_attention(config)
        self.attention_norm = build_norm(config)
        self.feed_forward = build_feed_forward(config)
        self.feed_forward_norm = build_norm(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        hidden: Float[Tensor, "batch seq d_model"],
        attn_mask: Bool[Tensor, "#batch #heads #seq seq"] | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Add what attention and the network compute to the hidden states."""
        if self.norm_first:
            normed = self.attention_norm(hidden)
            hidden = hidden + self.dropout(self.attention(normed, attn_mask=attn_mask))
            return hidden + self.feed_forward(self.feed_forward_norm(hidden))
        attended = self.dropout(self.attention(hidden, attn_mask=attn_mask))
        hidden = self.attention_norm(hidden + attended)
        return self.feed_forward_norm(hidden + self.feed_forward(hidden))


class TransformerEncoder(FromPretrained, nn.Module):
    """Token ids in, one vector per token out; every token can attend to all others.

    Shapes: Ids, attention mask, and token types (batch, seq); output (batch, seq, d_model). The
    attention mask has a tokenizer's format: 1 for a token, 0 for padding.

    Raises:
        ValueError: Ids, mask, or token types don't fit the configuration or each other.

    Source: Devlin et al. 2019, section 3; with transformers 5.23 `BertModel` as the reference.

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> TransformerEncoder(config)(torch.tensor([[1, 5, 2]])).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(
            TransformerEncoderLayer(config) for _ in range(config.num_layers)
        )
        final_norm = config.norm_first if config.final_norm is None else config.final_norm
        self.final_norm = build_norm(config) if final_norm else None
        init_weights(self, config.initializer_range)

    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Shaped[Tensor, "batch seq"] | None = None,
        token_type_ids: Int[Tensor, "batch seq"] | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Embed the ids, then pass them through every layer."""
        check_ids(input_ids)
        attn_mask = _attn_mask(input_ids, attention_mask)  # (batch, 1, 1, seq)
        hidden = self.embeddings(input_ids, token_type_ids)  # (batch, seq, d_model)
        for layer in self.layers:
            hidden = layer(hidden, attn_mask)
        return hidden if self.final_norm is None else self.final_norm(hidden)


def _attn_mask(input_ids: Tensor, attention_mask: Tensor | None) -> Tensor | None:
    if attention_mask is None:
        return None
    check_same_shape("attention_mask", attention_mask, input_ids)
    return padding_mask(attention_mask)


def init_weights(model: nn.Module, std: float) -> None:
    """Draw linear and embedding weights from a normal distribution with standard deviation `std`.

    Biases of linear layers and the row of the padding token become zero; norms stay as they are.

    Source: transformers 5.23, `initializer_range`; Google's BERT draws from a truncated normal.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=std)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            nn.init.zeros_(module.weight[module.padding_idx])
