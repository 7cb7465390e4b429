"""The messages of the errors that the package raises, read from its `raise` statements."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from glassbook.site.api.source import Function, Source, functions

SPEAKING = re.compile(r"[^\W\d_]{2,}")
DEPTH = 3  # depth to which helpers of helpers are searched


@dataclass(frozen=True)
class Messages:
    """The messages of the errors that the functions of a package raise.

    Attributes:
        sources: The files, by module.
        imported: For each module, the names that it takes from the package, with their meanings.
    """

    sources: Mapping[str, Source]
    imported: Mapping[str, Mapping[str, str]]

    def of(
        self, module: str, node: Function, within: ast.ClassDef | None = None, depth: int = DEPTH
    ) -> Iterator[str]:
        """Find the errors that a function raises, itself or in its own helpers, with messages."""
        own = functions(within) if within else {}
        for call in ast.walk(node):
            if not isinstance(call, ast.Call):
                continue
            name = ast.unparse(call.func).rpartition(".")[2]
            if name.endswith("Error") and call.args:
                text = re.sub(r"\s+", " ", template(call.args[0])).strip()
                if len(SPEAKING.findall(text)) > 2:
                    yield f"{name}: {text}"
            elif depth and name.startswith(("_", "check_")) and not name.startswith("__"):
                helper, there = self._helper(name, module, own)
                if helper is not None and helper is not node:
                    yield from self.of(there, helper, within, depth - 1)

    def _helper(
        self, name: str, module: str, own: Mapping[str, Function]
    ) -> tuple[Function | None, str]:
        """Find the function that a name stands for in a module, and where it is defined."""
        helper = own.get(name) or self.sources[module].functions.get(name)
        if helper is None and name in self.imported[module]:
            there = self.imported[module][name].rpartition(".")[0]
            module = there if there in self.sources else module
            helper = self.sources[module].functions.get(name)
        return helper, module


def template(node: ast.expr) -> str:
    """Return a message with … for its values."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(template, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return template(node.left) + template(node.right)
    return "…"
