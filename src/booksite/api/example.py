"""An example of a docstring as a program that runs alone."""

import ast
from collections.abc import Mapping


def program(doctest: str, known: Mapping[str, str]) -> str:
    """Give a doctest's statements under the imports that they need.

    Args:
        doctest: The lines of the example.
        known: What short names stand for in the module that it belongs to.
    """
    lines = [line[4:] for line in doctest.split("\n") if line[:3] in (">>>", "...")]
    tree = ast.parse("\n".join(lines))
    taken = [one for one in tree.body if isinstance(one, ast.ImportFrom)]
    imported = {alias.name for one in taken for alias in one.names}
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    head = ["import torch"] if "torch" in read else []
    for name in sorted(read & set(known) - imported):
        module, _, short = known[name].rpartition(".")
        head.append(f"from {module} import {short}")
    return "\n".join([*head, *lines]) + "\n"
