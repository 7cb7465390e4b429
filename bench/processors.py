"""Does the book hold on another processor, and with models trained from other random numbers?

What a training ends with depends on the seed, and as much on how the processor rounds. So the
models are trained and all chapters and labs checked once with each instruction set that this
processor can be held to, and once from each of several seeds. Every round has a folder of its own
for trained weights below `.cache/bench/processors`; results of pages are never taken from a cache.

It prints what fails in each round. `--json` writes that to `bench/results/processors.json`, and to
`processors_values.json` what the claims of the chapters that train compare, round by round: the
bounds in such a claim are chosen from these.

    python bench/processors.py [ROUND ...] [--pages CHAPTER ...] [--json]
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from _turns import keep

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".cache" / "bench" / "processors"

SETS = {
    "native": {},
    "avx2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
    "default": {"ATEN_CPU_CAPABILITY": "default"},
}
"""What the libraries read of the instructions that they may use, by the name of the set."""

SEEDS = range(5)

ROUNDS = {f"{name}-0": (name, 0) for name in SETS} | {
    f"native-{seed}": ("native", seed) for seed in SEEDS
}
"""Instruction set and seed of each round."""


def environment(instructions: str, folder: Path) -> dict[str, str]:
    """The environment of a round: the instructions alone, one thread, and weights of its own."""
    named = {name for variables in SETS.values() for name in variables}
    ours = {name: value for name, value in os.environ.items() if name not in named}
    ours |= {"GLASSFORMER_CACHE": str(folder), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    return ours | {"TOKENIZERS_PARALLELISM": "false"} | SETS[instructions]


def play(name: str, pages: list[str]) -> dict[str, Any]:
    """One round: train, check, and give what was found."""
    instructions, seed = ROUNDS[name]
    variables = environment(instructions, HOME / name)
    start = time.perf_counter()
    trained = said("_trained.py", [str(seed)], variables)
    checked = said("_checked.py", pages, variables)
    minutes = round((time.perf_counter() - start) / 60, 1)
    about = {"instructions": instructions, "seed": seed, "minutes": minutes}
    return about | trained | checked


def said(script: str, arguments: list[str], variables: dict[str, str]) -> dict[str, Any]:
    """What a script beside this one prints, run in an environment."""
    command = [sys.executable, str(Path(__file__).with_name(script)), *arguments]
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def by_expression(found: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What claims compare, each with its value in every round; what never differs is left out."""
    names = dict.fromkeys(
        (page, expression)
        for one in found.values()
        for page, values in one["values"].items()
        for expression in values
    )
    rows = []
    for page, expression in names:
        values = {name: one["values"][page].get(expression) for name, one in found.items()}
        if len({json.dumps(value) for value in values.values()}) > 1:
            rows.append({"page": page, "expression": expression, **values})
    return rows


def main() -> int:
    """Play the rounds and print the table; gives the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rounds", nargs="*", metavar="ROUND", help=f"of {', '.join(ROUNDS)}")
    parser.add_argument("--pages", nargs="*", default=[], help="all chapters and labs if none")
    parser.add_argument("--json", action="store_true", help="write bench/results/processors.json")
    options = parser.parse_args()
    found = {}
    print(f"{'round':12}{'capability':12}{'chapters':>9}{'problems':>9}{'minutes':>9}")
    for name in options.rounds or ROUNDS:
        one = found[name] = play(name, options.pages)
        counts = f"{one['chapters']:9}{len(one['problems']):9}{one['minutes']:9}"
        print(f"{name:12}{one['capability']:12}{counts}", flush=True)
        print(*one["problems"], sep="\n", end="\n" if one["problems"] else "")
    if options.json:
        keep("processors", [drop(one, "values") for one in found.values()])
        keep("processors_values", by_expression(found))
    return 1 if any(one["problems"] for one in found.values()) else 0


def drop(row: dict[str, Any], name: str) -> dict[str, Any]:
    """A row without one of its columns."""
    return {key: value for key, value in row.items() if key != name}


if __name__ == "__main__":
    sys.exit(main())
