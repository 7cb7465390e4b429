"""`decoding`: how a model writes, token by token: its guesses, its attention, and its cache."""

from collections.abc import Callable, Sequence

from glassformer.views.decoding_steps import Attended, DecodingStep
from glassformer.views.drawing import (
    Number,
    bar,
    column,
    cut,
    legend,
    line,
    panel,
    picture,
    squares,
    text,
    width_of,
)
from glassformer.views.palette import SMALL
from glassformer.views.steps import Stepped, step, stepped
from glassformer.views.view import chance, isolated, visible, words

BEST, CELL, ROW, BAND, TOP, LONGEST = 5, 18.0, 15.0, 90.0, 88.0, 9
ACROSS, GUESSES, LEFT = 38.0, 70.0, 156.0  # the longest bar, and where bars and cells begin
WEIGHTS, KEYS, VALUES = (8.0, 22.0), (34.0, 18.0), (56.0, 18.0)  # tops and heights in a band
KNOWN = (
    "solid: computed in this step",
    "pale: kept from earlier steps",
    "all in the last layer; attention: the mean of its heads",
)


def decoding(
    steps: Sequence[DecodingStep],
    name: Callable[[int], str],
    source: Sequence[object] = (),
    *,
    caption: str | None = None,
) -> Stepped:
    """Draw a row for each step: the likeliest next tokens, the attention, and the cache.

    The attention is that of the last token in the last layer, averaged over the heads.

    Args:
        steps: What `decoding_steps` returned.
        name: Returns the token for an id.
        source: The words of the source, if there is one.
        caption: A line below the picture.

    Raises:
        ValueError: There are no steps, a probability isn't finite, or the source has too few or too
            many words.
    """
    if not steps:
        raise ValueError("decoding needs at least one step, but there is none")
    lengths = {len(each.source.weights) if each.source else 0 for each in steps}
    if lengths != {len(source)}:
        raise ValueError(
            f"{len(source)} source words don't fit steps with {sorted(lengths)} weights"
        )
    if not all(each.chances.isfinite().all() for each in steps):
        raise ValueError("decoding needs finite probabilities")
    own = [visible(name(token)) for token in [*steps[-1].read, steps[-1].written]]
    source, given = words(source), len(own) - len(steps)
    across = LEFT + CELL * len(own) + 20
    parts = [text(0, 14, "next token", css="title", anchor="start")]
    parts += header(LEFT, "own tokens", "decoder", own[:given])
    parts += header(across, "source", "encoder", source) if source else []
    last = width_of(cut((source or own)[-1], LONGEST), SMALL) * 0.6  # it leans to the right
    right = max(across - 20 if not source else across + CELL * len(source), LEFT + 120) + last
    facts, sentences = [], []
    for k, each in enumerate(steps):
        y, (best, ids) = TOP + BAND * k, each.chances.topk(min(BEST, len(each.chances)))
        guesses = dict(zip([visible(name(i)) for i in ids.tolist()], best.tolist(), strict=True))
        band = [line([(0, y), (right, y)], css="thin"), bars(guesses, y), rows(each.own, LEFT, y)]
        band += [rows(each.source, across, y)] if each.source else []
        parts += [step(k + 1, *band), step(k + 1, above(LEFT, given + k, own[given + k]))]
        likely = ", ".join(f"{token} {each_one:.2f}" for token, each_one in guesses.items())
        looks = [shares(own, each.own), *([shares(source, each.source)] if each.source else [])]
        facts.append([own[given + k], likely, *looks])
        sentences.append(sentence(each, own, given + k, source))
    bottom = TOP + BAND * len(steps)
    roles = [("positive", "attention"), ("key", "keys"), ("value", "values")]
    parts.append(legend(roles, 0, bottom + 16))
    parts.append(column(KNOWN, 0, bottom + 34, 17, css="small", anchor="start"))
    drawn = picture(parts, right, bottom + 75)
    columns = ["writes", "likeliest", "attention to own tokens", "attention to the source"]
    title = "Writing token by token"
    return stepped(drawn, sentences, columns[: len(facts[0])], facts, name=title, caption=caption)


def header(x: Number, title: str, role: str, names: Sequence[str]) -> list[str]:
    """Write the name of a group of columns, and the columns' tokens."""
    return [
        text(x, 14, title, css="title", role=role, anchor="start"),
        *(above(x, k, token) for k, token in enumerate(names)),
    ]


def above(x: Number, place: int, token: str) -> str:
    """Write the token of a column above it."""
    at = x + CELL * (place + 0.5) + 4
    return text(at, TOP - 5, token, css="small", anchor="start", turn=-60, most=LONGEST)


def bars(guesses: dict[str, float], y: Number) -> str:
    """Draw the likeliest next tokens, of which the first is written."""
    parts = []
    for k, (token, likely) in enumerate(guesses.items()):
        base, css = y + 18 + ROW * k, "small" if k else "title"
        role = "quiet" if k else "series-1"
        parts.append(text(GUESSES - 6, base, token, css=css, anchor="end", most=LONGEST))
        x = GUESSES + likely * ACROSS
        parts.append(bar(GUESSES, base - 10, x - GUESSES, ROW - 4, role=role))
        parts.append(text(x + 5, base, chance(likely), css="small", anchor="start"))
    return "".join(parts)


def rows(attended: Attended, x: Number, y: Number) -> str:
    """Draw a row of weights and, below each, its key and its value: solid if they are new."""
    weights, (top, high) = attended.weights.tolist(), WEIGHTS
    wide, kept = CELL * len(weights), len(weights) - attended.new
    parts = [squares([weights], x, y + top, 1.0, (CELL, high))]
    parts.append(panel(x, y + top, wide, high, css="frame thin", corner=0))
    for role, (top, high) in (("key", KEYS), ("value", VALUES)):
        for k in range(len(weights)):
            tint = 0.9 if k >= kept else 0.1
            at = x + CELL * k + 1.5
            cell = panel(
                at, y + top, CELL - 3, high, role=role, css="frame base", tint=tint, corner=2
            )
            parts.append(cell)
    return "".join(parts)


def shares(names: Sequence[str], attended: Attended) -> str:
    """Write the weight of each token, and how many keys and values are new."""
    pairs = zip(names, attended.weights.tolist(), strict=False)
    listed = ", ".join(f"{token} {weight:.2f}" for token, weight in pairs)
    return f"{listed} ({attended.new} new)"


def sentence(each: DecodingStep, own: Sequence[str], place: int, source: Sequence[str]) -> str:
    """Say what a step reads, what it keeps, and what it writes."""
    kept = place - each.own.new
    reads = f"It reads “{' '.join(map(isolated, own[kept:place]))}”"
    keeps = f" and keeps the keys and values of {kept} earlier token{'s' * (kept > 1)}" * bool(kept)
    looks = ""
    if each.source:
        keeps += " and computes the keys and values of the source" * bool(each.source.new)
        best = source[int(each.source.weights.argmax())]
        looks = f" looks most at “{isolated(best)}” in the source and"
    then = f". It{looks}" if looks else ". Then it" if keeps else " and"
    return f"{reads}{keeps}{then} writes “{isolated(own[place])}” ({each.chances.max():.2f})."
