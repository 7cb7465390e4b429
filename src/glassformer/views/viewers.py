"""bertviz's three viewers for any model: attention by head, by model, and by neuron."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import SupportsInt

import torch
from jaxtyping import Float
from torch import Tensor

from glassformer.views.drawing import cut
from glassformer.views.packing import pack, vector_bytes, weight_bytes
from glassformer.views.page import Picture, Viewer, viewer
from glassformer.views.view import columns_of, table, words

STRONGEST = 12  # rows of the table that describes a picture
SQUARE = 25  # size of a head's square, as in glassformer-views.js
MOST_LINES = 150_000  # more lines could freeze a browser
MOST_STILL = 1000  # lines of a still picture
EDGE = 38  # room for the numbers of heads and layers, as in bertviz's model view

# In braces: the words for a mouse and, after the bar, the words for a finger.
HEAD_HINT = (
    "{Point at a word to see only its lines, or click it to keep them|Tap a word to see only its "
    "lines}. {Click|Tap} a colored square to switch a head off or on, {double-click|double-tap} to "
    "see it alone."
)
FILTERS = [
    "All",
    "Sentence A → Sentence A",
    "Sentence B → Sentence B",
    "Sentence A → Sentence B",
    "Sentence B → Sentence A",
]
# The same filters if the first sentence is a target, and the second its source.
CROSS = [("3", "Target → Source"), ("1", "Target → Target"), ("2", "Source → Source")]


def head_view(
    attentions: Sequence[Float[Tensor, "1 heads q_len k_len"]],
    tokens: Sequence[str],
    *,
    sentence_b_start: SupportsInt | None = None,
    heads: Sequence[int] | None = None,
    layer: int = 0,
) -> Viewer:
    """Show which words attend to which in one layer, one color per head, with bertviz's head view.

    Weights are drawn in steps of 1/255, so a drawn weight is off by at most 1/510. As in bertviz, a
    line's opacity is its weight divided by the number of heads shown; with many heads, a filter
    brightens all lines alike so you can see them.

    Args:
        attentions: One tensor per layer, as in `tape.attentions`.
        tokens: The words.
        sentence_b_start: Where a second sentence begins, to filter attention by sentence.
        heads: The heads shown at first; all of them by default.
        layer: The layer shown at first.

    Raises:
        ValueError: Shapes, words, heads, layer, or sentence don't fit together, or a weight isn't
            between 0 and 1.
    """
    weights = stacked(attentions, tokens)  # (layers, heads, seq, seq)
    shown, what = chosen(weights, heads, layer)
    _, num_heads, seq, _ = weights.shape
    split = second_sentence(sentence_b_start, seq)
    least = least_drawn(weights[layer])
    strong = strongest(weights, tokens, [layer], shown, tokens)
    header = describe(weights, tokens, split, least) | {"layer": layer, "shown": heads and shown}
    size = max(336, SQUARE * num_heads + 2), round(seq * 22.5 + 34)
    picture = Picture(
        kind="head",
        packed=pack(header, [weight_bytes(weights)]),
        size=size,
        still=still(size, weights[layer, shown].mean(0)[None, None], tokens, tokens),
        controls=choice("layer", "Layer", []) + sentences(split, "head"),
        hint=HEAD_HINT + remark(least),
        table=as_table(strong, what),
    )
    return viewer(picture, as_text("Head view", what, strong))


def cross_view(
    cross_attentions: Sequence[Float[Tensor, "1 heads q_len k_len"]],
    decoder_tokens: Sequence[str],
    encoder_tokens: Sequence[str],
    *,
    decoder_attentions: Sequence[Float[Tensor, "1 heads q_len q_len"]],
    encoder_attentions: Sequence[Float[Tensor, "1 heads k_len k_len"]],
    heads: Sequence[int] | None = None,
    layer: int = 0,
) -> Viewer:
    """Show how a target attends to its source, and each to itself, with bertviz's head view.

    The target's words, the queries, are on the left, and the source's on the right. A menu
    switches to the other two attentions.

    Args:
        cross_attentions: One tensor per layer, as in `tape.cross_attentions`.
        decoder_tokens: The target's words.
        encoder_tokens: The source's words.
        decoder_attentions: One tensor per layer, as in `tape.decoder_attentions`.
        encoder_attentions: One tensor per layer, as in `tape.attentions`.
        heads: The heads shown at first; all of them by default.
        layer: The layer shown at first.

    Raises:
        ValueError: Shapes, words, heads, or layer don't fit together, or a weight isn't between
            0 and 1.
    """
    target, source = len(decoder_tokens), len(encoder_tokens)
    cross = stacked(cross_attentions, decoder_tokens, encoder_tokens)
    own = stacked(decoder_attentions, decoder_tokens)
    there = stacked(encoder_attentions, encoder_tokens)
    layers, num_heads, _, _ = cross.shape
    for name, weights in (("decoder", own), ("encoder", there)):
        if weights.shape[:2] != cross.shape[:2]:
            raise ValueError(
                f"{name}_attentions have (layers, heads) = {tuple(weights.shape[:2])}, "
                f"but cross_attentions have {(layers, num_heads)}; all three must be equal"
            )
    shown, what = chosen(cross, heads, layer)
    # As one sequence, the target first; the source never looks at the target.
    weights = cross.new_zeros(layers, num_heads, target + source, target + source)
    weights[..., :target, :target] = own
    weights[..., :target, target:] = cross
    weights[..., target:, target:] = there
    tokens = [*decoder_tokens, *encoder_tokens]
    least = least_drawn(weights[layer])
    what = f"the target's attention to the source, {what}"
    strong = strongest(cross, decoder_tokens, [layer], shown, encoder_tokens)
    header = describe(weights, tokens, target, least)
    size = max(336, SQUARE * num_heads + 2), round(max(target, source) * 22.5 + 34)
    picture = Picture(
        kind="head",
        packed=pack(
            header | {"layer": layer, "shown": heads and shown, "filter": CROSS[0][0]},
            [weight_bytes(weights)],
        ),
        size=size,
        still=still(size, cross[layer, shown].mean(0)[None, None], decoder_tokens, encoder_tokens),
        controls=choice("layer", "Layer", []) + choice("filter", "Attention", CROSS),
        hint="The target's words are on the left, the source's on the right. "
        + HEAD_HINT
        + remark(least),
        table=as_table(strong, what),
    )
    return viewer(picture, as_text("Cross view", what, strong))


def model_view(
    attentions: Sequence[Float[Tensor, "1 heads q_len k_len"]],
    tokens: Sequence[str],
    *,
    sentence_b_start: SupportsInt | None = None,
) -> Viewer:
    """Show every head of every layer at once, with bertviz's model view.

    Weights are drawn in steps of 1/255. If there are more lines than a browser can draw, only the
    strongest are drawn.

    Args:
        attentions: One tensor per layer, as in `tape.attentions`.
        tokens: The words.
        sentence_b_start: Where a second sentence begins, to filter attention by sentence.

    Raises:
        ValueError: Shapes, words, or sentence don't fit together, or a weight isn't between 0
            and 1.
    """
    weights = stacked(attentions, tokens)  # (layers, heads, seq, seq)
    layers, num_heads, seq, _ = weights.shape
    split = second_sentence(sentence_b_start, seq)
    least = least_drawn(weights)
    what = f"{layers} layers of {num_heads} heads"
    strong = strongest(weights, tokens, range(layers), range(num_heads), tokens)
    row = seq * 7 * 12 / num_heads + 10
    size = 970, round(max(layers * row + 38, seq * 18 + 55))
    picture = Picture(
        kind="model",
        packed=pack(describe(weights, tokens, split, least), [weight_bytes(weights)]),
        size=size,
        still=still(size, weights),
        controls=sentences(split, "model"),
        hint="Each picture is one head. {Click|Tap} it to see it with its words." + remark(least),
        table=as_table(strong, what),
    )
    return viewer(picture, as_text("Model view", what, strong))


def neuron_view(
    tape: Mapping[str, Tensor],
    tokens: Sequence[str],
    *,
    layer: int = 0,
    head: int = 0,
    sentence_b_start: SupportsInt | None = None,
) -> Viewer:
    """Show how queries and keys make the weights of one head, with bertviz's neuron view.

    Weights are drawn in steps of 1/255, queries and keys in steps of a 127th of the head's
    largest entry.

    Args:
        tape: What `glassformer.record` yields, after a forward pass of one batch row.
        tokens: The words.
        layer: The layer shown at first.
        head: The head shown at first.
        sentence_b_start: Where a second sentence begins, to filter attention by sentence.

    Raises:
        ValueError: The tape has no attention, or words, layer, head, or sentence don't fit it, or
            a query, a key, or a weight isn't finite.
    """
    paths = attention_paths(tape)
    weights = stacked([tape[f"{path}weights"] for path in paths], tokens)
    layers, num_heads, seq, _ = weights.shape
    check_index("layer", layer, layers)
    check_index("head", head, num_heads)
    split = second_sentence(sentence_b_start, seq)
    queries = torch.stack([per_head(tape[f"{path}query"], num_heads) for path in paths])
    keys = torch.stack([per_head(tape[f"{path}key"], num_heads) for path in paths])
    check_finite("queries", queries, tokens)
    check_finite("keys", keys, tokens)
    (query_bytes, query_steps), (key_bytes, key_steps) = vector_bytes(queries), vector_bytes(keys)
    what = f"layer {layer}, head {head}"
    strong = strongest(weights, tokens, [layer], [head], tokens)
    header = describe(weights, tokens, split, 1) | {
        "layer": layer,
        "head": head,
        "bidirectional": bool(weights.triu(1).any()),
        "vector": queries.shape[-1],
        "steps": [
            [float(f"{s:.6g}") for s in steps.flatten()] for steps in (query_steps, key_steps)
        ],
    }
    button = (
        '<button type="button" class="detail-button" aria-pressed="false">queries and keys</button>'
    )
    picture = Picture(
        kind="neuron",
        packed=pack(header, [weight_bytes(weights), query_bytes, key_bytes]),
        size=(420, seq * 26 + 14),
        still=still((420, seq * 26 + 14), weights[layer, head][None, None], tokens, tokens),
        controls=choice("layer", "Layer", [])
        + choice("att_head", "Head", [])
        + sentences(split, "neuron")
        + button,
        hint="{Point at|Tap} a word on the left to see what it attends to"
        "{, or click it to keep it selected|}. "
        "The + shows the query and the keys behind the weights.",
        table=as_table(strong, what),
    )
    return viewer(picture, as_text("Neuron view", what, strong))


def chosen(weights: Tensor, heads: Sequence[int] | None, layer: int) -> tuple[list[int], str]:
    """Return the heads shown at first, in order, and the layer and the heads in words."""
    layers, count, _, _ = weights.shape
    check_index("layer", layer, layers)
    for head in heads or ():
        check_index("head", head, count)
    shown = sorted(set(heads)) if heads else list(range(count))
    some = f"head {shown[0]}" if len(shown) == 1 else f"{len(shown)} heads of {count}"
    return shown, f"layer {layer}, {some}"


def stacked(
    attentions: Iterable[Tensor], tokens: Sequence[str], keys: Sequence[str] | None = None
) -> Tensor:
    """Stack the layers as floats `(layers, heads, q_len, k_len)`, after checking each shape.

    By default, the keys have the same words as the queries.
    """
    keys = tokens if keys is None else keys
    layers = list(attentions)
    if not layers or layers[0] is None:
        raise ValueError(
            f"attentions ({attentions!r}) hold no weights; load the transformers model with "
            "output_attentions=True, or with attn_implementation='eager' if you pass "
            "output_attentions=True in the call"
        )
    layers = [torch.as_tensor(one) for one in layers]
    for i, weights in enumerate(layers):
        if weights.ndim != 4 or weights.shape[0] != 1:
            raise ValueError(
                f"attentions of layer {i} have shape {tuple(weights.shape)}; "
                "expected (1, heads, q_len, k_len): one batch row"
            )
        if weights.shape != layers[0].shape:
            raise ValueError(
                f"attentions of layer {i} have shape {tuple(weights.shape)}, "
                f"but those of layer 0 have {tuple(layers[0].shape)}"
            )
        if tuple(weights.shape[2:]) != (len(tokens), len(keys)):
            there = f"{len(tokens)} tokens: {' '.join(words(tokens))}"
            if keys is not tokens:
                there += f" / {len(keys)} tokens: {' '.join(words(keys))}"
            raise ValueError(
                f"attentions of layer {i} have {weights.shape[2]} queries and {weights.shape[3]} "
                f"keys, but there are {there}"
            )
    whole = torch.cat([w.detach().cpu().float() for w in layers])
    if not whole.numel():
        raise ValueError(f"attentions of shape {tuple(layers[0].shape)} have nothing to draw")
    check_finite("attentions", whole, tokens, keys)
    low, high = whole.min().item(), whole.max().item()
    if low < -1e-4 or high > 1 + 1e-4:
        raise ValueError(
            f"attentions are between {low:g} and {high:g}, but weights are between 0 and 1; "
            "to draw scores, use heatmap"
        )
    return whole.clamp(0, 1)


def check_finite(
    name: str, values: Tensor, tokens: Sequence[str], keys: Sequence[str] | None = None
) -> None:
    """Check `(layers, heads, seq, ...)` for nan and infinity, which can't be drawn.

    If `keys` are given, the last axis has one number for each of them.
    """
    wrong = (~values.isfinite()).nonzero()
    if not len(wrong):
        return
    layer, head, row, column = wrong[0].tolist()
    where = f"layer {layer}, head {head}, at {words(tokens)[row]!r} ({row})"
    if keys is not None:
        where += f" → {words(keys)[column]!r} ({column})"
    value = values[layer, head, row, column].item()
    raise ValueError(
        f"{name} hold {value} in {where}, the first of {len(wrong)} that are not finite and "
        "can't be drawn"
    )


def attention_paths(tape: Mapping[str, Tensor]) -> list[str]:
    """Return the path of each layer's self-attention in the first stack, up to its last dot."""
    found = [path.removesuffix("query") for path in tape if path.rpartition(".")[2] == "query"]
    found = [path for path in found if not path.endswith("cross_attention.")]
    if not found:
        raise ValueError(
            f"the tape has no attention layer's query among its {len(tape)} entries "
            f"({', '.join(list(tape)[:5])}); call the model inside record(model)"
        )
    stack = found[0].partition("layers.")[0]
    return [path for path in found if path.partition("layers.")[0] == stack]


def per_head(vectors: Tensor, num_heads: int) -> Tensor:
    """Return `(1, heads, seq, head_dim)` as `(num_heads, seq, head_dim)`: shared heads repeat."""
    one = vectors.detach().cpu().float()[0]
    return one.repeat_interleave(num_heads // one.shape[0], dim=0)


def check_index(name: str, index: int, count: int) -> None:
    """Check that an index is at least 0 and less than `count`."""
    if not 0 <= operator.index(index) < count:
        raise ValueError(f"{name} ({index}) must be from 0 to {count - 1}")


def second_sentence(start: SupportsInt | None, seq: int) -> int | None:
    """Return where the second sentence begins, as a plain number."""
    if start is None:
        return None
    split = int(start)
    if not 0 < split < seq:
        raise ValueError(f"sentence_b_start ({split}) must be inside the {seq} tokens")
    return split


def least_drawn(weights: Tensor) -> int:
    """Return the smallest byte drawn: 1, or more if too many lines would be left."""
    drawn = weight_bytes(weights).flatten()
    counts = torch.bincount(drawn, minlength=256)
    above = counts.flip(0).cumsum(0).flip(0)  # how many bytes are at least this large
    return next((b for b in range(1, 256) if above[b] <= MOST_LINES), 255)


def remark(least: int) -> str:
    """Return a sentence about the weights that a picture leaves out, if there are any."""
    return "" if least == 1 else f" Weights below {(least - 0.5) / 255:.1%} are not drawn."


def describe(
    weights: Tensor, tokens: Sequence[str], split: int | None, least: int
) -> dict[str, object]:
    """Return the header that the page's script needs to read the bytes."""
    layers, heads, _, _ = weights.shape
    shown = words(tokens)
    return {"layers": layers, "heads": heads, "tokens": shown, "split": split, "least": least}


def strongest(
    weights: Tensor,
    tokens: Sequence[str],
    layers: Sequence[int],
    heads: Sequence[int],
    keys: Sequence[str],
) -> list[list[str]]:
    """Return layer, head, query, key, and weight of the largest weights, the largest first."""
    part = weights[list(layers)][:, list(heads)]
    values, places = part.flatten().topk(min(STRONGEST, part.numel()))
    names, key_names = (
        [f"{word} ({i})" for i, word in enumerate(words(each))] for each in (tokens, keys)
    )
    rows = []
    for value, place in zip(values.tolist(), places, strict=True):
        i, j, query, key = (int(x) for x in torch.unravel_index(place, part.shape))
        rows.append([str(layers[i]), str(heads[j]), names[query], key_names[key], f"{value:.3f}"])
    return rows


def as_table(rows: list[list[str]], what: str) -> str:
    """Return the strongest weights as an HTML table."""
    header = ["layer", "head", "query", "key", "weight"]
    caption = f"The {len(rows)} strongest weights of {what}; words with their positions"
    return table(header, rows, caption=caption, css="glassformer-strongest")


def as_text(title: str, what: str, rows: list[list[str]]) -> str:
    """Return the strongest weights as plain text."""
    wide = max(columns_of(row[2]) for row in rows)
    lines = [
        f"layer {layer} head {head}: {' ' * (wide - columns_of(query))}{query} → {key}  {weight}"
        for layer, head, query, key, weight in rows
    ]
    return "\n".join(
        [f"{title}: {what}; the strongest weights, words with their positions", *lines]
    )


def still(size: tuple[int, int], weights: Tensor, *sides: Sequence[str]) -> str:
    """Draw the strongest weights, for readers whose browser hasn't drawn the view (yet).

    Args:
        size: The width and height of the picture.
        weights: `(layers, heads, q_len, k_len)`, a small picture for each head.
        sides: If there's one head, the words on the left and those on the right.
    """
    (layers, heads), edge = weights.shape[:2], 0 if sides else EDGE
    wide, high = (size[0] - edge) / heads, (size[1] - edge) / layers
    ends, step = (3 if sides else 9), (high - 14) / max(weights.shape[2:])
    values, places = weights.flatten().topk(min(MOST_STILL, weights.numel()))
    shades = [""] * 9
    for value, place in zip(values.tolist(), places, strict=True):
        layer, head, query, key = (int(x) for x in torch.unravel_index(place, weights.shape))
        left, top = edge + wide * (head + 1 / ends), edge + high * layer + 14 + step / 2
        across = f"L{left + wide * (1 - 2 / ends):.0f} {top + step * key:.0f}"
        shades[round(8 * value)] += f"M{left:.0f} {top + step * query:.0f}{across}"
    drawn = [
        f'<path stroke="blue" opacity="{k / 8}" d="{d}"/>' for k, d in enumerate(shades) if k and d
    ]
    for k, side in enumerate(sides):
        x, anchor = (size[0] * 2 / 3 + 6, "start") if k else (size[0] / 3 - 6, "end")
        drawn += [
            f'<text x="{x:.0f}" y="{19 + step * (row + 0.5):.0f}" text-anchor="{anchor}">'
            f"{escape(cut(word, 12))}</text>"
            for row, word in enumerate(words(side))
        ]
    if not sides:
        middle, down = edge + wide * heads / 2, edge + high * layers / 2
        named = [("Heads", f"translate({middle:.0f} 15)")]
        named += [("Layers", f"translate(15 {down:.0f}) rotate(-90)")]
        named += [(f"{k}", f"translate({edge + wide * (k + 0.5):.0f} 33)") for k in range(heads)]
        named += [
            (f"{k}", f"translate(27 {edge + high * (k + 0.5) + 12:.0f})") for k in range(layers)
        ]
        drawn += [
            f'<text transform="{where}" text-anchor="middle">{name}</text>' for name, where in named
        ]
    box = f'viewBox="0 0 {size[0]} {size[1]}"'
    return f'<svg {box} font-size="15" stroke-width="2" aria-hidden="true">{"".join(drawn)}</svg>'


def choice(name: str, label: str, options: Sequence[tuple[str, str]]) -> str:
    """Write a labeled drop-down; if it has no options, the viewer fills it in."""
    inner = "".join(f'<option value="{value}">{escape(text)}</option>' for value, text in options)
    return f'<label>{label} <select id="{name}">{inner}</select></label>'


def sentences(split: int | None, kind: str) -> str:
    """Return the menu that filters attention by sentence, if there are two sentences."""
    if split is None:
        return ""
    values = ["all", "aa", "bb", "ab", "ba"] if kind == "neuron" else [str(i) for i in range(5)]
    return choice("filter", "Attention", list(zip(values, FILTERS, strict=True)))
