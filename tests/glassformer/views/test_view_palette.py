"""What a reader's eyes need of the colors: contrast, and roles that stay apart for all of them."""

import itertools
import math

from glassformer.views.palette import GROUPS, ROLES, THEME

PAPERS = ("#fdfcf9", "#15171b")
# Machado, Oliveira and Fernandes (2009), table 1: what a missing kind of cone does to linear RGB.
EYES = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
APART = 9  # of CIE 1976 differences; 2.3 can just be told


def linear(color):
    shares = [c / 255 for c in bytes.fromhex(color[1:])]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]


def luminance(rgb):
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), rgb, strict=True))


def lab(rgb):
    x = sum(w * c for w, c in zip((0.4124, 0.3576, 0.1805), rgb, strict=True)) / 0.9505
    z = sum(w * c for w, c in zip((0.0193, 0.1192, 0.9505), rgb, strict=True)) / 1.089
    fx, fy, fz = (
        max(v, 0) ** (1 / 3) if v > 0.008856 else 7.787 * v + 4 / 29 for v in (x, luminance(rgb), z)
    )
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def seen(color, eyes):
    rgb = linear(color)
    return lab([min(1, max(0, sum(m * c for m, c in zip(row, rgb, strict=True)))) for row in eyes])


def contrast(one, other):
    dark, bright = sorted(luminance(linear(color)) for color in (one, other))
    return (bright + 0.05) / (dark + 0.05)


def test_each_role_can_be_written_with():
    found = {
        (role, paper): contrast(color, paper)
        for role, colors in ROLES.items()
        for color, paper in zip(colors, PAPERS, strict=True)
    }
    low = {place: ratio for place, ratio in found.items() if ratio < 4.5}
    assert not low, low


def test_roles_that_meet_are_told_apart_by_everybody():
    found = {
        (one, other, eyes, scheme): math.dist(
            *(seen(ROLES[role][scheme], EYES[eyes]) for role in (one, other))
        )
        for group, eyes, scheme in itertools.product(GROUPS.values(), EYES, (0, 1))
        for one, other in itertools.combinations(group, 2)
    }
    near = {pair: apart for pair, apart in found.items() if apart < APART}
    assert not near, near


def test_a_theme_has_each_role_in_both_schemes():
    for role, colors in ROLES.items():
        assert all(f"--{role}:{color};" in THEME for color in colors)
