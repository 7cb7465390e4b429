"""The sizes and choices that make one stack of layers, in one place, checked when they are made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from glassformer.feed_forward import ACTIVATIONS
from glassformer.norms import NORMS

POSITIONS = ("learned", "sinusoidal", "sinusoidal_halves", "rotary", "rotary_halves")


@runtime_checkable
class HFConfig(Protocol):
    """What is needed of a configuration of transformers: its fields as a dictionary."""

    def to_dict(self) -> dict[str, Any]:
        """All fields by name."""


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """One stack of layers; as it stands, that of bert-base-uncased.

    Attributes:
        vocab_size: tokens in the vocabulary.
        d_model: width of the hidden states.
        num_heads: attention heads a layer.
        num_kv_heads: key-value heads a layer; None is one for each head.
        head_dim: width of a head; None is `d_model / num_heads`.
        num_layers: layers in the stack.
        d_ff: inner width of the feed-forward network.
        activation: a name in `feed_forward.ACTIVATIONS`.
        gated: whether the feed-forward network multiplies what is bent with what is not.
        norm: "layer" (layer normalisation), or "rms" (by the root mean square).
        norm_eps: what a norm adds to the variance, or to the mean square.
        norm_first: normalise before each sub-layer (pre-norm) instead of after it (post-norm).
        final_norm: normalise once more after the last layer; None is as `norm_first`, since
            nothing else normalises what a pre-norm stack puts out.
        positions: "learned", "sinusoidal" (the paper's layout), "sinusoidal_halves" (Marian's:
            all sines, then all cosines), "rotary" (the paper's pairs, neighbours), or
            "rotary_halves" (the pairs of transformers' Llama).
        max_positions: the longest sequence; without a table of positions, the longest that is
            generated.
        skip_padding: whether an encoder's positions count only what is not `pad_token_id`, as
            RoBERTa's do; BERT's count all.
        rope_theta: the base of the frequencies of rotary positions.
        scale_embeddings: whether a token's vector is multiplied by `sqrt(d_model)`.
        embedding_norm: whether the sum of embeddings is normalised.
        num_token_types: segments that tokens may be marked as; 0 leaves the table out.
        dropout: of embeddings and of what each sub-layer adds.
        attn_dropout: of attention weights.
        classifier_dropout: of what a classifier reads; None is as `dropout`.
        bias: whether linear maps have one.
        tie_embeddings: whether a language model's last map is its table of tokens.
        share_embeddings: whether that table is also the encoder's, in an encoder-decoder.
        output_bias: whether the last map of an encoder-decoder has a bias.
        num_labels: what a classifier chooses from.
        pad_token_id: the token whose vector stays zero in a new table and is never trained.
        initializer_range: standard deviation of new weights.
        cross_attention: whether a decoder's layers attend to a memory besides their own tokens.
        decoder: the second stack of an encoder-decoder; this one is then the encoder.

    Raises:
        ValueError: a value is out of its range, or two do not fit together.

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
    scale_embeddings: bool = False
    embedding_norm: bool = True
    num_token_types: int = 2
    dropout: float = 0.1
    attn_dropout: float = 0.1
    classifier_dropout: float | None = None
    bias: bool = True
    tie_embeddings: bool = True
    share_embeddings: bool = False
    output_bias: bool = False
    num_labels: int = 2
    pad_token_id: int | None = 0
    initializer_range: float = 0.02
    cross_attention: bool = False
    decoder: "TransformerConfig | None" = None

    def __post_init__(self):
        for name in (
            *("vocab_size", "d_model", "num_heads", "num_kv_heads", "head_dim", "num_layers"),
            *("d_ff", "max_positions", "num_labels"),
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
                f"head_dim ({head_dim}) must be even: positions ({self.positions!r}) turn its "
                "numbers two by two"
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
                "decoder.cross_attention (False) must be True: it is how the decoder reads what "
                "the encoder read"
            )
        same = ("d_model", "vocab_size", "pad_token_id") if self.share_embeddings else ("d_model",)
        for name in same:
            ours, theirs = getattr(self, name), getattr(decoder, name)
            if ours != theirs:
                raise ValueError(f"{name} ({ours}) and decoder.{name} ({theirs}) must be equal")
        if self.share_embeddings and not self.tie_embeddings:
            raise ValueError(
                "share_embeddings (True) needs tie_embeddings (False): one table serves the "
                "encoder, the decoder and the last map"
            )

    def _require(self, holds: bool, name: str, rule: str) -> None:
        if not holds:
            raise ValueError(f"{name} ({getattr(self, name)!r}) {rule}")

    @classmethod
    def from_hf(cls, hf_config: HFConfig | Mapping[str, Any]) -> "TransformerConfig":
        """The same choices in the words used here, from a live configuration or a `config.json`.

        Every field is accounted for: honoured, harmless, or refused unless it has the one value
        that stands for what is built here. A field that is missing has its default.

        Raises:
            ValueError: the model type is not known here, or a field asks for what is not built.

        >>> TransformerConfig.from_hf({"model_type": "bert", "num_hidden_layers": 6}).num_layers
        6
        """
        given = dict(hf_config if isinstance(hf_config, Mapping) else hf_config.to_dict())
        model_type = given.get("model_type")
        known = HF_FIELDS.get(str(model_type))
        if known is None:
            raise ValueError(f"model_type ({model_type!r}) must be one of {', '.join(HF_FIELDS)}")
        given = _settled(known, given)
        for name, only in known.refused_unless.items():
            if name in given and given[name] != only:
                raise ValueError(
                    f"{name} ({given[name]!r}) is not honoured for {model_type}: glassformer "
                    f"builds {only!r} only"
                )
        for name, value in given.items():
            if name not in known:
                raise ValueError(
                    f"{name} ({value!r}) is not a field of {model_type} that glassformer knows; "
                    "if it changes nothing in the model's output, take it out of the config"
                )
        return cls(**_stacks(known, given))


@dataclass(frozen=True)
class HFFields:
    """The fields of one model type in transformers, and what becomes of each here.

    A field here may belong to the second stack, `decoder.num_layers`, and a field there may give
    several here, as a tuple.
    """

    honoured: Mapping[str, str | tuple[str, ...]]  # field there: field here
    refused_unless: Mapping[str, Any]  # field there: the only value that is built here
    harmless: frozenset[str]  # without effect on the output of a model in eval mode
    # Field here: its value where no field there gives one, if not TransformerConfig's default.
    base: Mapping[str, Any] = field(default_factory=dict)
    # Field there: another there, so many times, speaks for it where it is missing or None.
    like: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    nested: tuple[str, ...] = ()  # fields there that hold fields themselves, or None
    # Field there that counts rows of which the first, up to pad_token_id, are no token's: its
    # default.
    past_padding: Mapping[str, int] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return name in self.honoured or name in self.refused_unless or name in self.harmless


HF_ACTIVATIONS = MappingProxyType(
    {
        "gelu": "gelu",
        "gelu_python": "gelu",
        "gelu_new": "gelu_tanh",
        "gelu_fast": "gelu_tanh",
        "gelu_pytorch_tanh": "gelu_tanh",
        "relu": "relu",
        "silu": "silu",
        "swish": "silu",
    }
)

# Fields without effect on the hidden states of a model in eval mode.
BOOKKEEPING = (
    *("model_type", "architectures", "_name_or_path", "name_or_path", "_commit_hash", "auto_map"),
    *("transformers_version", "dtype", "torch_dtype", "torchscript"),
)
OUTPUT_FORMATS = ("output_attentions", "output_hidden_states", "return_dict", "use_return_dict")
OTHER_WAYS = (  # to compute the same
    *("use_cache", "output_past", "gradient_checkpointing", "chunk_size_feed_forward"),
    *("_attn_implementation", "attn_implementation", "_attn_implementation_autoset"),
)
TOKENS = (
    *("bos_token_id", "eos_token_id", "sep_token_id", "cls_token_id", "mask_token_id"),
    *("decoder_start_token_id", "tokenizer_class"),
)
HEADS = (
    *(
        "label2id",
        "_num_labels",
        "problem_type",
        "finetuning_task",
        "task_specific_params",
        "directionality",
    ),
    *("pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers"),
    *("pooler_size_per_head", "pooler_type"),
)

GENERATION = (
    *("max_length", "min_length", "num_beams", "length_penalty", "early_stopping", "do_sample"),
    *("bad_words_ids", "forced_bos_token_id", "forced_eos_token_id", "no_repeat_ngram_size"),
    *("force_bos_token_to_be_generated", "num_return_sequences", "prefix"),
)

# What the fields of BERT, and of models built like it, are called here.
BERT_FIELDS = {
    "vocab_size": "vocab_size",
    "hidden_size": "d_model",
    "num_attention_heads": "num_heads",
    "num_hidden_layers": "num_layers",
    "intermediate_size": "d_ff",
    "hidden_act": "activation",
    "layer_norm_eps": "norm_eps",
    "max_position_embeddings": "max_positions",
    "type_vocab_size": "num_token_types",
    "hidden_dropout_prob": "dropout",
    "attention_probs_dropout_prob": "attn_dropout",
    "classifier_dropout": "classifier_dropout",
    "tie_word_embeddings": "tie_embeddings",
    "id2label": "num_labels",
    "num_labels": "num_labels",
    "pad_token_id": "pad_token_id",
    "initializer_range": "initializer_range",
}

# GPT-2's own defaults, and what is so in every GPT-2.
GPT2 = {
    **{"vocab_size": 50257, "max_positions": 1024, "activation": "gelu_tanh", "norm_eps": 1e-5},
    **{"norm_first": True, "num_token_types": 0, "embedding_norm": False, "pad_token_id": None},
}

# DistilBERT's own defaults, and what is so in every DistilBERT.
DISTILBERT = {"num_layers": 6, "num_token_types": 0}

# RoBERTa's own defaults, and what is so in every RoBERTa.
ROBERTA = {"vocab_size": 50265, "pad_token_id": 1, "skip_padding": True}

# Llama's own defaults, and what is so in every Llama.
LLAMA = {
    **{"vocab_size": 32000, "d_model": 4096, "num_heads": 32, "num_layers": 32, "d_ff": 11008},
    **{"activation": "silu", "gated": True, "norm": "rms", "norm_eps": 1e-6, "norm_first": True},
    **{"positions": "rotary_halves", "max_positions": 2048, "num_token_types": 0, "bias": False},
    **{"embedding_norm": False, "dropout": 0.0, "attn_dropout": 0.0, "tie_embeddings": False},
    "pad_token_id": None,
}

# Marian's own defaults, for both of its stacks, and what is so in every Marian model.
MARIAN = {
    f"{stack}{name}": value
    for stack in ("", "decoder.")
    for name, value in {
        **{"vocab_size": 58101, "d_model": 1024, "num_heads": 16, "num_layers": 12, "d_ff": 4096},
        **{"max_positions": 1024, "attn_dropout": 0.0, "pad_token_id": 58100},
        **{"positions": "sinusoidal_halves", "num_token_types": 0, "embedding_norm": False},
        "norm_eps": 1e-5,
    }.items()
} | {"decoder.cross_attention": True, "share_embeddings": True, "output_bias": True}

HF_FIELDS = MappingProxyType(
    {
        "bert": HFFields(
            honoured=BERT_FIELDS,
            refused_unless={
                "add_cross_attention": False,
                "embedding_size": None,
                "is_decoder": False,
                "is_encoder_decoder": False,
                "position_embedding_type": "absolute",
                "pruned_heads": {},
            },
            harmless=frozenset({*BOOKKEEPING, *OUTPUT_FORMATS, *OTHER_WAYS, *TOKENS, *HEADS}),
        ),
        "gpt2": HFFields(
            honoured={
                "vocab_size": "vocab_size",
                "n_embd": "d_model",
                "n_head": "num_heads",
                "n_layer": "num_layers",
                "n_inner": "d_ff",
                "n_positions": "max_positions",
                "activation_function": "activation",
                "layer_norm_epsilon": "norm_eps",
                "resid_pdrop": "dropout",
                "attn_pdrop": "attn_dropout",
                "tie_word_embeddings": "tie_embeddings",
                "pad_token_id": "pad_token_id",
                "initializer_range": "initializer_range",
            },
            refused_unless={
                "add_cross_attention": False,
                "is_encoder_decoder": False,
                "reorder_and_upcast_attn": False,
                "scale_attn_by_inverse_layer_idx": False,
                "scale_attn_weights": True,
            },
            harmless=frozenset(
                {*BOOKKEEPING, *OUTPUT_FORMATS, *OTHER_WAYS, *TOKENS, *HEADS, *GENERATION}
                | {"id2label", "num_labels", "embd_pdrop", "n_ctx"}
                | {"summary_type", "summary_use_proj", "summary_activation"}
                | {"summary_first_dropout", "summary_proj_to_labels"}
            ),
            base=GPT2,
            like={"n_inner": ("n_embd", 4)},
        ),
        "distilbert": HFFields(
            honoured={
                "vocab_size": "vocab_size",
                "dim": "d_model",
                "n_heads": "num_heads",
                "n_layers": "num_layers",
                "hidden_dim": "d_ff",
                "activation": "activation",
                "max_position_embeddings": "max_positions",
                "dropout": "dropout",
                "attention_dropout": "attn_dropout",
                "tie_word_embeddings": "tie_embeddings",
                "pad_token_id": "pad_token_id",
                "initializer_range": "initializer_range",
            },
            refused_unless={"is_encoder_decoder": False},
            harmless=frozenset(
                {*BOOKKEEPING, *OUTPUT_FORMATS, *OTHER_WAYS, *TOKENS, *HEADS}
                | {"id2label", "num_labels", "qa_dropout", "seq_classif_dropout", "tie_weights_"}
                # It fills a new table of positions; a saved one is as it is.
                | {"sinusoidal_pos_embds"}
            ),
            base=DISTILBERT,
        ),
        "roberta": HFFields(
            honoured={name: BERT_FIELDS[name] for name in BERT_FIELDS if name != "hidden_act"},
            refused_unless={
                "add_cross_attention": False,
                "hidden_act": "gelu",  # that of the masked-language head, whatever is asked for
                "is_decoder": False,
                "is_encoder_decoder": False,
                "position_embedding_type": "absolute",
                "pruned_heads": {},
            },
            harmless=frozenset({*BOOKKEEPING, *OUTPUT_FORMATS, *OTHER_WAYS, *TOKENS, *HEADS}),
            base=ROBERTA,
            past_padding={"max_position_embeddings": 512},
        ),
        "llama": HFFields(
            honoured={
                "vocab_size": "vocab_size",
                "hidden_size": "d_model",
                "num_attention_heads": "num_heads",
                "num_key_value_heads": "num_kv_heads",
                "head_dim": "head_dim",
                "num_hidden_layers": "num_layers",
                "intermediate_size": "d_ff",
                "hidden_act": "activation",
                "rms_norm_eps": "norm_eps",
                "max_position_embeddings": "max_positions",
                "rope_theta": "rope_theta",
                "attention_dropout": "attn_dropout",
                "attention_bias": "bias",
                "mlp_bias": "bias",
                "tie_word_embeddings": "tie_embeddings",
                "pad_token_id": "pad_token_id",
                "initializer_range": "initializer_range",
            },
            refused_unless={
                "add_cross_attention": False,
                "is_encoder_decoder": False,
                "partial_rotary_factor": 1.0,
                "rope_type": "default",
                "sliding_window": None,
                "type": "default",
            },
            harmless=frozenset(
                {*BOOKKEEPING, *OUTPUT_FORMATS, *OTHER_WAYS, *TOKENS, *HEADS, *GENERATION}
                | {"id2label", "num_labels", "pretraining_tp"}
            ),
            base=LLAMA,
            nested=("rope_parameters", "rope_scaling"),
        ),
        "marian": HFFields(
            honoured={
                "vocab_size": "vocab_size",
                "decoder_vocab_size": "decoder.vocab_size",
                "d_model": ("d_model", "decoder.d_model"),
                "encoder_attention_heads": "num_heads",
                "decoder_attention_heads": "decoder.num_heads",
                "encoder_layers": "num_layers",
                "num_hidden_layers": "num_layers",
                "decoder_layers": "decoder.num_layers",
                "encoder_ffn_dim": "d_ff",
                "decoder_ffn_dim": "decoder.d_ff",
                "activation_function": ("activation", "decoder.activation"),
                "max_position_embeddings": ("max_positions", "decoder.max_positions"),
                "scale_embedding": ("scale_embeddings", "decoder.scale_embeddings"),
                "dropout": ("dropout", "decoder.dropout"),
                "attention_dropout": ("attn_dropout", "decoder.attn_dropout"),
                "pad_token_id": ("pad_token_id", "decoder.pad_token_id"),
                "init_std": ("initializer_range", "decoder.initializer_range"),
                "share_encoder_decoder_embeddings": "share_embeddings",
                "tie_word_embeddings": "tie_embeddings",
            },
            refused_unless={
                "activation_dropout": 0.0,
                "add_bias_logits": False,
                "add_final_layer_norm": False,
                "decoder_layerdrop": 0.0,
                "encoder_layerdrop": 0.0,
                "is_decoder": False,
                "is_encoder_decoder": True,
                "normalize_before": False,
                "normalize_embedding": False,
                "static_position_embeddings": True,
            },
            harmless=frozenset(
                {*BOOKKEEPING, *OUTPUT_FORMATS, *OTHER_WAYS, *TOKENS, *HEADS, *GENERATION}
                | {"classifier_dropout", "classif_dropout", "id2label", "num_labels"}
                | {"extra_pos_embeddings"}
            ),
            base=MARIAN,
            like={"decoder_vocab_size": ("vocab_size", 1)},
        ),
    }
)


def _settled(known: HFFields, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields, each speaking for itself: none in another, none left to another one."""
    fields = {name: value for name, value in given.items() if name not in known.nested}
    for holder in known.nested:
        for name, value in (given.get(holder) or {}).items():
            if fields.setdefault(name, value) != value:
                raise ValueError(
                    f"{name} ({fields[name]!r}) and that in {holder} ({value!r}) must be equal"
                )
    for name, (other, times) in known.like.items():
        if fields.get(name) is None and other in fields:
            fields[name] = times * fields[other]
    for name, rows in known.past_padding.items():
        padding = fields.get("pad_token_id", known.base["pad_token_id"])
        if padding is None:
            raise ValueError("pad_token_id (None) must be a token: positions count on from it")
        fields[name] = fields.get(name, rows) - padding - 1
    return fields


def _stacks(known: HFFields, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields here that these fields there give, the second stack's made one config."""
    choices: dict[str, Any] = dict(known.base)
    origin: dict[str, str] = {}
    for name, fields in known.honoured.items():
        if name not in given:
            continue
        for here in (fields,) if isinstance(fields, str) else fields:
            convert = CONVERSIONS.get(here.rpartition(".")[2], _as_it_is)
            value = convert(name, given[name])
            if here in origin and choices[here] != value:
                raise ValueError(
                    f"{name} ({given[name]!r}) and {origin[here]} ({given[origin[here]]!r}) "
                    "must agree"
                )
            choices[here], origin[here] = value, name
    first = {here: value for here, value in choices.items() if "." not in here}
    second = {here.partition(".")[2]: value for here, value in choices.items() if "." in here}
    return first | ({"decoder": TransformerConfig(**second)} if second else {})


def _as_it_is(name: str, value: Any) -> Any:
    return value


def _activation(name: str, value: Any) -> str:
    if value not in HF_ACTIVATIONS:
        raise ValueError(f"{name} ({value!r}) must be one of {', '.join(HF_ACTIVATIONS)}")
    return HF_ACTIVATIONS[value]


def _count(name: str, value: Any) -> int:
    return value if isinstance(value, int) else len(value)


# Fields here whose value is written in another way there.
CONVERSIONS: Mapping[str, Callable[[str, Any], Any]] = MappingProxyType(
    {"activation": _activation, "num_labels": _count}
)
