"""The outer levels of the whole transformer: the model, a layer, and the layer's attention."""

from glassformer.models.config import TransformerConfig
from glassformer.views.drawing import Number, arrow, as_role, bar, line, panel, text
from glassformer.views.head_activations import HeadActivations
from glassformer.views.whole_scene import Level, door, lines, part

Sublayer = tuple[str, str, str, str]  # title, chapter, role, note


def model(run: HeadActivations, prefix: str) -> Level:
    """Draw the architecture, from the words to the output, with all layers as one stack."""
    config, stack = run.config, run.stack
    x = 208.0 if config.decoder else 110.0
    opening = (x, 150.0, 180.0, 180.0)
    parts = [tower(stack, run.tokens, x), door(opening, f"{prefix}-1", "one layer")]
    if config.decoder:
        parts.append(tower(config, run.source, 12.0))
        parts.append(arrow([(102, 330), (102, 356), (194, 356), (194, 240), (208, 240)]))
        parts.append(lines(148, 374, "memory: the source,", "read once"))
    parts.append(arrow([(x + 90, 330), (x + 90, 386)]))
    parts.append(ending(run, x) if run.answer else vectors(run, x + 90))
    says = path(run)
    if run.answer:
        word, chance = run.answer[0]
        says += f" After “{run.tokens[-1]}” the model gives “{word}” a probability of {chance:.2f}."
    return Level(kind(run), says, tuple(parts), opening)


def kind(run: HeadActivations) -> str:
    """Return the title: what this kind of model does."""
    if run.config.decoder:
        return "An encoder reads, a decoder writes"
    if run.answer:
        return "A decoder alone writes the next token"
    return "An encoder reads a sentence"


def path(run: HeadActivations) -> str:
    """Return how the tokens become the output, which is different in each kind of model."""
    layers, width = run.stack.num_layers, run.stack.d_model
    if run.config.decoder:
        return (
            f"The encoder reads the {len(run.source)} tokens of the source once. The decoder has "
            f"{layers} layers. In each of them, the vectors of the tokens so far, {width} numbers "
            "each, also look at what the encoder made of the source."
        )
    if run.answer:
        return (
            f"One stack of {layers} layers both reads and writes: the vectors, {width} numbers "
            "each, see only their own token and those before it, and the last one predicts the "
            "next token."
        )
    return (
        f"Each token becomes a vector of {width} numbers. Then {layers} layers, all built alike, "
        "transform the vectors, one after the other."
    )


def tower(config: TransformerConfig, tokens: tuple[str, ...], x: Number) -> str:
    """Draw one stack, from its words down to its last layer."""
    middle, sentence = x + 90, " ".join(tokens)
    shown = sentence if len(sentence) < 27 else f"{sentence[:25]}…"
    return "".join(
        [
            text(middle, 18, shown, css="title"),
            text(middle, 34, f"{len(tokens)} tokens", css="small"),
            arrow([(middle, 40), (middle, 58)]),
            part(
                (x, 58, 180, 50),
                *("Embeddings", "tokens"),
                note=f"{config.vocab_size:,} tokens × {config.d_model}",
                role="embedding",
            ),
            arrow([(middle, 108), (middle, 150)]),
            text(
                middle + 10, 132, f"{len(tokens)} × {config.d_model}", css="small", anchor="start"
            ),
            layers(config, x),
        ]
    )


def layers(config: TransformerConfig, x: Number) -> str:
    """Draw the stack of layers: the parts of the first one, and the edges of the others."""
    behind = "".join(
        line([(x + 5 + 4 * k, 334 + 4 * k), (x + 175 - 4 * k, 334 + 4 * k)])
        for k in range(min(config.num_layers - 1, 5))
    )
    parts = sublayers(config)
    step = 146 / len(parts)
    boxes = "".join(
        part((x + 14, 182 + step * k, 152, step - 10), title, chapter, role=role)
        for k, (title, chapter, role, _) in enumerate(parts)
    )
    role = "decoder" if config.cross_attention else "encoder"
    frame = panel(x, 150, 180, 180, role=role, css="box")
    count = text(x + 90, 170, f"{config.num_layers} layers, each of these", css="title")
    return f"{frame}{count}{boxes}{behind}"


def sublayers(config: TransformerConfig) -> list[Sublayer]:
    """Return a layer's sub-layers, in order."""
    across = ("Cross-attention", "decoder-layer", "attention", "words look at the source")
    width = f"{config.d_model} → {config.d_ff:,} → {config.d_model} numbers"
    return [
        ("Attention", "attention", "attention", "words look at each other"),
        *([across] if config.cross_attention else []),
        ("Feed-forward", "feed-forward", "feed-forward", width),
    ]


def ending(run: HeadActivations, x: Number) -> str:
    """Draw the last linear layer, and the likeliest next tokens as bars."""
    config = run.stack
    bars = "".join(
        text(x + 82, 451 + 15 * k, word, css="small", anchor="end")
        + bar(x + 88, 442 + 15 * k, 60 * chance, 10, role="series-1")
        + text(x + 94 + 60 * chance, 451 + 15 * k, f"{chance:.2f}", css="small", anchor="start")
        for k, (word, chance) in enumerate(run.answer[:2])
    )
    note = f"{config.d_model} → {config.vocab_size:,} probabilities"
    return part((x, 386, 180, 46), "Next token", "generation", note=note) + bars


def vectors(run: HeadActivations, middle: Number) -> str:
    """Write the encoder's output: one vector per token."""
    size = f"{len(run.tokens)} × {run.stack.d_model}"
    return text(middle, 404, "one vector for each token", css="title") + lines(middle, 421, size)


def layer(run: HeadActivations, prefix: str) -> Level:
    """Draw one layer: the residual stream, and the sub-layers that read it and add to it."""
    config, parts = run.stack, sublayers(run.stack)
    high = 420 / len(parts)
    opening = (150.0, 40 + high / 2 - 25, 225.0, 60.0)
    drawn = [
        f'<g{as_role("stream")}><path class="line stream" d="M60 14V462"/></g>',
        text(74, 20, "residual stream", css="title", anchor="start"),
        text(74, 36, f"{len(run.tokens)} × {config.d_model}", css="small", anchor="start"),
        *(sublayer(one, 40 + high * k, high, config) for k, one in enumerate(parts)),
        door(opening, f"{prefix}-2", "the attention"),
    ]
    reading = (
        "Three sub-layers: between the usual two, cross-attention reads the source. Each adds its "
        "output to the residual stream."
        if config.cross_attention
        else "The same two sub-layers as in an encoder, with a mask in the attention, add their "
        "outputs to the residual stream."
        if run.answer
        else "Two sub-layers read the residual stream and add their outputs to it."
    )
    kept = (
        "Nothing is overwritten: the old vectors stay in the sum. A norm rescales what each "
        "sub-layer reads."
        if config.norm_first
        else "After each addition, a norm rescales the sum, so its old part can fade."
    )
    says = f"{reading} {kept}"
    return Level(f"One of {config.num_layers} layers", says, tuple(drawn), opening)


def sublayer(one: Sublayer, top: Number, high: Number, config: TransformerConfig) -> str:
    """Draw one sub-layer beside the stream, with its norm before or after it."""
    title, chapter, role, note = one
    middle = top + high / 2 + 5
    plus = top + high - (16 if config.norm_first else 50)
    norm = ("RMSNorm" if config.norm == "rms" else "Layer norm", "norm")
    add = f'<circle class="box" cx="60" cy="{plus:.1f}" r="12"/>' + text(60, plus + 5, "+")
    drawn = part((150, middle - 30, 225, 60), title, chapter, note=note, role=role)
    back = arrow([(262, middle + 30), (262, plus), (73, plus)])
    if config.norm_first:
        into = arrow([(60, top + 16), (207, top + 16)]) + part((207, top + 3, 110, 26), *norm)
        into += arrow([(262, top + 29), (262, middle - 30)])
    else:
        into = arrow([(60, middle), (150, middle)]) + part((5, plus + 18, 110, 26), *norm)
    return f"{into}{back}{drawn}{add}"


def attention(run: HeadActivations, prefix: str) -> Level:
    """Draw the attention: projections, heads side by side, and the linear layer that joins them."""
    config, heads = run.stack, run.stack.num_heads
    shared = heads // (config.num_kv_heads or heads)
    left, wide = 68.0, 322.0 / heads
    size = f"{len(run.tokens)} × {config.d_model}"
    drawn = [text(229, 14, size, css="small")]
    for k, (name, group) in enumerate([("query", 1), ("key", shared), ("value", shared)]):
        x, title = left + 110 * k, {"query": "Queries", "key": "Keys", "value": "Values"}[name]
        drawn.append(arrow([(229, 20), (x + 51, 48)]))
        drawn.append(part((x, 48, 102, 46), title, "heads", note="a linear layer", role=name))
        drawn.append(slots(left, 130 + 46 * k, heads, wide, group, name, title.lower()))
    drawn += [
        text(229, 112, f"each cut into {heads} heads, {run.query.shape[1]} wide", css="small"),
        part((left, 276, 322, 34), "Each head attends by itself", "heads", role="attention"),
        slots(left, 322, heads, wide, 1, "attention", "outputs"),
        arrow([(229, 364), (229, 396)]),
        part((124, 396, 210, 46), "Output projection", "heads", note="joins what the heads found"),
    ]
    opening = (left + wide * run.head, 126.0, wide, 238.0)
    drawn.append(door(opening, f"{prefix}-3", "one head", low=True))
    made = (
        "All three come from the tokens so far; in the cross-attention, keys and values come from "
        "the source instead."
        if config.cross_attention
        else "In a causal head, a mask removes the scores between a query and later keys."
        if run.answer
        else "Every token is compared with every token."
    )
    says = (
        f"Linear layers make queries, keys, and values, each cut into {heads} pieces for {heads} "
        f"heads side by side. {made} We follow head {run.head} of layer "
        f"{run.layer}."
    )
    return Level("The attention of this layer", says, tuple(drawn), opening)


def slots(
    left: Number, y: Number, heads: int, wide: Number, group: int, role: str, title: str
) -> str:
    """Draw a row of heads; a key or value that several heads share is as wide as they are."""
    boxes = "".join(
        panel(left + wide * k + 1.5, y, wide * group - 3, 36, role=role, css="box", tint=0.1)
        for k in range(0, heads, group)
    )
    return text(left - 6, y + 22, title, css="small", anchor="end") + boxes
