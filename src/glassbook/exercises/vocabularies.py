"""Exercises for the chapter on tokenizers: byte pair encoding."""

from collections import Counter
from itertools import pairwise

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_most_frequent_pair"]


def _split_words(draw: Draw):
    yield "words of letters", ((tuple("sing"), 5), (tuple("ring"), 3), (tuple("sink"), 2))
    yield (
        "a frequent word",
        ((tuple("ab"), 1), (tuple("abc"), 1), (tuple("abd"), 1), (("x", "y"), 7)),
    )
    yield "equally frequent pairs", ((tuple("bc"), 3), (tuple("cd"), 3), (tuple("ad"), 3))
    yield "a pair that recurs within its word", ((tuple("nanana"), 2), (tuple("qu"), 5))
    yield "pieces of several letters", ((("th", "e"), 5), (("th", "an"), 3), (tuple("in"), 4))
    yield (
        "words that begin and end alike",
        ((tuple("yax"), 2), (tuple("ybx"), 2), (tuple("ycx"), 2)),
    )
    yield "a pair and its reverse", ((tuple("ab"), 3), (tuple("ba"), 3), (tuple("cd"), 4))


def _pairs(words, times_of=lambda times: times):
    """Count the adjacent pairs in ((pieces, times), ...)."""
    counts = Counter()
    for pieces, times in words:
        for pair in pairwise(pieces):
            counts[pair] += times_of(times)
    return counts


def _first(counts):
    """Return the most frequent pair, the first in alphabetical order if several tie."""
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
    reference=_most_frequent_pair,
    examples=lambda draw: ((name, (words,)) for name, words in _split_words(draw)),
    mistakes={
        "You count every word once; count it as often as it occurs.": (
            lambda words: _first(_pairs(words, lambda times: 1))
        ),
        "When pairs tie, you take the last one in alphabetical order; take the first.": (
            _last_of_several
        ),
        "When pairs tie, you take the one that occurs first; compare the pairs themselves.": (
            lambda words: _pairs(words).most_common(1)[0][0]
        ),
        "You count a pair only once per word, even if it recurs there; count every "
        "occurrence.": _once_a_word,
        "You count a pair and its reverse together, but which piece comes first matters.": (
            _in_any_order
        ),
        "You count pairs across word boundaries; a word's last piece has no neighbor on its "
        "right.": (_across_words),
        "You split the pieces into letters again; pieces that have been merged stay whole.": (
            lambda words: _most_frequent_pair([("".join(pieces), n) for pieces, n in words])
        ),
        "This is the rarest pair.": lambda words: min(
            (counts := _pairs(words)), key=lambda pair: (counts[pair], pair)
        ),
        "You divide the pair's count by its pieces' counts; byte pair encoding uses the "
        "plain count.": (_most_surprising),
        "These are the two pieces joined into one string; return the pair as a tuple of two "
        "strings.": (lambda words: "".join(_most_frequent_pair(words))),
    },
)
