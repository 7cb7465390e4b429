"""Record how much memory tensors take during a training step, operation by operation."""

import math
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry


class LiveMemory(TorchDispatchMode):
    """A record of the memory of all tensors that are made while it's active, until they're freed.

    Attributes:
        operations: The floating-point operations of matrix products and attention so far.
        path: The operations so far and the bytes in use, after each tensor made or freed.

    >>> with LiveMemory([]) as memory:
    ...     x = torch.ones(3, 5)
    ...     y = x @ torch.ones(5, 7)
    >>> memory.path[-2:]
    [(210, 284), (210, 144)]
    """

    def __init__(self, known: Iterable[torch.Tensor]):
        """Start a record that leaves out the tensors in `known`, such as the weights."""
        super().__init__()
        self.operations, self.path = 0, [(0, 0)]
        self._storages = {tensor.untyped_storage()._cdata for tensor in known}
        self._over = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run each operation, count it, and watch the memory that it returns."""
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket in flop_registry:
            count = flop_registry[func.overloadpacket]
            self.operations += count(*args, **(kwargs or {}), out_val=result)
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor):
                self._watch(tensor)
        return result

    def __exit__(self, *error: Any) -> None:
        """End the record: what's freed later isn't part of it."""
        super().__exit__(*error)
        self._over = True

    def most(self, ends: Sequence[float]) -> list[float]:
        """Return the most bytes in use in each stretch, from the end of the previous one to `ends`.

        Where nothing was made or freed, the number is that from before; after the last operation,
        it's not a number. The ends count operations and go up.
        """
        found, start, now = [], 0, 0
        for end in ends:
            stop = start
            while stop < len(self.path) and self.path[stop][0] <= end:
                stop += 1
            stretch = [size for _, size in self.path[start:stop]]
            done = start == len(self.path)
            found.append(math.nan if done else float(max([now, *stretch])))
            start, now = stop, stretch[-1] if stretch else now
        return found

    def _watch(self, tensor: torch.Tensor) -> None:
        """Add a tensor's memory to the record, unless it's there, and remove it once it's free."""
        storage = tensor.untyped_storage()
        place, size = storage._cdata, storage.nbytes()
        if place not in self._storages:
            self._storages.add(place)
            self.path.append((self.operations, self.path[-1][1] + size))
            weakref.finalize(storage, self._free, place, size)

    def _free(self, place: int, size: int) -> None:
        self._storages.discard(place)
        if not self._over:
            self.path.append((self.operations, self.path[-1][1] - size))
