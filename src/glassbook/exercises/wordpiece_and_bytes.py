"""Exercises for the chapter on tokenizers: WordPiece."""

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_longest_match"]

PIECES = frozenset(
    {"bed", "em", "e", "un", "u", "abc", "ab", "ghi", "g"}
    | {
        "##" + piece
        for piece in ("bed", "be", "d", "ding", "s", "n", "cdef", "e", "f", "jk", "ijk", "h")
    }
)


def _vocabulary(draw: Draw):
    for name, word in (
        ("a whole word", "bed"),
        ("a word of several pieces", "embeddings"),
        ("a beginning that isn't a word", "unbed"),
        ("a long beginning that costs pieces later", "abcdef"),
        ("a long end that costs pieces before it", "ghijk"),
        ("a letter that no piece contains", "bedqs"),
        ("a letter that no piece contains, at the end", "bedsq"),
    ):
        yield name, (word, PIECES)


def _marked(piece, start, mark="##"):
    """Return a piece as the vocabulary has it: marked, unless the word starts with it."""
    return mark + piece if start else piece


def _cut(word, vocabulary, mark="##", longest=True, gap=lambda pieces: ["[UNK]"]):
    """Cut a word from left to right; `gap` makes the result if no piece fits."""
    pieces, start = [], 0
    while start < len(word):
        ends = range(start + 1, len(word) + 1)
        fits = [end for end in ends if _marked(word[start:end], start, mark) in vocabulary]
        if not fits:
            return gap(pieces)
        end = max(fits) if longest else min(fits)
        pieces.append(_marked(word[start:end], start, mark))
        start = end
    return pieces


def _skipping(word, vocabulary):
    """Leave out each letter that no piece fits."""
    pieces, start = [], 0
    while start < len(word):
        ends = range(len(word), start, -1)
        fits = [end for end in ends if _marked(word[start:end], start) in vocabulary]
        if fits:
            pieces.append(_marked(word[start : fits[0]], start))
        start = fits[0] if fits else start + 1
    return pieces


def _from_the_end(word, vocabulary):
    pieces, end = [], len(word)
    while end:
        fits = [s for s in range(end) if _marked(word[s:end], s) in vocabulary]
        if not fits:
            return ["[UNK]"]
        pieces.insert(0, _marked(word[fits[0] : end], fits[0]))
        end = fits[0]
    return pieces


def _fewest(word, vocabulary):
    """Return the split of a word with the fewest pieces."""
    best = {0: []}
    for end in range(1, len(word) + 1):
        ways = [
            [*best[start], _marked(word[start:end], start)]
            for start in range(end)
            if start in best and _marked(word[start:end], start) in vocabulary
        ]
        if ways:
            best[end] = min(ways, key=len)
    return best.get(len(word), ["[UNK]"])


def _longest_match(word, vocabulary):
    return _cut(word, vocabulary)


check_longest_match = Exercise(
    asks="the pieces of a word, each as long as possible",
    reference=_longest_match,
    examples=_vocabulary,
    mistakes={
        "The pieces after the first are missing their ##, both in the lookup and in the answer.": (
            lambda word, vocabulary: _cut(word, vocabulary, mark="")
        ),
        "The pieces are right, but those after the first have lost their ##.": (
            lambda word, vocabulary: [piece.removeprefix("##") for piece in _cut(word, vocabulary)]
        ),
        "You take the shortest piece that fits; begin with the longest.": (
            lambda word, vocabulary: _cut(word, vocabulary, longest=False)
        ),
        "You keep the pieces found before the gap; the whole word should become one [UNK].": (
            lambda word, vocabulary: _cut(word, vocabulary, gap=lambda pieces: [*pieces, "[UNK]"])
        ),
        "You skip letters that no piece fits; the whole word should become one [UNK].": _skipping,
        "You cut from the end of the word; start at its first letter.": _from_the_end,
        "This is the split with the fewest pieces; always take the longest piece, whatever "
        "comes after it.": (_fewest),
        "You give up on a word that isn't in the vocabulary; first try to split it into pieces.": (
            lambda word, vocabulary: [word] if word in vocabulary else ["[UNK]"]
        ),
    },
)
