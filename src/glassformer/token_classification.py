"""Token classification: a label for each token, as in named-entity recognition."""

from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from glassformer.config import TransformerConfig
from glassformer.encoder import TransformerEncoder, init_weights
from glassformer.loading import FromPretrained


class TransformerForTokenClassification(FromPretrained, nn.Module):
    """A classifier of tokens: num_labels logits for each.

    Shapes: ids, attention mask, and token types (batch, seq); logits (batch, seq, num_labels).

    Raises:
        ValueError: as `TransformerEncoder`.

    Source: Devlin et al. 2019, section 5.3; transformers 5.23, `BertForTokenClassification`.

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> TransformerForTokenClassification(config)(torch.tensor([[1, 5, 2]])).shape
    torch.Size([1, 3, 2])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.encoder = TransformerEncoder(config)
        rate = config.dropout if config.classifier_dropout is None else config.classifier_dropout
        self.dropout = nn.Dropout(rate)
        self.classifier = nn.Linear(config.d_model, config.num_labels, bias=config.bias)
        init_weights(self.classifier, config.initializer_range)

    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Shaped[Tensor, "batch seq"] | None = None,
        token_type_ids: Int[Tensor, "batch seq"] | None = None,
    ) -> Float[Tensor, "batch seq num_labels"]:
        """Encode the sequence; return the logits of each token."""
        hidden = self.encoder(input_ids, attention_mask, token_type_ids)  # (batch, seq, d_model)
        return self.classifier(self.dropout(hidden))
