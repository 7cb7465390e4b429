"""The smallest program that does what a block of a page does, to be pasted anywhere.

It holds the block, and of the blocks before it just the statements that make what it reads: a
slice of the page, backwards from the block.
"""

import ast
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from proofbook.execution.dataflow import Reader, Statement
from proofbook.execution.settings_made import EVERYWHERE, token
from proofbook.execution.showing import How, pasteable, showing
from proofbook.model import Block

SEEDS = {
    "random": ("import random", "random.seed({seed})"),
    "numpy": ("import numpy", "numpy.random.seed({seed})"),
    "torch": ("import torch", "torch.manual_seed({seed})"),
}
DISPLAY = "display"
IMPORTING = "from IPython.display import display"
"""What a program needs that shows values as a page does; a notebook does without."""
FUTURE = "from __future__ "
DEFINITIONS = ("def ", "class ", "async def ", "@")


class Slicer:
    """Takes the blocks of a page in order, and returns the program of each.

    Args:
        seed: Of the random generators at the start of the page.
        is_own: Tells whether a package is the project's, so that its imports come last.
    """

    def __init__(self, seed: int, is_own: Callable[[str], bool]) -> None:
        self._seed = seed
        self._is_own = is_own
        self._reader = Reader()
        self._page: list[Statement] = []
        self._count = 0

    def add(
        self, block: Block, draws: Sequence[tuple[int, str]], shows: Mapping[int, How] | None = None
    ) -> tuple[str, str]:
        """Return what must run before the next block of the page, and its own code without imports.

        Together they are the program.

        Args:
            block: The block.
            draws: Index of a statement and name of a random generator that it moved, for each.
            shows: By the index of its statement, how the program shows a value that the page shows.
        """
        number = self._count
        self._count += 1
        own = list(self._reader.read(number, block, draws))
        self._page += own
        kept, imports = self._kept(number)
        shows = shows or {}
        shown = {id(own[index]): how for index, how in shows.items()}
        if "display" in shows.values() or is_called(DISPLAY, kept, self._page):
            imports.append(IMPORTING)
        drawn = sorted({generator for s in kept for generator in s.draws})
        seeding = [SEEDS[generator] for generator in drawn]
        head = _sorted_imports([*imports, *(one for one, _ in seeding)], self._is_own)
        seeds = "\n".join(line.format(seed=self._seed) for _, line in seeding)
        written = [
            replace(s, code=showing(s.code, shown[id(s)])) if id(s) in shown else s for s in kept
        ]
        groups = groupby((s for s in written if not s.imported), key=lambda s: s.block)
        pieces = {block: _joined(list(group)) for block, group in groups}
        code = pieces.pop(number, "")
        return _apart([*head, *([seeds] if seeds else []), *pieces.values()]), code

    def _kept(self, number: int) -> tuple[list[Statement], list[str]]:
        """Return the statements of a block's program, and the imports that it needs.

        What is set in a package counts for programs that import it, or something of the project's,
        which may import it. Then the program holds the setting, which may import more.
        """
        settings = frozenset(map(token, EVERYWHERE))
        every = {token(p) for s in self._page for _, alone in s.imported for p in _packages(alone)}
        while True:
            kept = _needed(self._page, number, settings)
            imports = _imports_of(kept, number)
            packages = {package for alone in imports for package in _packages(alone)}
            seen = every if any(map(self._is_own, packages)) else set(map(token, packages))
            if seen <= settings:
                return kept, imports
            settings |= seen


def _imports_of(kept: Sequence[Statement], number: int) -> list[str]:
    """Return the imports of a block, and those of others that what is kept reads."""
    wanted = {name for s in kept for name in s.reads}
    return [
        alone
        for s in kept
        for name, alone in s.imported
        if s.block == number or name in wanted or alone.startswith(FUTURE)
    ]


def _packages(line: str) -> list[str]:
    """Return the packages that an import names."""
    (tree,) = ast.parse(line).body
    if isinstance(tree, ast.ImportFrom):
        return [str(tree.module).partition(".")[0]]
    return [alias.name.partition(".")[0] for alias in getattr(tree, "names", [])]


def calls_display(blocks: Sequence[Block]) -> bool:
    """Tell whether blocks show values with the `display` that pages have, and not their own."""
    if not any(DISPLAY in block.code for block in blocks):
        return False
    reader = Reader()
    page = [one for index, block in enumerate(blocks) for one in reader.read(index, block, [])]
    return is_called(DISPLAY, page, page)


def is_called(builtin: str, kept: Sequence[Statement], page: Sequence[Statement]) -> bool:
    """Tell whether statements of a page read a builtin that the page gives no other value."""
    is_read = any(builtin in one.reads for one in kept)
    return is_read and not any(builtin in one.binds for one in page)


def names_bound(blocks: Sequence[Block]) -> set[str]:
    """Return the names that blocks give a value, imports apart."""
    reader = Reader()
    statements = [
        one for index, block in enumerate(blocks) for one in reader.read(index, block, [])
    ]
    return {name for one in statements if not one.imported for name in one.binds}


def statements_behind(blocks: Sequence[Block], expression: str) -> dict[tuple[int, int], Statement]:
    """Return what an expression depends on that is evaluated after some blocks, itself included.

    Each statement is found by the index of its block and its number in it.
    """
    reader = Reader()
    page: list[Statement] = []
    places: list[tuple[int, int]] = []
    for index, block in enumerate([*blocks, Block("python", expression, line=1)]):
        for number, statement in enumerate(reader.read(index, block, [])):
            page.append(statement)
            places.append((index, number))
    kept = {id(statement) for statement in _needed(page, len(blocks))}
    return {place: one for one, place in zip(page, places, strict=True) if id(one) in kept}


def _needed(page: list[Statement], block: int, settings: Collection[str] = ()) -> list[Statement]:
    """Return the statements that the block depends on, itself included.

    Args:
        page: The statements of the page.
        block: The block.
        settings: Tokens of the packages whose settings count.
    """
    later = {name: s.reads for s in page if s.defines for name in s.binds}
    makers = _makers(page)
    wanted = set(settings)
    generators: set[str] = set()
    kept = []
    for s in reversed(page):
        touched = set(s.changes) | {n for name in s.far for n in makers.get(name, ())}
        needed = s.block == block or s.binds & wanted or touched & wanted or s.draws & generators
        if not (needed or any(alone.startswith(FUTURE) for _, alone in s.imported)):
            continue
        kept.append(s)
        wanted -= s.renews
        wanted |= with_late(s.reads, later)
        generators |= s.draws
    return kept[::-1]


def with_late(names: Collection[str], later: dict[str, frozenset[str]]) -> set[str]:
    """Names, and what the functions among them read when they are called."""
    found, waiting = set(), set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= later.get(name, frozenset()) - found
    return found


def _makers(page: list[Statement]) -> dict[str, set[str]]:
    """For each name, all names that its value was made from, however far back."""
    makers: dict[str, set[str]] = {}
    for s in page:
        if s.imported or s.defines:
            continue
        reached = set(s.reads).union(*(makers.get(name, set()) for name in s.reads))
        for name in s.binds:
            makers.setdefault(name, set()).update(reached)
    return makers


def program(before: str, code: str) -> str:
    """Return the two parts of a payload as one text, which a prompt takes too."""
    return pasteable(_apart([part for part in (before, code) if part]) + "\n")


def _apart(pieces: Sequence[str]) -> str:
    """Pieces with a blank line between them, two beside a function."""
    text = ""
    for before, piece in pairwise(["", *pieces]):
        last = next((line for line in before.split("\n")[::-1] if line[:1].strip()), "")
        tall = last.startswith(DEFINITIONS) or piece.startswith(DEFINITIONS)
        text += ("\n\n\n" if tall else "\n\n") * bool(text) + piece
    return text


def _joined(group: list[Statement]) -> str:
    """Join statements, as far apart as they were, with space around functions."""
    text = ""
    for before, s in zip([None, *group], group, strict=False):
        if before is not None:
            text += "\n" * (3 if before.defines or s.defines else 1 + min(s.above, 1))
        text += s.code
    return text


def _sorted_imports(lines: Sequence[str], is_own: Callable[[str], bool]) -> list[str]:
    """Return imports as isort groups them: Python's own, the installed, the project's.

    None twice.
    """
    groups: dict[int, set[str]] = {}
    members: dict[tuple[int, str], set[str]] = {}
    for line in lines:
        (tree,) = ast.parse(line).body
        module = tree.module if isinstance(tree, ast.ImportFrom) else tree.names[0].name  # type: ignore[attr-defined]
        package = str(module).split(".")[0]
        place = 1 if package in sys.stdlib_module_names else 3 if is_own(package) else 2
        place *= package != "__future__"
        if isinstance(tree, ast.ImportFrom) and tree.names[0].name != "*":
            members.setdefault((place, str(module)), set()).add(ast.unparse(tree.names[0]))
        else:
            groups.setdefault(place, set()).add(line)
    result = []
    for place in range(4):
        plain = sorted(groups.get(place, ()), key=lambda line: (line.startswith("from"), line))
        chosen = [
            f"from {module} import {', '.join(sorted(names))}"
            for (where, module), names in sorted(members.items())
            if where == place
        ]
        if plain or chosen:
            result.append("\n".join([*plain, *chosen]))
    return result
