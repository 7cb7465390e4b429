"""Take programs apart: how much of their time do arithmetic, memory, and calls explain?

All numbers are ratios of two times from the same turn. `arithmetic` is the time of as many
operations in a large matrix product, `memory` that of copying as many bytes as the weights have,
and `calls` that of as many calls with hardly any work, all as shares of the program's time: bounds
from below, which needn't add up to one. `products` is the share of the program's matrix products
alone, and `twice` the time for twice the rows, divided by the program's.

The limit of the first three programs is known beforehand. The others are forward passes of the
book's language model: with 256 tokens, and with one. One thread computes, and its processor time
counts, so other programs hardly matter.

    python bench/limits.py [--turns 15] [--json]
"""

import argparse
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from _turns import in_turn, keep, ratio
from glassbook.smollm import language_model
from glassformer import TransformerForCausalLM
from glassformer.inference.fast_decode import few_rows

ROWS, SQUARE, WIDE, PROMPT, COPIED = 512, 2048, 8192, 256, 2**28


def programs() -> dict[str, tuple[nn.Module, Tensor, str]]:
    """Return a module, its input for two batches, and the program that makes as many calls."""
    model = language_model()
    narrow = replace(model.config, d_model=36, head_dim=4, d_ff=96, vocab_size=512)
    ids = torch.randint(1, 512, (2, PROMPT))
    return {
        "one large product": (nn.Linear(SQUARE, SQUARE), torch.randn(2 * ROWS, SQUARE), "a call"),
        "one row": (nn.Linear(WIDE, WIDE), torch.randn(2, WIDE), "a call"),
        "many calls": (TransformerForCausalLM(narrow).eval(), ids[:, :1], "many calls"),
        "prefill": (model, ids, "many calls"),
        "decode": (model, ids[:, :1], "many calls"),
    }


def run(module: nn.Module, given: Tensor) -> Tensor:
    """Run a module; a language model computes the logits of the last token only."""
    return module(given, **({"last_only": True} if given.dtype == torch.long else {}))


def measure(turns: int) -> list[dict]:
    """Return a row for each program."""
    made, work = programs(), {}
    square, source = torch.randn(SQUARE, SQUARE), torch.ones(COPIED // 8)  # a copy also writes
    copy, tiny = torch.empty_like(source), nn.Linear(8, 8)
    calls: dict[str, Callable[[], object]] = {
        "product": lambda: square @ square,
        "copy": lambda: copy.copy_(source),
        "a call": lambda: tiny(square[:1, :8]),
    }
    for name, (module, given, _) in made.items():
        once, inputs = given[: len(given) // 2], []
        with FlopCounterMode(display=False) as counter, ExitStack() as stack:
            for layer in filter(lambda layer: type(layer) is nn.Linear, module.modules()):
                hook = layer.register_forward_pre_hook(lambda *call, kept=inputs: kept.append(call))
                stack.callback(hook.remove)
            run(module, once)
        work[name] = counter.get_total_flops(), sum(w.nbytes for w in module.parameters())
        calls[name] = partial(run, module, once)
        calls[f"{name}, twice"] = partial(run, module, given)
        calls[f"{name}, products"] = lambda inputs=inputs: [layer(*x) for layer, x in inputs]
    with ExitStack() as stack:
        for module, *_ in made.values():
            stack.enter_context(few_rows(module))
        seconds = in_turn(calls, turns, clock=time.process_time)
    rows = []
    for name, (*_, alike) in made.items():
        operations, moved = work[name]
        parts = {
            "arithmetic": [t * operations / (2 * SQUARE**3) for t in seconds["product"]],
            "memory": [t * moved / COPIED for t in seconds["copy"]],
            "calls": seconds[alike],
            "products": seconds[f"{name}, products"],
            "twice": seconds[f"{name}, twice"],
        }
        shares = {part: asdict(ratio(times, seconds[name])) for part, times in parts.items()}
        rows.append({"program": name} | shares | {"turns": turns})
        print(name, *(f"{part} {share['median']:.2f}" for part, share in shares.items()))
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--json", action="store_true", help="write bench/results/limits.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with torch.inference_mode():
        found = measure(options.turns)
    if options.json:
        keep("limits", found)
