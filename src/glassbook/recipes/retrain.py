"""Train the project's models again, and write their files.

python -m glassbook.recipes.retrain
"""

import argparse
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from glassbook.recipes.registry import EXPERIMENTS, RECIPES, recipe_key
from glassbook.recipes.trained_models import (
    FOLDER,
    History,
    read_record,
    train,
    train_and_time,
    write_file,
)

FIRST = 5
"""The steps that are recorded to recognize a training."""
CLOSE = 1e-3
"""The relative difference up to which two of these numbers are the same on other processors."""


def first_steps(name: str) -> History:
    """Return the history of the first steps of each of a recipe's training loops."""
    return {} if name in EXPERIMENTS else train(name, steps=FIRST)[0].history


def last_values(history: Mapping[str, list[float]]) -> dict[str, float]:
    """Return where each list of a history ends: the mean of its last tenth.

    A list named "right" has no order, since each of its items is a question: its mean is of all.
    """
    counted = {
        name: values if name.endswith("right") else values[-max(1, len(values) // 10) :]
        for name, values in history.items()
    }
    return {name: fmean(values) for name, values in counted.items()}


def out_of_range(found: Mapping[str, float], recorded: Mapping[str, list[float]]) -> list[str]:
    """Return a line for each last value that's far from those recorded for several seeds.

    It may be as far outside the recorded values as they are apart, or a twentieth of the largest.
    """
    if found.keys() != recorded.keys():
        return [f"found {', '.join(found)}; recorded {', '.join(recorded)}"]
    wrong = []
    for name, values in recorded.items():
        margin = max(max(values) - min(values), max(map(abs, values)) / 20)
        if not min(values) - margin <= found[name] <= max(values) + margin:
            wrong.append(f"{name}: found {found[name]:.4f}; recorded {values}")
    return wrong


def differences(found: Mapping[str, list[float]], recorded: Mapping[str, list[float]]) -> list[str]:
    """Return a line for each number of a history that isn't the recorded one."""
    if found.keys() != recorded.keys():
        return [f"found {', '.join(found)}; recorded {', '.join(recorded)}"]
    return [
        f"{name}: found {found[name]}; recorded {recorded[name]}"
        for name in found
        if len(found[name]) != len(recorded[name])
        or not all(map(_is_close, found[name], recorded[name]))
    ]


def _is_close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)


def retrain(name: str) -> Path:
    """Train a recipe, and write its file."""
    record, weights = train_and_time(name)
    path = FOLDER / f"{name}.safetensors"
    write_file(path, replace(record, first=first_steps(name)), weights)
    return path


def rekey(name: str) -> list[str]:
    """Write a recipe's key into its file; instead, return the differences of the first steps."""
    path = FOLDER / f"{name}.safetensors"
    record, weights = read_record(path)
    if record.key == recipe_key(name):
        return []
    if wrong := differences(first_steps(name), record.first):
        return wrong
    write_file(path, replace(record, key=recipe_key(name)), weights)
    return []


def main() -> int:
    """Train, or change keys only; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="RECIPE", help=f"of {', '.join(RECIPES)}")
    parser.add_argument(
        "--rekey",
        action="store_true",
        help="train nothing: write only the keys, and only if the first steps are as recorded",
    )
    options = parser.parse_args()
    failed = 0
    for name in options.names or RECIPES:
        if options.rekey:
            wrong = rekey(name)
            failed += bool(wrong)
            print(f"{name}: {'as recorded' if not wrong else '; '.join(wrong)}", flush=True)
        else:
            path = retrain(name)
            print(f"{name}: {path.stat().st_size / 1e6:.2f} MB", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
