"""Exercises for the page on vision transformers."""

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_patches"]


def _images(draw: Draw):
    yield "three channels of 15 by 30 pixels, and patches of 3 by 5", (draw(3, 15, 30), 3, 5)
    yield "one channel of 45 by 15 pixels, and patches of 5 by 3", (draw(1, 45, 15), 5, 3)


def _cut(image, down, across, order=(1, 3, 0, 2, 4)):
    """Cut an image; `order` permutes (channels, patch rows, down, patch columns, across)."""
    parts = image.unflatten(2, (-1, across)).unflatten(1, (-1, down))
    return parts.permute(order).reshape(-1, len(image) * down * across)


check_patches = Exercise(
    asks="the patches row by row, each as one vector, channel by channel",
    reference=lambda image, down, across: _cut(image, down, across),
    examples=_images,
    mistakes={
        "These are strips: reshape takes the numbers in memory order. First split both axes, then "
        "group the parts that belong to one patch.": (
            lambda image, down, across: image.reshape(-1, len(image) * down * across)
        ),
        "The patches come column by column; they should come row by row.": (
            lambda image, down, across: _cut(image, down, across, (3, 1, 0, 2, 4))
        ),
        "Within a patch, the pixels come column by column; they should come row by row.": (
            lambda image, down, across: _cut(image, down, across, (1, 3, 0, 4, 2))
        ),
        "Within a patch, the numbers come pixel by pixel; they should come channel by channel.": (
            lambda image, down, across: _cut(image, down, across, (1, 3, 2, 4, 0))
        ),
        "A patch's height and width are swapped: `down` is its height, and `across` its width.": (
            lambda image, down, across: _cut(image, across, down)
        ),
        "Each channel has its own patches; a patch should hold the numbers from all channels.": (
            lambda image, down, across: _cut(image, down, across, (0, 1, 3, 2, 4)).reshape(
                -1, down * across
            )
        ),
        "The patches overlap: the next one begins where the last one ends.": (
            lambda image, down, across: (
                image.unfold(1, down, 1).unfold(2, across, 1).permute(1, 2, 0, 3, 4).flatten(2)
            ).flatten(0, 1)
        ),
    },
)
