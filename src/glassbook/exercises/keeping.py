"""Keep functions in a file of the reader's own."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

IMPORTS = (
    "import math\n\nimport torch\nimport torch.nn.functional as F\nfrom torch import Tensor, nn\n"
)
"""What a new file begins with."""


def kept(text: str, function: Callable[..., Any]) -> str:
    """Return the text of a Python file with a function in it, in place of any of the same name.

    Raises:
        ValueError: The function has no name or no source.
        SyntaxError: The text isn't Python.
    """
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
        raise ValueError("only a function that def gave a name can be kept")
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except OSError:
        raise ValueError("its source is nowhere; write it in a notebook or in a file") from None
    lines = (text or IMPORTS).splitlines()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            return "\n".join([*lines[: first - 1], source.rstrip(), *lines[node.end_lineno :], ""])
    return "\n".join([*lines, "", "", source])


def defined(text: str, file: str) -> dict[str, Any]:
    """Run the text of a Python file, and return what it defines."""
    names: dict[str, Any] = {"__name__": file}
    exec(compile(text, file, "exec"), names)
    return names
