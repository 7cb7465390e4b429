"""`embedding_map`: vectors as points in the plane, by principal component analysis."""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from glassformer.views.drawing import as_role, circle, figure, legend, line, picture, text, width_of
from glassformer.views.palette import SERIES
from glassformer.views.view import View, words

WIDTH, HIGH, EDGE, ROW = 400.0, 330.0, 34.0, 14.0


def principal(
    vectors: Float[Tensor, "points width"],
) -> tuple[Float[Tensor, "points 2"], Float[Tensor, " 2"]]:
    """Project vectors onto the two directions in which they vary most.

    Returns:
        The projections, and each direction's share of the total variance.

    Source: Pearson 1901; computed from the singular values of the centered vectors.
    """
    centered = vectors - vectors.mean(dim=0)
    left, sizes, _ = torch.linalg.svd(centered, full_matrices=False)
    signs = torch.sign(left.gather(0, left.abs().argmax(0)[None]))  # their signs are arbitrary
    return (left * sizes * signs)[:, :2], (sizes**2 / (sizes**2).sum().clamp(min=1e-30))[:2]


def embedding_map(
    groups: Mapping[str, Mapping[str, Float[Tensor, " width"]]], *, caption: str | None = None
) -> View:
    """Draw vectors as words on a map, where similar vectors tend to be near each other.

    The two axes are the first two principal components, each labeled with its share of the
    variance. The map leaves out the rest, but a line leads from each word to the one whose full
    vector has the largest cosine with its own.

    Args:
        groups: Each group's name, and its words with their vectors. Each group has its own color.
        caption: A line below the picture.

    Raises:
        ValueError: There are fewer than three words, more groups than colors, vectors of unequal
            width, or a number that is not finite.
    """
    names = words([word for group in groups.values() for word in group])
    vectors = [torch.as_tensor(vector) for group in groups.values() for vector in group.values()]
    if len(names) < 3 or not 1 <= len(groups) <= len(SERIES) or len({v.shape for v in vectors}) > 1:
        raise ValueError(
            f"{len(names)} words in {len(groups)} groups, of shapes "
            f"{sorted({tuple(v.shape) for v in vectors})}: a map needs 3 words or more in 1 to "
            f"{len(SERIES)} groups, with vectors of the same width"
        )
    rows = torch.stack(vectors).detach().double()
    for name, row in zip(names, rows, strict=True):
        if not row.isfinite().all():
            raise ValueError(f"a map needs finite numbers, but {name!r} has {row.tolist()}")
    points, shares = principal(rows)
    roles = [role for role, group in zip(SERIES, groups.values(), strict=False) for _ in group]
    span = (points.amax(0) - points.amin(0)).clamp(min=1e-12)
    units = (points - points.amin(0)) / span
    places = [
        (EDGE + 12 + x * (WIDTH - 2 * EDGE - 24), HIGH - EDGE - 20 - y * (HIGH - 2 * EDGE - 16))
        for x, y in units.tolist()
    ]
    near = nearest(rows)
    parts = [
        line([(EDGE, 8), (EDGE, HIGH - EDGE), (WIDTH - 4, HIGH - EDGE)], css="thin"),
        text(WIDTH / 2, HIGH - 12, f"first: {shares[0]:.0%} of the variance", css="small"),
        text(14, HIGH / 2 - 14, f"second: {shares[1]:.0%}", css="small", turn=-90),
    ]
    parts += [line([place, places[k]], css="base") for place, k in zip(places, near, strict=True)]
    for (x, y), role in zip(places, roles, strict=True):
        parts.append(f"<g{as_role(role)}>{circle(x, y, 3.5)}</g>")
    for name, role, (x, y) in zip(names, roles, labels(names, places), strict=True):
        parts.append(text(x, y, name, role=role, css="small over", most=12))
    parts.append(legend([*zip(SERIES, groups, strict=False)], EDGE, HIGH + 12))
    parts.append(line([(EDGE, HIGH + 28), (EDGE + 11, HIGH + 28)], css="base"))
    told = f"nearest neighbor by all {rows.shape[1]} numbers"
    parts.append(text(EDGE + 16, HIGH + 32, told, css="small", anchor="start"))
    group_of = [title for title, group in groups.items() for _ in group]
    facts = [
        [name, title, f"{x:.2f}", f"{y:.2f}", names[k]]
        for name, title, (x, y), k in zip(names, group_of, points.tolist(), near, strict=True)
    ]
    header = ["word", "group", "first component", "second component", "nearest"]
    name = "Vectors by their first two principal components"
    return figure(picture(parts, WIDTH, HIGH + 40), header, facts, name=name, caption=caption)


def nearest(rows: Float[Tensor, "points width"]) -> list[int]:
    """Return the index of each row's nearest other row, by cosine."""
    units = torch.nn.functional.normalize(rows, dim=-1)
    return (units @ units.mT).fill_diagonal_(-2).argmax(-1).tolist()


def labels(names: list[str], places: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return where each name is written: near its point, clear of all points and other names."""
    taken: list[tuple[float, float, float]] = []
    found = []
    for name, (x, y) in zip(names, places, strict=True):
        half = width_of(name[:12], 12.5) / 2  # bold
        middle = min(max(x, EDGE + half + 6), WIDTH - half - 2)
        around = [(middle, y - 7), (middle, y + 15), (x + half + 7, y + 4), (x - half - 7, y + 4)]
        options = around + [(middle, y + far) for far in (-19, 27, -31, 39)]
        free = [
            (at, down)
            for at, down in options
            if down < HIGH - EDGE - 3
            and EDGE + half + 6 <= at <= WIDTH - half - 2
            and not any(abs(down - b) < ROW - 2 and abs(at - a) < half + c + 3 for a, b, c in taken)
            and not any(abs(down - 3.5 - b) < 10 and abs(at - a) < half + 5 for a, b in places)
        ]
        chosen = (free or options)[0]
        taken.append((*chosen, half))
        found.append(chosen)
    return found
