"""The example of a docstring as a program that runs on its own."""

import ast
import doctest
from collections.abc import Mapping

from proofbook.execution.showing import pasteable, showing

PRINTS = "print("


def program(text: str, known: Mapping[str, str]) -> str:
    """Return a doctest's statements below the imports that they need, printing what it shows.

    Args:
        text: The lines of the example.
        known: What short names stand for in the example's module.
    """
    examples = doctest.DocTestParser().get_examples(text)
    lines = [
        showing(source, "print") if one.want and not source.startswith(PRINTS) else source
        for one in examples
        for source in [one.source.rstrip("\n")]
    ]
    tree = ast.parse("\n".join(lines))
    taken = [one for one in tree.body if isinstance(one, ast.ImportFrom)]
    imported = {alias.name for one in taken for alias in one.names}
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    head = ["import torch"] if "torch" in read else []
    for name in sorted(read & set(known) - imported):
        module, _, short = known[name].rpartition(".")
        head.append(f"from {module} import {short}")
    return pasteable("\n".join([*head, *lines]) + "\n")
