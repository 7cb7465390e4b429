"""Time our decoder on its way from 2017 to a Llama, one change at a time.

Every step keeps the changes before it. Two kinds of work are timed: reading a text at once, and
writing one more token after a text that is in the cache.

In `modern`, all steps take turns, and a ratio is a step's time divided by the first step's: less
than 1 means that the step is faster than 2017.

In `modern_by_heads`, numbers are the time of a written token after a text of each length, for each
number of key-value heads, as shares of the first number: less is faster.

Times are processor times on one thread: other work of the machine is not counted.

    python bench/modern.py [--turns 9] [--json]
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median

import torch
from torch import Tensor

from _turns import in_turn, keep, machine, ratio
from glassformer import KVCache, TransformerConfig, TransformerForCausalLM

READ = (1, 512)
WRITE = (4, 1024)
REPEATS = 4
LENGTHS = (128, 256, 512, 1024, 2048)
KV_HEADS = (8, 4, 2, 1)

FIRST = TransformerConfig(
    **{"vocab_size": 30522, "d_model": 384, "num_heads": 8, "num_layers": 6, "d_ff": 1536},
    **{"activation": "relu", "positions": "sinusoidal", "scale_embeddings": True},
    **{"max_positions": 8192, "norm_eps": 1e-6, "num_token_types": 0, "embedding_norm": False},
    **{"dropout": 0.0, "attn_dropout": 0.0, "pad_token_id": None, "tie_embeddings": False},
)
in_processor_time = partial(in_turn, clock=time.process_time)
CHANGES = {
    "2017": {},
    "norm before": {"norm_first": True},
    "RMSNorm": {"norm": "rms"},
    "no biases": {"bias": False},
    "rotary positions": {"positions": "rotary_halves", "scale_embeddings": False},
    "gated feed-forward": {"gated": True, "activation": "silu", "d_ff": 1024},
    "2 key-value heads": {"num_kv_heads": 2},
}


def steps() -> dict[str, TransformerConfig]:
    """Return the configuration after each change."""
    configs, config = {}, FIRST
    for name, change in CHANGES.items():
        configs[name] = config = replace(config, **change)
    return configs


def built(config: TransformerConfig) -> TransformerForCausalLM:
    """Return a model with new weights, ready for inference."""
    torch.manual_seed(0)
    return TransformerForCausalLM(config).eval().requires_grad_(False)


def read(model: TransformerForCausalLM, ids: Tensor) -> Callable[[], Tensor]:
    """Return a call that reads a text at once, to predict the next token."""
    return partial(model, ids, last_only=True)


def write(model: TransformerForCausalLM, ids: Tensor) -> tuple[Callable[[], Tensor], KVCache]:
    """Return a call that writes one more token for each row of a text, and the text's cache."""
    cache = KVCache()
    model(ids, cache=cache, last_only=True)
    return partial(model, ids[:, -1:], cache=cache), cache


def walk(turns: int) -> list[dict]:
    """Return a row for each step."""
    models = {name: built(config) for name, config in steps().items()}
    reading = {name: read(model, drawn(READ)) for name, model in models.items()}
    seconds = {"read": in_processor_time(reading, turns)}
    prepared = {name: write(model, drawn(WRITE)) for name, model in models.items()}
    caches = {
        name: cache.nbytes // cache.length // WRITE[0] for name, (_, cache) in prepared.items()
    }
    writing = {name: call for name, (call, _) in prepared.items()}
    seconds["write"] = in_processor_time(writing, turns, REPEATS)
    rows = []
    for name, model in models.items():
        row = {
            "step": name,
            "parameters": sum(p.numel() for p in model.decoder.layers.parameters()),
            "cache_bytes": caches[name],
            **{"read_tokens": READ[1], "write_batch": WRITE[0], "write_after": WRITE[1]},
        }
        for kind, all_seconds in seconds.items():
            to_first = ratio(all_seconds[name], all_seconds["2017"])
            row |= {
                f"{kind}_ms": median(all_seconds[name]) * 1e3,
                kind: to_first.median,
                f"{kind}_low": to_first.low,
                f"{kind}_high": to_first.high,
            }
        rows.append(row)
        print(line(row), flush=True)
    return rows


def by_heads(turns: int) -> list[dict]:
    """Print milliseconds per written token for each length and number of key-value heads."""
    *_, last = steps().values()
    models = {heads: built(replace(last, num_kv_heads=heads)) for heads in KV_HEADS}
    rows = []
    for length in LENGTHS:
        calls = {str(n): write(model, drawn((WRITE[0], length)))[0] for n, model in models.items()}
        seconds = in_processor_time(calls, turns, REPEATS)
        rows.append({"length": length} | {n: median(seconds[n]) * 1e3 for n in calls})
        print(f"{length:6}" + "".join(f"{rows[-1][n]:9.2f}" for n in calls), flush=True)
    return rows


def drawn(shape: tuple[int, int]) -> Tensor:
    """Return random token ids."""
    return torch.randint(FIRST.vocab_size, shape)


def line(row: dict) -> str:
    """Write a row of the table."""
    times = "".join(
        f"{row[f'{kind}_ms']:9.1f}  {row[kind]:.2f} [{row[f'{kind}_low']:.2f}, "
        f"{row[f'{kind}_high']:.2f}]"
        for kind in ("read", "write")
    )
    return f"{row['step']:20}{row['parameters']:12,}{row['cache_bytes']:8}{times}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="write bench/results/modern.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(" ".join(f"{name} {value}" for name, value in machine().items()))
    print(f"{'step':20}{'parameters':>12}{'cache':>8}{'read ms':>9}{'ratio':>9}{'write ms':>19}")
    rows = walk(options.turns)
    print(f"ms a token after a text, by key-value heads {KV_HEADS}")
    heads = by_heads(options.turns)
    if options.json:
        keep("modern", rows)
        keep("modern_by_heads", heads)


if __name__ == "__main__":
    main()
