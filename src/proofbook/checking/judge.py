"""Judge a run: find where a chapter's results differ from what it says."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import ndiff
from functools import lru_cache
from itertools import takewhile

from proofbook.checking.compare import says
from proofbook.checking.outputs import prints
from proofbook.execution.names import names_bound, statements_behind
from proofbook.model import Block, BlockResult, Claim, Failure, Run, Value
from proofbook.parsing.page import Page
from proofbook.problems import Problem
from proofbook.text import shortened, shown

PROMPT_IN_CODE = (
    "plain code has a prompt (>>>): begin the block with one to make it a doctest, "
    "or remove the prompts"
)
MOST_LINES = 100
"""Maximum number of lines of two texts to compare one by one."""
TOO_DEEP = (
    "cannot tell what this fact reads: its expression is nested too deeply; write several facts"
)


def judge(page: Page, run: Run) -> list[Problem]:
    """List all problems of a page and of its run, in page order."""
    chapter = page.chapter
    problems = list(page.problems)
    if run.pending:
        return sorted(problems)
    for block, result in zip(chapter.blocks, run.blocks, strict=False):
        problems += block_problems(chapter.path, block, result)
    if run.failure:
        problems.append(_page_problem(page, run.failure, run.failed_block))
    problems += _beside_the_point(page)
    for claim in chapter.claims:
        problems += claim_problems(chapter.path, claim, run)
    return sorted(problems)


def _page_problem(page: Page, failure: Failure, failed_block: int | None) -> Problem:
    """Report the failure of a whole page at the block that was running."""
    path = page.chapter.path
    if failed_block is None:
        return Problem(path, 1, failure.reason, "", failure.detail)
    block = page.chapter.blocks[failed_block]
    line = block.line + (failure.line or 0)
    return Problem(path, line, failure.reason, _line_of(block, failure.line), failure.detail)


def block_problems(path: str, block: Block, result: BlockResult) -> list[Problem]:
    """List how a block's results differ from its chapter."""
    problems = []
    for example in result.examples:
        if not example.follows and not prints(example.want, example.got):
            line = block.line + example.offset
            message = "the output differs from the page (- the page, + this run)"
            shows = difference(example.want, example.got)
            problems.append(Problem(path, line, message, example.source, shows))
    failure = result.failure
    if failure and failure.follows:
        return problems
    if (
        block.raises is not None
        and block.raises != result.raised
        and (result.raised or not failure)
    ):
        problems.append(_raises_otherwise(path, block, block.raises, result))
    elif failure:
        line = block.line + (failure.line or 0)
        code = _line_of(block, failure.line)
        unread = failure.reason.startswith(("SyntaxError:", "IndentationError:"))
        is_prompt = block.kind == "python" and unread and code.lstrip().startswith(">>>")
        reason = PROMPT_IN_CODE if is_prompt else failure.reason
        problems.append(Problem(path, line, reason, code, failure.detail))
    return problems


def _raises_otherwise(path: str, block: Block, raises: str, result: BlockResult) -> Problem:
    """Report a block that doesn't raise the error that its fence names."""
    failure = result.failure
    shows = difference(raises, result.raised)
    if failure is None:
        message = "the block raises nothing, but the page says it does (- the page, + this run)"
        statements = ast.parse(block.code).body
        offset = statements[-1].lineno - 1 if statements else 0
    else:
        message = "the block raises something else (- the page, + this run)"
        offset = failure.line or 0
        shows = f"{shows}\n\n{failure.detail}"
        if "\n" in result.raised or "`" in result.raised or {*"\"'"} <= {*result.raised}:
            message += "; raises= cannot express it: write a doctest, with its Traceback"
    return Problem(path, block.line + offset, message, _line_of(block, offset), shows)


def _beside_the_point(page: Page) -> Iterator[Problem]:
    """Yield the facts whose phrase names something on the page that the expression never reads."""
    chapter = page.chapter
    blocks = tuple(replace(block, line=1) for block in chapter.blocks)
    for index, number in page.facts.items():
        fact = page.source.facts[index]
        roots = {match[0] for code in fact.codes if (match := re.match(r"\w+", code))}
        try:
            named = roots and roots & _bound(blocks)
            read = _read(blocks, fact.expression) if named else frozenset()
        except SyntaxError:  # the unreadable block itself is reported
            return
        except RecursionError:
            yield Problem(chapter.path, chapter.claims[number].line, TOO_DEEP, fact.expression)
            continue
        if named and named.isdisjoint(read):
            message = (
                f"the phrase names {', '.join(sorted(named))}, which the expression never reads"
            )
            line = chapter.claims[number].line
            yield Problem(chapter.path, line, message, fact.expression)


@lru_cache(64)  # while an author writes a page, mostly the text changes
def _bound(blocks: tuple[Block, ...]) -> set[str]:
    return names_bound(blocks)


@lru_cache(1024)
def _read(blocks: tuple[Block, ...], expression: str) -> frozenset[str]:
    """Return all names that the value of an expression depends on."""
    behind = statements_behind(blocks, expression).values()
    return frozenset(name for one in behind for name in one.reads)


def difference(one: str, other: str) -> str:
    """Return how two texts differ, line by line; long texts start near the first difference."""
    lines, others = one.splitlines(), other.splitlines()
    longest = max(len(lines), len(others))
    head = []
    if longest > MOST_LINES:
        first = max(_alike(lines, others) - 2, 0)
        lines, others = lines[first : first + MOST_LINES], others[first : first + MOST_LINES]
        head = [f"(starting at line {first + 1} of {longest})"]
    cut, cut_other = ([shortened(line) for line in some] for some in (lines, others))
    if cut == cut_other:  # they differ far into a long line
        first = max(_alike(one, other) - 50, 0)
        cut, cut_other = ([repr(text[first : first + 150])] for text in (one, other))
        head = [f"(starting at character {first + 1})"]
    return "\n".join([*head, *(line.rstrip() for line in ndiff(cut, cut_other))])


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of two sequences' common prefix."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def claim_problems(path: str, claim: Claim, run: Run) -> list[Problem]:
    """List a claim's problems, except for expressions that a failed page never evaluated."""
    failed = run.failure or run.sound < len(run.blocks)
    problems = []
    for expression in claim.expressions:
        value = run.values.get((expression, claim.place), None if failed else Value())
        if value is None:
            continue
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
    if claim.fact and value.data is not True:
        return f"the page says {claim.text!r}, but in this run that is {shown(value.data)}"
    if expression == claim.holds and value.data is not True:
        return f"this must hold (be True), but it is {shown(value.data)}"
    return None


def _line_of(block: Block, offset: int | None) -> str:
    lines = block.code.split("\n")
    return block.code if offset is None or offset >= len(lines) else lines[offset]
