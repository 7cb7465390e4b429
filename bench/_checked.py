"""Checks chapters and labs with the models that are there, and prints as JSON what was found.

Run by `processors.py` in a process of its own, whose environment says the instruction set and the
folder of the trained weights. Nothing here imports torch: the chapters do.

    GLASSFORMER_CACHE=FOLDER python bench/_checked.py [CHAPTER ...]
"""

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from proofbook.book import Book
from proofbook.bookfile import load
from proofbook.model import Chapter, Claim

ROOT = Path(__file__).resolve().parents[1]
DIGITS = 4  # significant ones of a number that is kept
LONGEST = 100  # characters of a value that is kept


def check(config: Path, files: Sequence[Path]) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """Check chapters with nothing cached: their problems, and what their claims compare.

    The second is by chapter and expression, for the chapters that read trained weights.
    """
    with tempfile.TemporaryDirectory() as cache:
        settings = load(config, {"cache_dir": cache, "jobs": 1})
        with Book(settings) as book:
            pages = book.check({book.name(file): file.read_text("utf-8") for file in files})
            chapters = [with_operands(p.page.chapter) for p in pages if trains(p.page.chapter)]
            runs = book.runs(chapters)
    problems = [str(problem) for page in pages for problem in page.problems]
    values = {
        path: {
            expression: short(value.data)
            for (expression, _), value in run.values.items()
            if value.failure is None and len(json.dumps(short(value.data))) <= LONGEST
        }
        for path, run in runs.items()
    }
    return problems, values


def trains(chapter: Chapter) -> bool:
    """Whether a chapter reads weights that the book trains."""
    return any(re.search(r"\btrained\(", block.code) for block in chapter.blocks)


def with_operands(chapter: Chapter) -> Chapter:
    """The chapter with one claim more for each number that its claims compare."""
    more = {
        (operand, claim.place): Claim("", claim.line, claim.place, value=operand)
        for claim in chapter.claims
        for expression in claim.expressions
        for operand in operands(expression)
    }
    return replace(chapter, claims=(*chapter.claims, *more.values()))


def operands(expression: str) -> Iterator[str]:
    """What the comparisons of an expression compare, constants left out."""
    for node in ast.walk(ast.parse(expression, mode="eval")):
        if isinstance(node, ast.Compare):
            for operand in (node.left, *node.comparators):
                if not isinstance(operand, ast.Constant):
                    yield ast.unparse(operand)


def short(value: Any) -> Any:
    """A value with fewer digits."""
    if isinstance(value, list):
        return [short(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def run_lab(file: Path) -> list[str]:
    """Run a notebook as a script; gives what it says on stderr, if an assertion fails."""
    environment = os.environ | {"MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, file], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    return [f"{file.name}: {done.stderr.strip()}"] if done.returncode else []


def main() -> None:
    """Check the chapters that are named, or all of them and the labs."""
    docs = ROOT / "docs"
    named = [ROOT / name for name in sys.argv[1:]]
    files = named or sorted(docs.rglob("*.md"))
    problems, values = check(ROOT / "mkdocs.yml", files)
    for lab in () if named else sorted((docs / "labs").glob("*.py")):
        problems += run_lab(lab)
    print(json.dumps({"chapters": len(files), "problems": problems, "values": values}))


if __name__ == "__main__":
    main()
