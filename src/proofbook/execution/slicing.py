"""Extract the smallest program that does the same as a block of a page, ready to paste anywhere.

It consists of the block and, from earlier blocks, only the statements that the block depends on: a
backward slice of the page.
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
"""The import that a program needs to show values as a page does; a notebook doesn't need it."""
FUTURE = "from __future__ "
DEFINITIONS = ("def ", "class ", "async def ", "@")


class Slicer:
    """A slicer that takes the blocks of a page in order and returns each block's program.

    Args:
        seed: The seed of the random generators at the start of the page.
        is_own: Returns whether a package is the project's, whose imports come last.
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
        """Add the next block; return the code to run before it, and its own code without imports.

        Together they are the block's program.

        Args:
            block: The block.
            draws: For each draw, the statement's index and the generator that it advanced.
            shows: How the program shows the values that the page shows, by the statement's index.
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

        A package's settings count if the program imports it, or imports anything from the project,
        which may import it in turn. The program must then make those settings too, which may need
        more imports.
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
    """Return a block's imports, and those from other blocks that the kept statements read."""
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
    """Return whether blocks use the `display` that every page has, not one of their own."""
    if not any(DISPLAY in block.code for block in blocks):
        return False
    reader = Reader()
    page = [one for index, block in enumerate(blocks) for one in reader.read(index, block, [])]
    return is_called(DISPLAY, page, page)


def is_called(builtin: str, kept: Sequence[Statement], page: Sequence[Statement]) -> bool:
    """Return whether statements of a page read a builtin that the page doesn't rebind."""
    is_read = any(builtin in one.reads for one in kept)
    return is_read and not any(builtin in one.binds for one in page)


def names_bound(blocks: Sequence[Block]) -> set[str]:
    """Return the names that blocks bind, except by imports."""
    reader = Reader()
    statements = [
        one for index, block in enumerate(blocks) for one in reader.read(index, block, [])
    ]
    return {name for one in statements if not one.imported for name in one.binds}


def statements_behind(blocks: Sequence[Block], expression: str) -> dict[tuple[int, int], Statement]:
    """Return an expression that follows some blocks, and the statements that it depends on.

    The keys are the index of a statement's block and its own index within the block.
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
    """Return the statements that the block depends on, including its own.

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
    """Return the names, plus those that functions among them read when called."""
    found, waiting = set(), set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= later.get(name, frozenset()) - found
    return found


def _makers(page: list[Statement]) -> dict[str, set[str]]:
    """Return, for each name, all names that its value was made from, however far back."""
    makers: dict[str, set[str]] = {}
    for s in page:
        if s.imported or s.defines:
            continue
        reached = set(s.reads).union(*(makers.get(name, set()) for name in s.reads))
        for name in s.binds:
            makers.setdefault(name, set()).update(reached)
    return makers


def program(before: str, code: str) -> str:
    """Join the two parts of a program into one text, which can be pasted at a prompt."""
    return pasteable(_apart([part for part in (before, code) if part]) + "\n")


def _apart(pieces: Sequence[str]) -> str:
    """Join pieces with a blank line between them, or two around a function."""
    text = ""
    for before, piece in pairwise(["", *pieces]):
        last = next((line for line in before.split("\n")[::-1] if line[:1].strip()), "")
        tall = last.startswith(DEFINITIONS) or piece.startswith(DEFINITIONS)
        text += ("\n\n\n" if tall else "\n\n") * bool(text) + piece
    return text


def _joined(group: list[Statement]) -> str:
    """Join statements, with two blank lines around definitions and at most one elsewhere."""
    text = ""
    for before, s in zip([None, *group], group, strict=False):
        if before is not None:
            text += "\n" * (3 if before.defines or s.defines else 1 + min(s.above, 1))
        text += s.code
    return text


def _sorted_imports(lines: Sequence[str], is_own: Callable[[str], bool]) -> list[str]:
    """Return unique imports, grouped as isort does: Python's, installed ones, the project's."""
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
