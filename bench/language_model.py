"""Time greedy generation with the book's language model against `generate` of transformers.

Both have SmolLM2's weights in float32 and a cache, take turns, and must write the same tokens.
transformers uses torch's fused attention and a cache that grows; one of a fixed size was no faster.
A ratio is their time divided by ours: more than 1 means that ours is faster. The goal is at least
1.3, and 1.0 if one token is written, which is the time to read the prompt.

No step can be faster than reading the weights that it multiplies once from memory; the file, but
not the table, says how close ours comes to that, at the rate at which this machine reads a large
tensor. With --json, each row replaces the one of its size in bench/results: a run can measure some
of them.

    python bench/language_model.py [--turns 5] [--threads N] [--batches 1 8] [--prompts 32 1024]
        [--new 1 16 64] [--json]
"""

import argparse
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from statistics import median

import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM
from transformers.utils import logging

from _turns import RESULTS, in_turn, keep, machine, ratio
from glassbook.smollm import language_checkpoint, language_model
from glassformer import TransformerForCausalLM, generate

GOAL, GOAL_OF_READING = 1.3, 1.0
READ_MIB = 512
SIZES = ("batch", "prompt", "new")


def calls(
    ours: TransformerForCausalLM, theirs: nn.Module, batch: int, prompt: int, new: int
) -> dict[str, Callable[[], Tensor]]:
    """Return both ways to write, from the same prompts."""
    torch.manual_seed(0)
    ids = torch.randint(1, ours.config.vocab_size, (batch, prompt))
    given = {"attention_mask": torch.ones_like(ids), "max_new_tokens": new, "pad_token_id": 0}
    return {
        "ours": lambda: generate(ours, ids, **given),
        "transformers": lambda: theirs.generate(ids, **given, do_sample=False, eos_token_id=None),
    }


def bytes_read(model: TransformerForCausalLM) -> int:
    """Return the bytes of the weights that one step multiplies, with the output layer."""
    layers = sum(weight.nbytes for weight in model.decoder.layers.parameters())
    return layers + model.lm_head.weight.nbytes


def bytes_per_second() -> float:
    """Return how fast this machine reads data that none of its processor's caches holds."""
    large = torch.ones(READ_MIB * 2**20 // 4)
    return large.nbytes / median(in_turn({"read": large.sum}, turns=9)["read"])


def measure(turns: int, sizes_of_all: Iterable[tuple[int, ...]]) -> Iterator[dict]:
    """Yield a row for each batch, prompt, and number of new tokens."""
    rate, ours = bytes_per_second(), language_model()
    theirs = AutoModelForCausalLM.from_pretrained(
        language_checkpoint(), dtype=torch.float32, attn_implementation="sdpa"
    ).eval()
    least = bytes_read(ours) / rate  # seconds a step
    for sizes in sizes_of_all:
        ways = calls(ours, theirs, *sizes)
        written: dict[str, Tensor] = {}

        def kept(name: str, way: Callable[[], Tensor], written=written) -> Callable[[], None]:
            return lambda: written.update({name: way()})

        seconds = in_turn({name: kept(name, way) for name, way in ways.items()}, turns)
        faster = ratio(seconds["transformers"], seconds["ours"])
        batch, _, steps = sizes
        yield dict(zip(SIZES, sizes, strict=True)) | {
            "tokens_per_second": batch * steps / median(seconds["ours"]),
            "theirs": batch * steps / median(seconds["transformers"]),
            "ratio": faster.median,
            "low": faster.low,
            "high": faster.high,
            "same_tokens": torch.equal(*written.values()),
            "share_of_bound": least * steps / median(seconds["ours"]),
            "turns": turns,
            "gigabytes_per_second": rate / 1e9,
        }


def line(row: dict) -> str:
    """Write a row of the table."""
    goal = GOAL_OF_READING if row["new"] == 1 else GOAL
    verdict = "ok" if row["ratio"] >= goal and row["same_tokens"] else "NO"
    return (
        f"{row['batch']:5}{row['prompt']:7}{row['new']:5}"
        f"{row['tokens_per_second']:10.1f}{row['theirs']:10.1f}"
        f"   {row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}] {verdict}"
        f"{row['share_of_bound']:8.0%}"
    )


def keep_one(row: dict) -> None:
    """Store a row among those of other sizes that earlier runs have stored."""
    path = RESULTS / "language_model.json"
    earlier = json.loads(path.read_text())["rows"] if path.exists() else []
    found = {tuple(one[size] for size in SIZES): one for one in [*earlier, row]}
    keep("language_model", [found[sizes] for sizes in sorted(found)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--prompts", type=int, nargs="+", default=[32, 1024])
    parser.add_argument("--new", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--json", action="store_true", help="keep in bench/results")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    logging.set_verbosity_error()
    print(" ".join(f"{name} {value}" for name, value in machine().items()))
    print(f"{'batch':>5}{'prompt':>7}{'new':>5}{'ours t/s':>10}{'theirs':>10}   ratio")
    sizes = [*itertools.product(options.batches, options.prompts, options.new)]
    for row in measure(options.turns, sizes):
        print(line(row), flush=True)
        if options.json:
            keep_one(row)


if __name__ == "__main__":
    main()
