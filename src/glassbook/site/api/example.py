"""The example of a docstring as a program that runs on its own."""

import ast
import doctest
from collections.abc import Mapping
from dataclasses import replace

from proofbook.model import Block, BlockResult, Example
from proofbook.notebook.programs import Program, program_of

PRINTS = "print("


def program(text: str, known: Mapping[str, str]) -> Program:
    """Return a doctest's statements below the imports that they need, printing what it shows.

    Args:
        text: The lines of the example.
        known: What short names stand for in the example's module.
    """
    found = doctest.DocTestParser().get_examples(text)
    examples = tuple(Example(one.source, one.want, one.want, one.lineno) for one in found)
    prints = (n for n, one in enumerate(found) if one.want and not one.source.startswith(PRINTS))
    result = BlockResult(examples=examples, prints=tuple(prints))
    made = program_of([Block("pycon", text, 1)], [result])
    tree = ast.parse(made.script())
    taken = [one for one in tree.body if isinstance(one, ast.ImportFrom)]
    imported = {alias.name for one in taken for alias in one.names}
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    head = ["import torch"] if "torch" in read else []
    for name in sorted(read & set(known) - imported):
        module, _, short = known[name].rpartition(".")
        head.append(f"from {module} import {short}")
    return replace(made, start="\n".join(head))
