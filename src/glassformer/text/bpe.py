"""Byte pair encoding: the most frequent pair of neighbors becomes one piece, again and again."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

Pair = tuple[str, str]


def learn_merges(words: Iterable[str], n: int) -> list[Pair]:
    """Return the first `n` pairs that byte pair encoding joins, or fewer if it runs out of pairs.

    Each word starts as a sequence of characters and counts as often as it occurs. Among equally
    frequent pairs, the one with the older first piece wins, then the one with the older second
    piece; characters are older than all merges and ordered by code point.

    Raises:
        ValueError: `n` is negative.

    Source: Sennrich et al. 2016, section 3.2; ties as in the `tokenizers` library.

    >>> learn_merges(["sing"] * 5 + ["ring"] * 3 + ["sink"] * 2, 3)
    [('i', 'n'), ('in', 'g'), ('s', 'ing')]
    """
    if n < 0:
        raise ValueError(f"n ({n}) must not be negative")
    counts = Counter(words)
    pieces = {word: tuple(word) for word in counts}
    age = {character: i for i, character in enumerate(sorted(set("".join(counts))))}
    merges: list[Pair] = []
    while len(merges) < n:
        pairs: Counter[Pair] = Counter()
        for word, times in counts.items():
            for pair in pairwise(pieces[word]):
                pairs[pair] += times
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], age[pair[0]], age[pair[1]]))
        merges.append(best)
        age.setdefault("".join(best), len(age))
        pieces = {word: join(split, best) for word, split in pieces.items()}
    return merges


def join(pieces: Sequence[str], pair: Pair) -> tuple[str, ...]:
    """Join each occurrence of a pair into one piece, from left to right.

    >>> join("banana", ("a", "n"))
    ('b', 'an', 'an', 'a')
    """
    joined, i = [], 0
    while i < len(pieces):
        end = i + 2 if tuple(pieces[i : i + 2]) == pair else i + 1
        joined.append("".join(pieces[i:end]))
        i = end
    return tuple(joined)


def apply(word: str, merges: Sequence[Pair]) -> list[str]:
    """Split a word into pieces: keep joining the pair that was learned first.

    >>> apply("king", [("i", "n"), ("in", "g"), ("s", "ing")])
    ['k', 'ing']
    """
    rank = {pair: i for i, pair in reversed(list(enumerate(merges)))}
    pieces = tuple(word)
    while found := rank.keys() & pairwise(pieces):
        pieces = join(pieces, min(found, key=rank.__getitem__))
    return list(pieces)
