"""A module as it is written: its lines, its syntax tree, and what it imports."""

import ast
from collections.abc import Iterator, Sequence

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


class Source:
    """The lines and the syntax tree of a module.

    Attributes:
        module: Its full name.
        path: The file, relative to the root of the project.
        lines: Its lines.
        tree: Its syntax tree.
        functions: Its functions, by name.
    """

    def __init__(self, module: str, path: str, code: str) -> None:
        self.module = module
        self.path = path
        self.lines = code.split("\n")
        self.tree = ast.parse(code)
        self.functions = functions(self.tree)

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


def first_line(node: Definition) -> int:
    """Find the first line of a definition, its decorators included."""
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def functions(node: ast.Module | ast.ClassDef) -> dict[str, Function]:
    """Find the functions of a module, or the methods of a class, by name."""
    return {one.name: one for one in node.body if isinstance(one, Function)}


def imports(tree: ast.AST, packages: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Find each name that code takes from some packages, and what it stands for there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in packages:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                package = alias.name.split(".")[0]
                if package in packages:
                    yield alias.asname or package, alias.name if alias.asname else package
