"""Read numbers as they are written, and test whether a value rounds to one of them."""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

WRITTEN = re.compile(
    r"(?P<sign>[-+−]?)(?P<whole>\d{1,3}(?:,\d{3})+|\d+)?(?P<part>(?<=\d)\.\d*|\.\d+)?"
    r"(?P<power>(?<=[\d.])[eE][-+]?\d+)?(?P<percent>\s*%)?"
)
LONGEST = 1000
"""Maximum length of a numeral, in characters: nobody reads anything longer as a number."""


@dataclass(frozen=True)
class Numeral:
    """A number as it is written: `digits` × 10 ** `exponent`, rounded in the last digit.

    Attributes:
        digits: Its digits as one integer, negative after a minus sign.
        exponent: The power of ten of the last digit; a percentage counts as a fraction (-2 for 5%).
        sign: 1 or -1 if a sign is written, even before a zero; else 0.
        is_scientific: Whether it has a power of ten, such as `e-6`.
    """

    digits: int
    exponent: int
    sign: int = 0
    is_scientific: bool = False

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Return a text as a number; None if it isn't one."""
        match = WRITTEN.fullmatch(text) if len(text) <= LONGEST else None
        if not match or not (match["whole"] or match["part"]):
            return None
        whole, part = (match["whole"] or "").replace(",", ""), (match["part"] or ".")[1:]
        sign = 0 if not match["sign"] else 1 if match["sign"] == "+" else -1
        power = int(match["power"][1:]) if match["power"] else 0
        exponent = power - len(part) - (2 if match["percent"] else 0)
        return cls((sign or 1) * int(whole + part), exponent, sign, bool(match["power"]))

    def says(self, value: int | float) -> bool:
        """Return whether a value, rounded to the last digit, is this number.

        A value halfway between two such numbers may be written as either. An integer is rounded
        only if it is written with a power of ten. A signed zero says which side of zero the value
        is on; a zero with a power of ten means exactly zero.
        """
        if not self.digits and self.sign and self.sign != _sign(value):
            return False
        if value == 0 or (self.is_scientific and not self.digits):
            return self.digits == value == 0
        if isinstance(value, int):
            return self._says_whole(value)
        low, high = self.bounds()  # first, since a power of ten may be too large to compute
        return math.isfinite(value) and low <= value <= high and self._is_near(value)

    def bounds(self) -> tuple[float, float]:
        """Return the smallest and the largest number that round to this one."""
        low, high = (float(f"{limit}e{self.exponent - 2}") for limit in self.limits())
        if self.sign and not self.digits:
            return (low, -0.0) if self.sign < 0 else (0.0, high)
        return low, high

    def limits(self) -> tuple[int, int]:
        """Return the same bounds exactly, in hundredths of a unit of the last digit.

        Numbers just below `1.0e3` are written with a smaller power of ten, so in smaller steps.
        """
        is_lowest = self.is_scientific and str(abs(self.digits)).strip("0") == "1"
        inwards = 5 if is_lowest else 50
        below, above = (inwards, 50) if self.digits > 0 else (50, inwards)
        return 100 * self.digits - below, 100 * self.digits + above

    def _is_near(self, value: float) -> bool:
        """Compare exactly, using the value as it's stored and as it's printed."""
        low, high = (limit * Fraction(10) ** (self.exponent - 2) for limit in self.limits())
        return any(low <= exact <= high for exact in (Fraction(value), Fraction(repr(value))))

    def _says_whole(self, value: int) -> bool:
        if self.exponent > value.bit_length() + 1 or -self.exponent > LONGEST:
            return False  # before computing a power of ten that fills the memory
        if self.exponent <= 0:
            return self.digits == value * 10**-self.exponent
        low, high = (limit * 10**self.exponent for limit in self.limits())
        return low <= 100 * value <= high


def _sign(value: int | float) -> int:
    return -1 if value < 0 or (value == 0 and math.copysign(1, value) < 0) else 1
