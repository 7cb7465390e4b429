"""Patches against slices taken by hand, and against torch's own."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from glassformer.layers.patches import Patches

SIZE = st.integers(1, 5)


@given(SIZE, SIZE, st.integers(1, 4), st.integers(1, 4), st.integers(0, 4), st.integers(0, 4), SIZE)
def test_each_patch_is_its_own_part_of_the_image(
    down, across, rows, columns, below, right, channels
):
    """Whatever is left over below and at the right."""
    size = (down * rows + below % down, across * columns + right % across)
    patches = Patches(image_size=size, patch_size=(down, across), channels=channels)
    images = torch.randn(3, channels, *size)
    cut = patches.cut(images)
    assert cut.shape == (3, patches.count, patches.width) == (3, rows * columns, cut.shape[2])
    for row in range(rows):
        for column in range(columns):
            part = images[
                :, :, row * down : (row + 1) * down, column * across : (column + 1) * across
            ]
            assert cut[:, row * columns + column].equal(part.flatten(1))


def test_a_map_of_patches_is_a_convolution():
    patches = Patches(image_size=(19, 29), patch_size=(5, 7), channels=2)
    images, weight = torch.randn(3, 2, 19, 29).double(), torch.randn(11, 2, 5, 7).double()
    expected = nn.functional.conv2d(images, weight, stride=(5, 7)).flatten(2).mT
    torch.testing.assert_close(patches.cut(images) @ weight.flatten(1).mT, expected)


def test_sizes_that_do_not_fit(subtests):
    rows = [
        ({"patch_size": (0, 2)}, r"patch_size \(0, 2\) and channels \(3\) must be at least 1"),
        ({"channels": 0}, r"patch_size \(2, 2\) and channels \(0\) must be at least 1"),
        ({"patch_size": (2, 9)}, r"image_size \(4, 6\) must be at least patch_size \(2, 9\)"),
        ({"image_size": (1, 6)}, r"image_size \(1, 6\) must be at least patch_size \(2, 2\)"),
    ]
    for choices, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            Patches(**{"image_size": (4, 6), "patch_size": (2, 2), **choices})


@pytest.mark.usefixtures("unhooked")
def test_images_of_another_shape(subtests):
    for shape in [(1, 3, 6, 4), (1, 2, 4, 6), (3, 4, 6), (1, 1, 3, 4, 6)]:
        with subtests.test(shape=shape):
            patches = Patches(image_size=(4, 6), patch_size=(2, 2))
            with pytest.raises(ValueError, match=r"= \(batch, 3, 4, 6\), got \(") as error:
                patches.cut(torch.zeros(shape))
            assert str(shape) in str(error.value)
