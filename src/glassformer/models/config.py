"""The configuration of a stack of layers: its sizes and choices, checked on creation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from glassformer.layers.feed_forward import ACTIVATIONS
from glassformer.layers.norms import NORMS
from glassformer.layers.patches import Patches
from glassformer.layers.rope_scaling import RopeScaling

POSITIONS = ("learned", "sinusoidal", "sinusoidal_halves", "rotary", "rotary_halves")


@runtime_checkable
class HFConfig(Protocol):
    """A transformers configuration; all we need is the method that returns its fields."""

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name."""


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """The configuration of one stack of layers; by default, that of bert-base-uncased.

    Attributes:
        vocab_size: Tokens in the vocabulary.
        d_model: Width of the hidden states.
        num_heads: Attention heads per layer.
        num_kv_heads: Key-value heads per layer; None means one for each head.
        head_dim: Width of a head; None means `d_model / num_heads`.
        num_layers: Layers in the stack.
        d_ff: Inner width of the feed-forward network.
        activation: A name in `feed_forward.ACTIVATIONS`.
        gated: Whether the feed-forward network multiplies the activations by a second projection.
        norm: "layer" (layer normalization), or "rms" (by the root mean square).
        norm_eps: The number that a norm adds to the variance or the mean square.
        norm_first: Normalize before each sub-layer (pre-norm) instead of after it (post-norm).
        final_norm: Normalize once more after the last layer; None means the value of `norm_first`,
            since nothing else normalizes the output of a pre-norm stack.
        positions: "learned", "sinusoidal" (the paper's layout), "sinusoidal_halves" (Marian's:
            all sines, then all cosines), "rotary" (the paper's pairs, neighbors), or
            "rotary_halves" (the pairs of transformers' Llama).
        max_positions: The longest sequence; without a table of positions, the longest that is
            generated.
        skip_padding: Whether an encoder's positions skip every `pad_token_id`, as in RoBERTa; in
            BERT, they count all tokens.
        rope_theta: The base of the frequencies of rotary positions.
        rope_scaling: How rotary positions are scaled for texts longer than in training; None means
            not at all.
        scale_embeddings: Whether a token's vector is multiplied by `sqrt(d_model)`.
        embedding_norm: Whether the sum of embeddings is normalized.
        num_token_types: Segments that a token may belong to; 0 leaves the table out.
        dropout: The rate for embeddings and for the output of each sub-layer.
        attn_dropout: The rate for attention weights.
        classifier_dropout: The rate for a classifier's input; None means the same as `dropout`.
        bias: Whether linear layers have a bias.
        qkv_bias: Whether the projections to queries, keys, and values have one; None means the
            value of `bias`.
        out_bias: Whether attention's output projection has one; None means the value of `bias`.
        qk_norm: Whether self-attention divides each head's queries and keys by their root mean
            square, before they are rotated.
        sliding_window: How many tokens self-attention looks at, including the current one; None
            means all tokens so far.
        tie_embeddings: Whether a language model's output layer is its token embedding table.
        share_embeddings: Whether the encoder of an encoder-decoder uses that table, too.
        output_bias: Whether the output layer of an encoder-decoder has a bias.
        num_labels: The number of labels that a classifier chooses from.
        pad_token_id: The token whose vector stays zero in a new table and is never trained.
        initializer_range: Standard deviation of new weights.
        patches: How a vision model cuts up its images; it doesn't use the vocabulary.
        cross_attention: Whether a decoder's layers attend to a memory besides their own tokens.
        decoder: The second stack of an encoder-decoder; this one is then the encoder.

    Raises:
        ValueError: A value is out of range, or two values don't fit together.

    >>> TransformerConfig(num_layers=6).d_model
    768
    >>> TransformerConfig(num_heads=10)
    Traceback (most recent call last):
    ValueError: num_heads (10) must divide d_model (768)
    """

    vocab_size: int = 30522
    d_model: int = 768
    num_heads: int = 12
    num_kv_heads: int | None = None
    head_dim: int | None = None
    num_layers: int = 12
    d_ff: int = 3072
    activation: str = "gelu"
    gated: bool = False
    norm: str = "layer"
    norm_eps: float = 1e-12
    norm_first: bool = False
    final_norm: bool | None = None
    positions: str = "learned"
    max_positions: int = 512
    skip_padding: bool = False
    rope_theta: float = 10000.0
    rope_scaling: RopeScaling | None = None
    scale_embeddings: bool = False
    embedding_norm: bool = True
    num_token_types: int = 2
    dropout: float = 0.1
    attn_dropout: float = 0.1
    classifier_dropout: float | None = None
    bias: bool = True
    qkv_bias: bool | None = None
    out_bias: bool | None = None
    qk_norm: bool = False
    sliding_window: int | None = None
    tie_embeddings: bool = True
    share_embeddings: bool = False
    output_bias: bool = False
    num_labels: int = 2
    pad_token_id: int | None = 0
    initializer_range: float = 0.02
    patches: Patches | None = None
    cross_attention: bool = False
    decoder: "TransformerConfig | None" = None

    def __post_init__(self):
        for name in (
            *("vocab_size", "d_model", "num_heads", "num_kv_heads", "head_dim", "num_layers"),
            *("d_ff", "max_positions", "num_labels", "sliding_window"),
        ):
            value = getattr(self, name)
            self._require(value is None or value >= 1, name, "must be at least 1")
        for name in ("dropout", "attn_dropout", "classifier_dropout"):
            value = getattr(self, name)
            holds = value is None or 0.0 <= value < 1.0
            self._require(holds, name, "must be at least 0 and less than 1")
        for name in ("num_token_types", "initializer_range"):
            self._require(getattr(self, name) >= 0, name, "must not be negative")
        for name in ("norm_eps", "rope_theta"):
            self._require(getattr(self, name) > 0, name, "must be more than 0")
        kinds = {"positions": POSITIONS, "activation": ACTIVATIONS, "norm": NORMS}
        for name, known in kinds.items():
            holds = getattr(self, name) in known
            self._require(holds, name, f"must be one of {', '.join(known)}")
        if self.head_dim is None and self.d_model % self.num_heads:
            raise ValueError(f"num_heads ({self.num_heads}) must divide d_model ({self.d_model})")
        head_dim = self.head_dim or self.d_model // self.num_heads
        if self.positions.startswith("rotary") and head_dim % 2:
            raise ValueError(
                f"head_dim ({head_dim}) must be even: positions ({self.positions!r}) rotate "
                "its numbers in pairs"
            )
        if self.rope_scaling is not None and not self.positions.startswith("rotary"):
            raise ValueError(
                f"rope_scaling ({self.rope_scaling}) needs rotary positions, not {self.positions!r}"
            )
        if self.num_kv_heads is not None and self.num_heads % self.num_kv_heads:
            raise ValueError(
                f"num_kv_heads ({self.num_kv_heads}) must divide num_heads ({self.num_heads})"
            )
        if self.pad_token_id is not None and not 0 <= self.pad_token_id < self.vocab_size:
            raise ValueError(
                f"pad_token_id ({self.pad_token_id}) must be one of the vocab_size "
                f"({self.vocab_size}) tokens"
            )
        if self.skip_padding and self.pad_token_id is None:
            raise ValueError("skip_padding (True) needs a pad_token_id, which is None")
        if self.decoder is not None:
            self._check_decoder(self.decoder)

    def _check_decoder(self, decoder: "TransformerConfig") -> None:
        if not decoder.cross_attention:
            raise ValueError(
                "decoder.cross_attention (False) must be True: with it, the decoder reads the "
                "encoder's output"
            )
        same = ("d_model", "vocab_size", "pad_token_id") if self.share_embeddings else ("d_model",)
        for name in same:
            ours, theirs = getattr(self, name), getattr(decoder, name)
            if ours != theirs:
                raise ValueError(f"{name} ({ours}) and decoder.{name} ({theirs}) must be equal")
        if self.share_embeddings and not self.tie_embeddings:
            raise ValueError(
                "share_embeddings is True, so tie_embeddings (False) must be True: the encoder, "
                "the decoder, and the output layer share one table"
            )

    def _require(self, holds: bool, name: str, rule: str) -> None:
        if not holds:
            raise ValueError(f"{name} ({getattr(self, name)!r}) {rule}")

    @classmethod
    def from_hf(cls, hf_config: HFConfig | Mapping[str, Any]) -> "TransformerConfig":
        """Read a transformers configuration, or the fields of a `config.json`.

        Every field of transformers' own class is accounted for: honored, harmless, or refused
        unless it has the one value that's supported here. A field that the class lacks is ignored,
        with a warning. A missing field gets its default.

        Raises:
            ValueError: The model type is unknown, or a field asks for something unsupported.

        >>> TransformerConfig.from_hf({"model_type": "bert", "num_hidden_layers": 6}).num_layers
        6
        """
        from glassformer.weights.families.reading import read_choices  # which builds on this module

        return cls(**read_choices(hf_config))
