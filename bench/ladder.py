"""Time the book's language model in a ladder of versions, each against the one before it.

The versions of a part take turns in one process, so a slow moment of the machine affects all of
them.

In `ladder`, every row says against which version it was measured. The ratio is that version's time
divided by the row's: more than 1 means that the row is faster. In the part `batch`, a step writes a
token for each text of the batch, and the time is the whole step's. So ratios below 1 are expected:
a step for 64 texts takes longer than one for a single text, but far from 64 times as long. Every
row also has the operations, by formula, and the fewest bytes that they need: every weight once per
pass, and the cache. The file, but not the table, says how far each version's results are from the
other's, and gives the roof: this machine's fastest matrix product and its fastest copy.

In `ladder, memory`, numbers are the most bytes that attention takes at once for a text of each
length, with the scores stored, computed piece by piece, or in torch's fused attention: less is
better.

    python bench/ladder.py [--turns 6] [--threads N] [--json]
"""

import argparse
import json
import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from statistics import median

import torch
from torch import Tensor, nn

from _turns import CONFIDENCE, RESULTS, in_turn, machine, peak_bytes, ratio
from glassbook.bench.attention_ladder import Batched, Joined, Looped, attending, versions
from glassbook.corpora.examples import passages
from glassbook.smollm import language_checkpoint, language_model
from glassformer import TransformerForCausalLM, generate, tokenizer
from glassformer.inference.drafts import PromptLookup
from glassformer.inference.fast_decode import few_rows
from glassformer.inference.speculative import speculative_generate
from glassformer.layers.attention import fused_attention, scaled_dot_product_attention
from glassformer.layers.kv_cache import KVCache
from glassformer.layers.online_softmax import online_attention
from glassformer.models.flops import flops, widths

READ = 256  # tokens of the text that is read
CONTEXT = 128  # tokens before the one that is written
BATCHES = (1, 2, 4, 8, 16, 32, 64)
SENTENCES, TOGETHER = 24, 8
LENGTHS = (1024, 2048, 4096, 8192, 16384)
HEAD_DIM, BLOCK = 64, 256
SQUARE, COPIED = 2048, 256 * 2**20
NEW, BEGUN = 24, 8  # tokens that are written, and that a copy begins with

Calls = Mapping[str, Callable[[], Tensor]]


def rows_of(part: str, calls: Calls, turns: int, against: Mapping[str, str]) -> dict[str, dict]:
    """Time calls in turn; each is compared with the one before it, or with the one named."""
    results: dict[str, Tensor] = {}

    def keeping(name: str) -> None:
        results[name] = calls[name]()

    seconds = in_turn({name: partial(keeping, name) for name in calls}, turns)
    before = dict(zip(list(calls)[1:], calls, strict=False)) | against
    rows = {}
    for name in calls:
        other = before.get(name, name)
        faster = ratio(seconds[other], seconds[name])
        rows[name] = {
            "part": part,
            "step": name,
            "against": other,
            "seconds": median(seconds[name]),
            "runs": seconds[name],
            "ratio": faster.median,
            "low": faster.low,
            "high": faster.high,
            "off": off(results[name], results[other]),
            "same": same(results[name], results[other]),
        }
    return rows


def off(one: Tensor, other: Tensor) -> float:
    """Return the length of the difference, as a share of the length."""
    one, other = one.double(), other.double()
    return ((one - other).norm() / other.norm()).item()


def same(one: Tensor, other: Tensor) -> float:
    """Return the share of positions with the same best token, or of tokens that are the same."""
    if one.is_floating_point():
        one, other = one.argmax(-1), other.argmax(-1)
    return (one == other).double().mean().item()


def work(model: TransformerForCausalLM, new: int, seen: int, batch: int = 1) -> dict[str, float]:
    """Count operations by formula, and the fewest bytes: each weight once, and the cache's content.

    Of `seen` tokens, `new` are read in this pass; only the logits of the last are needed.
    """
    config = model.config
    each = flops(config, seen, writes=False)
    head = flops(config, seen, writes=True)["output"]
    weights = sum(weight.nbytes for weight in model.decoder.layers.parameters())
    weights += model.lm_head.weight.nbytes
    _, key_width = widths(config)
    kept = 2 * config.num_layers * key_width * (seen - new)
    return {
        "flops": batch * (new * sum(each.values()) + head),
        "bytes": weights + batch * kept * model.lm_head.weight.element_size(),
    }


def text_ids(count: int) -> Tensor:
    """Return the first tokens of the shipped passages, (1, count)."""
    shelf = "\n\n".join(passage.text for passage in passages())
    pieces = tokenizer(language_checkpoint())
    return pieces(shelf, return_tensors="pt")["input_ids"][:, :count]


def reading(model: TransformerForCausalLM, half: TransformerForCausalLM, turns: int) -> list[dict]:
    """Read one text: the same sums in different orders, then other number types and a compiler."""
    ids = text_ids(READ)
    compiled = deepcopy(half)
    for layer, attention in zip(
        compiled.decoder.layers,
        versions(compiled.decoder, partial(Joined, fused=True)),
        strict=True,
    ):
        layer.attention = attention
        layer.compile(fullgraph=True)
    made = {
        "loop over heads": (model, versions(model.decoder, Looped)),
        "one batched product": (model, versions(model.decoder, Batched)),
        "one projection": (model, versions(model.decoder, Joined)),
        "fused attention": (model, versions(model.decoder, partial(Joined, fused=True))),
        "bfloat16": (half, versions(half.decoder, partial(Joined, fused=True))),
    }

    def read(name: str) -> Tensor:
        reader, attentions = made[name]
        with attending(reader.decoder, attentions):
            return reader(ids, last_only=True)[0].float()

    start = time.perf_counter()
    compiled(ids, last_only=True)
    first = time.perf_counter() - start
    calls = {name: partial(read, name) for name in made}
    calls["torch.compile"] = lambda: compiled(ids, last_only=True)[0].float()
    rows = rows_of("reading", calls, turns, {})
    rows["torch.compile"]["first_seconds"] = first
    for name, row in rows.items():
        reader = half if name in ("bfloat16", "torch.compile") else model
        row |= work(reader, READ, READ) | {"tokens": READ, "dtype": dtype_of(reader)}
    return [*rows.values()]


def dtype_of(model: nn.Module) -> str:
    return str(next(model.parameters()).dtype).removeprefix("torch.")


def step(model: TransformerForCausalLM, ids: Tensor, batch: int) -> Callable[[], Tensor]:
    """Return a step that writes one token after others that are read here into a cache."""
    cache = KVCache()
    model(ids, cache=cache, last_only=True)
    cache.reorder(torch.zeros(batch, dtype=torch.long))
    last = ids[:, -1:].expand(batch, 1)

    def call() -> Tensor:
        with few_rows(model):
            return model(last, cache=cache, last_only=True)[0].float()

    return call


def writing(model: TransformerForCausalLM, half: TransformerForCausalLM, turns: int) -> list[dict]:
    """Write one token: without a cache, with one, and in bfloat16."""
    ids = text_ids(CONTEXT)
    again = torch.cat([ids, ids[:, -1:]], dim=1)

    def without() -> Tensor:
        with few_rows(model):
            return model(again, last_only=True)[0].float()

    calls = {
        "no cache": without,
        "KV cache": step(model, ids, 1),
        "cache, bfloat16": step(half, ids, 1),
    }
    first = {name: call() for name, call in calls.items()}  # later calls have read more tokens
    rows = rows_of("writing", calls, turns, {})
    seen = CONTEXT + 1
    for name, row in rows.items():
        writer = half if "bfloat16" in name else model
        row |= work(writer, seen if name == "no cache" else 1, seen)
        row |= {"tokens": 1, "dtype": dtype_of(writer)}
        row["off"] = off(first[name], first[row["against"]])
        row["same"] = same(first[name], first[row["against"]])
    return [*rows.values()]


def together(model: TransformerForCausalLM, turns: int) -> list[dict]:
    """Write one token in each of several texts at once."""
    ids = text_ids(CONTEXT)
    calls = {str(batch): step(model, ids, batch) for batch in BATCHES}
    rows = rows_of("batch", calls, turns, {str(batch): "1" for batch in BATCHES})
    for batch in BATCHES:
        row = rows[str(batch)]
        row |= work(model, 1, CONTEXT + 1, batch) | {"tokens": batch, "dtype": dtype_of(model)}
        del row["off"], row["same"]  # turns have read different numbers of tokens
    return [*rows.values()]


def sentences() -> list[Tensor]:
    """Return the first sentences of the shipped passages, each (seq,)."""
    pieces = tokenizer(language_checkpoint())
    found = [sentence for passage in passages() for sentence in passage.sentences]
    return [torch.tensor(pieces(one)["input_ids"]) for one in found[:SENTENCES]]


def split(places: list[int]) -> list[list[int]]:
    """Cut a list into batches."""
    return [places[k : k + TOGETHER] for k in range(0, len(places), TOGETHER)]


def lengths(model: TransformerForCausalLM, turns: int) -> list[dict]:
    """Read sentences: one at a time, in batches as they come, and in batches by length."""
    texts = sentences()
    sizes = [len(text) for text in texts]
    in_order = [*range(len(texts))]
    by_length = sorted(in_order, key=sizes.__getitem__)
    plans = {
        "one at a time": [[k] for k in in_order],
        "batches, as they come": split(in_order),
        "batches, by length": split(by_length),
    }

    def read(plan: list) -> Tensor:
        """Return the logits after each text, in the order of the texts."""
        found = {}
        for chosen in plan:
            rows = [texts[k] for k in chosen]
            ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_side="left")
            mask = nn.utils.rnn.pad_sequence(
                [torch.ones_like(row) for row in rows], batch_first=True, padding_side="left"
            )
            hides = None if mask.all() else mask
            logits = model(ids, hides, last_only=True)[:, -1]
            found |= dict(zip(chosen, logits, strict=True))
        return torch.stack([found[k] for k in in_order])

    rows = rows_of(
        "lengths", {name: partial(read, plan) for name, plan in plans.items()}, turns, {}
    )
    for name, row in rows.items():
        padded = sum(len(chosen) * max(sizes[k] for k in chosen) for chosen in plans[name])
        parts = [work(model, size, size) for size in sizes]
        row["flops"] = sum(part["flops"] for part in parts)  # without what padding adds
        row["bytes"] = len(plans[name]) * work(model, 1, 1)["bytes"]
        row |= {"texts": SENTENCES, "together": TOGETHER, "tokens": sum(sizes)}
        row |= {"padded_tokens": padded, "dtype": dtype_of(model)}
    return [*rows.values()]


def speculating(model: TransformerForCausalLM, turns: int) -> list[dict]:
    """Write texts that do and don't repeat their prompt: token by token, and with guesses."""
    draft = PromptLookup(vocab_size=model.config.vocab_size)
    passage = text_ids(CONTEXT)
    rows: list[dict] = []
    for kind, ids in (
        ("a copy", torch.cat([passage, passage[:, :BEGUN]], dim=1)),
        ("a new text", passage),
    ):
        passes: dict[str, int] = {}

        def guess(ids: Tensor = ids, passes: dict[str, int] = passes) -> Tensor:
            found = speculative_generate(model, ids, draft, max_new_tokens=NEW)
            passes["guessed"] = found.passes
            return found.ids

        plain, guessed = f"{kind}, token by token", f"{kind}, with guesses"
        calls = {plain: partial(generate, model, ids, max_new_tokens=NEW), guessed: guess}
        timed = rows_of("guesses", calls, turns, {})
        length = ids.shape[1]
        once, each = work(model, length, length), work(model, 1, length + NEW // 2)
        for name, count in ((plain, NEW), (guessed, passes["guessed"])):
            timed[name] |= {"tokens": NEW, "passes": count, "dtype": dtype_of(model)}
            timed[name]["flops"] = once["flops"] + (NEW - 1) * each["flops"]
            timed[name]["bytes"] = once["bytes"] + (count - 1) * each["bytes"]
        rows += timed.values()
    return rows


def memory() -> list[dict]:
    """Return the most bytes that one head's attention holds at once, beside its inputs."""
    ways = {
        "stored": scaled_dot_product_attention,
        "online": partial(online_attention, block_size=BLOCK),
        "fused": fused_attention,
    }
    rows = []
    for length in LENGTHS:
        inputs = torch.randn(3, 1, 1, length, HEAD_DIM)
        peaks = {name: peak_bytes(partial(way, *inputs)) for name, way in ways.items()}
        rows.append({"length": length} | peaks)
    return rows


def roof(turns: int) -> dict[str, float]:
    """Return billions of operations per second in a matrix product, and of bytes in a copy."""
    square = torch.randn(SQUARE, SQUARE)
    rough = square.bfloat16()
    large = torch.ones(COPIED // 4)
    copy = torch.empty_like(large)
    calls = {
        "float32": lambda: square @ square,
        "bfloat16": lambda: rough @ rough,
        "copy": lambda: copy.copy_(large),
        "read": large.sum,
    }
    best = {name: min(found) for name, found in in_turn(calls, turns).items()}
    return {
        "float32": 2 * SQUARE**3 / best["float32"] / 1e9,
        "bfloat16": 2 * SQUARE**3 / best["bfloat16"] / 1e9,
        "copy": 2 * COPIED / best["copy"] / 1e9,
        "read": COPIED / best["read"] / 1e9,
    }


def line(row: dict) -> str:
    """Write a row of the table."""
    says = "" if "off" not in row else f"{row['off']:10.0e}{row['same']:7.1%}"
    return (
        f"{row['part']:9}{row['step']:24}{1e3 * row['seconds']:9.1f}"
        f"   {row['ratio']:5.2f} [{row['low']:.2f}, {row['high']:.2f}]"
        f"{row['flops'] / row['seconds'] / 1e9:8.1f}{row['flops'] / row['bytes']:8.1f}{says}"
    )


def main() -> None:
    """Measure all parts, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", action="store_true", help="write bench/results/ladder.json")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    about = machine()
    print(" ".join(f"{name} {value}" for name, value in about.items()))
    with torch.inference_mode():
        limits = roof(options.turns)
        print(" ".join(f"{name} {value:.0f}" for name, value in limits.items()))
        model, half = language_model(), language_model().bfloat16()
        print("part     step                       ms    ratio               Gop/s  op/byte")
        rows: list[dict] = []
        for part in (
            partial(reading, model, half),
            partial(writing, model, half),
            partial(together, model),
            partial(lengths, model),
            partial(speculating, model),
        ):
            found = part(options.turns)
            rows += found
            print(*map(line, found), sep="\n", flush=True)
        held = memory()
    print(*held, sep="\n")
    if options.json:
        whole = {"machine": about, "confidence": CONFIDENCE, "roof": limits, "rows": rows}
        whole |= {"turns": options.turns, "memory": held}
        (RESULTS / "ladder.json").write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
