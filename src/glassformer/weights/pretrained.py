"""Load trained weights from `transformers` into the equivalent glassformer model."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar, cast

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from glassformer.models.config import HFConfig, TransformerConfig
from glassformer.weights.checkpoints import SHARDS, WEIGHTS, CheckpointError, find_checkpoint
from glassformer.weights.families.family import Architecture
from glassformer.weights.families.registry import ARCHITECTURES

Model = TypeVar("Model", bound=nn.Module)


# Layer norms of old BERT checkpoints.
LEGACY = MappingProxyType({"gamma": "weight", "beta": "bias"})

# What DistributedDataParallel and torch.compile put before the names of all weights.
WRAPPERS = ("module.", "_orig_mod.")

# Data types that can be mapped, by their names in safetensors.
MAPPED = MappingProxyType({"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16})


def from_hf(hf_model: nn.Module) -> nn.Module:
    """Build our equivalent of a transformers model, in eval mode, with a copy of its weights.

    Raises:
        CheckpointError: The class isn't supported, or the weights don't fit the config.
        ValueError: A field of its config isn't supported.

    >>> from transformers import BertConfig, BertModel
    >>> sizes = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1}
    >>> from_hf(BertModel(BertConfig(**sizes, vocab_size=11))).config.d_model
    8
    """
    name, hf_config = type(hf_model).__name__, cast(HFConfig, hf_model.config)
    architecture = _architecture(name, "model")
    config = TransformerConfig.from_hf(hf_config)
    return _fill(architecture, config, hf_model.state_dict(), name)


def load(name_or_path: str | Path) -> nn.Module:
    """Load a checkpoint as our model, in eval mode, from `config.json` and safetensors only.

    Raises:
        CheckpointError: There is no such checkpoint, or it can't be used; the message says
            what to do.
        ValueError: A field of the config isn't supported.

    >>> from glassformer import default_checkpoint
    >>> encoder = load(default_checkpoint())
    >>> encoder.config.num_layers
    6
    """
    return load_as(nn.Module, name_or_path)


def load_as(kind: type[Model], name_or_path: str | Path, *, mapped: bool = False) -> Model:
    """Load a checkpoint of a model of this class, as `load` does.

    With `mapped`, weights aren't copied: they're read from the file when first used, and
    processes share the memory. The file must not change while the model is in use. Training
    changes the weights in memory only.

    Raises:
        CheckpointError: There is no such checkpoint, it can't be used, or it holds a model of
            another class; the message says what to do.
        ValueError: A field of the config isn't supported.
    """
    directory = find_checkpoint(name_or_path)
    hf_config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    names = hf_config.get("architectures") or ["none given"]
    architecture = _architecture(names[0], f"architectures in {directory / 'config.json'}")
    build = architecture.build
    if not issubclass(build, kind):
        raise CheckpointError(
            f"{directory} holds a {names[0]}, which is a {build.__name__} here, not a "
            f"{kind.__name__}: call {build.__name__}.from_pretrained, or load"
        )
    config = TransformerConfig.from_hf(hf_config)
    model = _fill(architecture, config, _read(directory, mapped), str(directory), mapped)
    assert isinstance(model, kind)
    return model


def _architecture(name: str, where: str) -> Architecture:
    if name not in ARCHITECTURES:
        raise CheckpointError(f"{where} ({name}) must be one of {', '.join(ARCHITECTURES)}")
    return ARCHITECTURES[name]


def _read(directory: Path, mapped: bool) -> dict[str, Tensor]:
    """Return the weights of a checkpoint, from one file or from all files in its index."""
    names = {WEIGHTS}
    if not (directory / WEIGHTS).is_file():
        index = json.loads((directory / SHARDS).read_text(encoding="utf-8"))
        names = set(index["weight_map"].values())
    missing = sorted(name for name in names if not (directory / name).is_file())
    if missing:
        raise CheckpointError(f"{directory} lacks {', '.join(missing)}, which its {SHARDS} names")
    read = _map if mapped else _copy
    return {
        name: weight for file in sorted(names) for name, weight in read(directory / file).items()
    }


def _copy(file: Path) -> dict[str, Tensor]:
    """Read the weights of a file onto the default device."""
    from safetensors.torch import load_file

    return load_file(file, device=str(torch.get_default_device()))


def _map(file: Path) -> dict[str, Tensor]:
    """Map the weights of a file into memory: none is read before it's used.

    safetensors maps files too, but it touches every weight, which takes a second from a cold disk.
    """
    storage = torch.UntypedStorage.from_file(str(file), False, file.stat().st_size)
    content = torch.empty(0, dtype=torch.uint8, device="cpu").set_(storage)  # type: ignore[arg-type]
    size = int.from_bytes(content[:8].numpy().tobytes(), "little")
    header = json.loads(content[8 : 8 + size].numpy().tobytes())
    header.pop("__metadata__", None)
    weights = {}
    for name, about in header.items():
        first, end = (8 + size + place for place in about["data_offsets"])
        weight = content[first:end].view(MAPPED[about["dtype"]]).view(about["shape"])
        weights[name] = weight.to(torch.get_default_device())
    return weights


def _fill(
    architecture: Architecture,
    config: TransformerConfig,
    hf_weights: Mapping[str, Tensor],
    source: str,
    mapped: bool = False,
) -> nn.Module:
    """Build the model with these weights, copied or mapped, after checking names and shapes."""
    with _WithoutInitialisation():
        model = architecture.build(config)
    places = _places(model, architecture, config.pad_token_id)
    known = {there for place in places.values() for there in place.names}
    unused = {_pattern(name)[0] for name in architecture.unused}
    given = {
        _modern(name, architecture.in_files): weight
        for name, weight in _without_wrapper(hf_weights).items()
    }
    roots = {name.partition(".")[0] for name in known}
    given = _with_known_prefix(given, lambda n: n in known or _pattern(n)[0] in unused, roots)
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
            problems.append(f"not equal, though they share one weight: {', '.join(pieces)}")
        if not first.is_floating_point():
            problems.append(f"quantized: {next(iter(pieces))} ({first.dtype})")
            continue
        problems += [
            f"wrong shape: {there} {tuple(piece.shape)}, but {tuple(wanted.shape)} by the config"
            for there, piece in pieces.items()
            if piece.shape != wanted.shape
        ]
        # Unless mapped, a copy: ours isn't tied to a live model or to a file in memory.
        own = first.contiguous() if mapped else first.detach().clone()
        shared = nn.Parameter(own) if isinstance(wanted, nn.Parameter) else own
        weights |= dict.fromkeys(names, shared)
    if problems:
        raise CheckpointError(
            f"the weights of {source} don't match its config; use a config and "
            "weights that were saved together:\n  " + "\n  ".join(sorted(problems))
        )
    model.load_state_dict(weights, assign=True)
    return model.eval()


def _without_wrapper(weights: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Drop the prefixes of names that DistributedDataParallel and torch.compile add to all."""
    for prefix in WRAPPERS:
        if weights and all(name.startswith(prefix) for name in weights):
            inner = {name.removeprefix(prefix): weight for name, weight in weights.items()}
            return _without_wrapper(inner)
    return weights


def _with_known_prefix(
    given: dict[str, Tensor], fits: Callable[[str], bool], roots: Collection[str]
) -> dict[str, Tensor]:
    """Add the prefix of a model's body where names lack it, or drop one that the model lacks.

    A body saved by itself has no prefix (`encoder…`), and within a model with a head it has one
    (`bert.encoder…`). A name of which both are there stays as it is, to be reported.
    """

    def known(name: str) -> str:
        root, _, inner = name.partition(".")
        others = [] if root in roots else [inner, *(f"{one}.{name}" for one in roots)]
        found = next((other for other in others if fits(other)), name)
        return name if fits(name) or found in given else found

    return {known(name): weight for name, weight in given.items()}


@dataclass(frozen=True)
class _Place:
    """The place of one of our weights in a checkpoint: its names, and its part of that tensor."""

    names: tuple[str, ...]
    part: int = 0
    parts: int = 1
    transposed: bool = False
    row: bool = False
    skipped: int = 0

    def cut(self, weight: Tensor) -> Tensor:
        """Cut our weight out of theirs."""
        if self.row:
            return weight.squeeze(0)
        if weight.ndim == 4:  # a convolution over separate squares is a linear layer
            weight = weight.flatten(1)
        rows = (weight.t() if self.transposed else weight)[self.skipped :]
        return rows.tensor_split(self.parts)[self.part]


def _places(
    model: nn.Module, architecture: Architecture, pad_token_id: int | None
) -> dict[str, _Place]:
    """Return where a checkpoint holds each weight of the model, by its name in the model."""
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
    """Return each weight of the model once, with all its names: tied ones have several."""
    found: dict[int, tuple[list[str], Tensor]] = {}
    for name, weight in model.state_dict(keep_vars=True).items():
        found.setdefault(id(weight), ([], weight))[0].append(name)
    return list(found.values())


def _modern(name: str, in_files: Mapping[str, str]) -> str:
    """Return the name that a weight of an old checkpoint, or of a file, has in a live model."""
    pattern, layer = _pattern(name)
    module, dot, kind = pattern.rpartition(".")
    modern = f"{in_files.get(module, module)}{dot}{LEGACY.get(kind, kind)}"
    return modern.replace("*", layer)


def _pattern(name: str) -> tuple[str, str]:
    """Return a name with `*` for its layer's number, and that number."""
    number = re.search(r"(?<=\.)\d+(?=\.)", name)
    if number is None:
        return name, ""
    return f"{name[: number.start()]}*{name[number.end() :]}", number.group()


class _WithoutInitialisation(TorchFunctionMode):
    """A mode that leaves new weights uninitialized, since loaded ones replace them."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        """Skip torch's initializers, and do everything else as usual."""
        kwargs = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)
