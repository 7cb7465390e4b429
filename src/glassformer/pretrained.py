"""Trained weights of `transformers`, carried over to the equal model of glassformer."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from glassformer.checkpoints import CheckpointError, find_checkpoint
from glassformer.config import TransformerConfig
from glassformer.encoder import TransformerEncoder


@runtime_checkable
class HFModel(Protocol):
    """What is needed of a model of transformers."""

    config: Any

    def state_dict(self) -> dict[str, Tensor]:
        """All weights by name."""


@dataclass(frozen=True)
class Architecture:
    """How one class of transformers is built and named here; `*` stands for a layer's number."""

    build: Callable[[TransformerConfig], nn.Module]
    names: Mapping[str, str]  # module there: module here
    unused: frozenset[str]  # weights there that have no part in the output


ARCHITECTURES = MappingProxyType(
    {
        "BertModel": Architecture(
            build=TransformerEncoder,
            names={
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
            },
            unused=frozenset(
                {"pooler.dense.weight", "pooler.dense.bias", "embeddings.position_ids"}
            ),
        ),
    }
)

# Layer norms of old BERT checkpoints.
LEGACY = MappingProxyType({"gamma": "weight", "beta": "bias"})


def from_hf(hf_model: HFModel) -> nn.Module:
    """The equal model of a live one, in eval mode, with a copy of its weights.

    Raises:
        ValueError: the class, or a field of its config, is not built here.
    """
    architecture = _architecture(type(hf_model).__name__, "model")
    config = TransformerConfig.from_hf(hf_model.config)
    return _fill(architecture, config, hf_model.state_dict(), type(hf_model).__name__)


def load(name_or_path: str | Path) -> nn.Module:
    """The equal model of a checkpoint, in eval mode, from its `config.json` and safetensors alone.

    Raises:
        CheckpointError: there is no such checkpoint, or it cannot be used; it says what to do.
        ValueError: the architecture, or a field of the config, is not built here.
    """
    from safetensors.torch import load_file

    directory = find_checkpoint(name_or_path)
    hf_config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    names = hf_config.get("architectures") or ["none given"]
    architecture = _architecture(names[0], f"architectures in {directory / 'config.json'}")
    config = TransformerConfig.from_hf(hf_config)
    device = str(torch.get_default_device())
    weights = load_file(directory / "model.safetensors", device=device)
    return _fill(architecture, config, weights, str(directory))


def _architecture(name: str, where: str) -> Architecture:
    if name not in ARCHITECTURES:
        raise CheckpointError(
            f"{where} ({name}) must be one of {', '.join(ARCHITECTURES)} to be built here"
        )
    return ARCHITECTURES[name]


def _fill(
    architecture: Architecture,
    config: TransformerConfig,
    hf_weights: Mapping[str, Tensor],
    source: str,
) -> nn.Module:
    """Build the model without weights and give it these, each in its place and shape."""
    with torch.device("meta"):
        model = architecture.build(config)
    given = {_modern(name): weight for name, weight in hf_weights.items()}
    expected = {
        name: (_name_there(name, architecture.names), weight.shape)
        for name, weight in model.state_dict().items()
    }
    used = {there for there, _ in expected.values()}
    problems = [f"missing: {there}" for there in used if there not in given]
    problems += [f"unexpected: {name}" for name in given.keys() - used - architecture.unused]
    problems += [
        f"of another shape: {there} {tuple(given[there].shape)}, by the config {tuple(shape)}"
        for there, shape in expected.values()
        if there in given and given[there].shape != shape
    ]
    if problems:
        raise CheckpointError(
            f"the weights of {source} are not those that its config describes; give a config and "
            "weights that were saved together:\n  " + "\n  ".join(sorted(problems))
        )
    # Copies: neither a live model nor a file mapped into memory is tied to ours.
    weights = {name: given[there].detach().clone() for name, (there, _) in expected.items()}
    model.load_state_dict(weights, assign=True)
    return model.eval()


def _modern(name: str) -> str:
    """The name that a weight of an old checkpoint has today."""
    module, _, kind = name.rpartition(".")
    return f"{module}.{LEGACY[kind]}" if kind in LEGACY else name


def _name_there(name: str, names: Mapping[str, str]) -> str:
    """The name in transformers of a weight named here."""
    there = {here: hf for hf, here in names.items()}
    module, _, kind = name.rpartition(".")
    number = re.search(r"\d+", module)
    if number is None:
        return f"{there[module]}.{kind}"
    pattern = f"{module[: number.start()]}*{module[number.end() :]}"
    return f"{there[pattern].replace('*', number.group())}.{kind}"
