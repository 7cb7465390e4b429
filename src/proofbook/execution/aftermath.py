"""Track what a page lacks after a block has failed, and what depends on it.

Later blocks still run, so one check reports everything wrong with a page. A result that differs
only because of the failed block isn't a separate problem.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from proofbook.execution.dataflow import Reader, Statement
from proofbook.execution.slicing import with_late
from proofbook.model import Block

EVERY_NAME = "*"
"""Stands for the unknown names that a star import binds if its module can't be loaded."""
DEFINED = re.compile(r"^[ \t]*(?:async +)?(?:def|class) +(\w+)", re.MULTILINE)
LISTED = re.compile(
    r"^[ \t]*(?P<targets>[^\n=#]*?)(?<![=!<>])=(?!=)|\b(?:import|as|for) +(?P<names>[\w, .]+)",
    re.MULTILINE,
)


class Aftermath:
    """The names whose values are wrong or missing because a block failed.

    Args:
        blocks: The blocks before the first one that failed.
    """

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._reader = Reader()
        self._late: dict[str, frozenset[str]] = {}
        self._lacking: set[str] = set()
        self._count = 0
        for block in blocks:
            self._late.update(_read_late(self._statements(block)))
        self._has_failed = False

    def add(self, block: Block, ran: int, drew: Collection[int] = ()) -> list[bool]:
        """Add the next block; return, for each statement, whether an earlier failure affects it.

        Args:
            block: The block that failed, or one after it.
            ran: Number of its statements that completed.
            drew: Indices of the statements that advanced a random generator, which a failed block
                may have left in a different state.
        """
        try:
            statements = self._statements(block)
        except (SyntaxError, ValueError, RecursionError):  # none of it ran
            self._lacking |= names_written(block.code)
            self._has_failed = True
            return []
        touched = []
        for number, one in enumerate(statements):
            self._late.update(_read_late([one]))
            is_touched = self.touches(one.reads) or (self._has_failed and number in drew)
            touched.append(is_touched)
            if is_touched or number >= ran:
                self._lacking |= one.binds | one.changes
            else:
                self._lacking -= one.renews
        self._has_failed = True
        return touched

    def touches(self, names: Collection[str]) -> bool:
        """Return whether any of the names is affected, or calls something that is."""
        return not self._lacking.isdisjoint(with_late(names, self._late))

    def explains(self, error: BaseException | None) -> bool:
        """Return whether an error reports that an affected name is missing."""
        return isinstance(error, NameError) and (self.is_boundless or error.name in self._lacking)

    @property
    def is_boundless(self) -> bool:
        """Whether the failure could explain any missing name."""
        return EVERY_NAME in self._lacking

    def _statements(self, block: Block) -> list[Statement]:
        self._count += 1
        return list(self._reader.read(self._count - 1, block, []))


def _read_late(statements: Sequence[Statement]) -> dict[str, frozenset[str]]:
    """Return the names that each function reads when called, by the function's name."""
    return {name: one.reads for one in statements if one.defines for name in one.binds}


def names_written(code: str) -> set[str]:
    """Return the names that unparsable code seems to bind, perhaps with a few extra."""
    names = set(DEFINED.findall(code))
    for match in LISTED.finditer(code):
        names.update(re.findall(r"[^\W\d]\w*", match["targets"] or match["names"] or ""))
    return names
