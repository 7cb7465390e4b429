"""Short stories to learn from: the plots are written by hand, and the rest is drawn at random.

A plot has four sentences. `{colour}` becomes a word from a table, the same one everywhere in a
story; `[day|morning]` becomes one of the given words, drawn again each time.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

import torch
from jaxtyping import Int
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordLevel
from torch import Tensor

from glassbook.corpora import DATA

SIZES = {"train": 4_000, "test": 500}

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[END]")
SPECIAL = PAD, UNKNOWN, CLS, SEP, MASK, END = tuple(range(len(SPECIAL_TOKENS)))

# A blank: for a word of a table, or for one of those given.
OPENING = re.compile(r"\{(\w+)\}|\[([^]]+)\]")


@dataclass(frozen=True)
class Story:
    """A story of four sentences.

    Attributes:
        sentences: In lowercase, as the tokenizer reads them.
        plot: The number of its plot.
        surprise: Minus the logarithm of the probability of drawing it.
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
    """Draw distinct stories, first those for testing, then those for training."""
    random = Random(seed)
    _, plots = read_plots()
    drawn: dict[str, Story] = {}
    while len(drawn) < sum(SIZES.values()):
        story = tell(random.randrange(len(plots)), random)
        drawn.setdefault(story.text, story)
    stories = tuple(drawn.values())
    return {"test": stories[: SIZES["test"]], "train": stories[SIZES["test"] :]}


def tell(plot: int, random: Random) -> Story:
    """Draw a story with this plot: each blank is filled with one of its options, uniformly."""
    tables, plots = read_plots()
    dice = Dice(tables, random)
    told = OPENING.sub(dice.fill, plots[plot])
    return Story(tuple(told.splitlines()), plot, math.log(len(plots)) + dice.surprise)


class Dice:
    """The words drawn for a plot's blanks, and the surprise: the sum of log(option count)."""

    def __init__(self, tables: Sequence[Table], random: Random):
        self.tables, self.random = tables, random
        self.chosen: dict[str, str] = {}  # the word of each column
        self.surprise = 0.0

    def fill(self, opening: re.Match[str]) -> str:
        """Return a word for a blank.

        Rows that start with a word already drawn are left out, so nobody meets themselves.
        """
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


def story_bytes() -> bytes:
    """Return the stories for training as bytes, for a recipe's key."""
    return "\n".join(story.text for story in make_stories()["train"]).encode()


def plot_of(text: str) -> int | None:
    """Return the number of the plot that a text matches exactly, or None."""
    tables, plots = read_plots()
    for number, plot in enumerate(plots):
        pattern = _pattern(plot, tables)
        found = pattern.fullmatch(text)
        if found and _agrees(found.groupdict(), tables):
            return number
    return None


@lru_cache(maxsize=1)
def read_plots() -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Return the tables of words, and the plots, in lowercase."""
    head, *plots = (DATA / "plots.txt").read_text(encoding="utf-8").lower().strip().split("\n\n")
    tables = []
    for line in head.splitlines():
        names, rows = line.split(" = ")
        tables.append(
            Table(tuple(names.split()), tuple(tuple(row.split()) for row in rows.split(", ")))
        )
    return tuple(tables), tuple(plots)


@lru_cache(maxsize=1)
def tokenizer() -> Tokenizer:
    """Build a tokenizer with a token for each lowercase word and punctuation mark of the stories.

    A single text is framed as [CLS] text [SEP]; in a pair, the second text has token type 1.
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
    """Return padded ids, token types, and the attention mask of texts or pairs."""
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
    """Count the words that make the ids a story when they replace the [MASK].

    All these stories are equally likely, so if there are n of them, no guess of the hidden word is
    right more often than one time in n.
    """
    gap = tokenizer().decode(
        [token for token in ids if token == MASK or token not in SPECIAL],
        skip_special_tokens=False,
    )
    words = [word for word in tokenizer().get_vocab() if word not in SPECIAL_TOKENS]
    texts = (re.sub(r" (?=[.,])", "", gap.replace("[MASK]", word)) for word in words)
    return sum(plot_of(text) is not None for text in texts)


@lru_cache
def _pattern(plot: str, tables: tuple[Table, ...]) -> re.Pattern[str]:
    """Return a pattern that matches all stories of a plot, with a group for each column."""
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
    """Return whether each table's words are from one row, and no two rows share a first word."""
    firsts = []
    for table in tables:
        asked = [(i, found[name]) for i, name in enumerate(table.names) if name in found]
        rows = [row for row in table.rows if all(row[i] == word for i, word in asked)]
        if asked:
            firsts += [row[0] for row in rows[:1]] or [""] * 2
    return len(set(firsts)) == len(firsts)
