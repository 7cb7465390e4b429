"""Find the values to which a module gives public names."""

import ast
import re
from collections.abc import Iterator

from glassbook.site.api.messages import template
from glassbook.site.api.source import Source
from glassbook.site.api.symbol import Symbol


def values(source: Source) -> Iterator[Symbol]:
    """Find the values of a module under their public names."""
    body = source.tree.body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            text, doc = _described(source, node, after)
            for name in _names(node):
                last = node.end_lineno or node.lineno
                full = f"{source.module}.{name}"
                yield Symbol(full, "value", text, doc, source.path, node.lineno, last)


def _names(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return [name for name in names if re.match(r"[A-Za-z]", name)]


def _described(
    source: Source, node: ast.Assign | ast.AnnAssign, after: ast.stmt | None
) -> tuple[str, str]:
    """Return the lines of a value, and its meaning from the text below or the comment above it."""
    first, last = node.lineno, node.end_lineno or node.lineno
    text = source.text(first, last)
    if asks := _asked(node.value):  # the rest of an exercise gives its answer away
        return f"{text.partition('(')[0]}(...)", f"Asked for: {asks}."
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
        return text, str(after.value.value)
    above = source.lines[source.commented(first) - 1 : first - 1]
    return text, " ".join(line.lstrip("# ") for line in above)


def _asked(value: ast.expr | None) -> str:
    """Return what an exercise asks for; "" if the value isn't one."""
    keywords = value.keywords if isinstance(value, ast.Call) else []
    return next((template(one.value) for one in keywords if one.arg == "asks"), "")
