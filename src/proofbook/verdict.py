"""Judge a run: what of a chapter did not come out as it says."""

from difflib import ndiff
from typing import Any

from proofbook.compare import prints, says
from proofbook.model import Block, BlockResult, Claim, Failure, Run, Value
from proofbook.page import Page
from proofbook.problems import Problem


def judge(page: Page, run: Run) -> list[Problem]:
    """All problems of a page and of its run, in the order of the page."""
    chapter = page.chapter
    problems = list(page.problems)
    for block, result in zip(chapter.blocks, run.blocks, strict=False):
        problems += block_problems(chapter.path, block, result)
    if run.failure:
        problems.append(_page_problem(page, run.failure, run.failed_block))
    stopped = run.failure or any(result.failure for result in run.blocks)
    for claim in chapter.claims:
        if not stopped or (claim.expressions[0], claim.place) in run.values:
            problems += claim_problems(chapter.path, claim, run)
    return sorted(problems)


def _page_problem(page: Page, failure: Failure, failed_block: int | None) -> Problem:
    """A page that died as a whole, at the block that was running."""
    path = page.chapter.path
    if failed_block is None:
        return Problem(path, 1, failure.reason, "", failure.detail)
    block = page.chapter.blocks[failed_block]
    line = block.line + (failure.line or 0)
    return Problem(path, line, failure.reason, _line_of(block, failure.line), failure.detail)


def block_problems(path: str, block: Block, result: BlockResult) -> list[Problem]:
    """What a block did that its chapter does not say."""
    problems = []
    for example in result.examples:
        if not prints(example.want, example.got):
            difference = "\n".join(
                line.rstrip() for line in ndiff(example.want.splitlines(), example.got.splitlines())
            )
            problems.append(
                Problem(
                    path,
                    block.line + example.offset,
                    "the output differs from the page (- the page, + this run)",
                    example.source,
                    difference,
                )
            )
    failure = result.failure
    if failure:
        line = block.line + (failure.line or 0)
        code = _line_of(block, failure.line)
        problems.append(Problem(path, line, failure.reason, code, failure.detail))
    return problems


def claim_problems(path: str, claim: Claim, run: Run) -> list[Problem]:
    """What of a claim is not so."""
    problems = []
    for expression in claim.expressions:
        value = run.values.get((expression, claim.place), Value())
        message = _claim_fault(claim, expression, value)
        if message:
            detail = value.failure.detail if value.failure else ""
            problems.append(Problem(path, claim.line, message, expression, detail))
    return problems


def _claim_fault(claim: Claim, expression: str, value: Value) -> str | None:
    if value.failure:
        return f"this claim cannot be checked: {value.failure.reason}"
    if expression == claim.equals and not says(claim.text, value.data):
        return f"the page says {claim.text!r}, this run gives {shown(value.data)}"
    if expression == claim.holds and value.data is not True:
        return f"this must hold (be True), but it is {shown(value.data)}"
    return None


def shown(data: Any, limit: int = 200) -> str:
    """A value as a reader should see it, cut where it is long."""
    text = repr(data)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _line_of(block: Block, offset: int | None) -> str:
    lines = block.code.split("\n")
    return block.code if offset is None or offset >= len(lines) else lines[offset]
