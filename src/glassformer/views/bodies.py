"""`body_and_head`: one body, and the heads that turn it into different models."""

from collections.abc import Mapping

import torch
from jaxtyping import Int
from torch import Tensor, nn

from glassformer.models.decoder import TransformerDecoder
from glassformer.models.encoder import TransformerEncoder
from glassformer.views.drawing import Number, arrow, figure, panel, picture, text
from glassformer.views.view import View

WIDTH, ROW, LEFT, ACROSS = 400.0, 84.0, 4.0, 222.0


def body_and_head(
    models: Mapping[str, nn.Module], input_ids: Int[Tensor, "1 seq"], *, caption: str | None = None
) -> View:
    """Draw models as a body and a head, with their parameters to scale and their outputs.

    The body is the model's stack of layers with its embeddings; the rest is its head. A table that
    the head shares with the body counts toward the body.

    Args:
        models: Each model's purpose, and the model, in eval mode.
        input_ids: One text, which all models read.
        caption: A line below the picture.

    Raises:
        ValueError: There is no model, or one has no stack of layers.
    """
    if not models:
        raise ValueError("body_and_head needs at least one model, but got none")
    parts, facts = [], []
    counts = {name: parameters(name, model) for name, model in models.items()}
    most = max(body + head for body, head in counts.values())
    for k, (name, model) in enumerate(models.items()):
        with torch.no_grad():
            shape = tuple(model(input_ids).shape)
        body, head = counts[name]
        parts.append(row(name, body, head, shape, ROW * k, ACROSS / most))
        facts.append([name, f"{body:,}", f"{head:,}", " × ".join(map(str, shape[1:])), told(shape)])
    header = ["model", "parameters of the body", "of the head", "output", "one answer for"]
    drawn = picture(parts, WIDTH, ROW * len(models))
    return figure(drawn, header, facts, name="Body and head", caption=caption)


def parameters(name: str, model: nn.Module) -> tuple[int, int]:
    """Count the parameters of the body, and those that only the head has.

    Raises:
        ValueError: The model has no body.
    """
    kinds = TransformerEncoder | TransformerDecoder
    bodies = [part for part in model.children() if isinstance(part, kinds)]
    if not bodies:
        raise ValueError(f"{name!r} is a {type(model).__name__} without an encoder or a decoder")
    body = sum(parameter.numel() for part in bodies for parameter in part.parameters())
    return body, sum(parameter.numel() for parameter in model.parameters()) - body


def told(shape: tuple[int, ...]) -> str:
    """Return what gets one output: the whole text or each token."""
    return "the whole text" if len(shape) == 2 else "each token"


def row(name: str, body: int, head: int, shape: tuple[int, ...], top: Number, scale: Number) -> str:
    """Draw one model: its body, its head, and an arrow to its output."""
    wide, small = body * scale, max(5.0, head * scale)
    answers = f"{shape[-1]:,} numbers"
    held = f"head: {head:,}" if head else "head: the body's table"
    return "".join(
        [
            text(LEFT, top + 16, name, css="title", anchor="start"),
            panel(LEFT, top + 26, wide, 30, role="encoder", tint=0.25),
            text(LEFT + wide / 2, top + 46, "body"),
            panel(LEFT + wide + 2, top + 26, small, 30, role="decoder", tint=0.25),
            text(LEFT, top + 72, f"{body:,} parameters", css="small", anchor="start"),
            text(LEFT + wide + 2, top + 72, held, css="small"),
            arrow([(LEFT + wide + small + 6, top + 41), (LEFT + ACROSS + 36, top + 41)]),
            text(LEFT + ACROSS + 42, top + 38, answers, css="title", anchor="start"),
            text(LEFT + ACROSS + 42, top + 54, f"for {told(shape)}", css="small", anchor="start"),
        ]
    )
