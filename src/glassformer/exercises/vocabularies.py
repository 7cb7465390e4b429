"""Exercises of the chapter on how vocabularies are learned."""

from collections import Counter
from itertools import pairwise

from glassformer.exercises.checking import Draw, Exercise

__all__ = ["check_most_frequent_pair"]

CHAPTER = "encoder/vocabularies.md"


def _split_words(draw: Draw):
    yield "words of letters", ((tuple("sing"), 5), (tuple("ring"), 3), (tuple("sink"), 2))
    yield (
        "a frequent word",
        ((tuple("ab"), 1), (tuple("abc"), 1), (tuple("abd"), 1), (("x", "y"), 7)),
    )
    yield "equally frequent pairs", ((tuple("bc"), 3), (tuple("cd"), 3), (tuple("ad"), 3))
    yield "a pair that comes back within its word", ((tuple("nanana"), 2), (tuple("qu"), 5))
    yield "pieces of several letters", ((("th", "e"), 5), (("th", "an"), 3), (tuple("in"), 4))
    yield (
        "words that begin and end alike",
        ((tuple("yax"), 2), (tuple("ybx"), 2), (tuple("ycx"), 2)),
    )
    yield "a pair and its reverse", ((tuple("ab"), 3), (tuple("ba"), 3), (tuple("cd"), 4))


def _pairs(words, times_of=lambda times: times):
    """Count the neighbors in ((pieces, times), ...)."""
    counts = Counter()
    for pieces, times in words:
        for pair in pairwise(pieces):
            counts[pair] += times_of(times)
    return counts


def _first(counts):
    """Return the most frequent pair, the first in alphabetical order where several are."""
    return min(counts, key=lambda pair: (-counts[pair], pair))


def _most_frequent_pair(words):
    return _first(_pairs(words))


def _last_of_several(words):
    counts = _pairs(words)
    return max(counts, key=lambda pair: (counts[pair], pair))


def _once_a_word(words):
    counts = Counter()
    for pieces, times in words:
        counts.update(dict.fromkeys(pairwise(pieces), times))
    return _first(counts)


def _in_any_order(words):
    counts = Counter()
    for pair, times in _pairs(words).items():
        counts[tuple(sorted(pair))] += times
    return _first(counts)


def _across_words(words):
    return _first(Counter(pairwise(piece for pieces, times in words for piece in pieces * times)))


def _most_surprising(words):
    pairs, pieces = _pairs(words), Counter()
    for split, times in words:
        pieces.update(dict.fromkeys(split, 0))
        for piece in split:
            pieces[piece] += times
    scores = {(a, b): times / pieces[a] / pieces[b] for (a, b), times in pairs.items()}
    return _first(scores)


check_most_frequent_pair = Exercise(
    asks="the pair of neighboring pieces that occurs most often",
    chapter=CHAPTER,
    reference=_most_frequent_pair,
    examples=lambda draw: ((name, (words,)) for name, words in _split_words(draw)),
    mistakes={
        "Every word counts once; it has to count as often as it occurs.": (
            lambda words: _first(_pairs(words, lambda times: 1))
        ),
        "Of several pairs you take the last in alphabetical order; take the first.": (
            _last_of_several
        ),
        "Of several pairs you take the one that is met first; compare the pairs themselves.": (
            lambda words: _pairs(words).most_common(1)[0][0]
        ),
        "A pair that comes back within a word counts once there; count each time.": _once_a_word,
        "A pair and its reverse are counted together; which piece comes first matters.": (
            _in_any_order
        ),
        "You count across the end of a word; its last piece has no neighbor on the right.": (
            _across_words
        ),
        "The pieces are taken apart into letters again; what has been merged stays whole.": (
            lambda words: _most_frequent_pair([("".join(pieces), n) for pieces, n in words])
        ),
        "This is the rarest pair.": lambda words: min(
            (counts := _pairs(words)), key=lambda pair: (counts[pair], pair)
        ),
        "The count is divided by those of the pieces; byte pair encoding takes the plain count.": (
            _most_surprising
        ),
        "These are the pieces joined to one text; return the pair, a tuple of two texts.": (
            lambda words: "".join(_most_frequent_pair(words))
        ),
    },
)
