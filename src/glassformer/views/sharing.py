"""`shared_heads`: which queries share which keys and values."""

from collections.abc import Mapping

from glassformer.models.config import TransformerConfig
from glassformer.views.drawing import Number, as_role, figure, line, picture, text
from glassformer.views.view import View

WIDTH, HIGH, BOX = 400.0, 152.0, 26.0


def shared_heads(configs: Mapping[str, TransformerConfig], *, caption: str | None = None) -> View:
    """Draw the query heads of a layer, and lines to the keys and values that each of them reads.

    Args:
        configs: Each kind's name and configuration.
        caption: A line below the picture.

    Raises:
        ValueError: There is no configuration.
    """
    if not configs:
        raise ValueError("shared_heads needs at least one configuration, but got none")
    parts, facts = [], []
    for k, (name, config) in enumerate(configs.items()):
        heads, kept = config.num_heads, config.num_kv_heads or config.num_heads
        numbers = 2 * kept * (config.head_dim or config.d_model // heads)
        parts.append(rows(name, heads, kept, numbers, HIGH * k))
        facts.append([name, str(heads), str(kept), str(heads // kept), f"{numbers:,}"])
    header = [
        "kind",
        "query heads",
        "key-value heads",
        "queries per key",
        "numbers kept per token and layer",
    ]
    drawn = picture(parts, WIDTH, HIGH * len(configs) - 6)
    return figure(drawn, header, facts, name="Shared keys and values", caption=caption)


def rows(name: str, heads: int, kept: int, numbers: int, top: Number) -> str:
    """Draw one kind: query heads above, the keys and values that they share below."""
    left, across = 70.0, (WIDTH - 72) / heads
    size = min(BOX, across - 3)
    parts = [
        text(0, top + 16, name, css="title", anchor="start"),
        text(
            WIDTH,
            top + 16,
            f"keeps {numbers:,} numbers per token and layer",
            css="small",
            anchor="end",
        ),
        text(left - 8, top + 46, "queries", role="query", anchor="end"),
        text(left - 8, top + 110, "keys", role="key", anchor="end"),
        text(left - 8, top + 126, "values", role="value", anchor="end"),
    ]
    group = heads // kept
    for h in range(heads):
        x, shared = left + (h + 0.5) * across, left + (h // group + 0.5) * group * across
        parts.append(line([(x, top + 30 + size), (shared, top + 96)]))
        parts.append(square(x - size / 2, top + 30, size, size, "query"))
    for k in range(kept):
        x = left + (k + 0.5) * group * across - size / 2
        parts.append(square(x, top + 96, size, 16, "key"))
        parts.append(square(x, top + 114, size, 16, "value"))
    return "".join(parts)


def square(x: Number, y: Number, width: Number, height: Number, role: str) -> str:
    """Draw a head."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3"'
    return (
        f'<g{as_role(role)}><rect class="box" {place}/><rect class="tint" {place} '
        f'style="fill-opacity:.35"/></g>'
    )
