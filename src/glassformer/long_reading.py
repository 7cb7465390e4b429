"""A language model reads long texts: its loss by position, through windows, and what it finds."""

import os
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from glassformer.cache import KVCache
from glassformer.checkpoints import WEIGHTS, tokenizer
from glassformer.examples import documents, passages
from glassformer.language import language_checkpoint, language_model
from glassformer.recipes import Report
from glassformer.window import window_mask

LONG, SHORT = 2560, 512  # tokens of the long text, and of the pieces that it is cut into
BLOCK = 32  # tokens whose mean loss is kept
WINDOW, SINKS = 128, 4
WINDOWS = {"window": (0, 0), "first kept": (0, SINKS), "others kept": (32, 32 + SINKS)}
"""The windows, by the positions that stay in view besides."""

NAMES = ("Alice", "Frank", "Julia", "Henry")
NEEDLES = {256: 6, 512: 5, 1024: 4}
"""How many texts of each length have something hidden in them, once for each name."""


def long_text() -> str:
    """Return the small texts of the book's corpora, one after another."""
    return " ".join([*(p.text for p in passages()), *(" ".join(d.sentences) for d in documents())])


def spell(text: str) -> list[int]:
    """Return the ids of a text for the language model."""
    return tokenizer(language_checkpoint())(text)["input_ids"]


@torch.no_grad()
def token_losses(
    model: nn.Module,
    ids: Int[Tensor, "batch seq"],
    seen: Bool[Tensor, "seq seq"] | None = None,
) -> Float[Tensor, "batch asked"]:
    """Return the loss of each token but the first of its row.

    A query may look where `seen` is true, and never at the future.
    """
    decoder = model.get_submodule("decoder")
    hidden = decoder.get_submodule("embeddings")(ids)
    for layer in decoder.get_submodule("layers").children():
        hidden = layer(hidden, attn_mask=seen)
    hidden = decoder.get_submodule("final_norm")(hidden)
    head, losses = model.get_submodule("lm_head"), []
    for first in range(0, ids.shape[1] - 1, SHORT):  # all logits at once would fill the memory
        asked = ids[:, first + 1 : first + 1 + SHORT]
        logits = head(hidden[:, first : first + asked.shape[1]])
        losses.append(cross_entropy(logits.mT, asked, reduction="none"))
    return torch.cat(losses, dim=1)


def block_means(losses: Float[Tensor, "*rows seq"]) -> Float[Tensor, "*rows blocks"]:
    """Return the means of neighboring losses, `BLOCK` at a time; a rest is dropped."""
    whole = losses.shape[-1] // BLOCK * BLOCK
    return losses[..., :whole].unflatten(-1, (-1, BLOCK)).mean(-1)


def kept_in_view(length: int, first: int, last: int) -> Bool[Tensor, "length length"]:
    """Return the mask of a window, with the positions from `first` to before `last` in view too."""
    seen = window_mask(length, length, WINDOW)
    seen[:, first:last] = True
    return seen


def hide_needles(length: int, dice: random.Random) -> tuple[list[int], list[tuple[str, str]]]:
    """Hide a sentence about each name in a text of other sentences.

    The sentences are spread evenly, in random order, and the text begins at a random place.

    Returns:
        The ids, a little fewer than `length`, and each name with its number, as they come.
    """
    names = dice.sample(NAMES, len(NAMES))
    facts = [(name, f"{dice.randrange(10_000):04d}") for name in names]
    needles = [spell(f" The secret number of {name} is {number}.") for name, number in facts]
    room = length - sum(map(len, needles))
    sentences = [spell(f" {s.strip()}.") for s in long_text().split(". ")]
    first = dice.randrange(len(sentences))
    hay, size = [], 0
    for sentence in sentences[first:] + sentences[:first]:
        if size + len(sentence) > room:
            break
        hay.append(sentence)
        size += len(sentence)
    for k in reversed(range(len(needles))):  # from behind, so that places stay
        hay.insert(round((k + 0.5) / len(needles) * len(hay)), needles[k])
    return [token for sentence in hay for token in sentence], facts


@torch.no_grad()
def finds(
    model: nn.Module, ids: Sequence[int], facts: Sequence[tuple[str, str]]
) -> Bool[Tensor, " facts"]:
    """Tell for which of the names the model would write the number: each digit the likeliest.

    The text is read once, and each question goes on from there.
    """
    cache = KVCache()
    if ids:
        model(torch.tensor([ids]), cache=cache, last_only=True)
        cache.reorder(torch.zeros(len(facts), dtype=torch.long))
    asked = torch.tensor([spell(f" The secret number of {name} is {n}") for name, n in facts])
    likeliest = model(asked, cache=cache)[:, -5:-1].argmax(-1)
    return likeliest.eq(asked[:, -4:]).all(dim=1)


def build() -> nn.Module:
    """Return a module without weights: nothing is trained, and the history has all."""
    return nn.Identity()


def train(model: nn.Module, report: Report) -> dict[str, list[float]]:
    """Measure the language model; return losses by block, and what was found, text by text."""
    reader = language_model().requires_grad_(False)
    ids = torch.tensor([spell(long_text())[:LONG]])
    report(0, 4, "the whole text")
    history = {"whole": block_means(token_losses(reader, ids)[0]).tolist()}
    report(1, 4, "short pieces")
    pieces = token_losses(reader, ids.view(-1, SHORT))
    history["pieces"] = block_means(pieces).flatten().tolist()
    report(2, 4, "windows")
    for name, kept in WINDOWS.items():
        losses = token_losses(reader, ids[:, :SHORT], kept_in_view(SHORT, *kept))
        history[name] = block_means(losses[0]).tolist()
    report(3, 4, "needles")
    dice = random.Random(0)
    for length, texts in NEEDLES.items():
        hidden = [hide_needles(length, dice) for _ in range(texts)]
        found = torch.cat([finds(reader, *text) for text in hidden])
        history[f"needles {length}"] = found.float().tolist()
    without = [finds(reader, [], facts) for _, facts in hidden]
    history["no text"] = torch.cat(without).float().tolist()
    return history


def files() -> Iterable[Path]:
    """Return the weights of a model of your own; the book's is named by its hash in the code."""
    chosen = os.environ.get("GLASSFORMER_LM")
    return [language_checkpoint() / WEIGHTS] if chosen else []
