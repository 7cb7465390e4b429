"""Track what a page lacks after a block has failed, and what depends on it.

Later blocks still run, so one check reports everything wrong with a page. A result that differs
only because of the failed block isn't a separate problem.
"""

import re
from collections.abc import Collection, Iterable

from proofbook.execution.names import EVERY_NAME, constants, read_later, statements_of, with_later
from proofbook.model import Block

DEFINED = re.compile(r"^[ \t]*(?:async +)?(?:def|class) +(\w+)", re.MULTILINE)
LISTED = re.compile(
    r"^[ \t]*(?P<targets>[^\n=#]*?)(?<![=!<>])=(?!=)|\b(?:import|as|for) +(?P<names>[\w, .]+)",
    re.MULTILINE,
)


class FailurePropagation:
    """The names whose values are wrong or missing because a block failed.

    Args:
        blocks: The blocks before the first one that failed.
    """

    def __init__(self, blocks: Iterable[Block]) -> None:
        before = [one for block in blocks for one in statements_of(block)]
        self._later = read_later(before)
        self._constants = constants(before)
        self._lacking: set[str] = set()
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
            statements = statements_of(block)
        except (SyntaxError, ValueError, RecursionError):  # none of it ran
            self._lacking |= names_written(block.code)
            self._has_failed = True
            return []
        touched = []
        for number, one in enumerate(statements):
            self._later.update(read_later([one]))
            self._constants |= constants([one])
            is_touched = self.touches(one.reads) or (self._has_failed and number in drew)
            touched.append(is_touched)
            if is_touched or number >= ran:
                self._lacking |= one.binds | (one.changes - self._constants)
            else:
                self._lacking -= one.renews
        self._has_failed = True
        return touched

    def touches(self, names: Collection[str]) -> bool:
        """Return whether any of the names is affected, or calls something that is."""
        return not self._lacking.isdisjoint(with_later(names, self._later))

    def explains(self, error: BaseException | None) -> bool:
        """Return whether an error reports that an affected name is missing."""
        return isinstance(error, NameError) and (self.is_boundless or error.name in self._lacking)

    @property
    def is_boundless(self) -> bool:
        """Whether the failure could explain any missing name."""
        return EVERY_NAME in self._lacking


def names_written(code: str) -> set[str]:
    """Return the names that unparsable code seems to bind, perhaps with a few extra."""
    names = set(DEFINED.findall(code))
    for match in LISTED.finditer(code):
        names.update(re.findall(r"[^\W\d]\w*", match["targets"] or match["names"] or ""))
    return names
