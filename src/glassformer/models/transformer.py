"""The encoder-decoder: one stack reads the source, the other writes the target."""

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from glassformer.layers.kv_cache import KVCache
from glassformer.models.config import TransformerConfig
from glassformer.models.decoder import TransformerDecoder
from glassformer.models.embeddings import check_ids, check_same_shape
from glassformer.models.encoder import TransformerEncoder, init_weights
from glassformer.models.from_pretrained import FromPretrained


class Transformer(FromPretrained, nn.Module):
    """An encoder-decoder: the next token's logits at each target position, given the source.

    The configuration describes the encoder, and its `decoder` the second stack. It also says which
    token tables are shared: none, only the decoder's and the output layer's, or all three.

    Shapes: Source ids (batch, src_len), target ids (batch, tgt_len), masks of the same shapes;
    logits (batch, tgt_len, vocab).

    Raises:
        ValueError: The configuration has no `decoder`; ids, masks, or memory don't fit it or
            each other; or a source is all padding.

    Source: Vaswani et al. 2017, section 3 and figure 1; shared tables: section 3.4; with
    transformers 5.23 `MarianMTModel` as the reference.

    >>> sizes = {"vocab_size": 11, "d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 16}
    >>> second = TransformerConfig(**sizes, cross_attention=True)
    >>> model = Transformer(TransformerConfig(**sizes, decoder=second))
    >>> model(torch.tensor([[1, 5, 2]]), torch.tensor([[1, 7]])).shape
    torch.Size([1, 2, 11])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        if config.decoder is None:
            raise ValueError("decoder (None) must be the TransformerConfig of the second stack")
        self.config = config
        self.encoder = TransformerEncoder(config)
        self.decoder = TransformerDecoder(config.decoder)
        d_model, vocab = config.decoder.d_model, config.decoder.vocab_size
        self.lm_head = nn.Linear(d_model, vocab, bias=config.output_bias)
        init_weights(self.lm_head, config.initializer_range)
        if config.share_embeddings:
            self.decoder.embeddings.tokens.weight = self.encoder.embeddings.tokens.weight
        if config.tie_embeddings:
            self.lm_head.weight = self.decoder.embeddings.tokens.weight

    def forward(
        self,
        src_ids: Int[Tensor, "batch src_len"],
        tgt_ids: Int[Tensor, "batch tgt_len"],
        src_attention_mask: Shaped[Tensor, "batch src_len"] | None = None,
        tgt_attention_mask: Shaped[Tensor, "batch tgt_len"] | None = None,
    ) -> Float[Tensor, "batch tgt_len vocab"]:
        """Read the source once, then every target position at once: teacher forcing."""
        memory = self.encode(src_ids, src_attention_mask)  # (batch, src_len, d_model)
        return self.decode(tgt_ids, memory, src_attention_mask, tgt_attention_mask)

    def encode(
        self,
        src_ids: Int[Tensor, "batch src_len"],
        src_attention_mask: Shaped[Tensor, "batch src_len"] | None = None,
    ) -> Float[Tensor, "batch src_len d_model"]:
        """Return the memory, which the decoder attends to."""
        check_ids(src_ids, "src_ids")
        if src_attention_mask is not None:
            check_same_shape("src_attention_mask", src_attention_mask, src_ids)
            _check_not_all_padding(src_attention_mask)
        return self.encoder(src_ids, src_attention_mask)

    def decode(
        self,
        tgt_ids: Int[Tensor, "batch tgt_len"],
        memory: Float[Tensor, "batch src_len d_model"],
        src_attention_mask: Shaped[Tensor, "batch src_len"] | None = None,
        tgt_attention_mask: Shaped[Tensor, "batch past_and_tgt"] | None = None,
        cache: KVCache | None = None,
        *,
        last_only: bool = False,
    ) -> Float[Tensor, "batch answers vocab"]:
        """Return the logits of the token after each target position, or only after the last one."""
        check_ids(tgt_ids, "tgt_ids")
        hidden = self.decoder(tgt_ids, tgt_attention_mask, memory, src_attention_mask, cache)
        return self.lm_head(hidden[:, -1:] if last_only else hidden)


def _check_not_all_padding(src_attention_mask: Tensor) -> None:
    # Compiled code and meta tensors can't look at the mask's values.
    if torch.compiler.is_compiling() or src_attention_mask.is_meta:
        return
    empty = ~src_attention_mask.bool().any(dim=1)
    if empty.any():
        raise ValueError(
            f"the source of row {empty.nonzero().flatten().tolist()} is all padding: there is "
            "nothing to translate, and nothing to attend to"
        )
