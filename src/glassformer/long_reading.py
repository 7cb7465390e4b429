"""A language model reads a long text: its loss by position, through windows, and what it finds."""

import os
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from pydoc_data import topics
from types import MappingProxyType

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from glassformer.cache import KVCache
from glassformer.checkpoints import WEIGHTS, tokenizer
from glassformer.language import language_checkpoint, language_model
from glassformer.recipes import Report
from glassformer.window import window_mask

TOPIC = "specialnames"
"""The page of Python's own manual that is read: what `help("SPECIALMETHODS")` prints."""

LONG, PIECE, BLOCK = 3072, 512, 32  # tokens: read in one go, of a piece, whose mean loss is kept
GAPS = (0, 4096, 7168, 12288, 16384)  # positions left out between two pieces
PAIRS = 2  # of pieces, one read after the other across each gap
VIEW, SINKS, THROUGH = 128, 4, 1024  # the window, what is kept besides, tokens read through it
WINDOWS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"window": (0, 0), "first kept": (0, SINKS), "others kept": (VIEW // 2, VIEW // 2 + SINKS)}
)
"""The windows, by the positions that stay in view besides."""

DIFFERENT = (
    "number of Alice's ticket",
    "weight of the old elephant",
    "code of the green door",
    "price of the blue car",
    "height of the black mountain",
)
"""What the hidden numbers are of."""
ALIKE = tuple(f"secret number of {name}" for name in ("Alice", "Frank", "Julia", "Henry", "Maria"))
"""The same, but for the names."""
NEEDLES: Mapping[str, tuple[int, int, tuple[str, ...]]] = MappingProxyType(
    {
        "512 tokens": (512, 3, DIFFERENT),
        "1,024 tokens": (1024, 3, DIFFERENT),
        "2,048 tokens": (2048, 2, DIFFERENT),
        "512 tokens, alike": (512, 3, ALIKE),
    }
)
"""The length of a text, how many of them, and what numbers are hidden in each."""


def spell(text: str) -> list[int]:
    """Return the ids of a text for the language model."""
    return tokenizer(language_checkpoint())(text, verbose=False)["input_ids"]


def long_text() -> str:
    """Return the page of Python's manual."""
    return str(topics.topics[TOPIC])


def read(
    model: nn.Module,
    ids: Int[Tensor, "batch seq"],
    *,
    seen: Bool[Tensor, "seq seq"] | None = None,
    positions: Int[Tensor, "#batch seq"] | None = None,
    cache: KVCache | None = None,
) -> Float[Tensor, "batch seq d_model"]:
    """Return the last hidden states, where each query looks only where `seen` is true.

    Without `positions`, they count on from the cache. A query never looks at the future.
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
    """Return the loss of each token but the first of its row; arguments as in `read`."""
    hidden = read(model, ids, seen=seen, positions=positions, cache=cache)
    head, losses = model.get_submodule("lm_head"), []
    for row, wanted in zip(hidden, ids, strict=True):
        for first in range(0, len(wanted) - 1, PIECE):  # all logits would fill the memory
            asked = wanted[first + 1 : first + 1 + PIECE]
            logits = head(row[first : first + len(asked)])
            losses.append(cross_entropy(logits, asked, reduction="none"))
    return torch.cat(losses).view(len(ids), -1)


@torch.no_grad()
def losses_after_gaps(
    model: nn.Module, ids: Int[Tensor, "batch seq"], gaps: Sequence[int]
) -> Float[Tensor, "gaps batch asked"]:
    """Return the losses in the second half of each row, for each gap before it.

    A gap of n leaves n positions out: nothing is there, but everything in the first half is n
    positions further away.
    """
    rows, half = len(ids), ids.shape[1] // 2
    cache = KVCache()
    read(model, ids[:, :half], cache=cache)
    cache.reorder(torch.arange(rows).repeat(len(gaps)))
    starts = torch.tensor(gaps).repeat_interleave(rows)[:, None] + half
    later = ids[:, half:].repeat(len(gaps), 1)
    positions = starts + torch.arange(later.shape[1])
    return token_losses(model, later, positions=positions, cache=cache).unflatten(0, (-1, rows))


def block_means(losses: Float[Tensor, "*rows seq"]) -> Float[Tensor, "*rows blocks"]:
    """Return the means of neighboring losses, `BLOCK` at a time; a rest is dropped."""
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
    """Hide a line about each thing in some paragraphs of the long text, from its start to its end.

    Returns at most `length` ids, then the same without the lines, and each thing with its number.
    """
    shuffled = dice.sample(things, len(things))
    facts = [(thing, f"{dice.randrange(10_000):04d}") for thing in shuffled]
    needles = [spell(f"The {thing} is {number}.\n\n") for thing, number in facts]
    paragraphs = [spell(f"{text}\n\n") for text in long_text().split("\n\n")]
    room, hay = length - sum(map(len, needles)), list[int]()
    ends = [0]  # where a line may stand
    first = dice.randrange(len(paragraphs))
    for paragraph in paragraphs[first:] + paragraphs[:first]:
        if len(hay) + len(paragraph) > room:
            break
        hay += paragraph
        ends.append(len(hay))
    hidden = list(hay)
    for k in reversed(range(len(needles))):  # from behind, so that places stay
        wanted = k / (len(needles) - 1) * len(hay)
        place = min(ends, key=lambda end: abs(end - wanted))
        hidden[place:place] = needles[k]
    return hidden, hay, facts


@torch.no_grad()
def finds(
    model: nn.Module, ids: Sequence[int], facts: Sequence[tuple[str, str]]
) -> Bool[Tensor, " facts"]:
    """Tell for which of the things the model writes the number: each digit is the likeliest.

    The text is read once, and each question goes on from there.
    """
    cache = KVCache()
    read(model, torch.tensor([ids]), cache=cache)
    cache.reorder(torch.zeros(len(facts), dtype=torch.long))
    asked = [torch.tensor(spell(f"The {thing} is {number}")) for thing, number in facts]
    hidden = read(model, pad_sequence(asked, batch_first=True), cache=cache)
    before = [row[len(one) - 5 : len(one) - 1] for row, one in zip(hidden, asked, strict=True)]
    likeliest = model.get_submodule("lm_head")(torch.stack(before)).argmax(-1)
    return likeliest.eq(torch.stack([one[-4:] for one in asked])).all(dim=1)


def build() -> nn.Module:
    """Return a module without weights: nothing is trained, and the history has all."""
    return nn.Module()


def train(model: nn.Module, report: Report) -> dict[str, list[float]]:
    """Measure the language model; return losses by block, and what was found, text by text."""
    reader = language_model().requires_grad_(False)
    ids = torch.tensor([spell(long_text())[: LONG + 1]])
    report(0, 5, "in one go")
    history = {"whole": block_means(token_losses(reader, ids)[0]).tolist()}
    report(1, 5, "in pieces")
    pieces = ids[:, :-1].view(-1, PIECE)
    history["pieces"] = block_means(token_losses(reader, pieces)).flatten().tolist()
    report(2, 5, "across gaps")
    across = losses_after_gaps(reader, pieces[: 2 * PAIRS].view(PAIRS, -1), GAPS)
    for gap, losses in zip(GAPS, across, strict=True):
        history[f"gap {gap}"] = block_means(losses).flatten().tolist()
    report(3, 5, "through windows")
    for name, kept in WINDOWS.items():
        losses = token_losses(reader, ids[:, : THROUGH + 1], seen=kept_in_view(THROUGH + 1, *kept))
        history[name] = block_means(losses[0]).tolist()
    report(4, 5, "needles")
    return history | _search(reader)


def _search(reader: nn.Module) -> dict[str, list[float]]:
    """Return for each kind of text which numbers are found, text by text and from start to end."""
    dice = random.Random(int(torch.randint(2**31, ())))  # of the seed that all recipes start with
    found = {}
    for name, (length, texts, things) in NEEDLES.items():
        hidden = [hide_needles(length, things, dice) for _ in range(texts)]
        right = [finds(reader, ids, facts) for ids, _, facts in hidden]
        found[name] = torch.cat(right).float().tolist()
        if name == next(iter(NEEDLES)):
            without = [finds(reader, hay, facts) for _, hay, facts in hidden]
            found["no needles"] = torch.cat(without).float().tolist()
    return found


def files() -> Iterable[Path]:
    """Return the text, and the weights of a model of your own.

    The book's own weights are named by their hash in the code.
    """
    text = [Path(topics.__file__)]
    chosen = os.environ.get("GLASSFORMER_LM")
    return [*text, language_checkpoint() / WEIGHTS] if chosen else text
