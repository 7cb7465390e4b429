"""Times and memory of calls that are compared with each other within one process."""

import json
import math
import os
import platform
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median

import torch
from torch.profiler import ProfilerActivity, profile

RESULTS = Path(__file__).with_name("results")
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Ratio:
    """The median of the ratios of all turns, with the interval that holds the true one."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} [{self.low:.2f}, {self.high:.2f}]"


def in_turn(
    calls: Mapping[str, Callable[[], object]],
    turns: int,
    repeats: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Return the seconds of each call in each turn; every second turn runs in the opposite order.

    So a slow moment of the machine affects all calls of a turn, and none is always the first. Each
    call is made once before, untimed, and `repeats` times for each measurement.
    """
    for call in calls.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(turns):
        for name in list(calls) if turn % 2 == 0 else reversed(calls):
            start = clock()
            for _ in range(repeats):
                calls[name]()
            seconds[name].append((clock() - start) / repeats)
    return seconds


def ratio(over: list[float], under: list[float]) -> Ratio:
    """Return the ratio turn by turn; its interval assumes no distribution, only an order."""
    ratios = sorted(a / b for a, b in zip(over, under, strict=True))
    outside = _outside(len(ratios))
    return Ratio(median(ratios), ratios[outside], ratios[-1 - outside])


def _outside(count: int) -> int:
    """Return how many ratios may be cut off at each end, by the binomial law of the median."""
    outside, below = 0, 0.5**count  # below: the chance that so few are below the true median
    while outside < (count - 1) // 2:
        below += math.comb(count, outside + 1) * 0.5**count
        if below > (1 - CONFIDENCE) / 2:
            break
        outside += 1
    return outside


def peak_bytes(call: Callable[[], object]) -> int:
    """Return the peak memory of the tensors that the call makes; it's the same in every run."""
    call()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        call()
    held, peak = 0, 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return peak


def machine() -> dict[str, str | int]:
    """Return the circumstances on which the numbers of a run depend."""
    return {
        "processor": platform.processor() or platform.machine(),
        "model": processor_name(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "cores": os.cpu_count() or 1,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": version("transformers"),
    }


def processor_name() -> str:
    """Return the processor's own name, if the system reports it."""
    told = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.+)", told.read_text()) if told.exists() else None
    return found[1] if found else platform.processor() or platform.machine()


def keep(name: str, rows: list[dict]) -> None:
    """Write the rows to bench/results, from where pages read them."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"machine": machine(), "rows": rows}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n")
