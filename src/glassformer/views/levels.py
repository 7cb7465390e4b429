"""`levels`: where the weights of a block go when they're rounded, with and without an outlier."""

import torch
from jaxtyping import Float
from torch import Tensor

from glassformer.quantization.rounding import round_weights
from glassformer.views.axes import Axis, short
from glassformer.views.drawing import GROWS, Number, circle, figure, line, picture, text
from glassformer.views.view import View

START, END = 12.0, 344.0  # of each line
WHOLE, WITH, WEIGHTS, WITHOUT = 60.0, 144.0, 200.0, 256.0  # heights of the lines
ABOVE = 11.0  # from the first line up to its weights, so that they cover no level


def levels(weights: Float[Tensor, " weights"], bits: int, *, caption: str | None = None) -> View:
    """Draw a block of weights and its levels, and where all but its outlier go when it's rounded.

    The outlier is the weight farthest from the median. Below the whole block are all other weights,
    on a scale of their own: lines lead up to their levels with the outlier in the block, and down
    to their levels without it.

    Args:
        weights: The block, (weights,).
        bits: The number of bits of a code.
        caption: A line below the picture.

    Raises:
        ValueError: There are not three finite weights, or all but the outlier are the same; or as
            `round_weights`.
    """
    block = torch.as_tensor(weights).detach().float()
    if block.ndim != 1 or len(block) < 3 or not block.isfinite().all():
        raise ValueError(
            f"a block needs at least three weights, all finite, but got {block.tolist()}"
        )
    place = int((block - block.median()).abs().argmax())
    rest, outlier = torch.cat([block[:place], block[place + 1 :]]), block[place].item()
    if rest.min() == rest.max():
        raise ValueError(f"all weights but {outlier:g} are the same: {rest[0]:g}")
    rounded = round_weights(block[None], bits)[0]
    coarse = torch.cat([rounded[:place], rounded[place + 1 :]])
    fine = round_weights(rest[None], bits)[0]
    whole = Axis(block.min().item(), block.max().item(), START, END)
    every = torch.cat([rest, coarse, fine])
    near = Axis(every.min().item(), every.max().item(), START, END)
    ends = near.low, near.high
    corners = [(whole.place(end), WHOLE + 7) for end in ends]
    corners += [(near.place(end), WITH - 26) for end in reversed(ends)]
    outline = "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)
    closer = f"{(whole.high - whole.low) / (near.high - near.low):.0f} times as wide"
    fan = [
        f'<path class="tint" d="M{outline}z"/>',
        text((START + END) / 2, WITH - 34, closer, css="small"),
    ]
    here, there = (END, START) if outlier > rest.max() else (START, END)
    small = f"{len(rest)} weights, {short(rest.min().item())} to {short(rest.max().item())}"
    parts = [
        text(START, 14, f"A block and its {2**bits} levels", css="title", anchor="start"),
        text(there, WHOLE - 24, small, css="small", anchor=anchor_of(there)),
        text(
            here, WHOLE - 24, f"outlier, {short(outlier)}", role="series-2", anchor=anchor_of(here)
        ),
        number_line(whole, WHOLE, levels_of(block, bits), "quiet"),
        *(dot(whole.place(weight), WHOLE - ABOVE, "quiet") for weight in rest.tolist()),
        dot(whole.place(outlier), WHOLE - ABOVE, "series-2"),
        zero(whole, (WHOLE, WHOLE + 8), WHOLE + 20),
        *fan,
        zero(near, (WITH, WITHOUT), WITHOUT + 18),
        *panel(near, rest, coarse, levels_of(block, bits), WITH, "series-2"),
        *panel(near, rest, fine, levels_of(rest, bits), WITHOUT, "series-1"),
        *(dot(near.place(weight), WEIGHTS, "quiet") for weight in rest.tolist()),
        *words("with the outlier", rest, coarse, WITH - 11, "series-2"),
        *words("without it", rest, fine, WITHOUT + 38, "series-1"),
    ]
    drawn = picture(parts, 356, WITHOUT + 46, grows=GROWS)
    facts = [
        [
            name,
            str(len(to.unique())),
            short((to - rest).abs().mean().item()),
            short((to - rest).abs().max().item()),
        ]
        for name, to in (("with the outlier", coarse), ("without it", fine))
    ]
    header = [f"{len(rest)} weights", "levels in use", "mean error", "largest error"]
    name = "Rounding a block with and without its outlier"
    return figure(drawn, header, facts, name=name, caption=caption)


def levels_of(block: Tensor, bits: int) -> list[float]:
    """Return all levels of a block: those of weights spread evenly over its range."""
    spread = torch.linspace(block.min().item(), block.max().item(), 2**bits)
    return round_weights(spread[None], bits)[0].tolist()


def number_line(axis: Axis, y: Number, ticks: list[float], role: str) -> str:
    """Draw a line with a stroke at each level that is on it."""
    slack = 0.01 * (axis.high - axis.low)  # rounding may put the last level just beyond the end
    marks = [axis.place(t) for t in ticks if axis.low - slack <= t <= axis.high + slack]
    strokes = "".join(line([(x, y - 5), (x, y + 5)], role=role, css="bold") for x in marks)
    return line([(axis.start, y), (axis.end, y)], css="thin") + strokes


def zero(axis: Axis, ends: tuple[Number, Number], y: Number) -> str:
    """Mark zero, if it's on the line, with a dotted stroke between two heights."""
    if not axis.low <= 0 <= axis.high:
        return ""
    x = axis.place(0.0)
    return line([(x, ends[0]), (x, ends[1])], css="dotted") + text(x, y, "0", css="small")


def panel(
    axis: Axis, given: Tensor, rounded: Tensor, ticks: list[float], y: Number, role: str
) -> list[str]:
    """Draw a line of levels, and a line to its level from each weight."""
    pairs = zip(given.tolist(), rounded.tolist(), strict=True)
    slopes = [[(axis.place(a), WEIGHTS), (axis.place(b), y)] for a, b in pairs]
    return [number_line(axis, y, ticks, role), *(line(slope, role=role) for slope in slopes)]


def words(name: str, given: Tensor, rounded: Tensor, y: Number, role: str) -> list[str]:
    """Write how many levels are in use, and the mean error."""
    used, off = len(rounded.unique()), short((rounded - given).abs().mean().item())
    levels = "1 level" if used == 1 else f"{used} levels"
    return [
        text(START, y, f"{name}: {levels}", role=role, anchor="start"),
        text(END, y, f"mean error {off}", css="small", anchor="end"),
    ]


def dot(x: Number, y: Number, role: str) -> str:
    """Draw a weight."""
    return circle(x, y, 3.2, css="dot faint", role=role)


def anchor_of(x: Number) -> str:
    """Return which part of words belongs at an end of a line."""
    return "start" if x == START else "end"
