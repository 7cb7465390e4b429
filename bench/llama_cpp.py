"""Time greedy generation with the book's language model against llama.cpp on the same GGUF file.

llama.cpp computes with the 4 bits as they are stored, ours with the float32 values that they
represent. A ratio is llama.cpp's time divided by ours: more than 1 means that ours is faster.
llama.cpp comes as the package xllamacpp. Nothing else in the book needs it, so it's not installed
with the book, but by `python -m pip install --no-deps xllamacpp`.

    python bench/llama_cpp.py [--turns 5] [--prompts 32 1024] [--new 64] [--json]
"""

import argparse
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import torch

from _turns import in_turn, keep, machine, ratio
from glassbook.smollm import language_model
from glassbook.smollm.language import extract_gguf
from glassformer import generate

HOW = "llama.cpp is not installed: run python -m pip install --no-deps xllamacpp"


def llama_cpp(gguf: Path) -> Callable[[list[int], int], dict[str, Any]]:
    """Return a function that continues ids greedily with llama.cpp on as many threads as torch."""
    try:
        import xllamacpp
    except ImportError:
        sys.exit(HOW)
    given = xllamacpp.CommonParams()
    given.model.path = str(gguf)
    given.n_ctx, given.n_parallel, given.n_gpu_layers = 2048, 1, 0
    for threads in (given.cpuparams, given.cpuparams_batch):
        threads.n_threads = torch.get_num_threads()
        threads.poll = 0  # threads that wait for work in a loop would take torch's time
    server = xllamacpp.Server(given)

    def write(prompt: list[int], new: int) -> dict[str, Any]:
        greedy = {"temperature": 0, "ignore_eos": True, "cache_prompt": False}
        return server.handle_completions({"prompt": prompt, "n_predict": new, **greedy})

    return write


def measure(turns: int, prompts: list[int], news: list[int]) -> Iterator[dict[str, float]]:
    """Yield a row for each prompt and number of new tokens, batch 1."""
    ours = language_model()
    with tempfile.TemporaryDirectory() as folder:
        write = llama_cpp(extract_gguf(Path(folder)))
        for prompt, new in itertools.product(prompts, news):
            torch.manual_seed(0)
            ids = torch.randint(1, ours.config.vocab_size, (1, prompt))
            listed, given = ids[0].tolist(), {"max_new_tokens": new, "pad_token_id": 0}
            ways = {
                "ours": lambda ids=ids, given=given: generate(ours, ids, **given),
                "llama.cpp": lambda listed=listed, new=new: write(listed, new),
            }
            made = write(listed, new)["timings"]["predicted_n"]
            assert made == new, f"llama.cpp wrote {made} tokens, not {new}"
            seconds = in_turn(ways, turns)
            faster = ratio(seconds["llama.cpp"], seconds["ours"])
            yield {
                "prompt": prompt,
                "new": new,
                "ours": new / median(seconds["ours"]),
                "llama_cpp": new / median(seconds["llama.cpp"]),
                "ratio": faster.median,
                "low": faster.low,
                "high": faster.high,
                "turns": turns,
            }


def main() -> None:
    """Measure every size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--prompts", type=int, nargs="+", default=[32, 1024])
    parser.add_argument("--new", type=int, nargs="+", default=[64])
    parser.add_argument("--json", action="store_true", help="write bench/results/llama_cpp.json")
    options = parser.parse_args()
    print(" ".join(f"{name} {value}" for name, value in machine().items()))
    print(f"{'prompt':>6}{'new':>5}{'ours t/s':>10}{'llama.cpp':>11}   ours against llama.cpp")
    rows = []
    for row in measure(options.turns, options.prompts, options.new):
        print(
            f"{row['prompt']:6}{row['new']:5}{row['ours']:10.1f}{row['llama_cpp']:11.1f}"
            f"   {row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]",
            flush=True,
        )
        rows.append(row)
    if options.json:
        keep("llama_cpp", rows)


if __name__ == "__main__":
    main()
