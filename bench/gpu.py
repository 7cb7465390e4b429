"""Time our models on a GPU, as shares of what the card can do and against other libraries.

The card's limits are measured first: its fastest product of two square matrices, and its fastest
copy. Models take turns, in bfloat16; a ratio is our time divided by the other's, so less than 1
means that ours is faster.

In `gpu, encoder`, an encoder of BERT-large's size, with random weights, reads a batch or makes a
step of training. Ours and that of transformers (with torch's fused attention) are compiled, with
CUDA graphs for reading; torch's own encoder runs as it is, which is its fast path, and compiled.
The share is that of the fastest matrix product. The goals are at most 1.00 × the fastest of the
others, and 55% of the product for a batch of (64, 512).

In `gpu, generation`, SmolLM2 writes tokens: ours with a step in a CUDA graph, that of transformers
with its cache of fixed size, which it compiles. The share is that of the least time a step can
take, which is reading every weight once, at the rate of the copy: on a card that copies 3 TB in a
second, 3 µs for each of the 30 layers. The goal is 70%. In bfloat16, two programs round
differently, so their most probable tokens sooner or later differ, and from there on the texts do.

In `gpu, attention`, one layer's causal attention reads long texts: torch's fused attention, as our
models use it; computed piece by piece; and with the scores stored. Numbers are times as shares of
the first, and the most bytes held at once.

In `gpu, number types`, the trained sentence encoder runs in each number type on the card. The
difference is the largest in its hidden states from float32 on the processor; what the book's
claims about hidden states allow is 1e-4.

Without a GPU, nothing is measured. `--device cpu` runs all parts with small models, to try the
script; it writes no file.

    python bench/gpu.py [--turns 9] [--device cuda] [--json]
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, BertConfig, BertModel, LlamaConfig
from transformers.utils import logging

from _fixed_step import FixedStep, captured, writer
from _turns import CONFIDENCE, RESULTS, in_turn, machine, ratio
from encoder import TorchEncoder, hidden, multiplications, training
from glassbook.smollm import language_checkpoint
from glassformer import TransformerForCausalLM, default_checkpoint, from_hf, load
from glassformer.layers.attention import fused_attention, scaled_dot_product_attention
from glassformer.layers.online_softmax import online_attention

OFF = 0.05  # how far bfloat16's rounding may take two models apart, as a share of the length
CLAIMED = 1e-4


@dataclass(frozen=True)
class Plan:
    """What is measured, and how large it is."""

    square: int
    copied: int
    encoder: dict
    read: tuple[tuple[int, int], ...]  # batch, seq
    trained: tuple[tuple[int, int], ...]
    written: tuple[tuple[int, int, int], ...]  # batch, prompt, new
    heads: int
    lengths: tuple[int, ...]


ON_A_GPU = Plan(
    square=8192,
    copied=2**30,
    encoder={"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16}
    | {"intermediate_size": 4096},
    read=((1, 16), (8, 128), (64, 512)),
    trained=((1, 16), (8, 128), (16, 512)),  # with more, transformers' needs more than 80 GiB
    written=((1, 32, 128), (1, 1024, 128), (8, 32, 128), (8, 1024, 128)),
    heads=16,
    lengths=(4096, 16384, 65536),
)
TO_TRY = Plan(
    square=64,
    copied=2**20,
    encoder={"hidden_size": 28, "num_hidden_layers": 2, "num_attention_heads": 2}
    | {"intermediate_size": 44, "vocab_size": 101},
    read=((3, 7),),
    trained=((3, 7),),
    written=((3, 7, 5),),
    heads=2,
    lengths=(64, 128),
)
STORED_UP_TO = 16384  # tokens; longer texts' scores take more memory than a card has


def now(device: torch.device) -> float:
    """Return the time when all that was started on the device has ended."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def roof(device: torch.device, plan: Plan, turns: int) -> dict[str, float]:
    """Return the operations per second of a matrix product in each type, and bytes of a copy."""
    square = torch.randn(plan.square, plan.square, device=device)
    rough = square.bfloat16()
    large = torch.ones(plan.copied // 4, device=device)
    copy = torch.empty_like(large)

    def product(precision: str) -> None:
        torch.set_float32_matmul_precision(precision)
        square @ square

    calls: dict[str, Callable[[], object]] = {
        "float32": partial(product, "highest"),
        "TF32": partial(product, "high"),
        "bfloat16": lambda: rough @ rough,
        "copy": lambda: copy.copy_(large),
    }
    seconds = in_turn(calls, turns, repeats=5, clock=partial(now, device))
    torch.set_float32_matmul_precision("highest")
    work = dict.fromkeys(calls, 2 * plan.square**3) | {"copy": 2 * plan.copied}
    return {name: work[name] / min(found) for name, found in seconds.items()}


def compiling(device: torch.device, **how: Any) -> dict[str, Any]:
    """Return how to compile a model; on the processor, only see whether it can be traced."""
    here = {} if device.type == "cuda" else {"mode": None, "backend": "eager"}
    return {"dynamic": False, **how, **here}


def encoders(device: torch.device, plan: Plan) -> dict[str, nn.Module]:
    """Return our encoder and its peers, with the same random weights."""
    torch.manual_seed(0)
    config = BertConfig(**plan.encoder, attn_implementation="sdpa")
    theirs = BertModel(config, add_pooling_layer=False)
    ours = from_hf(theirs)
    models = {"ours": ours, "transformers": theirs, "torch": TorchEncoder(ours)}
    return {name: model.to(device, torch.bfloat16) for name, model in models.items()}


def encoding(device: torch.device, plan: Plan, rate: float, turns: int) -> Iterator[dict]:
    """Yield a row for each size, reading and in training."""
    for kind, sizes in {"reading": plan.read, "training": plan.trained}.items():
        for size in sizes:
            models = encoders(device, plan)
            config = models["ours"].config
            ids = torch.randint(1, config.vocab_size, size, device=device)
            calls = _reading(models, ids) if kind == "reading" else _training(models, ids)
            kept = calls["ours"](), calls["transformers"](), calls["torch"]()
            apart = 0.0 if kind == "training" else max(off(one, kept[0]) for one in kept[1:])
            if apart > OFF:
                raise SystemExit(f"{kind} {size}: outputs differ by {apart:.1%} of their length")
            seconds = in_turn(calls, turns, repeats=3, clock=partial(now, device))
            passes = 1 if kind == "reading" else 3  # a backward pass multiplies twice
            work = 2 * passes * multiplications(config, *size)
            best = min(others := set(calls) - {"ours"}, key=lambda name: median(seconds[name]))
            yield {
                "kind": kind,
                "batch": size[0],
                "seq": size[1],
                **{name: against(name, seconds) for name in sorted(others)},
                "fastest": best,
                "of_the_matrix_rate": f"{work / median(seconds['ours']) / rate:.0%}",
                "seconds": median(seconds["ours"]),
            }


def against(name: str, seconds: dict[str, list[float]]) -> dict[str, float]:
    """Return our time divided by another's, with its interval."""
    return asdict(ratio(seconds["ours"], seconds[name]))


def off(one: Tensor, other: Tensor) -> float:
    """Return the length of the difference, as a share of the length."""
    return ((one - other).double().norm() / other.double().norm()).item()


def _reading(models: dict[str, nn.Module], ids: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Read ids, (batch, seq), without gradients."""
    fast = {
        name: torch.compile(model.eval(), **compiling(ids.device, mode="reduce-overhead"))
        for name, model in models.items()
    }
    runs = {
        "ours": fast["ours"],
        "transformers": fast["transformers"],
        "torch": models["torch"],
        "torch, compiled": fast["torch"],
    }

    def read(run: Callable[..., Tensor]) -> Tensor:
        with torch.inference_mode():
            return hidden(run, ids, None).clone()  # the next replay writes over a graph's output

    return {name: partial(read, run) for name, run in runs.items()}


def _training(models: dict[str, nn.Module], ids: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Make a step of training on ids, (batch, seq): forward, backward, AdamW, with dropout."""
    steps = {}
    for name, model in models.items():
        step = training(model, ids, None)  # its optimizer has the model's own weights
        model.compile(**compiling(ids.device))
        steps[name] = step
    return steps


def language_models(device: torch.device, plan: Plan) -> tuple[TransformerForCausalLM, nn.Module]:
    """Return ours and that of transformers: SmolLM2, or a small one to try."""
    if plan is TO_TRY:
        config = LlamaConfig(
            vocab_size=101, hidden_size=28, intermediate_size=44, num_hidden_layers=2,
            num_attention_heads=2, num_key_value_heads=1, tie_word_embeddings=True,
        )  # fmt: skip
        theirs = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    else:
        theirs = AutoModelForCausalLM.from_pretrained(
            language_checkpoint(), attn_implementation="sdpa"
        )
    ours = from_hf(theirs)
    return ours.to(device, torch.bfloat16).eval(), theirs.to(device, torch.bfloat16).eval()


def generating(device: torch.device, plan: Plan, rate: float, turns: int) -> Iterator[dict]:
    """Yield a row for each batch, prompt, and number of new tokens."""
    ours, theirs = language_models(device, plan)
    read = sum(weight.nbytes for weight in ours.decoder.layers.parameters())
    read += ours.lm_head.weight.nbytes
    least = read / rate  # seconds a step
    for batch, prompt, new in plan.written:
        ids = torch.randint(1, ours.config.vocab_size, (batch, prompt), device=device)
        step = FixedStep(ours, batch, prompt + new).eval()
        run = torch.compile(step, **compiling(device, fullgraph=True))
        write = writer(step, captured(step, run) if device.type == "cuda" else run)
        given = {
            "attention_mask": torch.ones_like(ids), "max_new_tokens": new, "min_new_tokens": new,
            "do_sample": False, "pad_token_id": 0, "cache_implementation": "static",
        }  # fmt: skip
        calls = {
            "ours": partial(write, ids, new),
            "transformers": lambda ids=ids, given=given: theirs.generate(ids, **given),
        }
        found = {name: call()[:, -new:] for name, call in calls.items()}
        seconds = in_turn(calls, turns, clock=partial(now, device))
        took = median(seconds["ours"])
        yield {
            "batch": batch,
            "prompt": prompt,
            "new": new,
            "transformers": against("transformers", seconds),
            "same_tokens": f"{(found['ours'] == found['transformers']).double().mean():.0%}",
            "of_the_bound": f"{least * new / took:.0%}",
            "tokens_per_second": batch * new / took,
        }


def attending(device: torch.device, plan: Plan, turns: int) -> Iterator[dict]:
    """Yield a row for each way to attend and each length."""
    ways = {
        "fused": fused_attention,
        "piece by piece": online_attention,
        "scores stored": scaled_dot_product_attention,
    }
    for length in plan.lengths:
        inputs = torch.randn(3, 1, plan.heads, length, 64, device=device, dtype=torch.bfloat16)
        calls = {
            name: partial(_attend, way, inputs)
            for name, way in ways.items()
            if name != "scores stored" or length <= STORED_UP_TO
        }
        seconds = in_turn(calls, max(2, turns // 3), clock=partial(now, device))
        for name, call in calls.items():
            yield {
                "length": length,
                "way": name,
                "time": asdict(ratio(seconds[name], seconds["fused"])),
                "MiB": held(call, device) // 2**20,
                "off": f"{off(call(), calls['fused']()):.0e}",
            }


def _attend(way: Callable[..., Tensor], inputs: Tensor) -> Tensor:
    with torch.inference_mode():
        return way(*inputs, is_causal=True)


def held(call: Callable[[], object], device: torch.device) -> int:
    """Return the most bytes that a call holds on the card, or 0 without one."""
    if device.type != "cuda":
        return 0
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    call()
    return torch.cuda.max_memory_allocated() - before


def types(device: torch.device) -> Iterator[dict]:
    """Yield how far the sentence encoder's hidden states are from the processor's, by type."""
    torch.manual_seed(0)
    model = load(default_checkpoint()).eval()
    ids = torch.randint(1000, 20000, (8, 64))
    with torch.inference_mode():
        exact = model(ids)
        model.to(device)
        for name, precision, dtype in (
            ("float32", "highest", torch.float32),
            ("TF32", "high", torch.float32),
            ("bfloat16", "highest", torch.bfloat16),
        ):
            torch.set_float32_matmul_precision(precision)
            difference = (model.to(dtype)(ids.to(device)).float().cpu() - exact).abs().max().item()
            model.float()
            yield {
                "type": name,
                "largest_difference": f"{difference:.1e}",
                "within_the_claims": difference <= CLAIMED,
            }
    torch.set_float32_matmul_precision("highest")


def main() -> None:
    """Measure all parts, and print a line for each row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--json", action="store_true", help="write bench/results/gpu.json")
    options = parser.parse_args()
    logging.set_verbosity_error()
    if options.device == "cuda" and not torch.cuda.is_available():
        print("torch finds no CUDA device here, so nothing is measured")
        return
    device = torch.device(options.device)
    plan = ON_A_GPU if device.type == "cuda" else TO_TRY
    about = machine() | {"device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu"}
    print(" ".join(f"{name} {value}" for name, value in about.items()))
    limits = roof(device, plan, options.turns)
    print(" ".join(f"{name} {value / 1e12:.3g}" for name, value in limits.items()), "T/s")
    found: dict[str, list[dict]] = {}
    for name, rows in {
        "encoder": encoding(device, plan, limits["bfloat16"], options.turns),
        "generation": generating(device, plan, limits["copy"], options.turns),
        "attention": attending(device, plan, options.turns),
        "number types": types(device),
    }.items():
        for row in rows:
            print(name, json.dumps(row), flush=True)
            found.setdefault(name, []).append(row)
    if options.json and device.type == "cuda":
        whole = {"machine": about, "confidence": CONFIDENCE, "roof": limits, **found}
        (RESULTS / "gpu.json").write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
