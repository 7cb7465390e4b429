"""Show source the way people read it: signature and body in view, docstrings and checks folded."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

FEWEST = 3
"""The fewest lines worth folding."""
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
BLOCK = re.compile(
    r"(?P<opened>.*<pre[^>]*>(?:<span></span>)?<code[^>]*>)(?P<inner>[^\0]*?)\n?"
    r"(?P<closed></code></pre>.*)",
    re.DOTALL,
)
NEXT, LAST = "<pre><code>", "</code></pre>"


@dataclass(frozen=True)
class Aside:
    """Lines of a source that readers unfold when needed.

    Attributes:
        first: The first of them, from 1.
        last: The last of them.
        label: A description of them.
    """

    first: int
    last: int
    label: str


def asides(code: str) -> list[Aside]:
    """Find what to fold, from the top: docstrings after their first line, and leading checks.

    A check is an `if` that only raises. In code that can't be parsed, nothing is folded.
    """
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return []
    nodes = [node for node in ast.walk(tree) if isinstance(node, DOCUMENTED)]
    found = [one for node in nodes for one in _aside(node)]
    return sorted(found, key=lambda one: one.first)


def _aside(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[Aside]:
    docstring = node.body[0] if ast.get_docstring(node, clean=False) is not None else None
    checks = list(_leading_checks(node.body[1 if docstring else 0 :]))
    long = docstring is not None and docstring.end_lineno != docstring.lineno
    if not (long or checks):
        return
    first = docstring.lineno + 1 if docstring and long else checks[0].lineno
    last = (checks[-1] if checks else docstring).end_lineno  # type: ignore[union-attr]
    if last is None or last - first + 1 < FEWEST:
        return
    what = ["docstring"] * long + ["checks"] * bool(checks)
    yield Aside(first, last, f"{' and '.join(what)}, {last - first + 1} lines".capitalize())


def _leading_checks(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if not _only_raises(statement):
            return
        yield statement


def _only_raises(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.If) or len(statement.body) != 1:
        return False
    others = statement.orelse
    return isinstance(statement.body[0], ast.Raise) and (
        not others or (len(others) == 1 and _only_raises(others[0]))
    )


def folded(html: str, code: str) -> str:
    """Fold the asides of a highlighted source; return its HTML unchanged if there are none.

    Nothing else changes: readers can search, print, and copy the folded lines with the rest.
    """
    found = asides(code)
    parts = BLOCK.fullmatch(html) if found else None
    lines = parts["inner"].split("\n") if parts else []
    if not parts or len(lines) != code.count("\n") + 1 or not all(map(_whole, lines)):
        return html
    ends = [0, *(end for one in found for end in (one.first - 1, one.last)), len(lines)]
    stretches = ["\n".join(lines[first:last]) for first, last in pairwise(ends)]
    written = [stretches[0]]
    for one, aside, after in zip(found, stretches[1::2], stretches[2::2], strict=True):
        written.append(
            f'{LAST}<details class="proofbook-aside"><summary>{one.label}</summary>'
            f"{NEXT}{aside}{LAST}</details>{NEXT}{after}"
        )
    inner = "".join(written).replace(f"{NEXT}{LAST}", "")
    if not stretches[-1]:
        inner = inner.removesuffix(NEXT)
        return f"{parts['opened']}{inner}{parts['closed'].removeprefix(LAST)}{_copied(code)}"
    return f"{parts['opened']}{inner}{parts['closed']}{_copied(code)}"


def _whole(line: str) -> bool:
    """Return whether a line of markup closes every tag that it opens."""
    return line.count("<span") == line.count("</span>")


def _copied(code: str) -> str:
    """Return an element that contains the whole source, for the copy button."""
    text = json.dumps(code).replace("<", "\\u003c")  # no tag may end the script
    return f'<script type="application/json" class="proofbook-whole">{text}</script>'
