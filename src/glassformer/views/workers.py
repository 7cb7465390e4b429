"""`workers`: what each of several processes holds, for each way to split a training step."""

from collections.abc import Mapping, Sequence

from glassformer.views.axes import short
from glassformer.views.drawing import (
    GROWS,
    Number,
    bar,
    figure,
    legend,
    panel,
    picture,
    text,
    width_of,
)
from glassformer.views.palette import SERIES, SMALL
from glassformer.views.view import View

WIDTH, ROW, HIGH = 356.0, 17.0, 13.0  # of the picture, and a worker's row and bar
TITLE, APART = 22.0, 12.0  # height of a way's name, and from one way to the next
TOP, LEFT, BEHIND = 22.0, 18.0, 52.0  # room for the legend, the workers' numbers, and the sums

Held = Mapping[str, Number]  # kinds of numbers, and how much of each a worker holds


def workers(
    ways: Mapping[str, Sequence[Held]], *, unit: str = "", caption: str | None = None
) -> View:
    """Draw what each worker holds as a bar for each way, with all areas on one scale.

    Workers are numbered, unless there's only one. If each way has only one, its sizes are beside
    its name.

    Args:
        ways: Each way's name and for each worker the kinds of numbers that it holds, with their
            sizes. At most four kinds, which are the same for all.
        unit: The unit of the sizes.
        caption: A line below the picture.

    Raises:
        ValueError: There are no ways, no workers, no kinds, or more than four; workers differ in
            their kinds; or a size isn't finite and at least 0.
    """
    every = [held for found in ways.values() for held in found]
    kinds = [*every[0]] if every else []
    if not all(ways.values()) or not 1 <= len(kinds) <= len(SERIES):
        raise ValueError(f"each way needs workers with 1 to {len(SERIES)} kinds: {dict(ways)}")
    if any([*held] != kinds for held in every):
        raise ValueError(f"all workers must have the kinds {kinds}, in this order: {dict(ways)}")
    most = max(sum(map(float, held.values())) for held in every)
    if not all(0 <= size < float("inf") for held in every for size in held.values()) or not most:
        raise ValueError(f"sizes must be finite, at least 0, and not all 0: {dict(ways)}")
    alone = len(every) == len(ways)
    left, title, apart = (0.0, 18.0, 6.0) if alone else (LEFT, TITLE, APART)
    scale = (WIDTH - left - BEHIND) / most
    parts = [legend(list(zip(SERIES, kinds, strict=False)), 0, 12)]
    facts, y = [], TOP
    for name, found in ways.items():
        parts.append(text(0, y + title - 7, name, css="title", anchor="start", most=48))
        parts += [terms(found[0], left + scale * most, y + title - 7)] if alone else []
        y += title
        for k, held in enumerate(found, 1):
            parts.append(row(str(k) if len(found) > 1 else "", held, left, y, scale))
            facts.append([f"{name}, worker {k}", *map(short, map(float, held.values()))])
            y += ROW
        y += apart
    drawn = picture(parts, WIDTH, y - apart + 2, grows=GROWS)
    header = ["", *(f"{kind}, {unit}" if unit else kind for kind in kinds)]
    return figure(drawn, header, facts, name="What each worker holds", caption=caption)


def terms(held: Held, x: Number, y: Number) -> str:
    """Write the sizes of what a worker holds in their colors, up to an x."""
    parts = []
    for role, size in reversed([*zip(SERIES, held.values(), strict=False)]):
        parts.append(text(x, y, short(float(size)), role=role, css="small", anchor="end"))
        x -= width_of(short(float(size)), SMALL) + 12
    return "".join(parts)


def row(number: str, held: Held, left: Number, y: Number, scale: Number) -> str:
    """Draw what one worker holds, side by side, and the sum."""
    x, parts = left, [text(left - 8, y + 11, number, css="small", anchor="end")]
    for role, size in zip(SERIES, held.values(), strict=False):
        parts.append(bar(x, y, scale * size, HIGH, role=role))
        x += scale * size
    edge = panel(left, y, x - left, HIGH, css="frame thin", corner=0)
    total = short(sum(map(float, held.values())))
    return "".join([*parts, edge, text(x + 6, y + 11, total, css="small", anchor="start")])
