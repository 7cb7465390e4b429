"""Problems in a chapter: what is wrong, and where."""

from collections.abc import Collection
from dataclasses import dataclass
from textwrap import indent


@dataclass(frozen=True, order=True)
class Problem:
    """One reason why a chapter doesn't pass.

    Attributes:
        path: The chapter's file.
        line: Line of the file, from 1.
        message: What is wrong, in one line.
        code: The code or text at fault.
        detail: A diff or a traceback.
    """

    path: str
    line: int
    message: str
    code: str = ""
    detail: str = ""

    def __str__(self) -> str:
        """Return the file, line, and message, then the code and the detail, indented."""
        parts = [f"{self.path}:{self.line}: {self.message}"]
        if self.code:
            parts.append(indent(self.code.rstrip("\n"), "    | ", lambda line: True))
        if self.detail:
            parts.append(indent(self.detail.rstrip("\n"), "    "))
        return "\n".join(parts)

    def is_one_of(self, exceptions: Collection[str]) -> bool:
        """Return whether one of these exceptions, given by name, caused the problem."""
        last = (line.lstrip("+ ") for line in (self.message, *self.detail.splitlines()))
        return any(line.partition(":")[0].rpartition(".")[2] in exceptions for line in last)


class ChapterError(Exception):
    """Error that stops the program when a chapter fails; its message lists every problem."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n\n".join(map(str, problems)))
        self.problems = problems
