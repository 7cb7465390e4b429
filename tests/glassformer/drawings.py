"""What drawings cover and how their colors contrast."""

import re


def stroked(path):
    """The cells, as column and row, that the strokes of a large matrix cover."""
    x, y, covered = 0, 0, []
    for right, down, count in re.findall(r"m(-?\d+) (-?\d+)h(\d+)", path):
        x, y = x + int(right), y + int(down)
        covered += [(x + k, y) for k in range(int(count))]
        x += int(count)
    return covered


def contrast(one, other):
    """WCAG 2.2's contrast ratio."""

    def light(colour):
        linear = [
            c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4
            for c in colour
        ]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)
