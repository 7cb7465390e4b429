"""Heads: layers that turn the vectors of a body into answers."""

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from glassformer.layers.feed_forward import ACTIVATIONS
from glassformer.layers.kv_cache import KVCache
from glassformer.models.builders import build_norm
from glassformer.models.config import TransformerConfig
from glassformer.models.decoder import TransformerDecoder
from glassformer.models.encoder import TransformerEncoder, init_weights
from glassformer.models.from_pretrained import FromPretrained


class Pooler(nn.Module):
    """The first token's vector, [CLS] in BERT, turned into a vector for the whole sequence.

    Shapes: Hidden states (batch, seq, d_model) to (batch, d_model).

    Source: transformers 5.23, `BertPooler`; trained by next-sentence prediction in Devlin et al.
    2019, section 3.1.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.dense = nn.Linear(config.d_model, config.d_model, bias=config.bias)

    def forward(self, hidden: Float[Tensor, "batch seq d_model"]) -> Float[Tensor, "batch d_model"]:
        """Take the first vector, project it, and squash it between −1 and 1."""
        return torch.tanh(self.dense(hidden[:, 0]))


class TransformerForSequenceClassification(FromPretrained, nn.Module):
    """A classifier of whole sequences: one logit for each of num_labels.

    Shapes: Ids, attention mask, and token types (batch, seq); logits (batch, num_labels).

    Raises:
        ValueError: As `TransformerEncoder`.

    Source: Devlin et al. 2019, section 4.1; transformers 5.23, `BertForSequenceClassification`.

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> TransformerForSequenceClassification(config)(torch.tensor([[1, 5, 2]])).shape
    torch.Size([1, 2])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.encoder = TransformerEncoder(config)
        self.pooler = Pooler(config)
        rate = config.dropout if config.classifier_dropout is None else config.classifier_dropout
        self.dropout = nn.Dropout(rate)
        self.classifier = nn.Linear(config.d_model, config.num_labels, bias=config.bias)
        for head in (self.pooler, self.classifier):
            init_weights(head, config.initializer_range)

    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Shaped[Tensor, "batch seq"] | None = None,
        token_type_ids: Int[Tensor, "batch seq"] | None = None,
    ) -> Float[Tensor, "batch num_labels"]:
        """Encode the sequence, pool it, and compute a logit for each label."""
        hidden = self.encoder(input_ids, attention_mask, token_type_ids)  # (batch, seq, d_model)
        return self.classifier(self.dropout(self.pooler(hidden)))


class TransformerForTokenClassification(FromPretrained, nn.Module):
    """A classifier of tokens: num_labels logits for each.

    Shapes: Ids, attention mask, and token types (batch, seq); logits (batch, seq, num_labels).

    Raises:
        ValueError: As `TransformerEncoder`.

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


class TransformerForMaskedLM(FromPretrained, nn.Module):
    """Logits of the original token at each position, masked or not.

    With `tie_embeddings`, the output layer uses the embedding table: a token's logit tells how
    well its own vector matches.

    Shapes: Ids, attention mask, and token types (batch, seq); logits (batch, seq, vocab).

    Raises:
        ValueError: As `TransformerEncoder`.

    Source: Devlin et al. 2019, section 3.1, task 1; transformers 5.23, `BertForMaskedLM`.

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> TransformerForMaskedLM(config)(torch.tensor([[1, 5, 2]])).shape
    torch.Size([1, 3, 11])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.encoder = TransformerEncoder(config)
        self.transform = nn.Linear(config.d_model, config.d_model, bias=config.bias)
        self.activation = ACTIVATIONS[config.activation]()
        self.norm = build_norm(config)
        self.decoder = nn.Linear(config.d_model, config.vocab_size, bias=config.bias)
        for head in (self.transform, self.decoder):
            init_weights(head, config.initializer_range)
        if config.tie_embeddings:
            self.decoder.weight = self.encoder.embeddings.tokens.weight

    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Shaped[Tensor, "batch seq"] | None = None,
        token_type_ids: Int[Tensor, "batch seq"] | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """Encode the sequence, and score every token at every position."""
        hidden = self.encoder(input_ids, attention_mask, token_type_ids)  # (batch, seq, d_model)
        return self.decoder(self.norm(self.activation(self.transform(hidden))))


class TransformerForNextSentencePrediction(FromPretrained, nn.Module):
    """Logits for whether the second of two sentences followed the first in their source.

    Shapes: Ids, attention mask, and token types (batch, seq); logits (batch, 2): it did, it didn't.

    Raises:
        ValueError: As `TransformerEncoder`.

    Source: Devlin et al. 2019, section 3.1, task 2; transformers 5.23,
    `BertForNextSentencePrediction`.

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> TransformerForNextSentencePrediction(config)(torch.tensor([[1, 5, 2]])).shape
    torch.Size([1, 2])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.encoder = TransformerEncoder(config)
        self.pooler = Pooler(config)
        self.classifier = nn.Linear(config.d_model, 2, bias=config.bias)
        for head in (self.pooler, self.classifier):
            init_weights(head, config.initializer_range)

    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Shaped[Tensor, "batch seq"] | None = None,
        token_type_ids: Int[Tensor, "batch seq"] | None = None,
    ) -> Float[Tensor, "batch two"]:
        """Encode both sentences, which token types tell apart, and classify the pair."""
        hidden = self.encoder(input_ids, attention_mask, token_type_ids)  # (batch, seq, d_model)
        return self.classifier(self.pooler(hidden))


class TransformerForCausalLM(FromPretrained, nn.Module):
    """Logits of the next token after each position: a decoder without a memory.

    The output layer has no bias. With `tie_embeddings`, it uses the embedding table.

    Shapes: Ids (batch, seq), attention mask (batch, past + seq), logits (batch, seq, vocab).

    Raises:
        ValueError: As `TransformerDecoder`; or `cross_attention` is True, which needs a memory.

    Source: Radford et al. 2018, section 3.1, equation 2; transformers 5.23, `GPT2LMHeadModel`.

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> TransformerForCausalLM(config)(torch.tensor([[1, 5, 2]])).shape
    torch.Size([1, 3, 11])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        if config.cross_attention:
            raise ValueError("cross_attention (True) needs a memory: build a Transformer")
        self.config = config
        self.decoder = TransformerDecoder(config)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        init_weights(self.lm_head, config.initializer_range)
        if config.tie_embeddings:
            self.lm_head.weight = self.decoder.embeddings.tokens.weight

    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Shaped[Tensor, "batch past_and_seq"] | None = None,
        cache: KVCache | None = None,
        *,
        last_only: bool = False,
    ) -> Float[Tensor, "batch answers vocab"]:
        """Decode the ids; return the next token's logits at each position, or only at the last."""
        hidden = self.decoder(input_ids, attention_mask, cache=cache)  # (batch, seq, d_model)
        return self.lm_head(hidden[:, -1:] if last_only else hidden)
