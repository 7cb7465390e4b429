"""`by_hand`: attention small enough to follow with a pencil, from its inputs to its output."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from glassformer.layers.attention import attention_scores, attention_weights
from glassformer.views.drawing import Number, arrow, bar, cells, largest, line, picture, text
from glassformer.views.steps import Stepped, step, stepped
from glassformer.views.view import minus, number, words

MOST_WORDS, MOST_NUMBERS = 5, 2  # more wouldn't fit on a phone
WIDTH, CELL, ROW, LEFT = 400.0, 38.0, 30.0, 64.0
TOP = 44.0  # below a panel's heading
ROLES = ("query", "key", "value")

Rows = list[list[float]]
Panel = tuple[list[str], float]  # the drawn parts, and their height


def by_hand(
    query: Float[Tensor, "words head_dim"],
    key: Float[Tensor, "words head_dim"],
    value: Float[Tensor, "words head_dim"],
    tokens: Sequence[object],
    *,
    asks: int,
    vectors: Float[Tensor, "words head_dim"] | None = None,
    caption: str | None = None,
) -> Stepped:
    """Draw one word's attention in four steps, with every number along the way.

    The word's query is compared with each key, softmax turns the scores into weights, and the
    output is the weighted average of the values. Queries, keys, and values keep their colors from
    the first step to the last.

    Args:
        query: One row for each word, (words, head_dim).
        key: The keys, of the same shape.
        value: The values, of the same shape.
        tokens: The words, two to five of them.
        asks: The position of the word whose output is computed, from 0.
        vectors: The vectors that the three were computed from, of the same shape. If they're
            given, they are drawn first.
        caption: A line below the picture.

    Raises:
        ValueError: The three differ in shape or don't have one row for each word, there are too
            many words or the rows are too wide to follow by hand, a number or a product isn't
            finite, or `asks` isn't the position of a word.
    """
    names = words(tokens)
    rows, scores, weights, output = attention_of(query, key, value, names, asks)
    queries, keys, values = rows
    made = dict(zip(ROLES, rows, strict=True))
    if vectors is not None:
        shape, wanted = tuple(vectors.shape), (len(names), len(output))
        if shape != wanted:
            raise ValueError(f"vectors of shape {shape} must have the shape {wanted}")
        made = {"embedding": vectors.tolist()} | made
    products = [[w * v for v in row] for w, row in zip(weights, values, strict=True)]
    end = largest(*made.values())
    drawn = [
        rows_of_words(made, names, asks, end),
        scores_of(queries[asks], keys, scores, names, asks, end),
        weights_of(scores, weights, names),
        average_of(weights, values, products, output, names, end),
    ]
    header = ["word", "query", "key", "score", "weight", "value", "weight × value"]
    facts = [
        [
            *(name, listed(queries[k]), listed(keys[k]), number(scores[k], 1.0)),
            *(number(weights[k], 1.0), listed(values[k]), listed(products[k])),
        ]
        for k, name in enumerate(names)
    ]
    facts.append([f"output for {names[asks]}", "", "", "", "", "", listed(output)])
    name = f"Attention by hand, for {names[asks]}"
    sentences = [
        "Each word’s vector, and the query, key, and value that three matrices compute from it."
        if "embedding" in made
        else "Each word has three vectors: a query, a key, and a value.",
        f"Multiply the key of each word by the query of “{names[asks]}” and divide by the square "
        "root of their width. That’s its score.",
        "Softmax turns the scores into weights, which sum to one. A larger score gets a larger "
        "weight.",
        f"Add up the values, each times its weight. For “{names[asks]}” this sum is the output.",
    ]
    return stepped(stacked(drawn), sentences, header, facts, name=name, caption=caption)


def attention_of(
    query: Tensor, key: Tensor, value: Tensor, names: list[str], asks: int
) -> tuple[list[Rows], list[float], list[float], list[float]]:
    """Return queries, keys, and values as lists, and a word's scores, weights, and output."""
    query, key, value = (torch.as_tensor(one) for one in (query, key, value))
    check(query, key, value, names, asks)
    query, key, value = (one.detach().double() for one in (query, key, value))
    scores = attention_scores(query, key)[asks].tolist()
    weights = attention_weights(query, key)[asks]
    output = (weights @ value).tolist()
    if not all(map(math.isfinite, [*scores, *output])):
        raise ValueError(f"scores {scores} and output {output} must be finite")
    return [one.tolist() for one in (query, key, value)], scores, weights.tolist(), output


def stacked(panels: list[Panel]) -> str:
    """Stack the panels, one for each step."""
    parts, top = [], 0.0
    for k, (drawn, height) in enumerate(panels, 1):
        parts.append(step(k, f'<g transform="translate(0 {top:.0f})">{"".join(drawn)}</g>'))
        top += height
    return picture(parts, WIDTH, top)


def check(query: Tensor, key: Tensor, value: Tensor, names: list[str], asks: int) -> None:
    """Raise an error if the input is too large to follow by hand or the shapes don't match."""
    shapes = [tuple(one.shape) for one in (query, key, value)]
    if len(set(shapes)) > 1 or len(shapes[0]) != 2 or shapes[0][0] != len(names):
        raise ValueError(f"query, key, and value of shapes {shapes} do not fit {len(names)} words")
    if not 2 <= len(names) <= MOST_WORDS or not 1 <= shapes[0][1] <= MOST_NUMBERS:
        raise ValueError(
            f"{len(names)} words with {shapes[0][1]} numbers each: by hand, you can follow 2 to "
            f"{MOST_WORDS} words with at most {MOST_NUMBERS} numbers each"
        )
    if not 0 <= asks < len(names):
        raise ValueError(f"asks ({asks}) must be from 0 to {len(names) - 1}, a word's position")


def listed(row: Sequence[float]) -> str:
    """Return numbers on one line."""
    return " ".join(number(value, 1.0) for value in row)


def short(value: Number) -> str:
    """Format a number for a sum: `1`, `0.5`, `−0.25`."""
    return minus(f"{round(value, 2):g}")


def heading(step: int, words: str) -> str:
    """Write a step's number and title."""
    return text(0, 18, f"{step}", role="positive", anchor="start") + text(
        18, 18, words, css="title", anchor="start"
    )


def word_beside(name: str, y: Number, *, strong: bool = False) -> str:
    """Write a word to the left of its row."""
    return text(LEFT - 10, y, name, css="title" if strong else "label", anchor="end", most=8)


def rows_of_words(made: dict[str, Rows], names: list[str], asks: int, end: Number) -> Panel:
    """Draw each word's rows by role: its vector if there is one, its query, key, and value."""
    width = len(made["query"][0])
    step = width * CELL + (332 - len(made) * width * CELL) / (len(made) - 1)
    parts = [heading(1, "Each word has a query, a key, and a value.")]
    for k, (role, rows) in enumerate(made.items()):
        x = LEFT + k * step
        title = "vector" if role == "embedding" else role
        parts.append(text(x + width * CELL / 2, TOP - 4, title, role=role))
        for i, row in enumerate(rows):
            y = TOP + 4 + i * ROW
            parts.append(cells([row], x, y, end, size=(CELL, ROW - 6), role=role))
    parts += [
        word_beside(name, TOP + 20 + i * ROW, strong=i == asks) for i, name in enumerate(names)
    ]
    return parts, TOP + ROW * len(names) + 18


def scores_of(
    query: list[float],
    keys: Rows,
    scores: list[float],
    names: list[str],
    asks: int,
    end: Number,
) -> Panel:
    """Draw the products of the word's query with every key."""
    wide = len(query) * CELL
    parts = [heading(2, f"The query of “{names[asks]}” meets every key.")]
    for i, (key, score) in enumerate(zip(keys, scores, strict=True)):
        y = TOP - 8 + i * ROW
        parts.append(word_beside(names[i], y + 16))
        parts.append(cells([query], LEFT, y, end, size=(CELL, ROW - 6), role="query"))
        parts.append(text(LEFT + wide + 11, y + 17, "·"))
        parts.append(cells([key], LEFT + wide + 22, y, end, size=(CELL, ROW - 6), role="key"))
        total = sum(q * k for q, k in zip(query, key, strict=True))
        x = LEFT + 2 * wide + 34
        parts.append(text(x, y + 17, f"= {short(total)}", anchor="start"))
        sum_of = minus(f"÷ √{len(query)} = {number(score, 1.0)}")
        parts.append(text(WIDTH - 4, y + 17, sum_of, css="title", anchor="end"))
    return parts, TOP - 8 + ROW * len(names) + 14


def weights_of(scores: list[float], weights: list[float], names: list[str]) -> Panel:
    """Draw how softmax turns the scores into weights."""
    parts = [heading(3, "Softmax turns the scores into weights.")]
    for i, (score, weight) in enumerate(zip(scores, weights, strict=True)):
        y = TOP - 8 + i * ROW
        parts.append(word_beside(names[i], y + 16))
        parts.append(text(LEFT + 34, y + 17, minus(number(score, 1.0)), anchor="end"))
        parts.append(arrow([(LEFT + 44, y + 12), (LEFT + 72, y + 12)]))
        parts.append(bar(LEFT + 82, y + 2, 200 * weight, ROW - 10, role="attention"))
        place = LEFT + 90 + 200 * weight
        parts.append(text(place, y + 17, number(weight, 1.0), css="title", anchor="start"))
    return parts, TOP - 8 + ROW * len(names) + 14


def average_of(
    weights: list[float],
    values: Rows,
    products: Rows,
    output: list[float],
    names: list[str],
    end: Number,
) -> Panel:
    """Draw the weighted values, and their sum: the output."""
    wide = len(output) * CELL
    right = WIDTH - wide - 8
    parts = [heading(4, "The weights average the values.")]
    for i, weight in enumerate(weights):
        y = TOP - 8 + i * ROW
        parts.append(word_beside(names[i], y + 16))
        parts.append(text(LEFT + 32, y + 17, number(weight, 1.0), css="title", anchor="end"))
        parts.append(text(LEFT + 44, y + 17, "×"))
        parts.append(cells([values[i]], LEFT + 56, y, end, size=(CELL, ROW - 6), role="value"))
        parts.append(text((LEFT + 56 + wide + right) / 2, y + 17, "="))
        parts.append(cells([products[i]], right, y, end, size=(CELL, ROW - 6), role="value"))
    y = TOP - 8 + ROW * len(weights)
    parts.append(line([(right, y), (WIDTH - 8, y)], css="bold"))
    parts.append(text(right - 10, y + 25, "added up: the output", css="title", anchor="end"))
    parts.append(cells([output], right, y + 8, end, size=(CELL, ROW - 4), role="attention"))
    return parts, y + 44
