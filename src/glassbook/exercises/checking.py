"""The checker of an exercise: it tries an answer on examples and explains what's wrong with it."""

import inspect
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from glassbook.exercises.comparing import difference, shown
from glassbook.exercises.verdict import Verdict

Example = tuple[str, tuple[Any, ...]]


class Draw:
    """Random tensors: the same in every check, no matter what was drawn elsewhere."""

    def __init__(self) -> None:
        self.generator = torch.Generator("cpu").manual_seed(0)

    def __call__(self, *shape: int) -> Tensor:
        """Return normally distributed numbers in float64."""
        return torch.randn(shape, generator=self.generator, dtype=torch.float64)

    def ids(self, vocab_size: int, *shape: int) -> Tensor:
        """Return random integers from 0 to `vocab_size - 1`."""
        return torch.randint(vocab_size, shape, generator=self.generator)


@dataclass(frozen=True)
class Exercise:
    """A checker: call it with a function, and it says whether that's right or what's wrong with it.

    Attributes:
        asks: What the function should return.
        reference: A right answer.
        examples: Makes the examples to try an answer on, each a name and the arguments.
        mistakes: Common wrong answers, each under the message that explains it.
    """

    asks: str
    reference: Callable[..., Any]
    examples: Callable[[Draw], Iterable[Example]]
    mistakes: Mapping[str, Callable[..., Any]]

    def __call__(self, answer: Callable[..., Any]) -> Verdict:
        """Try the answer on every example, and stop at the first one it gets wrong."""
        if not callable(answer):
            return Verdict(
                False,
                f"Not yet. This is {shown(answer)}; pass the function itself.",
                ("Pass its name, without calling it.",),
            )
        with _same_start():
            examples = list(self.examples(Draw()))
            for example in examples:
                outcome = self._outcome(answer, example)
                if isinstance(outcome, Verdict):
                    return outcome
                if told := difference(outcome, self._outcome(self.reference, example)):
                    return self._not_yet(answer, examples, told, self._seen_with(example))
        names = "; ".join(name for name, _ in examples)
        says, because = f"Right. It returns {self.asks}.", (f"Checked with {names}.",)
        return Verdict(True, says, because, answer, self)

    def __repr__(self) -> str:
        return f"Exercise({self.asks!r})"

    def _outcome(self, answer: Callable[..., Any], example: Example) -> Any:
        """Return the result of an answer, or a verdict if there's nothing to compare."""
        handed = copied(example[1])
        try:
            outcome = answer(*handed)
        except NotImplementedError:
            outcome = None
        except Exception as error:
            first_line, _, _ = str(error).partition("\n")
            told = f"{type(error).__name__}: {first_line}"
            because = (*_line_of(error), self._seen_with(example))
            return Verdict(False, f"Not yet. Your function stops with {told}", because)
        if outcome is None or outcome is ...:
            says = (
                f"Nothing to check yet. The function returns nothing. It should return {self.asks}."
            )
            return Verdict(False, says)
        for name, before, after in zip(self._names(), example[1], handed, strict=False):
            if isinstance(before, Tensor) and difference(after, before):
                says = f"Not yet. Your function changes its argument {name}, which is the caller's."
                return Verdict(False, says, ("Make a new tensor, or work on a clone().",))
        return outcome

    def _not_yet(
        self, answer: Callable[..., Any], examples: list[Example], told: str, seen: str
    ) -> Verdict:
        """Return the verdict on a wrong answer: its mistake, if that's known, and what was seen."""
        outcomes = [self._outcome(answer, example) for example in examples]
        told = f"{told[0].upper()}{told[1:]}."
        for says, mistake in self.mistakes.items():
            mistaken = [self._outcome(mistake, example) for example in examples]
            if all(map(_alike, outcomes, mistaken)):
                return Verdict(False, f"Not yet. {says}", (seen, told))
        return Verdict(False, f"Not yet. {told}", (seen,))

    def _seen_with(self, example: Example) -> str:
        """Return an example in words, with the shapes of its arguments."""
        name, given = example
        parts = [
            f"{argument} {tuple(value.shape) if isinstance(value, Tensor) else shown(value)}"
            for argument, value in zip(self._names(), given, strict=False)
            if not callable(value)
        ]
        return f"Seen with {name}: {', '.join(parts)}."

    def _names(self) -> list[str]:
        return list(inspect.signature(self.reference).parameters)


def copied(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return copies of the arguments, so one answer can't change those of the next."""
    return tuple(value.clone() if isinstance(value, Tensor) else value for value in given)


def _alike(one: Any, other: Any) -> bool:
    """Return whether two outcomes are the same, or both are verdicts."""
    if isinstance(other, Verdict):
        return isinstance(one, Verdict)
    return difference(one, other) is None


def _line_of(error: Exception) -> Iterator[str]:
    """Yield the line of the answer that raised the error, if it can be read."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)[1:] if frame.line]
    if frames:
        yield f"In the line: {frames[0].line}"


@contextmanager
def _same_start() -> Iterator[None]:
    """Make new tensors in float64 on the CPU, like an answer's arguments, while the answer runs."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("cpu"):
            yield
    finally:
        torch.set_default_dtype(before)
