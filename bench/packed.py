"""Time greedy generation with the book's language model in 8 and 4 bits against its float32.

All have the same weights, packed by `glassformer.quantization.packed_linear`, and take
turns, batch 1. A ratio is the time in float32 divided by the time with fewer bits: more than 1
means that fewer bits are faster. The goal is at least 1.6 with 8 bits, and 1.8 with 4, after a
short prompt. The file, but not the table, has the price, too: the perplexity of a shipped text, and
the share of its positions where the best next token is the same.

    python bench/packed.py [--turns 9] [--threads N] [--prompts 32 1024] [--new 64] [--json]
"""

import argparse
import itertools
from collections.abc import Iterator
from statistics import median

import torch
from torch import Tensor

from _turns import in_turn, keep, machine, ratio
from glassbook.corpora.examples import passages
from glassbook.smollm import language_checkpoint, language_model
from glassformer import TransformerForCausalLM, generate, tokenizer
from glassformer.quantization.packed_linear import PackedLinear4, PackedLinear8, pack

GOALS = {8: 1.6, 4: 1.8}
TEXT_TOKENS = 256


def weight_bytes(model: TransformerForCausalLM) -> int:
    """Return the bytes that one step reads of the layers and the output layer."""
    layers = (*model.decoder.layers.modules(), model.lm_head)
    packed = [one for one in layers if isinstance(one, PackedLinear8 | PackedLinear4)]
    if packed:
        return sum(one.nbytes for one in packed)
    return sum(one.weight.nbytes for one in layers if isinstance(one, torch.nn.Linear))


def read(model: TransformerForCausalLM, text: Tensor) -> tuple[float, Tensor]:
    """Return the perplexity of a text, and the best token after each of its positions."""
    with torch.inference_mode():
        log_probs = model(text)[0, :-1].log_softmax(-1)
    loss = -log_probs.gather(1, text[0, 1:, None]).mean()
    return loss.exp().item(), log_probs.argmax(-1)


def measure(turns: int, prompts: list[int], news: list[int]) -> Iterator[dict]:
    """Yield a row for each number of bits, prompt, and number of new tokens."""
    models = {32: language_model()} | {bits: pack(language_model(), bits) for bits in GOALS}
    pieces = tokenizer(language_checkpoint())
    shelf = "\n\n".join(passage.text for passage in passages())
    text = pieces(shelf, return_tensors="pt")["input_ids"][:, :TEXT_TOKENS]
    found = {bits: read(model, text) for bits, model in models.items()}
    for prompt, new in itertools.product(prompts, news):
        torch.manual_seed(0)
        ids = torch.randint(1, models[32].config.vocab_size, (1, prompt))
        ways = {
            str(bits): lambda model=model, ids=ids, new=new: generate(
                model, ids, max_new_tokens=new, pad_token_id=0
            )
            for bits, model in models.items()
        }
        seconds = in_turn(ways, turns)
        for bits, model in models.items():
            faster = ratio(seconds["32"], seconds[str(bits)])
            perplexity, best = found[bits]
            yield {
                "bits": bits,
                "prompt": prompt,
                "new": new,
                "tokens_per_second": new / median(seconds[str(bits)]),
                "ratio": faster.median,
                "low": faster.low,
                "high": faster.high,
                "megabytes": weight_bytes(model) / 1e6,
                "perplexity": perplexity,
                "same_best": (best == found[32][1]).double().mean().item(),
                "text_tokens": text.shape[1],
                "turns": turns,
            }


def line(row: dict) -> str:
    """Write a row of the table."""
    goal = GOALS.get(row["bits"], 1.0)
    verdict = "ok" if row["ratio"] >= goal else "NO"
    return (
        f"{row['bits']:4}{row['prompt']:7}{row['new']:5}{row['tokens_per_second']:8.1f}"
        f"   {row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}] {verdict}"
        f"{row['megabytes']:9.0f}{row['perplexity']:12.2f}{row['same_best']:7.1%}"
    )


def main() -> None:
    """Measure every size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--prompts", type=int, nargs="+", default=[32, 1024])
    parser.add_argument("--new", type=int, nargs="+", default=[64])
    parser.add_argument("--json", action="store_true", help="write bench/results/packed.json")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(" ".join(f"{name} {value}" for name, value in machine().items()))
    print("bits prompt  new     t/s   against float32           MB  perplexity   same")
    rows = []
    for row in measure(options.turns, options.prompts, options.new):
        print(line(row), flush=True)
        rows.append(row)
    if options.json:
        keep("packed", rows)


if __name__ == "__main__":
    main()
