"""Write the program of a page: its code in its order, which runs anywhere as it ran there."""

import ast
import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent

from proofbook.execution.import_hooks import SEED
from proofbook.execution.names import reads_builtin
from proofbook.execution.sources import sources_of
from proofbook.model import Block, BlockResult
from proofbook.text import TRACEBACK

SEEDS = {
    "random": f"import random\n\nrandom.seed({SEED})",
    "numpy": f"import numpy\n\nnumpy.random.seed({SEED})",
    "torch": f"import torch\n\ntorch.manual_seed({SEED})",
}
DISPLAY = "from IPython.display import display"
"""Where `display`, which every page has, comes from elsewhere."""
FUTURE = re.compile(r"^from __future__ import .*\n?", re.MULTILINE)
CAUGHT = 'except Exception as error:\n    print(f"{type(error).__name__}: {error}")'


@dataclass(frozen=True)
class Program:
    """The code of a page, as a program.

    Attributes:
        start: What the state that the page began with needs: seeds, and imports.
        steps: For each block, its code, and its code with the values that it shows printed.
    """

    start: str
    steps: tuple[tuple[str, str], ...]

    def up_to(self, number: int) -> str:
        """Return the code up to and including a block, which alone prints its values."""
        before = [code for code, _ in self.steps[:number]]
        return _joined([self.start, *before, self.steps[number][1]])

    def script(self) -> str:
        """Return the whole code; it prints the values that the page shows."""
        return _joined([self.start, *(code for _, code in self.steps)])


def program_of(blocks: Sequence[Block], results: Sequence[BlockResult]) -> Program:
    """Return the program of blocks that ran without failure.

    Values that no terminal can show, such as pictures, aren't printed.
    """
    used = {generator for result in results for generator in result.draws}
    futures = dict.fromkeys(line for block in blocks for line in FUTURE.findall(block.code))
    start = ["".join(futures).rstrip(), *(SEEDS[one] for one in SEEDS if one in used)]
    start += [DISPLAY] * reads_builtin(blocks, "display")
    steps = (
        (_code(block, result, prints=False), _code(block, result, prints=True))
        for block, result in zip(blocks, results, strict=True)
    )
    return Program("\n\n".join(filter(None, start)), tuple(steps))


def _code(block: Block, result: BlockResult, prints: bool) -> str:
    """Return the code of a block, without prompts; what it raises is caught.

    Args:
        block: The block.
        result: Its result.
        prints: Whether it prints the values that the page shows.
    """
    printing = result.prints if prints else ()
    if block.kind == "pycon":
        examples = zip(sources_of(block), result.examples, strict=True)
        return "\n".join(
            _example(source.rstrip("\n"), number in printing, TRACEBACK in one.want.split("\n"))
            for number, (source, one) in enumerate(examples)
        )
    code = FUTURE.sub("", block.code).strip("\n")
    if not printing and block.raises is None:
        return code
    before, last = _split(code)
    return before + (caught(last) if block.raises is not None else printed(last))


def _split(code: str) -> tuple[str, str]:
    """Split code before its last statement."""
    last = ast.parse(code).body[-1]
    lines = code.encode().split(b"\n")
    start = sum(len(line) + 1 for line in lines[: last.lineno - 1]) + last.col_offset
    before, end = code.encode()[:start].decode(), code.encode()[start:].decode()
    return (before.rstrip("; ") + "\n" if last.col_offset else before), end


def _example(source: str, prints: bool, raises: bool) -> str:
    try:
        ast.parse(source)
    except SyntaxError:  # the page shows the error
        return indent(source, "# ", lambda _: True)
    if raises:
        return caught(source)
    return printed(source) if prints else source


def printed(code: str) -> str:
    """Return code that prints the value of an expression; statements are left as they are."""
    body = ast.parse(code).body
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        return code
    surely = f"print({ast.unparse(body[0])})"
    with contextlib.suppress(SyntaxError):  # as with a comment at its end
        if _tree(written := f"print({code})") == _tree(surely):
            return written
    return surely


def caught(code: str) -> str:
    """Return code that prints the error that some statements raise, and goes on."""
    written = f"try:\n{indent(code, '    ')}\n{CAUGHT}"
    surely = f"try:\n{indent(ast.unparse(ast.parse(code)), '    ')}\n{CAUGHT}"
    return written if _tree(written) == _tree(surely) else surely  # a text may have many lines


def _tree(code: str) -> str:
    return ast.dump(ast.parse(code))


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(filter(None, parts)) + "\n"
