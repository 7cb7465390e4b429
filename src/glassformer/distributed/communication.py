"""Count the bytes that processes would send each other, using only a single process."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# Torch's names for the three collectives, and how often a ring sends (n - 1) / n of the tensor.
KINDS = {
    "allreduce_": "all-reduce",
    "all_reduce": "all-reduce",
    "_allgather_base_": "all-gather",
    "all_gather_into_tensor": "all-gather",
    "_reduce_scatter_base_": "reduce-scatter",
    "reduce_scatter_tensor": "reduce-scatter",
}
ROUNDS = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1}


@contextmanager
def fake_process_group(size: int) -> Iterator[DeviceMesh]:
    """Pretend to be the first of `size` processes, and yield their mesh.

    Collectives return at once, with meaningless numbers. Shapes and counts are right.

    Raises:
        ValueError: Size is less than one.
    """
    if size < 1:
        raise ValueError(f"size ({size}) must be at least 1")
    dist.init_process_group("fake", rank=0, world_size=size)
    try:
        yield init_device_mesh("cpu", (size,))
    finally:
        dist.destroy_process_group()


def replicated(model: nn.Module) -> DistributedDataParallel:
    """Wrap a model as data parallel training does, with an all-reduce that can be counted.

    The built-in all-reduce waits for a result that never comes, as there are no other processes.
    """
    part = DistributedDataParallel(model)
    part.register_comm_hook(None, _reduced)
    return part


def _reduced(_: object, bucket: dist.GradBucket) -> Future[Tensor]:
    dist.all_reduce(bucket.buffer())
    done: Future[Tensor] = Future()
    done.set_result(bucket.buffer())
    return done


class CommCounter(TorchDispatchMode):
    """A counter of collectives while it's active: the calls of each kind, and their tensors' bytes.

    Attributes:
        calls: The number of calls of each kind of collective.
        about: The bytes of the whole tensors, before a scatter or after a gather.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.about: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run each operation and count it; those inside a sharded tensor arrive separately."""
        if any(issubclass(kind, DTensor) for kind in types):
            return NotImplemented
        result = func(*args, **(kwargs or {}))
        namespace, _, name = func._schema.name.partition("::")
        if namespace in ("c10d", "_c10d_functional") and name in KINDS:
            tensors = [x for x in tree_leaves((args, result)) if isinstance(x, Tensor)]
            self.calls[KINDS[name]] += 1
            self.about[KINDS[name]] += max(tensor.nbytes for tensor in tensors)
        return result

    def sent(self, size: int) -> float:
        """Return the bytes that each of `size` processes sends if they work in rings.

        Source: Patarasuk and Yuan 2009, section 3.
        """
        return sum(ROUNDS[kind] * about * (size - 1) / size for kind, about in self.about.items())


def held(model: nn.Module, optimizer: Optimizer) -> dict[str, int]:
    """Return the bytes of the weights, gradients, and optimizer states that this process holds."""
    weights = [*model.parameters()]
    gradients = [p.grad for p in weights if p.grad is not None]
    states = [s for state in optimizer.state.values() for s in state.values() if s.ndim]
    return {
        "weights": sum(map(_own_bytes, weights)),
        "gradients": sum(map(_own_bytes, gradients)),
        "states": sum(map(_own_bytes, states)),
    }


def _own_bytes(tensor: Tensor) -> int:
    return (tensor.to_local() if isinstance(tensor, DTensor) else tensor).nbytes
