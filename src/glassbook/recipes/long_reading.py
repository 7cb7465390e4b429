"""How a language model reads long texts: its loss by position, with windows, and what it finds."""

import os
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from glassbook.corpora import DATA
from glassbook.smollm.language import language_checkpoint, language_model
from glassformer.layers.kv_cache import KVCache
from glassformer.layers.positions import RotaryPositions
from glassformer.layers.rope_scaling import (
    DynamicScaling,
    LinearScaling,
    Llama3Scaling,
    RopeScaling,
    YarnScaling,
    rotary_positions,
)
from glassformer.layers.sliding_window import window_mask
from glassformer.training.loop import Report
from glassformer.weights.checkpoints import WEIGHTS, tokenizer

TOPIC = "specialnames"
"""The page of Python's own manual that the model reads: what `help("SPECIALMETHODS")` prints."""

LONG, PIECE, BLOCK = 2048, 512, 32  # tokens read at once, in a piece, per mean loss
TRAINED = 8192  # positions that the language model was trained on
GAPS = (0, 4096, 7168, 12288, 16384)  # positions left out between two pieces
PAIRS = 2  # pairs of pieces, one read after the other across each gap
NEAR: Mapping[str, tuple[int, int]] = MappingProxyType({"first": (0, 4), "others": (256, 260)})
"""Positions of the first piece that a gap doesn't move away, in two variants."""
SCALE = 4.0  # the factor by which RoPE is scaled for the widest gap
SCALED: Mapping[str, RopeScaling] = MappingProxyType(
    {
        "linear": LinearScaling(factor=SCALE),
        "dynamic": DynamicScaling(factor=1.0, original_max_positions=TRAINED),
        "llama3": Llama3Scaling(
            factor=SCALE, low_freq_factor=1.0, high_freq_factor=4.0, original_max_positions=TRAINED
        ),
        "yarn": YarnScaling(factor=SCALE, original_max_positions=TRAINED),
    }
)
"""Ways to scale RoPE, tried on the widest gap; dynamic scaling takes its factor from the text."""

VIEW, SINKS, THROUGH = 128, 4, 1024  # tokens in the window, kept outside it, read through it
WINDOWS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"window": (0, 0), "first kept": (0, SINKS), "others kept": (VIEW // 2, VIEW // 2 + SINKS)}
)
"""The windows, each with the range of positions that also stays in view."""

DIFFERENT = (
    "number of Alice's ticket",
    "weight of the old elephant",
    "code of the green door",
    "price of the blue car",
    "height of the black mountain",
)
"""What the hidden numbers stand for."""
ALIKE = tuple(f"secret number of {name}" for name in ("Alice", "Frank", "Julia", "Henry", "Maria"))
"""Things that differ only in their names."""
NEEDLES: Mapping[str, tuple[int, int, tuple[str, ...]]] = MappingProxyType(
    {
        "512 tokens": (512, 3, DIFFERENT),
        "1,024 tokens": (1024, 3, DIFFERENT),
        "2,048 tokens": (2048, 2, DIFFERENT),
        "512 tokens, alike": (512, 3, ALIKE),
    }
)
"""For each kind of text: its length, the number of texts, and what the hidden numbers stand for."""
DIGITS = 4
"""The number of digits in a hidden number."""


def spell(text: str) -> list[int]:
    """Return the ids of a text for the language model."""
    return tokenizer(language_checkpoint())(text, verbose=False)["input_ids"]


def long_text() -> str:
    """Return the page of Python's manual, as of version 3.11."""
    return (DATA / f"{TOPIC}.txt").read_text(encoding="utf-8")


def read(
    model: nn.Module,
    ids: Int[Tensor, "batch seq"],
    *,
    seen: Bool[Tensor, "seq seq"] | None = None,
    positions: Int[Tensor, "#batch seq"] | None = None,
    cache: KVCache | None = None,
) -> Float[Tensor, "batch seq d_model"]:
    """Return the last hidden states; each query attends only to keys for which `seen` is true.

    Without `positions`, counting continues from the cache. A query never attends to later tokens.
    """
    decoder = model.get_submodule("decoder")
    mask = None if seen is None else seen[None, None]  # (1, 1, seq, seq)
    layers = list(decoder.get_submodule("layers").children())
    hidden = decoder.get_submodule("embeddings")(ids)
    kept = [None] * len(layers) if cache is None else cache.layers_of(decoder)
    for layer, its in zip(layers, kept, strict=True):
        hidden = layer(hidden, attn_mask=mask, cache=its, position_ids=positions)
    return decoder.get_submodule("final_norm")(hidden)


@torch.no_grad()
def token_losses(
    model: nn.Module,
    ids: Int[Tensor, "batch seq"],
    *,
    seen: Bool[Tensor, "seq seq"] | None = None,
    positions: Int[Tensor, "#batch seq"] | None = None,
    cache: KVCache | None = None,
) -> Float[Tensor, "batch asked"]:
    """Return the loss of each token except the first in its row; arguments as in `read`."""
    hidden = read(model, ids, seen=seen, positions=positions, cache=cache)
    head, losses = model.get_submodule("lm_head"), []
    for row, wanted in zip(hidden, ids, strict=True):
        for first in range(0, len(wanted) - 1, PIECE):  # all logits at once would fill the memory
            asked = wanted[first + 1 : first + 1 + PIECE]
            logits = head(row[first : first + len(asked)])
            losses.append(cross_entropy(logits, asked, reduction="none"))
    return torch.cat(losses).view(len(ids), -1)


@torch.no_grad()
def losses_after_gaps(
    model: nn.Module,
    ids: Int[Tensor, "batch seq"],
    gaps: Sequence[int],
    *,
    near: tuple[int, int] = (0, 0),
) -> Float[Tensor, "gaps batch asked"]:
    """Return the losses in the second half of each row, for each gap before it.

    A gap of n skips n positions: no tokens are there, but the first half is n positions farther
    away, except for its positions from `near[0]` to before `near[1]`.
    """
    rows, half = len(ids), ids.shape[1] // 2
    cache = KVCache()
    read(model, ids[:, :half], cache=cache)
    cache.reorder(torch.arange(rows).repeat(len(gaps)))
    wide = torch.tensor(gaps).repeat_interleave(rows)[:, None]  # (gaps * rows, 1)
    _follow(model, cache, slice(*near), wide)
    starts = wide + half
    later = ids[:, half:].repeat(len(gaps), 1)
    positions = starts + torch.arange(later.shape[1])
    return token_losses(model, later, positions=positions, cache=cache).unflatten(0, (-1, rows))


def _follow(model: nn.Module, cache: KVCache, kept: slice, gap: Int[Tensor, "rows 1"]) -> None:
    """Rotate some of the cached keys by a gap, in place, as if the gap came before them."""
    layers = model.get_submodule("decoder.layers").children()
    for layer, its in zip(layers, cache, strict=True):
        keys = its.attention.kept()[0][:, :, kept]  # (rows, kv_heads, kept, head_dim)
        turn = gap[:, None].expand(-1, 1, keys.shape[2])
        keys.copy_(layer.get_submodule("attention.rotary")(keys, turn))


@contextmanager
def scaled(model: nn.Module, scaling: RopeScaling) -> Iterator[None]:
    """Scale a model's rotary positions inside a `with` block, and restore them afterward."""
    attentions = [
        layer.get_submodule("attention")
        for layer in model.get_submodule("decoder.layers").children()
    ]
    before = [cast(RotaryPositions, part.get_submodule("rotary")) for part in attentions]
    for attention, rotary in zip(attentions, before, strict=True):
        changed = rotary_positions(
            rotary.head_dim, scaling, theta=rotary.theta, interleaved=rotary.interleaved
        )
        attention.set_submodule("rotary", changed)
    try:
        yield
    finally:
        for attention, rotary in zip(attentions, before, strict=True):
            attention.set_submodule("rotary", rotary)


def positions_with_gap(seq: int, gap: int) -> Int[Tensor, "1 seq"]:
    """Return the positions of a row whose second half begins after a gap.

    >>> positions_with_gap(5, 10)
    tensor([[ 0,  1, 12, 13, 14]])
    """
    positions = torch.arange(seq)
    positions[seq // 2 :] += gap
    return positions[None]


def block_means(losses: Float[Tensor, "*rows seq"]) -> Float[Tensor, "*rows blocks"]:
    """Return the means of neighboring losses, `BLOCK` at a time; a remainder is dropped."""
    whole = losses.shape[-1] // BLOCK * BLOCK
    return losses[..., :whole].unflatten(-1, (-1, BLOCK)).mean(-1)


def kept_in_view(length: int, first: int, last: int) -> Bool[Tensor, "length length"]:
    """Return the mask of a window, with the positions from `first` to before `last` in view too."""
    seen = window_mask(length, length, VIEW)
    seen[:, first:last] = True
    return seen


def hide_needles(
    length: int, things: Sequence[str], dice: random.Random
) -> tuple[list[int], list[int], list[tuple[str, str]]]:
    """Hide one line about each thing between paragraphs of the long text, evenly spread.

    Return at most `length` ids, the same ids without the lines, and each thing with its number.
    """
    shuffled, firsts = dice.sample(things, len(things)), dice.sample(range(10), len(things))
    facts = [
        (thing, f"{first}{dice.randrange(10 ** (DIGITS - 1)):03d}")
        for thing, first in zip(shuffled, firsts, strict=True)
    ]
    needles = [spell(f"The {thing} is {number}.\n\n") for thing, number in facts]
    paragraphs = [spell(f"{text}\n\n") for text in long_text().split("\n\n")]
    room, hay = length - sum(map(len, needles)), list[int]()
    ends = [0]  # where a line can be inserted
    first = dice.randrange(len(paragraphs))
    for paragraph in paragraphs[first:] + paragraphs[:first]:
        if len(hay) + len(paragraph) > room:
            break
        hay += paragraph
        ends.append(len(hay))
    hidden = list(hay)
    for k in reversed(range(len(needles))):  # from the end, so places stay valid
        wanted = k / (len(needles) - 1) * len(hay)
        place = min(ends, key=lambda end: abs(end - wanted))
        hidden[place:place] = needles[k]
    return hidden, hay, facts


@torch.no_grad()
def likeliest_digits(
    model: nn.Module, ids: Sequence[int], facts: Sequence[tuple[str, str]]
) -> Int[Tensor, "facts digits"]:
    """Return the id that the model finds likeliest for each digit, given the true ones before it.

    The text is read once, and each question continues from there.
    """
    cache = KVCache()
    read(model, torch.tensor([ids]), cache=cache)
    cache.reorder(torch.zeros(len(facts), dtype=torch.long))
    asked = [torch.tensor(spell(f"The {thing} is {number}")) for thing, number in facts]
    hidden = read(model, pad_sequence(asked, batch_first=True), cache=cache)
    before = [
        row[len(one) - DIGITS - 1 : len(one) - 1] for row, one in zip(hidden, asked, strict=True)
    ]
    return model.get_submodule("lm_head")(torch.stack(before)).argmax(-1)


def judge(
    likeliest: Int[Tensor, "facts digits"], facts: Sequence[tuple[str, str]]
) -> tuple[Bool[Tensor, " facts"], Bool[Tensor, " facts"]]:
    """Return, for each thing, whether the model writes its number, and whether it begins another's.

    Numbers begin with different digits, so the first digit tells whose number it is.
    """
    numbers = torch.tensor([spell(number)[-DIGITS:] for _, number in facts])
    whose = likeliest[:, :1].eq(numbers[:, 0])  # (facts, facts)
    return likeliest.eq(numbers).all(dim=1), whose.fill_diagonal_(False).any(dim=1)


def build() -> nn.Module:
    """Return a module without weights: nothing is trained, and the history has all the results."""
    return nn.Module()


def train(model: nn.Module, report: Report) -> dict[str, list[float]]:
    """Measure the language model; return losses by block, and what was found, text by text."""
    reader = language_model().requires_grad_(False)
    ids = torch.tensor([spell(long_text())[: LONG + 1]])
    report(0, 6, "in one go")
    history = {"whole": block_means(token_losses(reader, ids)[0]).tolist()}
    report(1, 6, "in pieces")
    pieces = ids[:, :-1].view(-1, PIECE)
    history["pieces"] = block_means(token_losses(reader, pieces)).flatten().tolist()
    report(2, 6, "across gaps")
    pairs = pieces[: 2 * PAIRS].view(PAIRS, -1)
    across = losses_after_gaps(reader, pairs, GAPS)
    for gap, losses in zip(GAPS, across, strict=True):
        history[f"gap {gap}"] = block_means(losses).flatten().tolist()
    report(3, 6, "across the widest gap")
    widest, pair = max(GAPS), pairs[:1]
    for name, near in NEAR.items():
        [losses] = losses_after_gaps(reader, pair, [widest], near=near)
        history[f"{name} near"] = block_means(losses).flatten().tolist()
    for name, scaling in SCALED.items():
        with scaled(reader, scaling):
            far = token_losses(reader, pair, positions=positions_with_gap(2 * PIECE, widest))
            alone = token_losses(reader, pair[:, PIECE:])
        history[f"{name}, far"] = block_means(far[:, PIECE:]).flatten().tolist()
        history[f"{name}, alone"] = block_means(alone).flatten().tolist()
    report(4, 6, "through windows")
    for name, kept in WINDOWS.items():
        losses = token_losses(reader, ids[:, : THROUGH + 1], seen=kept_in_view(THROUGH + 1, *kept))
        history[name] = block_means(losses[0]).tolist()
    report(5, 6, "needles")
    return history | _search(reader)


def _search(reader: nn.Module) -> dict[str, list[float]]:
    """Return whether each number is found, by kind of text: text by text, from start to end."""
    dice = random.Random(int(torch.randint(2**31, ())))  # from the seed that all recipes start with
    found: dict[str, list[float]] = {}
    for name, (length, texts, things) in NEEDLES.items():
        hidden = [hide_needles(length, things, dice) for _ in range(texts)]
        found |= _judged(name, reader, [(ids, facts) for ids, _, facts in hidden])
        if name == next(iter(NEEDLES)):
            found |= _judged("no needles", reader, [(hay, facts) for _, hay, facts in hidden])
    return found


def _judged(
    name: str, reader: nn.Module, texts: Sequence[tuple[list[int], list[tuple[str, str]]]]
) -> dict[str, list[float]]:
    """Return which numbers are found in some texts, and where the model begins another number."""
    judged = [judge(likeliest_digits(reader, ids, facts), facts) for ids, facts in texts]
    right, anothers = (torch.cat(kind).float().tolist() for kind in zip(*judged, strict=True))
    return {name: right, f"{name}: another's": anothers}


def data() -> Iterable[bytes]:
    """Return the text, and the model's weights if you chose your own."""
    chosen = os.environ.get("GLASSFORMER_LM")
    weights = [(language_checkpoint() / WEIGHTS).read_bytes()] if chosen else []
    return [long_text().encode(), *weights]
