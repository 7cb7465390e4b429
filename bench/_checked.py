"""Check chapters and labs with the models at hand, and print the findings as JSON.

Run by `processors.py` in a process of its own, whose environment names the instruction set and the
folder of the trained weights. Nothing here imports torch: the chapters do.

    GLASSFORMER_CACHE=FOLDER python bench/_checked.py {all|training} [CHAPTER ...]

With `training`, it checks only those that read trained weights.
"""

import ast
import contextlib
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

from proofbook.checking.judge import judge
from proofbook.execution.runner import Runner
from proofbook.model import Chapter, Claim, Run, Value
from proofbook.parsing.page import parse
from proofbook.settings import load

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 3600.0  # seconds per block: time isn't what is measured here
DIGITS = 4  # significant digits of a stored number
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def check(config: Path, files: Sequence[Path]) -> tuple[list[str], list[dict[str, Any]]]:
    """Check chapters without a cache: return their problems, and what their claims compare.

    The second has a row for each comparison of two numbers, in the chapters that train.
    """
    with tempfile.TemporaryDirectory() as cache:
        settings = load(config, {"cache_dir": cache, "jobs": 1})
        pages = [
            parse(settings.name(file), file.read_text("utf-8"), settings.extensions)
            for file in files
        ]
        with Runner(settings) as runner:
            runs = runner.run([with_sides(page.chapter) for page in pages])
    ran = [(page, runs[page.chapter.path]) for page in pages]
    problems = [str(problem) for page, run in ran for problem in judge(page, run)]
    training = [pair for file, pair in zip(files, ran, strict=True) if trains(file)]
    return problems, [row for page, run in training for row in compared(page.chapter, run)]


def trains(file: Path) -> bool:
    """Return whether a chapter or lab reads weights that the book trains."""
    return re.search(r'\btrained\("', file.read_text("utf-8")) is not None


def with_sides(chapter: Chapter) -> Chapter:
    """Return the chapter with more time, and a claim for each side of each of its comparisons."""
    more = {
        (side, claim.place): Claim("", claim.line, claim.place, value=side)
        for claim in chapter.claims
        for left, _, right in comparisons(claim)
        for side in (left, right)
    }
    blocks = tuple(replace(block, timeout=PATIENCE) for block in chapter.blocks)
    return replace(chapter, blocks=blocks, claims=(*chapter.claims, *more.values()))


def compared(chapter: Chapter, run: Run) -> Iterator[dict[str, Any]]:
    """Yield each comparison by size, with both numbers."""
    for claim in chapter.claims:
        for left, sign, right in comparisons(claim):
            values = [run.values.get((side, claim.place)) for side in (left, right)]
            numbers = [number(*pair) for pair in zip((left, right), values, strict=True)]
            if None not in numbers:
                comparison = f"{left} {sign} {right}"
                yield {"page": chapter.path, "comparison": comparison, "numbers": numbers}


def comparisons(claim: Claim) -> Iterator[tuple[str, str, str]]:
    """Yield left side, sign, and right side of each comparison by size in a claim."""
    for expression in claim.expressions:
        for node in outside_of_loops(ast.parse(expression, mode="eval")):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                for left, sign, right in zip(sides, node.ops, sides[1:], strict=False):
                    if type(sign) in SIGNS:
                        yield ast.unparse(left), SIGNS[type(sign)], ast.unparse(right)


def outside_of_loops(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of an expression outside comprehensions, where names mean something else."""
    if not isinstance(tree, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp):
        yield tree
        for node in ast.iter_child_nodes(tree):
            yield from outside_of_loops(node)


def number(side: str, value: Value | None) -> float | None:
    """Return one side of a comparison, with few digits; None if it isn't a number.

    The engine gives no value to an expression that reads nothing of the page.
    """
    with contextlib.suppress(ValueError):
        return float(side)
    if value is None or not isinstance(value.data, int | float):
        return None
    return float(f"{value.data:.{DIGITS}g}")


def run_lab(file: Path) -> list[str]:
    """Run a notebook as a script; return its stderr if an assertion fails."""
    environment = os.environ | {"MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, file], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    return [f"{file.name}: {done.stderr.strip()}"] if done.returncode else []


def main() -> None:
    """Check the chapters that are named, or all chapters and labs."""
    which, *named = sys.argv[1:]
    docs = ROOT / "docs"
    files = [ROOT / name for name in named] or sorted(docs.rglob("*.md"))
    labs = [] if named else sorted((docs / "labs").glob("*.py"))
    if which == "training":
        files, labs = [list(filter(trains, some)) for some in (files, labs)]
    problems, compares = check(ROOT / "mkdocs.yml", files)
    problems += [problem for lab in labs for problem in run_lab(lab)]
    found = {"chapters": len(files), "labs": len(labs), "problems": problems}
    print(json.dumps(found | {"comparisons": compares}))


if __name__ == "__main__":
    main()
