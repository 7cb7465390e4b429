"""Write a check's findings as text: `path:line: message`, with details indented below."""

from proofbook.commands.check import Findings
from proofbook.coverage.report import report
from proofbook.model import Chapter, Run


def as_text(findings: Findings, sentences: bool = False) -> str:
    """Write every problem, the results of coverage and planted errors, and a count.

    Args:
        findings: The check's findings.
        sentences: Whether to list the sentences that state something but bind nothing.
    """
    parts = [str(problem) for problem in findings.problems]
    if findings.coverage:
        parts.append(report(findings.coverage, sentences))
    if findings.trials is not None:
        parts += [str(trial) for trial in findings.surviving]
        left, all_of_them = len(findings.surviving), len(findings.trials)
        parts.append(
            f"{count(all_of_them, 'fact')}: {all_of_them - left} caught an error, {left} did not"
        )
    chapters = len(findings.pages) + findings.unread
    parts.append(f"{count(chapters, 'chapter')}, {count(len(findings.problems), 'problem')}")
    return "".join(f"\n{part}\n" for part in parts)


def progress_line(chapter: Chapter, run: Run) -> str:
    """Report how a page was run and, if its result isn't kept, why not."""
    how = "cached" if run.cached else f"{run.seconds:.1f} s"
    blocks, claims = len(chapter.blocks), len(chapter.claims)
    told = f"{chapter.path}: {count(blocks, 'block')}, {count(claims, 'claim')}, {how}"
    return "\n".join([told, *(f"{chapter.path}: not kept: {reason}" for reason in run.unkept)])


def count(number: int, word: str) -> str:
    """Write a number with its noun, such as `2 chapters`."""
    return f"{number} {word}{'' if number == 1 else 's'}"
