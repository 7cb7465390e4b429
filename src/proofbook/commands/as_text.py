"""Write a check's findings as text: `path:line: message`, with details indented below."""

import re
from collections.abc import Iterable

from proofbook.commands.check import Findings
from proofbook.coverage.report import report as coverage_report
from proofbook.model import Chapter, Run
from proofbook.problems import Problem

ERROR = re.compile(r"[\w.]*(?:Error|Exception|Exit|Interrupt)\b")
MOST_PLACES = 5
"""How many other places of one cause to list."""


class Report:
    """Writes problems as they are found: each cause once, and in the end where else it shows."""

    def __init__(self) -> None:
        self._told: set[Problem] = set()
        self._first: dict[object, Problem] = {}
        self._others: dict[object, list[str]] = {}

    def of(self, problems: Iterable[Problem]) -> str:
        """Write the problems whose cause hasn't been written yet."""
        new = []
        for problem in problems:
            if problem in self._told:
                continue
            self._told.add(problem)
            cause = _cause(problem)
            if self._first.setdefault(cause, problem) is problem:
                new.append(f"\n{problem}\n")
            else:
                self._others.setdefault(cause, []).append(f"{problem.path}:{problem.line}")
        return "".join(new)

    def rest(self) -> str:
        """Write where else each cause shows."""
        parts = []
        for cause, places in self._others.items():
            listed = ", ".join(places[:MOST_PLACES])
            more = f", and {len(places) - MOST_PLACES} more" if places[MOST_PLACES:] else ""
            first = self._first[cause]
            parts.append(f"\n{first.message}\n    also at {listed}{more}\n")
        return "".join(parts)

    @property
    def count(self) -> str:
        """How many problems there are, and causes if they are fewer."""
        problems, causes = len(self._told), len(self._first)
        fewer = f" with {count(causes, 'cause')}" if causes < problems else ""
        return count(problems, "problem") + fewer


def _cause(problem: Problem) -> object:
    """Return what problems with one cause have in common: the same error, at whatever code."""
    return problem.message if ERROR.match(problem.message) else problem


def as_text(findings: Findings, report: Report, sentences: bool = False) -> str:
    """Write what hasn't been reported yet, the results of coverage and planted errors, and a count.

    Args:
        findings: The check's findings.
        report: What was reported while the check ran.
        sentences: Whether to list the sentences that state something but bind nothing.
    """
    told = report.of(findings.problems) + report.rest()
    parts = []
    if findings.coverage:
        parts.append(coverage_report(findings.coverage, sentences))
    if findings.trials is not None:
        parts += [str(trial) for trial in findings.surviving]
        left, all_of_them = len(findings.surviving), len(findings.trials)
        parts.append(
            f"{count(all_of_them, 'fact')}: {all_of_them - left} caught an error, {left} did not"
        )
    if findings.foreign:
        pages = count(len(findings.foreign), "page")
        parts.append(f"not checked: {pages} of another plugin: {', '.join(findings.foreign)}")
    parts.append(f"{count(len(findings.pages) + findings.unread, 'chapter')}, {report.count}")
    return told + "".join(f"\n{part}\n" for part in parts)


def progress_line(chapter: Chapter, run: Run) -> str:
    """Report how a page was run and, if its result isn't kept, why not."""
    how = "cached" if run.cached else f"{run.seconds:.1f} s"
    blocks, claims = len(chapter.blocks), len(chapter.claims)
    told = f"{chapter.path}: {count(blocks, 'block')}, {count(claims, 'claim')}, {how}"
    return "\n".join([told, *(f"{chapter.path}: not kept: {reason}" for reason in run.unkept)])


def count(number: int, word: str) -> str:
    """Write a number with its noun, such as `2 chapters`."""
    return f"{number} {word}{'' if number == 1 else 's'}"
