"""Write claims as plain Python assertions, which work where the page's names are defined."""

import ast
import json
import math
import re
from collections.abc import Iterator
from typing import Any

from proofbook.checking.compare import LEAF
from proofbook.checking.numerals import Numeral
from proofbook.model import Claim, Run

LOOSE = (
    *(ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.NamedExpr),
    *(ast.Tuple, ast.GeneratorExp, ast.UnaryOp),
)
"""Expressions that bind less tightly than a comparison."""
WORD = "def word(condition, if_true, if_false):\n    return if_true if condition else if_false"
"""What every claim may call."""


def asserts(claim: Claim, run: Run) -> Iterator[tuple[int, str]]:
    """Yield each assertion of a claim: how many blocks had run by then, and the line."""
    if claim.equals is not None:
        value = run.values[claim.equals, claim.place]
        yield value.after, equality(claim.equals, claim.text, value.data)
    if claim.holds is not None:
        tells = claim.equals is None and claim.text not in ("", claim.holds)
        said = f", {_quoted(claim.text)}" if tells else ""
        if claim.value is not None:
            filled = str(run.values[claim.value, claim.place].data)
            said = f"  # the page says {' '.join(filled.split())}"
        yield run.values[claim.holds, claim.place].after, f"assert {_whole(claim.holds)}{said}"


def equality(expression: str, text: str, value: Any) -> str:
    """Return a line that asserts that an expression's value agrees with a text.

    Args:
        expression: The expression, as the author wrote it.
        text: What the reader sees, at the precision written.
        value: The expression's value, as JSON data.
    """
    operand = _operand(expression)
    if value is None:
        return f"assert {operand} is None"
    if isinstance(value, bool):
        return f"assert {_whole(expression)}" if value else f"assert not {operand}"
    if isinstance(value, int | float):
        return f"assert {_number(operand, text, value)}"
    if isinstance(value, list):
        agrees = _listing(operand, text, value)
        return f"assert {agrees}" if agrees else f"# not checked here: {expression} is {text}"
    return f"assert str({expression}) == {_quoted(text)}"


def calls_word(claim: Claim) -> bool:
    """Return whether a claim calls the helper `word`."""
    nodes = (node for one in claim.expressions for node in ast.walk(_tree(one)))
    return any(isinstance(node, ast.Name) and node.id == "word" for node in nodes)


def _tree(expression: str) -> ast.expr:
    return ast.parse(expression.strip(), mode="eval").body


def _operand(expression: str) -> str:
    """Return an expression for use beside an operator, in parentheses if it needs them."""
    expression = expression.strip()
    return f"({expression})" if isinstance(_tree(expression), LOOSE) else expression


def _whole(expression: str) -> str:
    """Return an expression for use behind `assert`, where a comma would begin a message."""
    is_apart = isinstance(_tree(expression), ast.Tuple | ast.GeneratorExp)
    return f"({expression.strip()})" if is_apart else expression.strip()


def _number(operand: str, text: str, value: int | float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f'str(float({operand})) == "{value}"'
    numeral = Numeral.read(text.strip())
    if numeral is None or (isinstance(value, int) and numeral.exponent <= 0):
        return f"{operand} == {int(value)}"
    if numeral.is_scientific and not numeral.digits:
        return f"{operand} == 0"
    low, high = numeral.bounds()
    if isinstance(value, int):
        below, above = (limit * 10**numeral.exponent for limit in numeral.limits())
        low, high = -(-below // 100), above // 100
    return f"{low} <= {operand} <= {high}"


def _listing(operand: str, text: str, value: list[Any]) -> str:
    """Return what compares the items of a sequence or a tensor; "" if no short line can."""
    if all(isinstance(one, list) for one in value):
        kinds = {type(item) for row in value for item in row}
        return f"[[*row] for row in {operand}] == {_shown(value)}" if kinds <= {int, str} else ""
    kinds = {type(item) for item in value}
    if kinds <= {int, str}:
        is_list = isinstance(_tree(operand), ast.List | ast.ListComp)
        return f"{operand if is_list else f'[*{operand}]'} == {_shown(value)}"
    numerals = [Numeral.read(one) for one in LEAF.findall(re.sub(r"^[\w.]+(?=\()", "", text))]
    exponents = {numeral.exponent for numeral in numerals if numeral}
    if not kinds <= {int, float} or None in numerals or len(exponents) != 1:
        return ""
    written = ", ".join(str(float(f"{one.digits}e{one.exponent}")) for one in numerals if one)
    near = f"abs(one - other) <= {float(f'501e{exponents.pop() - 3}')}"
    return f"all({near} for one, other in zip({operand}, [{written}], strict=True))"


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return _quoted(value) if isinstance(value, str) else repr(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
