"""Small texts to try applications on, written for this book with their right answers."""

import csv
from dataclasses import dataclass
from importlib.resources import files as resources
from pathlib import Path

ORDINALS = ("first", "second", "third", "fourth", "fifth")


@dataclass(frozen=True)
class Passage:
    """Three sentences, and two questions that the same one of them answers.

    Attributes:
        topic: shared by three passages.
        sentences: of which the passage consists.
        answer: the place of the one that answers, from 0.
        same_words: a question in the words of the passage.
        other_words: a question in other words, as somebody asks who has not read it.
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
    """Five sentences, one of which says what the others are about.

    Attributes:
        kind: "news", where that sentence comes first, or "story", where it does not.
        sentences: of which the document consists.
        key: the place of that sentence, from 0.
    """

    kind: str
    sentences: tuple[str, ...]
    key: int


@dataclass(frozen=True)
class GradedPair:
    """Two sentences, and how much they say the same.

    Attributes:
        first, second: the sentences.
        grade: 4 the same, 3 almost, 2 something else of the same thing, 1 little in common, 0
            nothing.
    """

    first: str
    second: str
    grade: int


@dataclass(frozen=True)
class Opinion:
    """A sentence of a review, and whether its writer was content.

    Attributes:
        text: the sentence.
        good: whether the writer was content.
    """

    text: str
    good: bool


def passages() -> list[Passage]:
    """All passages, the three of a topic together."""
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
    """All documents, news first."""
    return [
        Document(row["kind"], tuple(row[name] for name in ORDINALS), int(row["key"]) - 1)
        for row in _rows("documents")
    ]


def graded_pairs() -> list[GradedPair]:
    """All pairs, from the same meaning down to nothing in common."""
    return [GradedPair(row["first"], row["second"], int(row["grade"])) for row in _rows("pairs")]


def opinions(split: str) -> list[Opinion]:
    """Return the opinions of a split, "train" or "test".

    Raises:
        ValueError: there is no such split.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split ({split!r}) must be train or test")
    rows = _rows("opinions")
    return [Opinion(row["text"], row["label"] == "good") for row in rows if row["split"] == split]


def _rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a tab-separated file with a header; no sign has a special meaning."""
    path = Path(str(resources("glassformer"))) / "corpora" / f"{name}.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
