"""Checkpoints in parts: each process writes its own, and any number of processes can read them."""

from pathlib import Path
from typing import Any

import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint import FileSystemReader
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_state_dict,
    set_state_dict,
)
from torch.optim import Optimizer

# The optimizer's states by weight name: next time, another process may hold that weight.
BY_NAME = StateDictOptions(flatten_optimizer_state_dict=True)


def save_sharded(folder: Path, step: int, model: nn.Module, optimizer: Optimizer) -> None:
    """Write weights and the optimizer's state after `step` steps. All processes call it.

    Each writes the parts it holds; parts that several hold are written once. The file
    `.metadata` comes last.
    """
    weights, states = get_state_dict(model, optimizer, options=BY_NAME)
    dcp.save({"model": weights, "optimizer": states}, checkpoint_id=str(folder / f"step-{step:06}"))


def newest_step(folder: Path) -> int:
    """Return the number of steps in the newest complete checkpoint, or 0 if there is none.

    A process that died while writing leaves a checkpoint without `.metadata`, which doesn't count.
    """
    return max((int(path.parent.name[5:]) for path in folder.glob("step-*/.metadata")), default=0)


def load_sharded(folder: Path, step: int, model: nn.Module, optimizer: Optimizer) -> None:
    """Read this process's part of the checkpoint. All processes call it.

    Raises:
        ValueError: The model has a weight that the checkpoint lacks, or has in a different shape.
    """
    path = str(folder / f"step-{step:06}")
    weights, states = get_state_dict(model, optimizer, options=BY_NAME)
    _check(path, weights)
    state: dict[str, Any] = {"model": weights, "optimizer": states}
    dcp.load(state, checkpoint_id=path)
    set_state_dict(
        model,
        optimizer,
        model_state_dict=state["model"],
        optim_state_dict=state["optimizer"],
        options=BY_NAME,
    )


def _check(path: str, weights: dict[str, Any]) -> None:
    kept = FileSystemReader(path).read_metadata().state_dict_metadata
    for name, weight in weights.items():
        found = kept.get(f"model.{name}")
        shape = tuple(found.size) if isinstance(found, TensorStorageMetadata) else None
        if shape != tuple(weight.shape):
            raise ValueError(
                f"{name} has shape {tuple(weight.shape)} in the model and "
                f"{shape or 'no value'} in the checkpoint {path}"
            )
