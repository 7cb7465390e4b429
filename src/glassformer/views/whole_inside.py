"""The inner levels of the whole transformer: one head, one score, one product."""

from torch import Tensor

from glassformer.views.drawing import Number, arrow, bar, largest, line, text
from glassformer.views.head_activations import HeadActivations
from glassformer.views.view import minus, words
from glassformer.views.whole_scene import WIDTH, Level, door, lines, matrix, part

SIDE, HIGH = 136.0, 100.0  # of a matrix in the picture of a head
LEFT, RIGHT = 62.0, 258.0  # its two columns of matrices
ROWS = (28.0, 188.0, 348.0)  # and its three rows


def head(run: HeadActivations, prefix: str) -> Level:
    """Draw one head: queries times keys, scores turned into weights, and the average of values."""
    n, (i, j) = len(run.tokens), run.pair
    finite = run.scores.masked_fill(run.scores.isinf(), 0.0)
    output = run.weights @ run.value  # (tokens, head_dim)
    names = words(run.tokens)
    drawn = [
        *matrices(("queries", "query", run.query), ("keys", "key", run.key), ROWS[0], names),
        *matrices(("scores", "", finite), ("weights", "", run.weights), ROWS[1], names),
        *matrices(("values", "value", run.value), ("output", "", output), ROWS[2], names),
        arrow([(LEFT + 40, ROWS[0] + HIGH), (LEFT + 40, ROWS[1] - 20)]),
        line([(RIGHT + 40, ROWS[0] + HIGH), (RIGHT + 40, 147), (LEFT + 40, 147)]),
        text(202, 142, "each query · each key", css="small"),
        arrow([(LEFT + SIDE, 240), (RIGHT, 240)]),
        text((LEFT + SIDE + RIGHT) / 2, 233, "softmax", css="small"),
        arrow([(RIGHT + 40, ROWS[1] + HIGH), (RIGHT + 40, ROWS[2] - 20)]),
        line([(LEFT + SIDE, 400), (RIGHT - 28, 400), (RIGHT - 28, 306), (RIGHT + 40, 306)]),
        text(RIGHT + 48, 310, "average", css="small", anchor="start"),
    ]
    opening = (LEFT + j * SIDE / n, ROWS[1] + i * HIGH / n, SIDE / n, HIGH / n)
    drawn.append(door(opening, f"{prefix}-4", "one score"))
    hides = bool(run.scores.isinf().any())
    seen = "a mask hides the later words" if hides else "no word is hidden from another"
    says = (
        f"Each of {n} queries meets each of {n} keys: {n * n} scores; {seen}. Softmax turns a row "
        f"of scores into weights: “{names[i]}” gives “{names[j]}” {run.weights[i, j]:.2f}. The "
        "weights average the values."
    )
    return Level(f"Head {run.head} of layer {run.layer}", says, tuple(drawn), opening)


def matrices(
    one: tuple[str, str, Tensor], other: tuple[str, str, Tensor], y: Number, names: list[str]
) -> list[str]:
    """Draw two matrices side by side, with the words beside the rows of the first."""
    step = HIGH / len(names)
    parts = [
        text(LEFT - 5, y + (k + 0.5) * step + 4, name, css="small", anchor="end", most=8)
        for k, name in enumerate(names)
    ]
    for x, (title, role, numbers) in ((LEFT, one), (RIGHT, other)):
        rows = numbers.tolist()
        parts.append(text(x + SIDE / 2, y - 7, title, role=role, css="title"))
        parts.append(matrix(rows, (x, y, SIDE, HIGH), largest(rows), role))
    return parts


def terms(run: HeadActivations) -> tuple[Tensor, Tensor, Tensor, int]:
    """Return the pair's query and key, their products, and the index of the largest product."""
    i, j = run.pair
    products = run.query[i] * run.key[j]  # (head_dim)
    return run.query[i], run.key[j], products, int(products.abs().argmax())


def score(run: HeadActivations, prefix: str) -> Level:
    """Draw one score: a query and a key, number by number, and the sum of the products."""
    (i, j), names = run.pair, words(run.tokens)
    query, key, products, most = terms(run)
    count, total = len(query), products.sum().item()
    wide, tall = 360.0 / count, 62 / products.abs().max().item()
    end = largest([query.tolist(), key.tolist()])
    bars = [
        bar(
            *(20 + k * wide + 0.5, 250 - max(value, 0.0) * tall, wide - 1, abs(value) * tall),
            role="negative" if value < 0 else "positive",
        )
        for k, value in enumerate(products.tolist())
    ]
    opening = (20 + most * wide - 2, 36.0, wide + 4, 280.0)
    aside, side = (380, "end") if most < count / 2 else (20, "start")  # clear of the door
    drawn = [
        text(aside, 26, f"query of “{names[i]}”", role="query", anchor=side),
        matrix([query.tolist()], (20, 40, 360, 38), end, "query"),
        text(aside, 106, f"key of “{names[j]}”", role="key", anchor=side),
        matrix([key.tolist()], (20, 118, 360, 38), end, "key"),
        text(aside, 182, "number by number", css="title", anchor=side),
        *bars,
        line([(20, 250), (380, 250)], css="thin"),
        arrow([(200, 322), (200, 346)]),
        text(200, 366, minus(f"sum of the {count} products: {total:.2f}"), css="title"),
        text(200, 392, minus(f"{total:.2f} / √{count} = {total / count**0.5:.2f}"), css="title"),
        part((120, 412, 160, 40), "Why divide?", "attention"),
        door(opening, f"{prefix}-5", "one product"),
    ]
    says = minus(
        f"How well does “{names[j]}” fit what “{names[i]}” looks for? The {count} products of "
        f"their numbers add up to {total:.2f}; divided by √{count}, that's "
        f"{total / count**0.5:.2f}. Blue is positive, orange negative. Where query and key have "
        "the same sign, the score grows."
    )
    return Level("One score", says, tuple(drawn), opening)


def product(run: HeadActivations, prefix: str) -> Level:
    """Draw one product of two numbers, and the number of all such products.

    The factors have enough decimals that multiplying them gives the two decimals of the product.
    """
    (i, j), names = run.pair, words(run.tokens)
    *rows, at = terms(run)
    query, key, products = (row.tolist() for row in rows)
    digits = fitting(query[at], key[at])
    config, n = run.stack, len(names)
    every = len(query) * n * n * config.num_heads * config.num_layers
    drawn = [
        *factor(query[at], 14, f"“{names[i]}”", "query", "×", digits),
        *factor(key[at], 144, f"“{names[j]}”", "key", "≈", digits),
        *factor(products[at], 274, "", "", ""),
        lines(128, 206, f"number {at} of {len(query)}, counted from 0"),
        lines(
            *(WIDTH / 2, 262, f"{len(query)} such products make one score,"),
            *(f"{n} × {n} scores one head,", f"{config.num_heads} heads one attention,"),
            f"and each of {config.num_layers} layers has one:",
            css="label",
        ),
        text(WIDTH / 2, 350, f"{every:,}", css="big"),
        text(WIDTH / 2, 374, "products of queries and keys", css="label"),
        part((115, 396, 170, 40), "The whole encoder", "encoder"),
    ]
    says = minus(
        f"{query[at]:.{digits}f} × {key[at]:.{digits}f} ≈ {products[at]:.2f}. A score has no "
        f"simpler part than one such product. To read these {n} tokens, the self-attention of this "
        f"stack multiplies one number from a query by one from a key {every:,} times."
    )
    return Level("One product", says, tuple(drawn))


def fitting(one: float, other: float) -> int:
    """Return how many decimals two factors need so that their product rounds to the right two."""
    product = f"{one * other:.2f}"
    fits = (d for d in (3, 4) if f"{round(one, d) * round(other, d):.2f}" == product)
    return next(fits, 5)


def factor(value: Number, x: Number, word: str, role: str, sign: str, digits: int = 2) -> list[str]:
    """Draw a number as a large cell, with its name above it and a sign after it."""
    return [
        text(x + 52, 62, word, css="title", most=14),
        text(x + 52, 82, f"its {role}" if role else "product", role=role),
        matrix([[value]], (x, 92, 104, 90), 1.4 * abs(value), role),
        text(x + 52, 147, minus(f"{value:.{digits}f}"), css="big"),
        text(x + 117, 147, sign, css="big"),
    ]
