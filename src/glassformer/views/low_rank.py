"""`low_rank`: a layer's weight beside LoRA's two narrow matrices, to scale."""

from glassformer.training.lora import LoRALinear
from glassformer.views.drawing import GROWS, bar, figure, panel, picture, text, width_of
from glassformer.views.view import View

SIDE = 132.0  # the longer side of the weight
TOP, LEFT = 40.0, 18.0  # of A, and of the weight's column
BETWEEN = 58.0  # the two columns, with the plus sign and the name of B
OFF = 7.0  # from A and B to their product


def low_rank(layer: LoRALinear, *, caption: str | None = None) -> View:
    """Draw the weight of a layer and the two matrices of its adapter, all areas to scale.

    B is at the left of the change that it makes and A above it, since each number of the change is
    a row of B times a column of A.

    Args:
        layer: A linear layer with an adapter.
        caption: A line below the picture.
    """
    (outputs, inputs), rank = layer.weight.shape, len(layer.A)
    weight, learned = layer.weight.numel(), layer.A.numel() + layer.B.numel()
    scale = SIDE / max(outputs, inputs)
    wide, high, thick = scale * inputs, scale * outputs, scale * rank
    below = [f"{weight:,} frozen", f"{learned:,} learned, {learned / weight:.1%} of W"]
    names = [f"{inputs:,} inputs", f"A, {rank:,} × {inputs:,}"]
    labels = zip(names, below, strict=True)
    first, second = (max(wide, *(width_of(label) for label in pair)) for pair in labels)
    change = LEFT + first + BETWEEN + thick + OFF + (second - wide) / 2  # its left edge
    top = TOP + thick + OFF
    middle, bottom = top + high / 2, top + high
    b = change - OFF - thick
    centers = LEFT + first / 2, change + wide / 2
    parts = [
        panel(centers[0] - wide / 2, top, wide, high, role="quiet", tint=0.25, corner=0),
        text(centers[0], middle + 5, "W", css="title"),
        text(centers[0], top - 8, names[0], css="small"),
        text(centers[0] - wide / 2 - 7, middle, f"{outputs:,} outputs", css="small", turn=-90),
        text((centers[0] + wide / 2 + b - 18) / 2, middle + 6, "+", css="title"),
        panel(change, top, wide, high, css="frame dashed", corner=0),
        text(centers[1], middle + 5, "BA"),
        bar(change, TOP, wide, thick, role="series-1"),
        text(centers[1], TOP - 8, names[1], role="series-1"),
        bar(b, top, thick, high, role="series-2"),
        text(b - 8, middle, f"B, {outputs:,} × {rank:,}", role="series-2", turn=-90),
        *(text(x, bottom + 19, label) for x, label in zip(centers, below, strict=True)),
    ]
    across = centers[1] + max(wide, second) / 2 + 4
    drawn = picture(parts, across, bottom + 27, grows=GROWS)
    facts = [
        [name, " × ".join(f"{n:,}" for n in part.shape), f"{part.numel():,}"]
        for name, part in (("W, frozen", layer.weight), ("A", layer.A), ("B", layer.B))
    ]
    name = "A weight and the two matrices of its adapter"
    return figure(drawn, ["matrix", "shape", "numbers"], facts, name=name, caption=caption)
