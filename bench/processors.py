"""Check the book on another processor, and with models trained from other random numbers.

The result of training depends on the seed, and on how the processor rounds. So the book's models
are trained, and all chapters and labs are checked, once with each instruction set that this
processor can be limited to; chapters and labs that train are also checked once from each of several
seeds. Each round has a folder of its own for trained weights below `.cache/bench/processors`, and a
page's results are never taken from a cache.

It prints what fails in each round, and which claims about trained models come close to their
bounds; it fails if there is either. `--json` writes the rounds to `bench/results/processors.json`,
and what those claims compare, round by round, to `processors_margins.json`: the bounds are chosen
from that.

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
from statistics import median
from typing import Any

from _fetched import lend
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
"""The variables that limit the instructions that the libraries use, by the name of the set."""

SEEDS = range(5)

ROUNDS = {f"{name}-0": (name, 0) for name in SETS} | {
    f"native-{seed}": ("native", seed) for seed in SEEDS
}
"""Instruction set and seed of each round."""

MARGIN = 1.0
"""How safe a comparison must be: the closest round is halfway from the middle one to the bound."""


def environment(instructions: str, folder: Path) -> dict[str, str]:
    """Return the environment of a round: its instructions only, one thread, and its own weights."""
    named = {name for variables in SETS.values() for name in variables}
    ours = {name: value for name, value in os.environ.items() if name not in named}
    ours |= {"GLASSFORMER_CACHE": str(folder), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    return ours | {"TOKENIZERS_PARALLELISM": "false"} | SETS[instructions]


def play(name: str, pages: list[str]) -> dict[str, Any]:
    """Play one round: train, check, and return what was found."""
    instructions, seed = ROUNDS[name]
    variables = environment(instructions, HOME / name)
    lend(HOME / name)
    start = time.perf_counter()
    trained = said("_trained.py", [str(seed)], variables)
    which = "training" if seed else "all"  # other chapters don't depend on the seed
    checked = said("_checked.py", [which, *pages], variables)
    minutes = round((time.perf_counter() - start) / 60, 1)
    about = {"instructions": instructions, "seed": seed, "minutes": minutes}
    return about | trained | checked


def said(script: str, arguments: list[str], variables: dict[str, str]) -> dict[str, Any]:
    """Return what a script beside this one prints when it runs in an environment."""
    command = [sys.executable, str(Path(__file__).with_name(script)), *arguments]
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def margins(found: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the comparisons whose numbers differ between rounds, and how safe their outcome is.

    Their margin is how far apart the two numbers of the closest round are, in units of how much
    closer that round is than the one in the middle. Below 0 the outcome differs between rounds.
    """
    numbers: dict[tuple[str, str], dict[str, list[float]]] = {}
    for name, one in found.items():
        for row in one["comparisons"]:
            numbers.setdefault((row["page"], row["comparison"]), {})[name] = row["numbers"]
    rows = []
    for (page, comparison), by_round in numbers.items():
        gaps = [left - right for left, right in by_round.values()]
        middle = median(gaps)
        closest = min(gap if middle > 0 else -gap for gap in gaps)
        if closest < abs(middle):
            margin = round(closest / (abs(middle) - closest), 2)
            about = {"page": page, "comparison": comparison, "margin": margin}
            rows.append(about | {"numbers": by_round})
    return sorted(rows, key=lambda row: row["margin"])


def main() -> int:
    """Play the rounds and print the tables; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rounds", nargs="*", metavar="ROUND", help=f"of {', '.join(ROUNDS)}")
    parser.add_argument("--pages", nargs="*", default=[], help="all chapters and labs if none")
    parser.add_argument("--json", action="store_true", help="write to bench/results")
    options = parser.parse_args()
    if unknown := set(options.rounds) - ROUNDS.keys():
        parser.error(f"no rounds: {', '.join(sorted(unknown))}; there are {', '.join(ROUNDS)}")
    print(f"{'round':12}{'capability':12}{'chapters':>9}{'labs':>6}{'problems':>9}{'minutes':>9}")
    found = {name: told(name, play(name, options.pages)) for name in options.rounds or ROUNDS}
    compared = margins(found)
    near = [row for row in compared if row["margin"] < MARGIN]
    print(f"{'margin':>7}  {len(near)} of {len(compared)} comparisons come near to their bounds")
    for row in near:
        print(f"{row['margin']:7.2f}  {row['page']}: {row['comparison']}")
    if options.json:
        keep("processors", [without(one, "comparisons") for one in found.values()])
        keep("processors_margins", compared)
    return 1 if near or any(one["problems"] for one in found.values()) else 0


def told(name: str, one: dict[str, Any]) -> dict[str, Any]:
    """Print what a round found."""
    counts = f"{one['chapters']:9}{one['labs']:6}{len(one['problems']):9}{one['minutes']:9}"
    print(f"{name:12}{one['capability']:12}{counts}", *one["problems"], sep="\n", flush=True)
    return one


def without(row: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a row without one of its columns."""
    return {key: value for key, value in row.items() if key != name}


if __name__ == "__main__":
    sys.exit(main())
