"""RoPE scaling: rotary positions changed for texts longer than those in training."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.layers.positions import RotaryPositions, rotary_frequencies


@dataclass(frozen=True, kw_only=True)
class RopeScaling:
    """A way to change the frequencies of rotary positions.

    Attributes:
        factor: How many times longer texts may be than in training.

    Raises:
        ValueError: A value is out of range.
    """

    factor: float

    def __post_init__(self):
        if not self.factor > 0:
            raise ValueError(f"factor ({self.factor!r}) must be more than 0")

    @property
    def magnitude(self) -> float:
        """The number that queries and keys are multiplied by when they're rotated."""
        return 1.0

    def frequencies(self, head_dim: int, theta: float) -> Float[Tensor, " pairs"]:
        """Return how far each pair turns from one position to the next.

        The steps are those of transformers, in float32 and in the same order, since a position
        multiplies every rounding error.

        Shapes: (head_dim / 2).
        """
        raise NotImplementedError(type(self).__name__)


@dataclass(frozen=True, kw_only=True)
class LinearScaling(RopeScaling):
    """Position interpolation: every pair turns more slowly, by the same factor.

    Source: Chen et al. 2023, "Extending context window of large language models via positional
    interpolation", equation 4.

    >>> LinearScaling(factor=4.0).frequencies(4, 10000.0)
    tensor([0.2500, 0.0025])
    """

    def frequencies(self, head_dim: int, theta: float) -> Float[Tensor, " pairs"]:
        """Divide each frequency by `factor`."""
        return rotary_frequencies(head_dim, theta) / self.factor


@dataclass(frozen=True, kw_only=True)
class DynamicScaling(RopeScaling):
    """Dynamic NTK scaling: the longer a text is than those in training, the slower the pairs turn.

    It raises theta, which slows the slow pairs the most and the fastest pair not at all.

    Attributes:
        original_max_positions: The length of the longest text in training.

    Source: Peng et al. 2023, "YaRN", section 3.1 and appendix A.1; transformers 5.23,
    `_compute_dynamic_ntk_parameters`.
    """

    original_max_positions: int

    def frequencies(self, head_dim: int, theta: float) -> Float[Tensor, " pairs"]:
        """Return the unscaled frequencies, for texts no longer than those in training."""
        return rotary_frequencies(head_dim, theta)

    def frequencies_at(
        self, length: Int[Tensor, ""], head_dim: int, theta: float
    ) -> Float[Tensor, " pairs"]:
        """Return the frequencies for a text of this length.

        Shapes: One number, to (head_dim / 2).
        """
        stretch = self.factor * length / self.original_max_positions - (self.factor - 1)
        base = theta * stretch ** (head_dim / (head_dim - 2))
        pair = torch.arange(0, head_dim, 2, dtype=torch.float32, device=length.device)  # 2c
        stretched = 1.0 / base ** (pair / head_dim)
        unscaled = self.frequencies(head_dim, theta).to(length.device)
        return torch.where(length > self.original_max_positions, stretched, unscaled)


@dataclass(frozen=True, kw_only=True)
class Llama3Scaling(RopeScaling):
    """Llama 3.1's scaling: pairs that turn often in a training text aren't slowed.

    Pairs that turn more than `high_freq_factor` times in a training text stay the same, those that
    turn fewer than `low_freq_factor` times are slowed by `factor`, and those in between are slowed
    by a factor in between.

    Attributes:
        original_max_positions: The length of the longest text in training.
        low_freq_factor: Pairs that turn fewer times than this are slowed by the whole factor.
        high_freq_factor: Pairs that turn more times than this stay as they are.

    Source: Grattafiori et al. 2024, "The Llama 3 herd of models", section 3.2; transformers 5.23,
    `_compute_llama3_parameters`.
    """

    original_max_positions: int
    low_freq_factor: float
    high_freq_factor: float

    def __post_init__(self):
        super().__post_init__()
        if not self.low_freq_factor < self.high_freq_factor:
            raise ValueError(
                f"low_freq_factor ({self.low_freq_factor!r}) must be less than high_freq_factor "
                f"({self.high_freq_factor!r})"
            )

    def frequencies(self, head_dim: int, theta: float) -> Float[Tensor, " pairs"]:
        """Slow each pair according to how often it turns in a training text."""
        fast = rotary_frequencies(head_dim, theta)
        wavelength = 2 * math.pi / fast  # in positions
        span = self.high_freq_factor - self.low_freq_factor
        kept = (self.original_max_positions / wavelength - self.low_freq_factor) / span
        between = (1 - kept) * fast / self.factor + kept * fast
        longest = self.original_max_positions / self.low_freq_factor
        shortest = self.original_max_positions / self.high_freq_factor
        slowed = torch.where(wavelength > longest, fast / self.factor, between)
        return torch.where(wavelength < shortest, fast, slowed)


@dataclass(frozen=True, kw_only=True)
class YarnScaling(RopeScaling):
    """YaRN: fast pairs don't change, slow ones are slowed by the whole factor, and all scores grow.

    Attributes:
        original_max_positions: The length of the longest text in training.
        beta_fast: Pairs that turn more times than this in such a text stay as they are.
        beta_slow: Pairs that turn fewer times than this in it are slowed by the whole factor.
        truncate: Whether the two bounds are rounded to whole pairs, away from each other.
        attention_factor: The magnitude itself; None computes it.
        mscale: How much the magnitude grows with the logarithm of `factor`, if
            `mscale_all_dim` is given too.
        mscale_all_dim: The same for the number that the magnitude is divided by.

    Source: Peng et al. 2023, "YaRN", section 3.2, definition 2 and section 3.4; transformers 5.23,
    `_compute_yarn_parameters`.
    """

    original_max_positions: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    attention_factor: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None

    @property
    def magnitude(self) -> float:
        """The number that queries and keys are multiplied by when they're rotated."""
        if self.attention_factor is not None:
            return self.attention_factor
        if self.mscale and self.mscale_all_dim:
            return self._growth(self.mscale) / self._growth(self.mscale_all_dim)
        return self._growth(1.0)

    def frequencies(self, head_dim: int, theta: float) -> Float[Tensor, " pairs"]:
        """Mix each pair's frequency with the same frequency divided by `factor`."""
        pair = torch.arange(0, head_dim, 2, dtype=torch.float32)  # 2c
        wavelength = theta ** (pair / head_dim)  # in positions, for an angle of one
        first = max(self._pair_with(self.beta_fast, head_dim, theta, math.floor), 0.0)
        last = min(self._pair_with(self.beta_slow, head_dim, theta, math.ceil), head_dim - 1.0)
        if first == last:
            last += 0.001  # no division by zero
        ramp = (torch.arange(head_dim // 2, dtype=torch.float32) - first) / (last - first)
        kept = 1 - ramp.clamp(0, 1)
        return 1.0 / (self.factor * wavelength) * (1 - kept) + 1.0 / wavelength * kept

    def _growth(self, slope: float) -> float:
        return 1.0 if self.factor <= 1 else 0.1 * slope * math.log(self.factor) + 1.0

    def _pair_with(
        self, turns: float, head_dim: int, theta: float, rounded: Callable[[float], int]
    ) -> float:
        """Return the index, possibly fractional, of the pair that turns this often in training."""
        wavelength = self.original_max_positions / (turns * 2 * math.pi)
        found = head_dim * math.log(wavelength) / (2 * math.log(theta))
        return float(rounded(found)) if self.truncate else found


SCALINGS: Mapping[str, type[RopeScaling]] = MappingProxyType(
    {
        "linear": LinearScaling,
        "dynamic": DynamicScaling,
        "llama3": Llama3Scaling,
        "yarn": YarnScaling,
    }
)
"""The kinds of scaling, by their names in transformers."""


class ScaledRotaryPositions(RotaryPositions):
    """Rotary positions whose frequencies are scaled, whatever the length of the text.

    Shapes: (..., seq, head_dim) to the same; position ids broadcast to (..., seq).

    >>> ScaledRotaryPositions(4, LinearScaling(factor=4.0)).frequencies.abs()
    tensor([0.2500, 0.2500, 0.0025, 0.0025])
    """

    def __init__(
        self,
        head_dim: int,
        scaling: RopeScaling,
        *,
        theta: float = 10000.0,
        interleaved: bool = True,
    ):
        self.scaling = scaling  # first, since the frequencies depend on it
        super().__init__(head_dim, theta=theta, interleaved=interleaved)

    def forward(
        self, heads: Float[Tensor, "*batch seq head_dim"], position_ids: Int[Tensor, "*#batch seq"]
    ) -> Float[Tensor, "*batch seq head_dim"]:
        """Rotate each pair, and multiply it by the magnitude."""
        angle = position_ids[..., None] * self._frequencies_for(position_ids)
        cos, sin = (part * self.scaling.magnitude for part in (angle.cos(), angle.sin()))
        return heads * cos.to(heads.dtype) + self._partners(heads) * sin.to(heads.dtype)

    def extra_repr(self) -> str:
        """Return the width of a head, how it's rotated, and how that's scaled."""
        return f"{super().extra_repr()}, scaling={self.scaling}"

    def _pair_frequencies(self) -> Float[Tensor, " pairs"]:
        return self.scaling.frequencies(self.head_dim, self.theta)

    def _frequencies_for(self, position_ids: Int[Tensor, "*batch seq"]) -> Tensor:
        return self.frequencies


class DynamicRotaryPositions(ScaledRotaryPositions):
    """Rotary positions whose frequencies depend on the longest text of the batch.

    As in transformers, they also depend on earlier texts. A text longer than those in training
    sets the frequencies for all texts after it, until a longer one sets them again or one shorter
    than those in training resets them. Cached keys aren't rotated again. (transformers 5.4 lost
    track of earlier texts.)

    Shapes: (..., seq, head_dim) to the same; position ids broadcast to (..., seq).

    Source: transformers 5.23, `dynamic_rope_update`.
    """

    scaling: DynamicScaling
    longest: Tensor | None = None  # the length that the frequencies are for

    @torch.no_grad()
    def _frequencies_for(self, position_ids: Int[Tensor, "*batch seq"]) -> Tensor:
        length, original = position_ids.max() + 1, self.scaling.original_max_positions
        past = length if self.longest is None else self.longest.to(length.device)
        self.longest = length.maximum(past).where(length >= original, original)
        return self._signed(self.scaling.frequencies_at(self.longest, self.head_dim, self.theta))


def rotary_positions(
    head_dim: int, scaling: RopeScaling | None, *, theta: float, interleaved: bool
) -> RotaryPositions:
    """Make rotary positions, scaled or not.

    >>> rotary_positions(4, None, theta=10000.0, interleaved=True)
    RotaryPositions(4, theta=10000.0, interleaved=True)
    """
    if scaling is None:
        return RotaryPositions(head_dim, theta=theta, interleaved=interleaved)
    if isinstance(scaling, DynamicScaling):
        return DynamicRotaryPositions(head_dim, scaling, theta=theta, interleaved=interleaved)
    return ScaledRotaryPositions(head_dim, scaling, theta=theta, interleaved=interleaved)
