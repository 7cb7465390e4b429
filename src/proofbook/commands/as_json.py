"""Write a check's findings as one JSON document, for editors and other programs.

Fields may be added, but none is renamed or removed while `version` stays the same.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from proofbook.checking.against import Trial
from proofbook.checking.book import Checked
from proofbook.commands.check import Findings
from proofbook.coverage.coverage import Coverage
from proofbook.coverage.report import is_whole
from proofbook.problems import Problem

VERSION = 1


def as_json(findings: Findings) -> str:
    """Write everything that a check found."""
    trials = findings.trials
    document = {
        "version": VERSION,
        "passes": findings.passes,
        "problems": [_problem(one, findings.texts) for one in findings.problems],
        "pages": [_page(one) for one in findings.pages],
        "unchecked": list(findings.foreign),
        "coverage": _coverage(findings.coverage),
        "facts": None if trials is None else [_fact(one) for one in trials],
    }
    return json.dumps(document, indent=2)


def _problem(problem: Problem, texts: Mapping[str, str]) -> dict[str, Any]:
    return {
        "path": problem.path,
        "line": problem.line,
        "column": _column(problem, texts.get(problem.path, "")),
        "message": problem.message,
        "code": problem.code,
        "detail": problem.detail,
    }


def _column(problem: Problem, text: str) -> int | None:
    """Return the column (from 1) where the code at fault begins, if its line has it only once."""
    code = problem.code.strip()
    [line] = text.split("\n")[problem.line - 1 : problem.line] or [""]
    return line.index(code) + 1 if code and line.count(code) == 1 else None


def _page(checked: Checked) -> dict[str, Any]:
    chapter, run = checked.page.chapter, checked.run
    return {
        "path": chapter.path,
        "blocks": len(chapter.blocks),
        "claims": len(chapter.claims),
        "seconds": round(run.seconds, 3),
        "cached": run.cached,
        "unkept": list(run.unkept),
    }


def _coverage(pages: Sequence[Coverage] | None) -> dict[str, Any] | None:
    if pages is None:
        return None
    return {"whole": is_whole(pages), "pages": [_covered(page) for page in pages]}


def _covered(page: Coverage) -> dict[str, Any]:
    return {
        "path": page.path,
        "candidates": page.candidates,
        "covered": page.covered,
        "exempt": page.exempt,
        "uncovered": [
            {"line": line, "kind": kind, "text": text} for line, kind, text in page.uncovered
        ],
        "unbound": [{"line": line, "text": text} for line, text in page.unbound],
        "counts": [{"line": line, "text": text} for line, text in page.counts],
    }


def _fact(trial: Trial) -> dict[str, Any]:
    return {
        "path": trial.path,
        "line": trial.fact.line,
        "text": trial.fact.text,
        "noticed": trial.noticed is not None,
        "survived": [planted.kind for planted in trial.survived],
    }
