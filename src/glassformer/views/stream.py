"""`residual_stream`: the residual stream from layer to layer, as wide as its vectors are long."""

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from glassformer.interpret.recording import ActivationCache, record
from glassformer.models.encoder import TransformerEncoder
from glassformer.views.drawing import Number, as_role, figure, picture, text
from glassformer.views.view import View

WIDTH, MIDDLE, STEP = 400.0, 84.0, 46.0
WIDEST = 44.0  # of the stream and the arrows, for the longest vectors of all
FROM, TIP = 200.0, 9.0  # where arrows begin, and the length of their heads


@dataclass(frozen=True)
class Addition:
    """One sub-layer's effect on the stream, as mean lengths of all tokens' vectors.

    Attributes:
        name: The sub-layer.
        role: Its color.
        before: The length of the stream before it.
        added: The length of its output.
        after: The length of the sum, or of the norm's output if a norm comes after the sum.
    """

    name: str
    role: str
    before: float
    added: float
    after: float


def residual_stream(
    model: TransformerEncoder, input_ids: Int[Tensor, "1 seq"], *, caption: str | None = None
) -> View:
    """Run an encoder on a text, and draw its residual stream from the top down.

    The stream is as wide as its vectors are long, on average over the tokens. The sub-layers are on
    the right, each with an arrow, which is as thick as the sub-layer's output is long.

    Args:
        model: The encoder, in eval mode, with its norms before or after the sub-layers.
        input_ids: One text.
        caption: A line below the picture.
    """
    with record(model) as tape, torch.no_grad():
        model(input_ids)
    steps = additions(tape, model.config.num_layers, norm_first=model.config.norm_first)
    scale = WIDEST / max(max(one.before, one.added, one.after) for one in steps)
    parts = [text(MIDDLE, 14, "embeddings", css="title")]
    rescaled = "" if model.config.norm_first else ", then the norm"
    for k, one in enumerate(steps):
        parts.append(section(one, 28 + STEP * k, scale, f"adds {one.added:.1f}{rescaled}"))
    bottom = 28 + STEP * len(steps)
    parts.append(text(MIDDLE, bottom + 18, f"{steps[-1].after:.1f} at the end", css="title"))
    parts.append(text(WIDTH, 14, "widths: mean lengths", css="small", anchor="end"))
    facts = [
        [one.name, f"{one.before:.2f}", f"{one.added:.2f}", f"{one.after:.2f}"] for one in steps
    ]
    after = "after" if model.config.norm_first else "after the norm"
    header = ["sub-layer", "mean length of the stream before", "of what it adds", after]
    name = "The residual stream through the layers"
    drawn = picture(parts, WIDTH, bottom + 28)
    return figure(drawn, header, facts, name=name, caption=caption)


def additions(tape: ActivationCache, layers: int, *, norm_first: bool) -> list[Addition]:
    """Return the effects of all sub-layers on the stream, from a tape."""
    found, hidden = [], tape["embeddings.output"]  # (1, seq, d_model)
    for i in range(layers):
        attended = tape[f"layers.{i}.attention.out_proj.output"]
        fed = tape[f"layers.{i}.feed_forward.output"]
        between = hidden + attended if norm_first else tape[f"layers.{i}.attention_norm.output"]
        last = tape[f"layers.{i}.output"]
        for name, role, before, added, after in (
            (f"attention {i}", "attention", hidden, attended, between),
            (f"feed-forward {i}", "feed-forward", between, fed, last),
        ):
            found.append(Addition(name, role, length(before), length(added), length(after)))
        hidden = last
    return found


def length(vectors: Tensor) -> float:
    """Return the mean length of some vectors."""
    return float(vectors.norm(dim=-1).mean())


def section(one: Addition, top: Number, scale: Number, told: str) -> str:
    """Draw the stream past one sub-layer, and the sub-layer's arrow."""
    before, after = one.before * scale / 2, one.after * scale / 2
    middle = top + STEP / 2
    water = (
        f"M{MIDDLE - before:.1f} {top:.1f}H{MIDDLE + before:.1f}"
        f"C{MIDDLE + before:.1f} {middle:.1f} {MIDDLE + after:.1f} {middle:.1f} "
        f"{MIDDLE + after:.1f} {top + STEP:.1f}H{MIDDLE - after:.1f}"
        f"C{MIDDLE - after:.1f} {middle:.1f} {MIDDLE - before:.1f} {middle:.1f} "
        f"{MIDDLE - before:.1f} {top:.1f}z"
    )
    thick = max(1.0, one.added * scale) / 2
    head, end = max(thick, 4.0), MIDDLE + (before + after) / 2 + 1
    shaft = (
        f"M{FROM} {middle - thick:.1f}H{end + TIP:.1f}v{thick - head:.1f}L{end:.1f} {middle:.1f}"
    )
    shaft += f"l{TIP} {head:.1f}v{thick - head:.1f}H{FROM}z"
    return (
        f'<g{as_role("stream")}><path class="bar" fill-opacity=".35" d="{water}"/></g>'
        f'<path class="bar"{as_role(one.role)} d="{shaft}"/>'
        + text(FROM + 8, middle - 2, one.name, role=one.role, anchor="start")
        + text(FROM + 8, middle + 13, told, css="small", anchor="start")
        + text(MIDDLE - before - 7, top + 4, f"{one.before:.1f}", css="small", anchor="end")
    )
