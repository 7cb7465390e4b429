"""Short stories to learn from: the plots are written by hand, and chance fills in the rest.

A plot has four sentences. `{colour}` stands for a word of a table, the same one wherever it stands;
`[day|morning]` for one of the words given, wherever it stands another.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files as resources
from pathlib import Path
from random import Random
from typing import Any

import torch
from jaxtyping import Int
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordLevel
from torch import Tensor

SIZES = {"train": 4_000, "test": 500}

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[END]")
SPECIAL = PAD, UNKNOWN, CLS, SEP, MASK, END = tuple(range(len(SPECIAL_TOKENS)))

OPENING = re.compile(r"\{(\w+)\}|\[([^]]+)\]")  # a word of a table, or one of those given


@dataclass(frozen=True)
class Story:
    """A story of four sentences.

    Attributes:
        sentences: in small letters, as the tokenizer reads them.
        plot: the number of its plot.
        surprise: minus the logarithm of the chance that it is drawn.
    """

    sentences: tuple[str, ...]
    plot: int
    surprise: float

    @property
    def text(self) -> str:
        """The whole story."""
        return " ".join(self.sentences)

    @property
    def halves(self) -> tuple[str, str]:
        """The first two sentences, and the last two."""
        return " ".join(self.sentences[:2]), " ".join(self.sentences[2:])


@dataclass(frozen=True)
class Table:
    """Rows of words, and the name of each column; a plot takes all its words from one row."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=1)
def make_stories(seed: int = 0) -> dict[str, tuple[Story, ...]]:
    """Draw distinct stories, first those to test with, then those to train with."""
    random = Random(seed)
    _, plots = read_plots()
    drawn: dict[str, Story] = {}
    while len(drawn) < sum(SIZES.values()):
        story = tell(random.randrange(len(plots)), random)
        drawn.setdefault(story.text, story)
    stories = tuple(drawn.values())
    return {"test": stories[: SIZES["test"]], "train": stories[SIZES["test"] :]}


def tell(plot: int, random: Random) -> Story:
    """Draw a story with a plot: whatever is open is drawn evenly from what it may be."""
    tables, plots = read_plots()
    dice = Dice(tables, random)
    told = OPENING.sub(dice.fill, plots[plot])
    return Story(tuple(told.splitlines()), plot, math.log(len(plots)) + dice.surprise)


class Dice:
    """Fills in what a plot leaves open, and adds up the logarithms of how much was possible."""

    def __init__(self, tables: Sequence[Table], random: Random):
        self.tables, self.random = tables, random
        self.chosen: dict[str, str] = {}  # the word of each column
        self.surprise = 0.0

    def fill(self, opening: re.Match[str]) -> str:
        """Return a word for an opening: no two rows begin alike, so nobody meets themself."""
        name, given = opening.groups()
        if given:
            return self.draw(given.split("|"))
        if name not in self.chosen:
            table = next(table for table in self.tables if name in table.names)
            free = [row for row in table.rows if row[0] not in self.chosen.values()]
            self.chosen.update(zip(table.names, self.draw(free), strict=True))
        return self.chosen[name]

    def draw(self, options: Sequence[Any]) -> Any:
        """Draw one of the options, all equally likely."""
        self.surprise += math.log(len(options))
        return self.random.choice(options)


def plot_of(text: str) -> int | None:
    """Return the plot that a text tells with each word in its place, or None."""
    tables, plots = read_plots()
    for number, pattern in enumerate(_patterns(plots, tables)):
        found = pattern.fullmatch(text)
        if found and _agrees(found.groupdict(), tables):
            return number
    return None


@lru_cache(maxsize=1)
def read_plots() -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Return the tables of words, and the plots, in small letters."""
    head, *plots = plots_file().read_text(encoding="utf-8").lower().strip().split("\n\n")
    tables = []
    for line in head.splitlines():
        names, rows = line.split(" = ")
        tables.append(
            Table(tuple(names.split()), tuple(tuple(row.split()) for row in rows.split(", ")))
        )
    return tuple(tables), tuple(plots)


def plots_file() -> Path:
    """Return the file of the tables and plots."""
    return Path(str(resources("glassformer"))) / "corpora" / "plots.txt"


@lru_cache(maxsize=1)
def tokenizer() -> Tokenizer:
    """Build a tokenizer of the stories' words in small letters and their marks, a token each.

    One text is framed as [CLS] text [SEP]; of two, the second has token type 1.
    """
    texts = " ".join(story.text for story in make_stories()["train"])
    tokens = [*SPECIAL_TOKENS, *sorted(set(re.findall(r"\w+|[.,]", texts)))]
    made = Tokenizer(WordLevel({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))
    made.add_special_tokens(list(SPECIAL_TOKENS))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)],
    )
    made.enable_padding(pad_id=PAD, pad_token="[PAD]")
    return made


def encode(texts: Sequence[str | tuple[str, str]]) -> dict[str, Int[Tensor, "batch seq"]]:
    """Return ids, token types and attention mask of texts or pairs of texts, framed and padded."""
    encodings = tokenizer().encode_batch(list(texts))
    return {
        "input_ids": torch.tensor([encoding.ids for encoding in encodings]),
        "token_type_ids": torch.tensor([encoding.type_ids for encoding in encodings]),
        "attention_mask": torch.tensor([encoding.attention_mask for encoding in encodings]),
    }


def read(ids: Sequence[int]) -> str:
    """Decode ids to text, without special tokens."""
    words = tokenizer().decode(list(ids))
    return re.sub(r" (?=[.,])", "", words)


def ways(ids: Sequence[int]) -> int:
    """Count how many words there are for the [MASK] among the ids that make a story of them.

    All these stories are equally likely, so no guess of the hidden word is right more often than
    once in so many times.
    """
    gap = tokenizer().decode(
        [token for token in ids if token == MASK or token not in SPECIAL],
        skip_special_tokens=False,
    )
    words = [word for word in tokenizer().get_vocab() if word not in SPECIAL_TOKENS]
    texts = (re.sub(r" (?=[.,])", "", gap.replace("[MASK]", word)) for word in words)
    return sum(plot_of(text) is not None for text in texts)


@lru_cache(maxsize=1)
def _patterns(plots: tuple[str, ...], tables: tuple[Table, ...]) -> tuple[re.Pattern[str], ...]:
    """Return what matches all stories of each plot."""
    return tuple(_pattern(plot, tables) for plot in plots)


def _pattern(plot: str, tables: tuple[Table, ...]) -> re.Pattern[str]:
    """Return what matches all stories of a plot; a word of a table has its column's name."""
    columns = {
        name: [row[i] for row in table.rows]
        for table in tables
        for i, name in enumerate(table.names)
    }
    pattern = plot.replace(".", r"\.").replace("\n", " ")
    for name, given in OPENING.findall(plot):
        if given:
            pattern = pattern.replace(f"[{given}]", f"(?:{given})", 1)
        else:
            first = f"(?P<{name}>{'|'.join(columns[name])})"
            pattern = pattern.replace(f"{{{name}}}", first, 1)
            pattern = pattern.replace(f"{{{name}}}", f"(?P={name})")
    return re.compile(pattern)


def _agrees(found: Mapping[str, str], tables: Sequence[Table]) -> bool:
    """Tell whether the words of each table are from one row, and no two rows begin alike."""
    firsts = []
    for table in tables:
        asked = [(i, found[name]) for i, name in enumerate(table.names) if name in found]
        rows = [row for row in table.rows if all(row[i] == word for i, word in asked)]
        if asked:
            firsts += [row[0] for row in rows[:1]] or [""] * 2
    return len(set(firsts)) == len(firsts)
