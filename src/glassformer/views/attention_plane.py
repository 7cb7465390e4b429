"""`attention_plane`: one query's attention as arrows, with a query that readers can move."""

import math
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from glassformer.views.by_hand import attention_of, listed
from glassformer.views.drawing import GROWS, bar, circle, column, line, picture, text
from glassformer.views.plane import Plane, between
from glassformer.views.scripted import Scripted, Slider, data, part, scripted, sliders
from glassformer.views.view import minus, number, words

SCRIPT = "glassformer-plane.js"
WIDTH, SIDE, TOP, ROW = 400.0, 192.0, 26.0, 24.0
SCORE, LEFT, ACROSS = 128.0, 176.0, 168.0  # the scores' right, the bars' left, a weight of one
STEP = 0.1  # by which the query moves


def attention_plane(
    query: Float[Tensor, "words 2"],
    key: Float[Tensor, "words 2"],
    value: Float[Tensor, "words 2"],
    tokens: Sequence[object],
    *,
    asks: int,
    caption: str | None = None,
) -> Scripted:
    """Draw one word's attention as arrows: its query among the keys, its output among the values.

    A dotted line leads from each key to the query's direction: the farther along it a key reaches,
    the larger its score. Below are the scores and the weights. On a page, readers can move the
    query, and everything else follows.

    Args:
        query: Two numbers for each word, (words, 2).
        key: The keys, of the same shape.
        value: The values, of the same shape.
        tokens: The words, two to five of them.
        asks: The position of the word whose query is drawn first, from 0.
        caption: A line below the picture.

    Raises:
        ValueError: The three differ in shape or don't have two numbers for each word, there are
            too many words, a number or a product isn't finite, all are zero, or `asks` isn't the
            position of a word.
    """
    names = words(tokens)
    rows, scores, weights, output = attention_of(query, key, value, names, asks)
    queries, keys, values = rows
    asked = queries[asks]
    if len(asked) != 2 or not all(math.isfinite(n) for each in rows for row in each for n in row):
        raise ValueError(f"a plane needs two finite numbers for each word, not {queries}")
    left, right = planes([*queries, *keys], values)
    parts = [
        keys_and_query(left, keys, asked, names),
        values_and_output(right, values, weights, output, names),
        scores_and_weights(scores, weights, names),
        script_data(left, right, query=asked, keys=keys, values=values, words=names),
    ]
    end = STEP * math.floor(left.half / STEP + 1e-9)
    moved = [
        Slider(name, f"query, {nth} number", at, (-end, end), STEP)
        for name, nth, at in (("x", "first", asked[0]), ("y", "second", asked[1]))
    ]
    drawn = picture(parts, WIDTH, TOP + SIDE + 78 + ROW * len(names), grows=GROWS)
    header = ["word", "key", "score", "weight", "value"]
    facts = [
        [name, listed(k), number(s, 1.0), number(w, 1.0), listed(v)]
        for name, k, s, w, v in zip(names, keys, scores, weights, values, strict=True)
    ]
    facts.append([f"output for {names[asks]}", "", "", "", listed(output)])
    name = f"Attention in the plane, with the query of {names[asks]}: {listed(asked)}"
    return scripted(drawn + sliders(moved), SCRIPT, header, facts, name=name, caption=caption)


def planes(moving: list[list[float]], values: list[list[float]]) -> tuple[Plane, Plane]:
    """Return a plane around zero for keys and queries, and one of the same scale for values."""
    ends = [(min(0.0, *column), max(0.0, *column)) for column in zip(*values, strict=True)]
    half = max(
        1.15 * max(abs(number) for row in moving for number in row),
        0.65 * max(high - low for low, high in ends),
    )
    if not half:
        raise ValueError("queries, keys, and values are all zero: there is no finite scale")
    middle = ((ends[0][0] + ends[0][1]) / 2, (ends[1][0] + ends[1][1]) / 2)
    return (
        Plane(0.0, TOP, SIDE, (0.0, 0.0), half),
        Plane(WIDTH - SIDE, TOP, SIDE, middle, half),
    )


def script_data(left: Plane, right: Plane, **numbers: object) -> str:
    """Return what the script computes with, and where it draws."""
    more = {
        "origins": [[round(v, 3) for v in plane.at((0.0, 0.0))] for plane in (left, right)],
        "unit": SIDE / 2 / left.half,
        "half": left.half,
        "across": ACROSS,
    }
    return f"<g {data('numbers', numbers | more)}></g>"


def pair(name: str, two: Sequence[float]) -> str:
    """Write a vector: `query (0, 1.5)`."""
    return minus(f"{name} ({number(two[0], 1.0)}, {number(two[1], 1.0)})")


def keys_and_query(
    plane: Plane, keys: list[list[float]], query: list[float], names: list[str]
) -> str:
    """Draw the keys, the query with its handle, and a dotted line from each key to it."""
    far = math.hypot(*query) or 1.0
    x, y = query[0] / far, query[1] / far
    reach = plane.half / (max(abs(x), abs(y)) or 1.0)
    feet = [[(k[0] * x + k[1] * y) * one for one in (x, y)] for k in keys]
    dotted = [
        line([plane.at(k), plane.at(foot)], role="key", css="dotted")
        for k, foot in zip(keys, feet, strict=True)
    ]
    whole = line([plane.at((s * reach * x, s * reach * y)) for s in (-1, 1)], role="query")
    ring = circle(*plane.at(query), 7, css="frame bold", role="query")
    return "".join(
        [
            text(plane.left, 14, "keys and a query", css="title", anchor="start"),
            plane.axes(),
            part("direction", f'<g opacity=".4">{whole}</g>'),
            part("feet", *dotted),
            *(plane.arrow(key, role="key", css="wide") for key in keys),
            *(plane.name(key, name, role="key") for key, name in zip(keys, names, strict=True)),
            part(
                "query",
                line([plane.at((0, 0)), plane.at(query)], role="query", css="bold dashed"),
                ring,
            ),
            part("asked", written_below(plane, pair("query", query), "query")),
            circle(*plane.at(query), 20, css="handle"),
        ]
    )


def written_below(plane: Plane, words: str, role: str) -> str:
    """Write words below the middle of a plane."""
    return text(plane.left + SIDE / 2, TOP + SIDE + 34, words, role=role)


def values_and_output(
    plane: Plane,
    values: list[list[float]],
    weights: list[float],
    output: list[float],
    names: list[str],
) -> str:
    """Draw the values, and the output: the values times their weights, one after the other."""
    ends, total = [plane.at((0.0, 0.0))], (0.0, 0.0)
    for w, v in zip(weights, values, strict=True):
        total = (total[0] + w * v[0], total[1] + w * v[1])
        ends.append(plane.at(total))
    shares = [line(ends[k : k + 2], role="value", css="wide") for k in range(len(values))]
    return "".join(
        [
            text(plane.left, 14, "values and the output", css="title", anchor="start"),
            plane.axes(),
            between([plane.at(value) for value in values], role="value"),
            part("shares", *shares),
            *(plane.arrow(value, role="value") for value in values),
            *(plane.name(v, name, role="value") for v, name in zip(values, names, strict=True)),
            part("output", plane.arrow(output, role="attention", css="bold")),
            part("given", written_below(plane, pair("output", output), "attention")),
        ]
    )


def scores_and_weights(scores: list[float], weights: list[float], names: list[str]) -> str:
    """Draw each word's score, and its weight as a bar."""
    top = TOP + SIDE + 66
    bars = [
        bar(LEFT, top + 8 + ROW * k, ACROSS * weight, ROW - 8, role="attention")
        for k, weight in enumerate(weights)
    ]
    said = [minus(number(score, 1.0)) for score in scores]
    shares = [number(weight, 1.0) for weight in weights]
    place = top + 21, ROW  # of the words in each row
    return "".join(
        [
            text(SCORE, top - 3, "key · query ÷ √2", css="small", anchor="end"),
            text(LEFT, top - 3, "weight, by softmax", css="small", anchor="start"),
            column(names, 0, *place, role="key", anchor="start", most=8),
            part("scores", column(said, SCORE, *place, anchor="end")),
            part("bars", *bars),
            part("weights", column(shares, WIDTH - 4, *place, css="title", anchor="end")),
        ]
    )
