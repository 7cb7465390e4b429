"""What a page lacks once a block of it has failed, and what depends on that.

The blocks after it run all the same, so that all that is wrong with a page is told at once. What
comes out otherwise because the failed block did not do its part is no problem of its own.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from proofbook.execution.dataflow import Reader, Statement
from proofbook.execution.slicing import with_late
from proofbook.model import Block

EVERY_NAME = "*"
"""What a star import binds if its module can't be loaded: unknown names."""
DEFINED = re.compile(r"^[ \t]*(?:async +)?(?:def|class) +(\w+)", re.MULTILINE)
LISTED = re.compile(
    r"^[ \t]*(?P<targets>[^\n=#]*?)(?<![=!<>])=(?!=)|\b(?:import|as|for) +(?P<names>[\w, .]+)",
    re.MULTILINE,
)


class Aftermath:
    """Knows which names of a page are not what they would be if every block had run to its end.

    Args:
        blocks: Those that came before the first that failed.
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
        """Add the next block; return which of its statements depend on what is missing.

        Args:
            block: The block that failed, or one after it.
            ran: How many of its statements ran to their end.
            drew: Which of them moved a random generator: a block that failed might have done so.
        """
        try:
            statements = self._statements(block)
        except (SyntaxError, ValueError, RecursionError):  # nothing of it has run
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
        """Tell whether one of some names is not what it would be, or calls what is not."""
        return not self._lacking.isdisjoint(with_late(names, self._late))

    def explains(self, error: BaseException | None) -> bool:
        """Tell whether an error says of a lacking name that it is not there."""
        return isinstance(error, NameError) and (self.is_boundless or error.name in self._lacking)

    @property
    def is_boundless(self) -> bool:
        """Whether any name that is not there may be a lacking one."""
        return EVERY_NAME in self._lacking

    def _statements(self, block: Block) -> list[Statement]:
        self._count += 1
        return list(self._reader.read(self._count - 1, block, []))


def _read_late(statements: Sequence[Statement]) -> dict[str, frozenset[str]]:
    """Return what functions read when they are called, by their names."""
    return {name: one.reads for one in statements if one.defines for name in one.binds}


def names_written(code: str) -> set[str]:
    """Return the names that code seems to bind that cannot be parsed, and perhaps some more."""
    names = set(DEFINED.findall(code))
    for match in LISTED.finditer(code):
        names.update(re.findall(r"[^\W\d]\w*", match["targets"] or match["names"] or ""))
    return names
