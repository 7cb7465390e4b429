"""`decoding`: how a model writes, token by token: its guesses, its attention, and its cache."""

from collections.abc import Callable, Sequence

from glassformer.views.decoding_steps import Attended, DecodingStep
from glassformer.views.drawing import (
    GROWS,
    Number,
    column,
    cut,
    largest,
    legend,
    line,
    panel,
    picture,
    squares,
    text,
    width_of,
)
from glassformer.views.palette import SMALL, TITLE
from glassformer.views.steps import Stepped, step, stepped
from glassformer.views.view import chance, isolated, visible, words

BEST, LONGEST, SEEN = 5, 9, 0.005  # SEEN: the least probability of a token that is shown
WIDTH, APART, TOP, BAND = 380.0, 16.0, 88.0, 116.0
NARROWEST, WIDEST = 16.0, 38.0  # a cell fills the picture's width, within limits
WEIGHTS, KEYS, VALUES = (29.0, 22.0), (55.0, 18.0), (77.0, 18.0)  # tops and heights in a band
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

    The attention is that of the last token in the last layer, averaged over the heads. A token that
    is read by itself has its name below its key and value.

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
    leans = width_of(cut((source or own[:-1])[-1], LONGEST), SMALL) * 0.6  # of the last name
    gap = APART if source else 0.0
    room = (WIDTH - gap - leans) / (len(own) - 1 + len(source))
    wide = min(WIDEST, max(NARROWEST, room))
    across = wide * (len(own) - 1) + gap
    right = max(WIDTH, across + wide * len(source) + leans)
    parts = header(0, "tokens so far", "decoder", own[:given], wide)
    parts += header(across, "source", "encoder", source, wide) if source else []
    facts, sentences = [], []
    attended = [one for each in steps for one in (each.own, each.source) if one]
    most = largest([one.weights.tolist() for one in attended])
    for k, each in enumerate(steps):
        y, (best, ids) = TOP + BAND * k, each.chances.topk(min(BEST, len(each.chances)))
        guesses = dict(zip([visible(name(i)) for i in ids.tolist()], best.tolist(), strict=True))
        band = [line([(0, y), (right, y)], css="thin"), writes(guesses, y)]
        band += [
            rows(each.own, 0, y, wide, most),
            *([rows(each.source, across, y, wide, most)] if each.source else []),
        ]
        read = given + k - 1
        if k:
            band.append(above(0, read, own[read], wide))
        if each.own.new == 1:
            x = max(wide * (read + 0.5), width_of(cut(own[read], LONGEST), TITLE) / 2)
            band.append(text(x, y + BAND - 8, own[read], css="title", most=LONGEST))
        parts.append(step(k + 1, *band))
        likely = ", ".join(f"{token} {each_one:.2f}" for token, each_one in guesses.items())
        looks = [shares(own, each.own), *([shares(source, each.source)] if each.source else [])]
        facts.append([own[given + k], likely, *looks])
        sentences.append(sentence(each, own, given + k, source))
    bottom = TOP + BAND * len(steps)
    roles = [("positive", f"attention, up to {most:.2f}"), ("key", "keys"), ("value", "values")]
    parts.append(legend(roles, 0, bottom + 16))
    parts.append(squares([[most]], 0, bottom + 7, most, (11, 11)))  # in the color of a cell
    parts.append(column(KNOWN, 0, bottom + 34, 17, css="small", anchor="start"))
    drawn = picture(parts, right, bottom + 75, grows=GROWS)
    columns = ["writes", "likeliest", "attention to the tokens so far", "attention to the source"]
    title = "Writing token by token"
    return stepped(drawn, sentences, columns[: len(facts[0])], facts, name=title, caption=caption)


def header(x: Number, title: str, role: str, names: Sequence[str], wide: Number) -> list[str]:
    """Write the name of a group of columns, and the columns' tokens."""
    return [
        text(x, 14, title, css="title", role=role, anchor="start"),
        *(above(x, k, token, wide) for k, token in enumerate(names)),
    ]


def above(x: Number, place: int, token: str, wide: Number) -> str:
    """Write the token of a column above it."""
    at = x + wide * (place + 0.5) + 4
    return text(at, TOP - 5, token, css="small", anchor="start", turn=-60, most=LONGEST)


def writes(guesses: dict[str, float], y: Number) -> str:
    """Write the likeliest token, which is written, and the others that have a chance."""
    (best, likely), *others = guesses.items()
    x, base = 44.0, y + 20
    parts = [text(0, base, "writes", css="small", anchor="start")]
    parts.append(text(x, base, best, role="series-1", css="title", anchor="start", most=LONGEST))
    x += width_of(cut(best, LONGEST), TITLE) + 8
    parts.append(text(x, base, chance(likely), anchor="start"))
    x, listed = x + 42, ""
    for token, share in others:
        more = f"{listed or 'or'}{',' * bool(listed)} {cut(token, LONGEST)} {chance(share)}"
        if share < SEEN or x + width_of(more, SMALL) > WIDTH:
            break
        listed = more
    return "".join(parts) + (text(x, base, listed, css="small", anchor="start") if listed else "")


def rows(attended: Attended, x: Number, y: Number, wide: Number, most: Number) -> str:
    """Draw a row of weights and, below each, its key and its value: solid if they are new."""
    weights, (top, high) = attended.weights.tolist(), WEIGHTS
    kept = len(weights) - attended.new
    parts = [squares([weights], x, y + top, most, (wide, high))]
    parts.append(panel(x, y + top, wide * len(weights), high, css="frame thin", corner=0))
    for role, (top, high) in (("key", KEYS), ("value", VALUES)):
        for k in range(len(weights)):
            tint = 0.9 if k >= kept else 0.1
            at = x + wide * k + 1.5
            cell = panel(
                at, y + top, wide - 3, high, role=role, css="frame base", tint=tint, corner=2
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
