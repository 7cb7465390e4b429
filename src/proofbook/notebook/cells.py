"""The cells of a notebook (nbformat 4.5): prose, code, and the code's output."""

import ast
import re
from collections.abc import Iterator, Sequence
from textwrap import indent
from typing import Any

from proofbook.model import BlockResult, Example, Output
from proofbook.text import TRACEBACK

LARGEST_HTML = 20_000
"""The most characters of a view's markup to keep; a larger view is kept as text."""

Cell = dict[str, Any]


def markdown(name: str, text: str) -> Cell:
    """Make a cell of prose."""
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": _lines(text)}


def code(name: str, source: str, outputs: Sequence[Cell] = (), tags: Sequence[str] = ()) -> Cell:
    """Make a cell of code."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": name,
        "metadata": {"tags": list(tags)} if tags else {},
        "outputs": list(outputs),
        "source": _lines(source),
    }


def python_cell(name: str, source: str, result: BlockResult) -> Cell:
    """Make the cell of a `python` block; if the block is meant to raise, the notebook continues."""
    tags = ["raises-exception"] if result.raised else []
    outputs = [_output(output) for output in result.outputs]
    for output in outputs[:-1]:  # the last thing a cell shows is its value
        if output["output_type"] == "execute_result":
            del output["execution_count"]
            output["output_type"] = "display_data"
    return code(name, source, outputs, tags)


def doctest_cells(name: str, result: BlockResult) -> Iterator[Cell]:
    """Yield the cells of a `pycon` block: one for each output, with the statements before it."""
    sources: list[str] = []
    number = 0
    for example in result.examples:
        expected = TRACEBACK in example.got.split("\n")
        source = example.source.rstrip("\n")
        sources.append(_caught(source) if expected else source)
        if not example.got and example is not result.examples[-1]:
            continue
        number += 1
        outputs = [_example_output(example, expected)] if example.got else []
        yield code(f"{name}-{number}", "\n".join(sources), outputs)
        sources = []


def _caught(source: str) -> str:
    """Wrap a statement that is meant to fail, to print its error and let the notebook continue."""
    told = "error"
    try:
        ast.parse(source)
    except SyntaxError:
        source, told = f"exec({source!r})", "error.msg"
    return (
        f"try:\n{indent(source, '    ')}\n"
        f'except Exception as error:\n    print(f"{{type(error).__name__}}: {{{told}}}")'
    )


def _example_output(example: Example, failed: bool) -> Cell:
    if failed:
        printed, _, error = example.got.rpartition(f"{TRACEBACK}\n")
        return _stream(printed + re.sub(r"^(?:\w+\.)+(?=\w+:)", "", error))
    last = ast.parse(example.source).body[-1]
    if isinstance(last, ast.Expr) and not _is_print(last.value):
        return _result({"text/plain": _lines(example.got.rstrip("\n"))})
    return _stream(example.got)


def _is_print(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Call) and ast.unparse(tree.func) == "print"


def _output(output: Output) -> Cell:
    if output.kind == "stdout":
        return _stream(output.data)
    if output.kind == "raised":
        kind, _, message = output.data.partition(": ")
        name = kind.rpartition(".")[2]
        error = {"ename": name, "evalue": message, "traceback": [output.data]}
        return {"output_type": "error", **error}
    if output.kind == "svg":
        data = {"image/svg+xml": _lines(output.data), "text/plain": [output.plain or "<Figure>"]}
        return {"data": data, "metadata": {}, "output_type": "display_data"}
    if output.kind == "text":
        return _result({"text/plain": _lines(output.data)})
    data = {"text/plain": _lines(output.plain)}
    if picture := re.match(r'<img src="data:(image/\w+);base64,([^"]*)"', output.data):
        data[picture[1]] = [picture[2]]
    elif output.kind in ("markdown", "latex"):
        data[f"text/{output.kind}"] = _lines(output.data)
    elif not output.assets and len(output.data) <= LARGEST_HTML:
        data["text/html"] = _lines(output.data)
    return _result(data)


def _stream(text: str) -> Cell:
    return {"name": "stdout", "output_type": "stream", "text": _lines(text)}


def _result(data: dict[str, list[str]]) -> Cell:
    return {"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
