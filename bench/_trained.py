"""Train the book's models from one seed, as `processors.py` asks, and print the time of each.

Run in a process of its own: torch reads the instruction set when it is loaded. The weights get the
names that the book looks for, so the folder must belong to this round alone.

    GLASSFORMER_CACHE=FOLDER python bench/_trained.py SEED
"""

import json
import sys
import time
from collections.abc import Sequence

import torch

from glassformer import checkpoints
from glassformer.recipes import RECIPES


def train(seed: int, names: Sequence[str] = tuple(RECIPES)) -> dict[str, float]:
    """Train recipes as the book does, but from this seed; return the seconds for each."""
    checkpoints.SEED = seed
    seconds = {}
    for name in names:
        start = time.perf_counter()
        checkpoints.trained(name)
        seconds[name] = round(time.perf_counter() - start, 1)
    return seconds


if __name__ == "__main__":
    capability = torch.backends.cpu.get_cpu_capability()
    print(json.dumps({"capability": capability, "training": train(int(sys.argv[1]))}))
