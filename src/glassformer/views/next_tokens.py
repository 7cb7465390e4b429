"""`next_tokens`: the probabilities of the next token as bars."""

from collections.abc import Callable, Mapping

from jaxtyping import Float
from torch import Tensor

from glassformer.views.drawing import Number, bar, figure, picture, text
from glassformer.views.view import View, chance, visible

WIDTH, ROW, LEFT, ACROSS = 394.0, 22.0, 110.0, 230.0


def next_tokens(
    chances: Mapping[str, Float[Tensor, " vocab"]],
    name: Callable[[int], str],
    *,
    most: int = 6,
    same_tokens: bool = True,
    watch: int | None = None,
    caption: str | None = None,
) -> View:
    """Draw the likeliest next tokens as bars, one group for each distribution, on one scale.

    Args:
        chances: Each distribution's name, and the distribution: one number per token.
        name: Returns the token for an id.
        most: How many tokens are drawn; the total of all others is drawn below them.
        same_tokens: Whether all groups show the first one's tokens, in its order, as when sampling
            methods are compared. Otherwise, each group shows its own likeliest tokens.
        watch: A token that each group shows, in a second color, even if it isn't among the
            likeliest.
        caption: A line below the picture.

    Raises:
        ValueError: There is no distribution, they differ in size, `most` is less than one, or a
            distribution is negative somewhere or does not sum to one.
    """
    sizes = {title: tuple(each.shape) for title, each in chances.items()}
    if (
        not sizes
        or most < 1
        or len(set(sizes.values())) > 1
        or len(next(iter(sizes.values()))) != 1
    ):
        raise ValueError(
            f"distributions have shapes {sizes}, and most is {most}; expected vectors of the same "
            "size, and most of at least 1"
        )
    for title, each in chances.items():
        if each.min() < 0 or not abs(each.sum().item() - 1) < 1e-3:
            raise ValueError(
                f"{title!r} has numbers from {each.min():.3g} and a sum of {each.sum():.3g}, "
                "but probabilities must not be negative and must sum to 1"
            )
    first = next(iter(chances.values()))
    rows, places = {}, {}
    for title, each in chances.items():
        ranked = (first if same_tokens else each).sort(descending=True, stable=True)
        best = ranked.indices[:most].tolist()
        if watch is not None and watch not in best:
            best.append(watch)
        tokens, values = [visible(name(token)) for token in best], each[best].tolist()
        rows[title] = tokens, values, max(0.0, 1 - sum(values))
        places[title] = best.index(watch) if watch is not None else None
    scale = ACROSS / max(max(*values, rest) for _, values, rest in rows.values())
    parts, facts, y = [], [], 0.0
    for title, (tokens, values, rest) in rows.items():
        parts.append(group(title, tokens, values, rest, y, scale, places[title]))
        facts += [
            [title, token, f"{value:.3f}"] for token, value in zip(tokens, values, strict=True)
        ]
        facts.append([title, "all others", f"{rest:.3f}"])
        y += 34 + ROW * (len(tokens) + 1)
    header = ["choice", "next token", "probability"]
    drawn = picture(parts, WIDTH, y - 8)
    return figure(drawn, header, facts, name="The next token", caption=caption)


def group(
    title: str,
    tokens: list[str],
    values: list[float],
    rest: Number,
    top: Number,
    scale: Number,
    watched: int | None,
) -> str:
    """Draw the bars of one distribution, and a bar for the total of all other tokens."""
    parts = [text(0, top + 16, title, css="title", anchor="start")]
    rows = [*zip(tokens, values, strict=True), ("all others", rest)]
    for k, (token, value) in enumerate(rows):
        y = top + 26 + ROW * k
        quiet = k == len(tokens)
        words = text(
            LEFT - 10, y + 13, token, css="small" if quiet else "label", anchor="end", most=13
        )
        parts.append(words)
        role = "quiet" if quiet else "series-2" if k == watched else "series-1"
        wide = value * scale
        parts.append(bar(LEFT, y + 2, wide, ROW - 8, role=role))
        parts.append(text(LEFT + wide + 6, y + 13, chance(value), anchor="start"))
    return "".join(parts)
