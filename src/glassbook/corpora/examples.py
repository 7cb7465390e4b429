"""Small texts for trying out applications, written for this book, with the right answers."""

import csv
from dataclasses import dataclass

from glassbook.corpora import DATA

ORDINALS = ("first", "second", "third", "fourth", "fifth")


@dataclass(frozen=True)
class Passage:
    """Three sentences, and two questions that the same sentence answers.

    Attributes:
        topic: Shared by three passages.
        sentences: The sentences of the passage.
        answer: The index of the sentence that answers both, from 0.
        same_words: A question in the words of the passage.
        other_words: A question in other words, as if from a person who hasn't read the passage.
    """

    topic: str
    sentences: tuple[str, ...]
    answer: int
    same_words: str
    other_words: str

    @property
    def text(self) -> str:
        """The whole passage."""
        return " ".join(self.sentences)


@dataclass(frozen=True)
class Document:
    """Five sentences, one of which tells what the others are about.

    Attributes:
        kind: "news", where that sentence comes first, or "story", where it doesn't.
        sentences: The sentences of the document.
        key: The index of that sentence, from 0.
    """

    kind: str
    sentences: tuple[str, ...]
    key: int


@dataclass(frozen=True)
class GradedPair:
    """Two sentences, and a grade for how much they agree in meaning.

    Attributes:
        first, second: The sentences.
        grade: 4 for the same meaning, 3 almost the same, 2 different statements about the same
            thing, 1 little in common, 0 nothing in common.
    """

    first: str
    second: str
    grade: int


@dataclass(frozen=True)
class Opinion:
    """A sentence of a review, and whether its writer was satisfied.

    Attributes:
        text: The sentence.
        good: Whether the writer was satisfied.
    """

    text: str
    good: bool


def passages() -> list[Passage]:
    """Return all passages, with the three of a topic together."""
    return [
        Passage(
            row["topic"],
            tuple(row[name] for name in ORDINALS[:3]),
            int(row["answer"]) - 1,
            row["same_words"],
            row["other_words"],
        )
        for row in _rows("passages")
    ]


def documents() -> list[Document]:
    """Return all documents, news first."""
    return [
        Document(row["kind"], tuple(row[name] for name in ORDINALS), int(row["key"]) - 1)
        for row in _rows("documents")
    ]


def graded_pairs() -> list[GradedPair]:
    """Return all pairs, from the same meaning down to nothing in common."""
    return [GradedPair(row["first"], row["second"], int(row["grade"])) for row in _rows("pairs")]


def opinions(split: str) -> list[Opinion]:
    """Return the opinions of a split, "train" or "test".

    Raises:
        ValueError: There is no such split.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split ({split!r}) must be train or test")
    rows = _rows("opinions")
    return [Opinion(row["text"], row["label"] == "good") for row in rows if row["split"] == split]


def _rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a tab-separated file with a header; quotation marks aren't special."""
    path = DATA / f"{name}.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
