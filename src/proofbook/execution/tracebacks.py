"""Show an error as a reader of the chapter should see it: without the engine's own frames."""

import os
import re
import traceback
from itertools import dropwhile

import proofbook
from proofbook.caching.fingerprint import is_installed
from proofbook.execution.import_hooks import place_in_project
from proofbook.model import Failure
from proofbook.text import TRACEBACK, clipped, readable

LONGEST_REASON = 500
"""Maximum length of the part of an error's message that is given as the reason."""

FRAME = re.compile(r"^(?=  File \")|(?<=\n)(?=\S|$)", re.MULTILINE)
"""Where a frame of a traceback begins, or the text after the last one."""
FILE = re.compile(r'  File "([^"]+)"')
_OURS = ('  File "<block', '  File "<claim')
_ENGINE = os.path.join(os.path.dirname(proofbook.__file__), "")
_ENGINES = f'  File "{_ENGINE}'


def failure_of(error: BaseException, filename: str) -> Failure:
    """Describe an error raised while the code of `filename` ran.

    The line is the deepest one in that code, counted from 0.
    """
    report = traceback.TracebackException.from_exception(error)
    while report.stack and not report.stack[0].filename.startswith(("<block", "<claim")):
        del report.stack[0]
    while isinstance(error, ImportError) and _is_the_engine_s(report.stack):
        del report.stack[-1]
    lines = [f.lineno for f in report.stack if f.filename == filename and f.lineno]
    if isinstance(error, SyntaxError) and error.filename == filename and error.lineno:
        lines.append(error.lineno)
    return Failure(
        reason=_reason(error),
        line=lines[-1] - 1 if lines else None,
        detail=clipped(readable(_folded("".join(report.format()).rstrip("\n")))),
    )


def _folded(trace: str) -> str:
    """Replace all but the last of each run of a library's frames with their number."""
    folded: list[str] = []
    hidden: list[str] = []
    for frame in FRAME.split(trace):
        file = FILE.match(frame)
        if file and (file[1].startswith("<frozen") or is_installed(file[1])):
            hidden.append(frame)
            continue
        folded += _fewer(hidden)
        hidden = []
        folded.append(frame)
    return "".join([*folded, *_fewer(hidden)])


def _fewer(frames: list[str]) -> list[str]:
    number = len(frames) - 1
    return [f"  … {number} frames of libraries\n", frames[-1]] if number > 1 else frames


def _is_the_engine_s(stack: list[traceback.FrameSummary]) -> bool:
    return bool(stack) and stack[-1].filename.startswith(_ENGINE)


def with_traceback(printed: str, error: BaseException) -> str:
    """Return what an interpreter shows for a statement that raises, without the stack.

    Args:
        printed: The statement's output before the error.
        error: The error.
    """
    gap = "\n" if printed and not printed.endswith("\n") else ""
    return f"{printed}{gap}{TRACEBACK}\n{last_words(error)}"


def last_words(error: BaseException) -> str:
    """Return the end of a traceback: the error's type, its message, and its notes."""
    lines = traceback.format_exception_only(error)
    return readable("".join(dropwhile(lambda line: line.startswith(" "), lines)))  # no location


def death_trace(trace: str, block: int | None) -> tuple[int | None, str]:
    """Parse faulthandler's output from a process that died; return the block's line and traceback.

    Only the thread that ran the page's code is reported, without the engine's frames; a traceback
    of the engine itself is returned in full.
    """
    if trace.startswith("Traceback"):
        return None, trace.strip()
    for thread in trace.split("\n\n"):
        frames = [line for line in thread.splitlines() if line.startswith("  File ")]
        frames = [line for line in frames if not line.startswith(_ENGINES)]
        while frames and not frames[-1].startswith(_OURS):
            del frames[-1]
        if frames:
            in_block = re.compile(
                rf'  File "<block {-1 if block is None else block + 1}>", line (\d+)'
            )
            lines = [int(found[1]) - 1 for frame in frames if (found := in_block.match(frame))]
            text = "\n".join(["Traceback (most recent call last):", *reversed(frames)])
            return (lines[0] if lines else None), text
    return None, ""


def _reason(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"SystemExit: the block called sys.exit({error.code!r}); a page must run to its end"
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in ("builtins", "__main__"):
        name = f"{kind.__module__}.{name}"
    message = error.msg if isinstance(error, SyntaxError) else _text(error)
    first, *_ = message.strip().splitlines() or [""]
    if len(first) > LONGEST_REASON:
        first = f"{first[: LONGEST_REASON - 1]}…"
    if isinstance(error, ModuleNotFoundError):
        first += _advice(error.name or "")
    return f"{name}: {first}" if first else name


def _advice(module: str) -> str:
    """Return advice on importing a module of the project that is not on the path."""
    place = "" if "." in module else place_in_project(module)
    if not place:
        return ""
    folder = os.path.dirname(place) or "."
    return f": {place} is not on the path; add {folder!r} to sources, under proofbook in mkdocs.yml"


def _text(error: BaseException) -> str:
    try:
        return readable(str(error))
    except Exception:
        return "(its message cannot be shown)"
