"""Trained weights of `transformers`, carried over to the equal model of glassformer."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from glassformer.checkpoints import SHARDS, WEIGHTS, CheckpointError, find_checkpoint
from glassformer.config import TransformerConfig
from glassformer.decoder import TransformerDecoder
from glassformer.encoder import TransformerEncoder
from glassformer.heads import (
    TransformerForCausalLM,
    TransformerForMaskedLM,
    TransformerForNextSentencePrediction,
    TransformerForSequenceClassification,
)
from glassformer.transformer import Transformer


@runtime_checkable
class HFModel(Protocol):
    """What is needed of a model of transformers."""

    config: Any

    def state_dict(self) -> dict[str, Tensor]:
        """All weights by name."""


Names = Mapping[str, str | tuple[str, ...]]
"""Module there: module here; `*` stands for a layer's number.

Several modules here have equal parts of what is one wide map there.
"""


@dataclass(frozen=True)
class Architecture:
    """How one class of transformers is built and named here; `*` stands for a layer's number.

    Weights that are tied here, one parameter under two names, need no more than their names.
    """

    build: Callable[[TransformerConfig], nn.Module]
    names: Names
    transposed: frozenset[str] = frozenset()  # modules there whose weight is (inputs, outputs)
    rows: Mapping[str, str] = field(default_factory=dict)  # weights (1, n) there: (n,) here
    # Tables there whose rows up to the padding token's are not taken over.
    past_padding: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)  # weights there: their first names
    unused: frozenset[str] = frozenset()  # weights there that have no part in the output


def nested(there: str, here: str, names: Names) -> Names:
    """The same names for a stack that lies deeper: after `there` on their side, `here` on ours."""
    return {
        f"{there}.{module}": f"{here}.{ours}"
        if isinstance(ours, str)
        else tuple(f"{here}.{part}" for part in ours)
        for module, ours in names.items()
    }


BERT = MappingProxyType(
    {
        "embeddings.word_embeddings": "embeddings.tokens",
        "embeddings.position_embeddings": "embeddings.positions.table",
        "embeddings.token_type_embeddings": "embeddings.token_types",
        "embeddings.LayerNorm": "embeddings.norm",
        "encoder.layer.*.attention.self.query": "layers.*.attention.q_proj",
        "encoder.layer.*.attention.self.key": "layers.*.attention.k_proj",
        "encoder.layer.*.attention.self.value": "layers.*.attention.v_proj",
        "encoder.layer.*.attention.output.dense": "layers.*.attention.out_proj",
        "encoder.layer.*.attention.output.LayerNorm": "layers.*.attention_norm",
        "encoder.layer.*.intermediate.dense": "layers.*.feed_forward.up_proj",
        "encoder.layer.*.output.dense": "layers.*.feed_forward.down_proj",
        "encoder.layer.*.output.LayerNorm": "layers.*.feed_forward_norm",
    }
)
GPT2: Mapping[str, str | tuple[str, ...]] = MappingProxyType(
    {
        "wte": "embeddings.tokens",
        "wpe": "embeddings.positions.table",
        "h.*.ln_1": "layers.*.attention_norm",
        "h.*.attn.c_attn": (
            "layers.*.attention.q_proj",
            "layers.*.attention.k_proj",
            "layers.*.attention.v_proj",
        ),
        "h.*.attn.c_proj": "layers.*.attention.out_proj",
        "h.*.ln_2": "layers.*.feed_forward_norm",
        "h.*.mlp.c_fc": "layers.*.feed_forward.up_proj",
        "h.*.mlp.c_proj": "layers.*.feed_forward.down_proj",
        "ln_f": "final_norm",
    }
)
GPT2_TRANSPOSED = ("h.*.attn.c_attn", "h.*.attn.c_proj", "h.*.mlp.c_fc", "h.*.mlp.c_proj")
# Causal masks that old checkpoints hold.
GPT2_UNUSED = ("h.*.attn.bias", "h.*.attn.masked_bias")
MARIAN_LAYER = MappingProxyType(
    {
        "self_attn.q_proj": "attention.q_proj",
        "self_attn.k_proj": "attention.k_proj",
        "self_attn.v_proj": "attention.v_proj",
        "self_attn.out_proj": "attention.out_proj",
        "self_attn_layer_norm": "attention_norm",
        "fc1": "feed_forward.up_proj",
        "fc2": "feed_forward.down_proj",
        "final_layer_norm": "feed_forward_norm",
    }
)
MARIAN_CROSS_ATTENTION = MappingProxyType(
    {
        "encoder_attn.q_proj": "cross_attention.q_proj",
        "encoder_attn.k_proj": "cross_attention.k_proj",
        "encoder_attn.v_proj": "cross_attention.v_proj",
        "encoder_attn.out_proj": "cross_attention.out_proj",
        "encoder_attn_layer_norm": "cross_attention_norm",
    }
)
BERT_UNDER_A_HEAD = MappingProxyType(nested("bert", "encoder", BERT))
ROBERTA_UNDER_A_HEAD = MappingProxyType(nested("roberta", "encoder", BERT))
# There the rows up to the padding token's are for padding, whose vector nobody reads; see
# `skip_padding` in the config.
ROBERTA_PAST_PADDING = "embeddings.position_embeddings.weight"
DISTILBERT = MappingProxyType(
    {
        "embeddings.word_embeddings": "embeddings.tokens",
        "embeddings.position_embeddings": "embeddings.positions.table",
        "embeddings.LayerNorm": "embeddings.norm",
        "transformer.layer.*.attention.q_lin": "layers.*.attention.q_proj",
        "transformer.layer.*.attention.k_lin": "layers.*.attention.k_proj",
        "transformer.layer.*.attention.v_lin": "layers.*.attention.v_proj",
        "transformer.layer.*.attention.out_lin": "layers.*.attention.out_proj",
        "transformer.layer.*.sa_layer_norm": "layers.*.attention_norm",
        "transformer.layer.*.ffn.lin1": "layers.*.feed_forward.up_proj",
        "transformer.layer.*.ffn.lin2": "layers.*.feed_forward.down_proj",
        "transformer.layer.*.output_layer_norm": "layers.*.feed_forward_norm",
    }
)
LLAMA = MappingProxyType(
    {
        "embed_tokens": "embeddings.tokens",
        "layers.*.input_layernorm": "layers.*.attention_norm",
        "layers.*.self_attn.q_proj": "layers.*.attention.q_proj",
        "layers.*.self_attn.k_proj": "layers.*.attention.k_proj",
        "layers.*.self_attn.v_proj": "layers.*.attention.v_proj",
        "layers.*.self_attn.o_proj": "layers.*.attention.out_proj",
        "layers.*.post_attention_layernorm": "layers.*.feed_forward_norm",
        "layers.*.mlp.gate_proj": "layers.*.feed_forward.gate_proj",
        "layers.*.mlp.up_proj": "layers.*.feed_forward.up_proj",
        "layers.*.mlp.down_proj": "layers.*.feed_forward.down_proj",
        "norm": "final_norm",
    }
)
# Frequencies that old checkpoints hold, computed here as they were there.
LLAMA_UNUSED = "layers.*.self_attn.rotary_emb.inv_freq"

ARCHITECTURES = MappingProxyType(
    {
        "BertModel": Architecture(
            build=TransformerEncoder,
            names=BERT,
            unused=frozenset(
                {"pooler.dense.weight", "pooler.dense.bias", "embeddings.position_ids"}
            ),
        ),
        "BertForSequenceClassification": Architecture(
            build=TransformerForSequenceClassification,
            names={
                **BERT_UNDER_A_HEAD,
                "bert.pooler.dense": "pooler.dense",
                "classifier": "classifier",
            },
            unused=frozenset({"bert.embeddings.position_ids"}),
        ),
        "BertForMaskedLM": Architecture(
            build=TransformerForMaskedLM,
            names={
                **BERT_UNDER_A_HEAD,
                "cls.predictions.transform.dense": "transform",
                "cls.predictions.transform.LayerNorm": "norm",
                "cls.predictions.decoder": "decoder",
            },
            aliases={"cls.predictions.bias": "cls.predictions.decoder.bias"},
            unused=frozenset(
                {
                    "bert.embeddings.position_ids",
                    "bert.pooler.dense.weight",
                    "bert.pooler.dense.bias",
                    "cls.seq_relationship.weight",
                    "cls.seq_relationship.bias",
                }
            ),
        ),
        "BertForNextSentencePrediction": Architecture(
            build=TransformerForNextSentencePrediction,
            names={
                **BERT_UNDER_A_HEAD,
                "bert.pooler.dense": "pooler.dense",
                "cls.seq_relationship": "classifier",
            },
            unused=frozenset({"bert.embeddings.position_ids"}),
        ),
        "RobertaModel": Architecture(
            build=TransformerEncoder,
            names=BERT,
            past_padding=frozenset({ROBERTA_PAST_PADDING}),
            unused=frozenset(
                {"pooler.dense.weight", "pooler.dense.bias", "embeddings.position_ids"}
            ),
        ),
        "RobertaForSequenceClassification": Architecture(
            build=TransformerForSequenceClassification,
            names={
                **ROBERTA_UNDER_A_HEAD,
                "classifier.dense": "pooler.dense",
                "classifier.out_proj": "classifier",
            },
            past_padding=frozenset({f"roberta.{ROBERTA_PAST_PADDING}"}),
            unused=frozenset({"roberta.embeddings.position_ids"}),
        ),
        "RobertaForMaskedLM": Architecture(
            build=TransformerForMaskedLM,
            names={
                **ROBERTA_UNDER_A_HEAD,
                "lm_head.dense": "transform",
                "lm_head.layer_norm": "norm",
                "lm_head.decoder": "decoder",
            },
            aliases={"lm_head.bias": "lm_head.decoder.bias"},
            past_padding=frozenset({f"roberta.{ROBERTA_PAST_PADDING}"}),
            unused=frozenset(
                {
                    "roberta.embeddings.position_ids",
                    "roberta.pooler.dense.weight",
                    "roberta.pooler.dense.bias",
                }
            ),
        ),
        "DistilBertModel": Architecture(build=TransformerEncoder, names=DISTILBERT),
        "DistilBertForMaskedLM": Architecture(
            build=TransformerForMaskedLM,
            names={
                **nested("distilbert", "encoder", DISTILBERT),
                "vocab_transform": "transform",
                "vocab_layer_norm": "norm",
                "vocab_projector": "decoder",
            },
        ),
        "GPT2Model": Architecture(
            build=TransformerDecoder,
            names=GPT2,
            transposed=frozenset(GPT2_TRANSPOSED),
            unused=frozenset(GPT2_UNUSED),
        ),
        "GPT2LMHeadModel": Architecture(
            build=TransformerForCausalLM,
            names={**nested("transformer", "decoder", GPT2), "lm_head": "lm_head"},
            transposed=frozenset(f"transformer.{name}" for name in GPT2_TRANSPOSED),
            unused=frozenset(f"transformer.{name}" for name in GPT2_UNUSED),
        ),
        "LlamaModel": Architecture(
            build=TransformerDecoder, names=LLAMA, unused=frozenset({LLAMA_UNUSED})
        ),
        "LlamaForCausalLM": Architecture(
            build=TransformerForCausalLM,
            names={**nested("model", "decoder", LLAMA), "lm_head": "lm_head"},
            unused=frozenset({f"model.{LLAMA_UNUSED}"}),
        ),
        "MarianMTModel": Architecture(
            build=Transformer,
            names={
                "model.encoder.embed_tokens": "encoder.embeddings.tokens",
                "model.decoder.embed_tokens": "decoder.embeddings.tokens",
                **nested("model.encoder.layers.*", "encoder.layers.*", MARIAN_LAYER),
                **nested("model.decoder.layers.*", "decoder.layers.*", MARIAN_LAYER),
                **nested("model.decoder.layers.*", "decoder.layers.*", MARIAN_CROSS_ATTENTION),
                "lm_head": "lm_head",
            },
            rows={"final_logits_bias": "lm_head.bias"},
            aliases={"model.shared.weight": "model.encoder.embed_tokens.weight"},
            # Computed here, as they were there.
            unused=frozenset(
                {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"}
            ),
        ),
    }
)

# Layer norms of old BERT checkpoints.
LEGACY = MappingProxyType({"gamma": "weight", "beta": "bias"})


def from_hf(hf_model: HFModel) -> nn.Module:
    """Our equal of a model of transformers, in eval mode, with a copy of its weights.

    Raises:
        CheckpointError: the class is not built here, or the weights are not those of the config.
        ValueError: a field of its config is not built here.

    >>> from transformers import BertConfig, BertModel
    >>> sizes = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1}
    >>> from_hf(BertModel(BertConfig(**sizes, vocab_size=11))).config.d_model
    8
    """
    architecture = _architecture(type(hf_model).__name__, "model")
    config = TransformerConfig.from_hf(hf_model.config)
    return _fill(architecture, config, hf_model.state_dict(), type(hf_model).__name__)


def load(name_or_path: str | Path) -> nn.Module:
    """Our equal of a checkpoint, in eval mode, from its `config.json` and safetensors alone.

    Raises:
        CheckpointError: there is no such checkpoint, or it cannot be used; it says what to do.
        ValueError: a field of the config is not built here.

    >>> from glassformer import default_checkpoint
    >>> encoder = load(default_checkpoint())
    >>> encoder.config.num_layers
    6
    """
    directory = find_checkpoint(name_or_path)
    hf_config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    names = hf_config.get("architectures") or ["none given"]
    architecture = _architecture(names[0], f"architectures in {directory / 'config.json'}")
    config = TransformerConfig.from_hf(hf_config)
    return _fill(architecture, config, _read(directory), str(directory))


def _architecture(name: str, where: str) -> Architecture:
    if name not in ARCHITECTURES:
        raise CheckpointError(
            f"{where} ({name}) must be one of {', '.join(ARCHITECTURES)} to be built here"
        )
    return ARCHITECTURES[name]


def _read(directory: Path) -> dict[str, Tensor]:
    """The weights of a checkpoint, from one file or from all that its index names."""
    from safetensors.torch import load_file

    names = {WEIGHTS}
    if not (directory / WEIGHTS).is_file():
        index = json.loads((directory / SHARDS).read_text(encoding="utf-8"))
        names = set(index["weight_map"].values())
    missing = sorted(name for name in names if not (directory / name).is_file())
    if missing:
        raise CheckpointError(f"{directory} lacks {', '.join(missing)}, which its {SHARDS} names")
    device = str(torch.get_default_device())
    return {
        name: weight
        for file in sorted(names)
        for name, weight in load_file(directory / file, device=device).items()
    }


def _fill(
    architecture: Architecture,
    config: TransformerConfig,
    hf_weights: Mapping[str, Tensor],
    source: str,
) -> nn.Module:
    """Build the model and give it these weights, each in its place and shape."""
    with _WithoutInitialisation():
        model = architecture.build(config)
    given = {_modern(name): weight for name, weight in hf_weights.items()}
    places = _places(model, architecture, config.pad_token_id)
    known = {there for place in places.values() for there in place.names}
    unused = {_pattern(name)[0] for name in architecture.unused}
    problems = [
        f"unexpected: {name}" for name in given.keys() - known if _pattern(name)[0] not in unused
    ]
    weights: dict[str, Tensor] = {}
    for names, wanted in _parameters(model):
        pieces = {
            there: places[name].cut(given[there])
            for name in names
            for there in places[name].names
            if there in given
        }
        if not pieces:
            problems.append(f"missing: {places[names[0]].names[0]}")
            continue
        first, *others = pieces.values()
        if config.tie_embeddings and not all(torch.equal(first, other) for other in others):
            problems.append(f"not equal, though they are one weight: {', '.join(pieces)}")
        problems += [
            f"of another shape: {there} {tuple(piece.shape)}, by the config {tuple(wanted.shape)}"
            for there, piece in pieces.items()
            if piece.shape != wanted.shape
        ]
        # A copy: neither a live model nor a file mapped into memory is tied to ours.
        copy = first.detach().clone()
        shared = nn.Parameter(copy) if isinstance(wanted, nn.Parameter) else copy
        weights |= dict.fromkeys(names, shared)
    if problems:
        raise CheckpointError(
            f"the weights of {source} are not those that its config describes; give a config and "
            "weights that were saved together:\n  " + "\n  ".join(sorted(problems))
        )
    model.load_state_dict(weights, assign=True)
    return model.eval()


@dataclass(frozen=True)
class _Place:
    """Where a weight of ours lies there: its names, and which part of what they name it is."""

    names: tuple[str, ...]
    part: int = 0
    parts: int = 1
    transposed: bool = False
    row: bool = False
    skipped: int = 0

    def cut(self, weight: Tensor) -> Tensor:
        """Our weight out of theirs."""
        if self.row:
            return weight.squeeze(0)
        rows = (weight.t() if self.transposed else weight)[self.skipped :]
        return rows.tensor_split(self.parts)[self.part]


def _places(
    model: nn.Module, architecture: Architecture, pad_token_id: int | None
) -> dict[str, _Place]:
    """The place of every weight of the model, by its name here."""
    past_padding = 0 if pad_token_id is None else pad_token_id + 1
    rows: dict[str, tuple[str, int, int]] = {}
    for there, ours in architecture.names.items():
        cut = (ours,) if isinstance(ours, str) else ours
        rows |= {here: (there, number, len(cut)) for number, here in enumerate(cut)}
    places = {here: _Place((there,), row=True) for there, here in architecture.rows.items()}
    for name in model.state_dict().keys() - places.keys():
        pattern, layer = _pattern(name)
        module, _, kind = pattern.rpartition(".")
        there, part, parts = rows[module]
        found = f"{there}.{kind}".replace("*", layer)
        others = (alias for alias, first in architecture.aliases.items() if first == found)
        turned = kind == "weight" and there in architecture.transposed
        skipped = past_padding if found in architecture.past_padding else 0
        places[name] = _Place((found, *others), part, parts, turned, skipped=skipped)
    return places


def _parameters(model: nn.Module) -> list[tuple[list[str], Tensor]]:
    """Each weight of the model once, with all its names: tied ones have several."""
    found: dict[int, tuple[list[str], Tensor]] = {}
    for name, weight in model.state_dict(keep_vars=True).items():
        found.setdefault(id(weight), ([], weight))[0].append(name)
    return list(found.values())


def _modern(name: str) -> str:
    """The name that a weight of an old checkpoint has today."""
    module, _, kind = name.rpartition(".")
    return f"{module}.{LEGACY[kind]}" if kind in LEGACY else name


def _pattern(name: str) -> tuple[str, str]:
    """A name with `*` for its layer's number, and that number."""
    number = re.search(r"(?<=\.)\d+(?=\.)", name)
    if number is None:
        return name, ""
    return f"{name[: number.start()]}*{name[number.end() :]}", number.group()


class _WithoutInitialisation(TorchFunctionMode):
    """Leaves new weights as memory has them, since others are on their way."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        """Skip torch's initialisers, and do all else as ever."""
        kwargs = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)
