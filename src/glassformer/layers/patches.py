"""Patches: an image cut into squares, one vector for each, as a text is cut into tokens."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Patches:
    """How images are cut into patches; pixels left over at the right and at the bottom are ignored.

    Attributes:
        image_size: Height and width of an image.
        patch_size: Height and width of a patch.
        channels: Numbers per pixel: three for red, green, and blue.

    Raises:
        ValueError: A size is less than one, or a patch is larger than the image.

    >>> Patches(image_size=(224, 224), patch_size=(16, 16)).count
    196
    """

    image_size: tuple[int, int]
    patch_size: tuple[int, int]
    channels: int = 3

    def __post_init__(self):
        if min(*self.patch_size, self.channels) < 1:
            raise ValueError(
                f"patch_size {self.patch_size} and channels ({self.channels}) must be at least 1"
            )
        if any(
            image < patch for image, patch in zip(self.image_size, self.patch_size, strict=True)
        ):
            raise ValueError(
                f"image_size {self.image_size} must be at least patch_size {self.patch_size}"
            )

    @property
    def count(self) -> int:
        """The number of patches in an image."""
        (height, width), (down, across) = self.image_size, self.patch_size
        return (height // down) * (width // across)

    @property
    def width(self) -> int:
        """The number of values in a patch."""
        down, across = self.patch_size
        return self.channels * down * across

    def cut(
        self, images: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch count numbers"]:
        """Return the patches of each image, row by row, each as one vector, channel by channel.

        Raises:
            ValueError: The images have a different shape.

        >>> from torch import arange
        >>> image = arange(8.0).view(1, 1, 2, 4)
        >>> Patches(image_size=(2, 4), patch_size=(2, 2), channels=1).cut(image)
        tensor([[[0., 1., 4., 5.],
                 [2., 3., 6., 7.]]])
        """
        wanted = (self.channels, *self.image_size)
        if images.ndim != 4 or tuple(images.shape[1:]) != wanted:
            raise ValueError(
                f"images must have shape (batch, channels, height, width) = (batch, "
                f"{', '.join(map(str, wanted))}), got {tuple(images.shape)}"
            )
        down, across = self.patch_size
        squares = images.unfold(2, down, down).unfold(3, across, across)
        # (batch, channels, rows, columns, down, across)
        return squares.permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)
