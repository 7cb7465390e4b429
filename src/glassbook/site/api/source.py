"""A file of the package as it is written, including what griffe doesn't keep.

griffe takes a signature apart, and would put it back together in a layout other than the source's.
It keeps neither comments nor the statements of a body.
"""

import ast
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


class Source:
    """The lines and the syntax tree of a file.

    Attributes:
        path: the file, relative to the root of the project.
        lines: its lines.
        tree: its syntax tree.
    """

    def __init__(self, path: str, code: str) -> None:
        self.path = path
        self.lines = code.split("\n")
        self.tree = ast.parse(code)

    def text(self, first: int, last: int) -> str:
        """Return some lines, without their common indentation."""
        lines = self.lines[first - 1 : last]
        indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
        return "\n".join(line[indent:] for line in lines).rstrip()

    def head(self, node: Definition) -> str:
        """Return the lines of a definition up to the colon that opens its body."""
        opening = node.body[0]
        last = opening.lineno - 1 if opening.lineno > node.lineno else node.lineno
        while self.lines[last - 1].lstrip().startswith("#"):  # a comment on the body
            last -= 1
        return self.text(first_line(node), last).removesuffix(":").rstrip()

    def commented(self, line: int) -> int:
        """Find where the comment right above a line begins; without one, return the line itself."""
        while line > 1 and self.lines[line - 2].lstrip().startswith("# "):
            line -= 1
        return line

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Its functions, by name."""
        return {node.name: node for node in self.tree.body if isinstance(node, Function)}

    @cached_property
    def _definitions(self) -> dict[tuple[str, int], Definition]:
        nodes = (node for node in ast.walk(self.tree) if isinstance(node, Definition))
        return {(node.name, node.end_lineno or 0): node for node in nodes}

    def function(self, name: str, last: int) -> Function:
        """Find a function or method by its name and its last line."""
        node = self._definitions[name, last]
        assert isinstance(node, Function)
        return node

    def cls(self, name: str, last: int) -> ast.ClassDef:
        """Find a class by its name and its last line."""
        node = self._definitions[name, last]
        assert isinstance(node, ast.ClassDef)
        return node


def first_line(node: Definition) -> int:
    """Find the first line of a definition, its decorators included."""
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def methods(node: ast.ClassDef) -> dict[str, Function]:
    """Find the methods of a class, by name."""
    return {one.name: one for one in node.body if isinstance(one, Function)}
