"""What the copy button gives runs in a fresh process and shows what the page shows."""

import re
from pathlib import Path

import pytest

from proofbook.checking.book import Book
from proofbook.model import Block, BlockResult, Chapter
from proofbook.settings import load

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))


def shown(result: BlockResult) -> list[tuple[str, str]]:
    """All that a block showed; its number on the page is left out of ids."""
    outputs = [(o.kind, re.sub(r"block-\d+", "block", o.data)) for o in result.outputs]
    return outputs + [("example", example.got) for example in result.examples]


def alone(chapter: Chapter, index: int, result: BlockResult) -> Chapter:
    """A page that holds one block's program and nothing else."""
    block = chapter.blocks[index]
    before, code = result.payload
    # A doctest keeps its prompts, so that each of its outputs is compared.
    last = code if block.kind == "python" else block.code
    blocks = (Block("python", before, 1, 600), Block(block.kind, last, 1, 600, block.raises))
    return Chapter(f"{chapter.path}, block {index + 1}", blocks, ())


@pytest.mark.parametrize("path", CHAPTERS)
def test_every_program_shows_what_its_page_shows(path: str) -> None:
    with Book(load(ROOT / "mkdocs.yml")) as book:
        (checked,) = book.check({path: (ROOT / path).read_text(encoding="utf-8")})
        assert not checked.problems
        chapter, results = checked.page.chapter, checked.run.blocks
        programs = [alone(chapter, index, result) for index, result in enumerate(results)]
        runs = book.runs(programs)
        for chapter_alone, result in zip(programs, results, strict=True):
            run = runs[chapter_alone.path]
            code = "\n\n".join(block.code for block in chapter_alone.blocks)
            assert not run.failure, f"{chapter_alone.path}: {run.failure}\n{code}"
            assert not run.blocks[-1].failure, (
                f"{chapter_alone.path}: {run.blocks[-1].failure}\n{code}"
            )
            assert shown(run.blocks[-1]) == shown(result), f"{chapter_alone.path}\n{code}"
