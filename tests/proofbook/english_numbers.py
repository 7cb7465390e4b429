"""How English says numbers, apart from the engine: what its words are tested against."""

import itertools

from hypothesis import strategies as st

SMALL = [
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def below_hundred(number: int) -> str:
    if number < 20:
        return SMALL[number - 1]
    return " ".join([TENS[number // 10 - 2], *([SMALL[number % 10 - 1]] if number % 10 else [])])


def below_thousand(number: int) -> list[str]:
    hundreds, rest = divmod(number, 100)
    if not hundreds:
        return [below_hundred(rest)]
    head = f"{SMALL[hundreds - 1]} hundred"
    return [f"{head} {link}{below_hundred(rest)}" for link in ("", "and ")] if rest else [head]


def wordings(number: int) -> set[str]:
    """All ways to say a number from 0 to a trillion, with blanks between the words."""
    if number == 0:
        return {"zero"}
    groups = [
        [f"{words} {scale}" for words in below_thousand(number // size % 1000)]
        for scale, size in (("billion", 10**9), ("million", 10**6), ("thousand", 1000))
        if number // size % 1000
    ]
    rest = number % 1000
    last = below_thousand(rest) if rest else []
    if groups and 0 < rest < 100:
        last = [*last, f"and {below_hundred(rest)}"]
    said = {" ".join(parts) for parts in itertools.product(*groups, *([last] if last else []))}
    if 1000 < number < 10_000 and number // 100 % 10:
        head, rest = f"{below_hundred(number // 100)} hundred", number % 100
        said |= {f"{head} {link}{below_hundred(rest)}" for link in ("", "and ")} if rest else {head}
    return said


NUMBERS = st.one_of(
    st.integers(0, 120), st.integers(0, 10_000), st.integers(0, 10**12 - 1),
    st.builds(lambda one, power: one * 10**power, st.integers(1, 999), st.integers(0, 9)),
)  # fmt: skip
