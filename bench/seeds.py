"""Train recipes with five seeds, and record where their losses and scores end.

The first seed's values are those of the project's own files. A recipe that takes longer than two
minutes isn't recorded, unless it's named.

    python bench/seeds.py [RECIPE ...]
"""

import json
import sys

from _turns import RESULTS, machine
from glassbook.recipes.registry import EXPERIMENTS, RECIPES, SEED
from glassbook.recipes.retrain import last_values
from glassbook.recipes.trained_models import FOLDER, read_record, train

FILE = RESULTS / "seeds.json"
SEEDS = range(SEED, SEED + 5)
LONGEST = 120  # seconds that one training may take


def measure(name: str) -> dict[str, list[float]]:
    """Train a recipe with each seed; return the last values of its history, one for each seed."""
    record, _ = read_record(FOLDER / f"{name}.safetensors")
    histories = [record.history, *(train(name, seed=seed)[0].history for seed in SEEDS[1:])]
    ends = [last_values(history) for history in histories]
    return {part: [round(end[part], 4) for end in ends] for part in ends[0]}


def main() -> None:
    """Measure, and write the file after each recipe."""
    seconds = {
        name: read_record(FOLDER / f"{name}.safetensors")[0].seconds
        for name in RECIPES
        if name not in EXPERIMENTS
    }
    short = [name for name, needed in seconds.items() if needed < LONGEST]
    for name in sys.argv[1:] or sorted(short, key=seconds.__getitem__):
        known = json.loads(FILE.read_text())["recipes"] if FILE.exists() else {}
        recipes = dict(sorted({**known, name: measure(name)}.items()))
        missing = sorted(seconds.keys() - recipes.keys())
        content = {
            "machine": machine(),
            "seeds": [*SEEDS],
            "recipes": recipes,
            "not recorded": missing,
        }
        FILE.write_text(json.dumps(content, indent=1) + "\n")
        print(name, flush=True)


if __name__ == "__main__":
    main()
