"""Make a program show what its page shows, both as a script and when pasted at a prompt.

A page shows a block's last value; a script has to print it. And a prompt reads line by line: an
empty line, and nothing else, ends a function.
"""

import ast
import contextlib
from typing import Any, Literal

How = Literal["print", "repr", "display"]
"""How a program shows a value: printed, printed as its repr, or as a notebook does."""
CALLS = {"print": ("print(", ")"), "repr": ("print(repr(", "))"), "display": ("display(", ")")}
COMPOUND = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)
FILLED = "    "
"""Replaces an empty line within a statement, which would end the statement at a prompt."""


def how_to_print(value: Any, text: str) -> How:
    """Return how a program must print a value to match the page; a string loses its quotes.

    Args:
        value: The value.
        text: What the page shows for it.
    """
    with contextlib.suppress(Exception):
        if isinstance(value, str) or str(value) == text:
            return "print"
    return "repr"


def showing(code: str, how: How) -> str:
    """Write a statement that shows the value of an expression.

    Args:
        code: The expression, with comments above and after it; other code is returned unchanged.
        how: How to show it.
    """
    body = ast.parse(code).body
    statement = body[0] if len(body) == 1 else None
    if not isinstance(statement, ast.Expr):
        return code
    lines = code.encode().split(b"\n")
    begins = sum(len(line) + 1 for line in lines[: statement.lineno - 1]) + statement.col_offset
    last = (statement.end_lineno or 1) - 1
    ends = sum(len(line) + 1 for line in lines[:last]) + (statement.end_col_offset or 0)
    above, text, behind = (
        part.decode()
        for part in (code.encode()[:begins], code.encode()[begins:ends], code.encode()[ends:])
    )
    opened, closed = CALLS[how]
    if _is_enclosed(text):
        text = text if isinstance(statement.value, ast.Tuple) else text[1:-1]
    elif isinstance(statement.value, ast.Tuple):
        text = f"({text})"
    return f"{above}{opened}{text}{closed}{behind}"


def _is_enclosed(text: str) -> bool:
    """Return whether a single pair of parentheses encloses the whole expression."""
    if not text.startswith("("):
        return False
    called = ast.parse(f"f{text}", mode="eval").body
    return isinstance(called, ast.Call) and isinstance(called.func, ast.Name)


def pasteable(program: str) -> str:
    """Make a program pasteable at a prompt, where an empty line must end each function."""
    try:
        tree = ast.parse(program)
    except SyntaxError:  # running it shows the error
        return program
    lines = program.split("\n")
    within = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr | ast.Constant) and node.end_lineno
        for line in range(node.lineno + 1, node.end_lineno)
    }
    ends = []
    for statement in tree.body:
        last = statement.end_lineno or 0
        if not isinstance(statement, COMPOUND):
            continue
        above = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(one.lineno for one in above)])
        for number in set(range(first, last)) - within:
            lines[number - 1] = lines[number - 1] if lines[number - 1].strip() else FILLED
        if last < len(lines) and lines[last].strip():
            ends.append(last)
    for place in reversed(ends):
        lines.insert(place, "")
    return "\n".join(lines)
