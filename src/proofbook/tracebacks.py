"""Tells an error as a reader of the chapter should see it: without the engine's own frames."""

import traceback

from proofbook.model import Failure


def failure_of(error: BaseException, filename: str) -> Failure:
    """Describe an error raised while the code of `filename` ran.

    The line is the deepest one that lies in that code, counted from 0.
    """
    report = traceback.TracebackException.from_exception(error)
    _cut(report)
    lines = [f.lineno for f in report.stack if f.filename == filename and f.lineno]
    if isinstance(error, SyntaxError) and error.filename == filename and error.lineno:
        lines.append(error.lineno)
    return Failure(
        reason=_reason(error),
        line=lines[-1] - 1 if lines else None,
        detail="".join(report.format()).rstrip("\n"),
    )


def last_line(error: BaseException) -> str:
    """Return the last line of the traceback, which is all that a doctest compares."""
    return traceback.format_exception_only(error)[-1]


def _reason(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"SystemExit: the block called sys.exit({error.code!r}); a page runs to its end"
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in ("builtins", "__main__"):
        name = f"{kind.__module__}.{name}"
    message = error.msg if isinstance(error, SyntaxError) else _text(error)
    first, *_ = message.strip().splitlines() or [""]
    return f"{name}: {first}" if first else name


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(its message cannot be shown)"


def _cut(report: traceback.TracebackException | None) -> None:
    """Drop the frames above the page's code, here and in the errors that led to this one."""
    while report is not None:
        ours = [
            i for i, f in enumerate(report.stack) if f.filename.startswith(("<block", "<claim"))
        ]
        del report.stack[: ours[0] if ours else len(report.stack)]
        _cut(report.__context__)
        report = report.__cause__
