"""`merges`: how a word's letters become tokens, merge by merge."""

import json
from itertools import pairwise
from typing import TYPE_CHECKING

from glassformer.views.drawing import Number, column, figure, line, panel, picture, text
from glassformer.views.view import View, visible

if TYPE_CHECKING:
    from tokenizers import Tokenizer

LETTER, HIGH, ROW, LEFT, MOST = 24.0, 24.0, 44.0, 92.0, 24

Pair = tuple[str, str]


def merges(word: str, tokenizer: "Tokenizer", *, caption: str | None = None) -> View:
    """Draw how byte-pair encoding builds a word from its letters, one rule per row.

    Of the rules that fit, each step applies the one learned first, everywhere in the word.

    Args:
        word: A word without whitespace, of letters that the tokenizer knows.
        tokenizer: A tokenizer from the `tokenizers` library, with a BPE model.
        caption: A line below the picture.

    Raises:
        ValueError: The tokenizer has no merges, or the word is empty, too long, or has whitespace.
    """
    rules = json.loads(tokenizer.to_str())["model"].get("merges")
    if rules is None:
        raise ValueError("merges need a tokenizer whose model is BPE: this one has no merges")
    if not 1 <= len(word) <= MOST or any(letter.isspace() for letter in word):
        raise ValueError(f"word ({word!r}) must have 1 to {MOST} letters and no whitespace")
    ranks: dict[tuple[str, ...], int] = {tuple(rule): k for k, rule in enumerate(rules)}
    steps = applied(list(word), ranks)
    wide = LEFT + LETTER * len(word) + 4
    parts, facts = [], []
    for k, (pieces, rule) in enumerate(steps):
        told = f"rule {ranks[rule] + 1}" if rule else "letters"
        joined = " + ".join(map(visible, rule or ()))
        words = [told, joined] if rule else [told]
        y = 6 + ROW * k + (10 if rule else 16)
        parts.append(column(words, LEFT - 12, y, 15, css="small", anchor="end"))
        parts.append(
            row(pieces, 6 + ROW * k, rule, steps[k + 1][1] if k + 1 < len(steps) else None)
        )
        facts.append([told, joined, " ".join(map(visible, pieces))])
    drawn = picture(parts, wide, ROW * len(steps) - 8)
    header = ["step", "what is merged", "pieces"]
    return figure(drawn, header, facts, name=f"How {word} is put together", caption=caption)


def applied(
    pieces: list[str], ranks: dict[tuple[str, ...], int]
) -> list[tuple[list[str], Pair | None]]:
    """Return the pieces after each rule, with the rule; the first entry is the letters and None."""
    steps: list[tuple[list[str], Pair | None]] = [(pieces, None)]
    while True:
        pairs = {pair for pair in pairwise(pieces) if pair in ranks}
        if not pairs:
            return steps
        rule = min(pairs, key=ranks.__getitem__)
        pieces = merged(pieces, rule)
        steps.append((pieces, rule))


def merged(pieces: list[str], rule: Pair) -> list[str]:
    """Merge a pair wherever it occurs, from the left."""
    found: list[str] = []
    for piece in pieces:
        if found and (found[-1], piece) == rule:
            found[-1] += piece
        else:
            found.append(piece)
    return found


def row(pieces: list[str], top: Number, rule: Pair | None, following: Pair | None) -> str:
    """Draw the pieces of one step; those just merged are filled, those merged next are joined."""
    parts, x = [], LEFT
    places = []
    for piece in pieces:
        wide = LETTER * len(piece)
        fresh = rule is not None and piece == "".join(rule)
        role = "attention" if fresh else "quiet"
        parts.append(panel(x + 1.5, top, wide - 3, HIGH, role=role, tint=0.25 * fresh))
        css = "title" if fresh else "label"
        parts.append(text(x + wide / 2, top + 16.5, visible(piece), css=css))
        places.append((x + wide / 2, top + HIGH))
        x += wide
    pairs = zip(pieces, pieces[1:], places, places[1:], strict=False)
    for one, other, (a, y), (b, _) in pairs:
        if (one, other) == following:
            middle = (a * len(other) + b * len(one)) / (len(one) + len(other))
            end = y + ROW - HIGH
            parts.append(line([(a, y), (middle, end - 4), (b, y)], role="attention"))
    return "".join(parts)
