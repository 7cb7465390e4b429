"""Time greedy generation with a cache against `generate` of transformers with the same weights.

A decoder alone (GPT-2's) and an encoder-decoder (Marian's), 6 layers, 384 wide, drawn at random;
both take turns, and both must write the same tokens.

In `generation`, a ratio is their time divided by ours: more than 1 means that ours is faster. The
goal is at least 1.20, for the median of all turns. No step can be faster than reading the weights
that it multiplies once from memory; the file, but not the table, says how close ours comes to that,
at the rate at which this machine reads a large tensor.

In `generation_by_length`, numbers are our decoder's time for a token, with and without a cache, as
shares of the first number: less is faster. Compare the two columns to see what a cache saves.

    python bench/generation.py [--turns 7] [--threads N] [--new 64 512] [--json]
"""

import argparse
import itertools
from collections.abc import Callable
from functools import partial
from statistics import median

import torch
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel, MarianConfig, MarianMTModel
from transformers.utils import logging

from _turns import in_turn, keep, machine, ratio
from glassformer import from_hf, generate

GOAL = 1.2
VOCABULARIES = (2048, 50257)
BATCHES = (1, 8)
PROMPT = 16
LAYERS, WIDTH, HEADS = 6, 384, 6
READ_MIB = 512
LENGTHS = (16, 32, 64, 128, 256, 512)


def decoder_alone(vocab_size: int) -> nn.Module:
    """Return a model of GPT-2's architecture at this size."""
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=vocab_size,
            n_positions=1024,
            n_embd=WIDTH,
            n_layer=LAYERS,
            n_head=HEADS,
            bos_token_id=None,
            eos_token_id=None,
        )
    )


def encoder_decoder(vocab_size: int) -> nn.Module:
    """Return a model of Marian's architecture at this size."""
    return MarianMTModel(
        MarianConfig(
            vocab_size=vocab_size,
            d_model=WIDTH,
            encoder_layers=LAYERS,
            decoder_layers=LAYERS,
            encoder_attention_heads=HEADS,
            decoder_attention_heads=HEADS,
            encoder_ffn_dim=4 * WIDTH,
            decoder_ffn_dim=4 * WIDTH,
            activation_function="gelu",
            scale_embedding=True,
            pad_token_id=0,
            eos_token_id=None,
            decoder_start_token_id=0,
            forced_eos_token_id=None,
        )
    )


KINDS: dict[str, Callable[[int], nn.Module]] = {
    "decoder": decoder_alone,
    "encoder-decoder": encoder_decoder,
}


def calls(theirs: nn.Module, batch: int, new: int) -> dict[str, Callable[[], Tensor]]:
    """Return both ways to write, from the same prompts or sources."""
    ours = from_hf(theirs)
    prompt = torch.randint(1, theirs.config.vocab_size, (batch, PROMPT))
    mask = torch.ones_like(prompt)
    given = {"attention_mask": mask, "max_new_tokens": new, "pad_token_id": 0}
    return {
        "ours": lambda: generate(ours, prompt, **given),
        "transformers": lambda: theirs.generate(
            prompt, **given, do_sample=False, num_beams=1, eos_token_id=None
        ),
    }


def bytes_read(theirs: nn.Module) -> int:
    """Return the bytes of the weights that one step multiplies: decoder layers and output layer."""
    names = [
        name
        for name, _ in theirs.named_parameters()
        if name.startswith(("transformer.h.", "model.decoder.layers."))
        and "encoder_attn.k_proj" not in name
        and "encoder_attn.v_proj" not in name
    ]
    layers = sum(theirs.get_parameter(name).nbytes for name in names)
    return layers + theirs.get_output_embeddings().weight.nbytes


def bytes_per_second() -> float:
    """Return how fast this machine reads data that none of its processor's caches holds."""
    large = torch.ones(READ_MIB * 2**20 // 4)
    seconds = in_turn({"read": large.sum}, turns=9)["read"]
    return large.nbytes / median(seconds)


def same_tokens(ways: dict[str, Callable[[], Tensor]]) -> bool:
    """Return whether both write the same; this is also the warm-up."""
    ours, theirs = (way() for way in ways.values())
    return torch.equal(ours, theirs)


def measure(turns: int, lengths: list[int]) -> list[dict]:
    """Return a row for each kind, vocabulary, batch, and length."""
    rate = bytes_per_second()
    rows = []
    for kind, vocab_size in itertools.product(KINDS, VOCABULARIES):
        torch.manual_seed(0)
        theirs = KINDS[kind](vocab_size).eval()
        least = bytes_read(theirs) / rate  # seconds a step
        for batch, new in itertools.product(BATCHES, lengths):
            ways = calls(theirs, batch, new)
            same = same_tokens(ways)
            seconds = in_turn(ways, turns)
            faster = ratio(seconds["transformers"], seconds["ours"])
            ours = median(seconds["ours"])
            rows.append(
                {
                    "kind": kind,
                    "vocab": vocab_size,
                    "batch": batch,
                    "new": new,
                    "tokens_per_second": batch * new / ours,
                    "theirs": batch * new / median(seconds["transformers"]),
                    "ratio": faster.median,
                    "low": faster.low,
                    "high": faster.high,
                    "same_tokens": same,
                    "share_of_bound": least * new / ours,
                }
            )
            print(line(rows[-1]), flush=True)
    return rows


def by_length(turns: int) -> list[dict]:
    """Print milliseconds per token of our decoder, with and without cache, for each length."""
    torch.manual_seed(0)
    model = from_hf(decoder_alone(VOCABULARIES[0]))
    prompt = torch.randint(1, VOCABULARIES[0], (1, 1))
    rows = []
    for new in LENGTHS:
        ways = {
            name: partial(generate, model, prompt, max_new_tokens=new, use_cache=use_cache)
            for name, use_cache in (("with_cache", True), ("without_cache", False))
        }
        seconds = in_turn(ways, turns)
        rows.append({"new": new} | {name: median(seconds[name]) / new * 1e3 for name in ways})
        print("{new:5}{with_cache:10.2f}{without_cache:10.2f} ms a token".format(**rows[-1]))
    return rows


def line(row: dict) -> str:
    """Write a row of the table."""
    verdict = "ok" if row["ratio"] >= GOAL and row["same_tokens"] else "NO"
    return (
        f"{row['kind']:16}{row['vocab']:6}{row['batch']:6}{row['new']:5}"
        f"{row['tokens_per_second']:10.0f}{row['theirs']:10.0f}"
        f"   {row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}] {verdict}"
        f"{row['share_of_bound']:8.0%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--new", type=int, nargs="+", default=[64, 512])
    parser.add_argument("--json", action="store_true", help="write bench/results/generation.json")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    logging.set_verbosity_error()
    print(" ".join(f"{name} {value}" for name, value in machine().items()))
    print(f"{'kind':16}{'vocab':>6}{'batch':>6}{'new':>5}{'ours t/s':>10}{'theirs':>10}   ratio")
    rows = measure(options.turns, options.new)
    lengths = by_length(min(options.turns, 5))
    if options.json:
        keep("generation", rows)
        keep("generation_by_length", lengths)
    print(f"smallest ratio {min(row['ratio'] for row in rows):.2f}, goal {GOAL:.2f}")


if __name__ == "__main__":
    main()
