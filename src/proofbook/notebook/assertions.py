"""Convert claims to plain Python assertions, which work where the page's names are defined."""

import ast
import json
import math
import re
from collections.abc import Iterator
from typing import Any

from proofbook.checking.compare import LEAF
from proofbook.checking.numerals import Numeral
from proofbook.model import Claim, Run

TEXT_METHODS = frozenset({"format", "join", "lower", "replace", "strip", "upper"})
TEXT_FUNCTIONS = frozenset({"format", "repr", "str"})
LISTING_CALLS = frozenset({"list", "sorted", "tolist"})
LOOSE = (ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.NamedExpr)
"""Expressions that bind less tightly than a comparison."""
NOT_IN_BRACES = re.compile(r"[\"\\{}#!]|\blambda\b|:=")
"""What Python 3.11 doesn't accept within the braces of an f-string in double quotes."""
LARGEST_EXACT = 2**53
"""Integers up to this one are exact as floats; formatting would round larger ones."""


def asserts(claim: Claim, run: Run) -> Iterator[tuple[int, str]]:
    """Yield each assertion of a claim: how many blocks had run by then, and the line."""
    if claim.equals is not None:
        value = run.values[claim.equals, claim.place]
        yield value.after, equality(claim.equals, claim.text, value.data)
    if claim.holds is not None:
        said = ""
        if claim.value is not None:
            filled = str(run.values[claim.value, claim.place].data)
            said = f"  # the page says {' '.join(filled.split())}"
        yield (
            run.values[claim.holds, claim.place].after,
            f"assert {_told(claim)}{said}",
        )


def _told(claim: Claim) -> str:
    """Return what a claim asserts, with the claim's words as the assertion's message."""
    assert claim.holds is not None
    condition = without_word(claim.holds)
    if claim.expressions != (claim.holds,) or claim.text == claim.holds:
        return condition
    loose = isinstance(_tree(condition), ast.Tuple | ast.GeneratorExp)
    return f"{f'({condition})' if loose else condition}, {_quoted(claim.text)}"


def equality(expression: str, text: str, value: Any) -> str:
    """Return a line that asserts that an expression's value agrees with a text.

    Args:
        expression: The expression, as the author wrote it.
        text: What the reader sees, at the precision written.
        value: The expression's value, as JSON data.
    """
    chosen = _condition(expression, text)
    if chosen:
        return f"assert {chosen}"
    expression = without_word(expression)
    operand = _operand(expression)
    if value is None:
        return f"assert {operand} is None"
    if isinstance(value, bool):
        return f"assert {expression}" if value else f"assert not {_operand(expression, True)}"
    if isinstance(value, int | float):
        return _number(expression, text, value)
    if isinstance(value, list):
        return _listing(expression, text, value)
    operand = operand if _is_text(_tree(expression)) else f"str({expression})"
    return f"assert {operand} == {_quoted(text)}"


def without_word(expression: str) -> str:
    """Return an expression with `a if condition else b` for each `word(condition, a, b)`."""
    tree = _tree(expression)
    if not any(_is_word(node) for node in ast.walk(tree)):
        return expression.strip()
    return ast.unparse(_WithoutWord().visit(tree))


class _WithoutWord(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        return ast.IfExp(*_parts(node)) if _is_word(node) else node


def _tree(expression: str) -> ast.expr:
    return ast.parse(expression.strip(), mode="eval").body


def _is_word(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "word"


def _parts(call: ast.Call) -> list[ast.expr]:
    """Return the condition and both words of a call to `word`, however they are passed."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    names = ("condition", "if_true", "if_false")[len(call.args) :]
    return [*call.args, *(named[name] for name in names)]


def _condition(expression: str, text: str) -> str:
    """Return the condition under which `word(condition, "a", "b")` returns a text.

    Return "" for any other expression.
    """
    tree = _tree(expression)
    if not isinstance(tree, ast.Call) or not _is_word(tree):
        return ""
    condition, *words = _parts(tree)
    said = [word.value for word in words if isinstance(word, ast.Constant)]
    if len(set(said)) < 2 or any(_is_word(node) for node in ast.walk(condition)):
        return ""
    code = ast.get_source_segment(expression.strip(), condition) or ast.unparse(condition)
    return code if text == said[0] else f"not {_operand(code, True)}"


def _operand(expression: str, of_not: bool = False) -> str:
    """Return an expression for use beside `==` or after `not`, in parentheses if it needs them."""
    tree = _tree(expression)
    negated = isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not)
    loose = LOOSE if not of_not else (*LOOSE, ast.UnaryOp)
    return f"({expression})" if negated or isinstance(tree, loose) else expression


def _number(expression: str, text: str, value: int | float) -> str:
    operand = _operand(expression)
    if isinstance(value, float) and not math.isfinite(value):
        same = f'== float("{value}")' if value == value else f"!= {operand}"
        return f"assert {operand} {same}"
    numeral = Numeral.read(text.strip())
    if numeral is None or (isinstance(value, int) and numeral.exponent <= 0):
        return f"assert {operand} == {int(value)}"
    if not numeral.digits and not numeral.sign:
        return f"assert abs({operand}) <= {0 if numeral.is_scientific else numeral.bounds()[1]}"
    spec = _spec(text)
    is_rounded = isinstance(value, int) and abs(value) > LARGEST_EXACT
    expected = "" if is_rounded else format(value, spec)
    if _written_alike(Numeral.read(expected), numeral):
        return f'assert {_formatted(expression, spec)} == "{expected}"'
    # The value is about halfway between two numbers with that many digits.
    low, high = numeral.bounds()
    if isinstance(value, int):
        below, above = (limit * 10**numeral.exponent for limit in numeral.limits())
        low, high = -(-below // 100), above // 100
    return f"assert {low} <= {operand} <= {high}"


def _spec(text: str) -> str:
    """Return the format spec that writes a number with the digits and signs of a text."""
    mantissa = re.sub(r"[eE].*|\s*%", "", text.strip())
    kind = "%" if text.endswith("%") else "e" if re.search("[eE]", text) else "f"
    plus, comma = "+" if text.startswith("+") else "", "," if "," in text else ""
    return f"{plus}{comma}.{len(mantissa.partition('.')[2])}{kind}"


def _written_alike(one: Numeral | None, other: Numeral) -> bool:
    return one is not None and (one.digits, one.exponent) == (other.digits, other.exponent)


def _formatted(expression: str, spec: str) -> str:
    if NOT_IN_BRACES.search(expression):
        return f'format({expression}, "{spec}")'
    return f'f"{{{expression}:{spec}}}"'


def _listing(expression: str, text: str, value: list[Any]) -> str:
    """Return a line that compares lists item by item, for any sequence or tensor."""
    leaves = list(_leaves(value))
    nested = any(isinstance(item, list) for item in value)
    if nested and not all(isinstance(row, list) and _is_flat(row) for row in value):
        return f"# not checked here: {expression} is {text}"
    show = "{}"
    if any(isinstance(leaf, float) for leaf in leaves):
        written = LEAF.findall(re.sub(r"^[\w.]+(?=\()", "", text))  # tensor(…)
        spec = _common_spec(written)
        if not spec:
            return f"# not checked here: {expression} is {text}"
        show = f"{{:{spec}}}"
    elif leaves and all(isinstance(leaf, str) for leaf in leaves):
        show = "{:s}"
    wanted = _shown(value, show)
    if show == "{}":
        is_list = _gives_lists(_tree(expression))
        row = expression if is_list else f"list({expression})"
        rows = expression if is_list else f"[list(row) for row in {_operand(expression)}]"
    else:
        item = "str(item)" if show == "{:s}" else f'f"{{item{show[1:-1]}}}"'
        row = f"[{item} for item in {_operand(expression)}]"
        rows = f"[[{item} for item in row] for row in {_operand(expression)}]"
    return f"assert {rows if nested else row} == {wanted}"


def _common_spec(written: list[str]) -> str:
    """Return the format spec that reproduces all floats of a list as written; "" if none does.

    With the option `z`, a negative value that rounds to zero gets no sign, as in the text.
    """
    numerals = [Numeral.read(text) for text in written]
    specs = {_spec(text).lstrip("+") for text in written}
    signs = {numeral.sign for numeral in numerals if numeral and not numeral.digits}
    if None in numerals or len(specs) != 1 or len(signs) > 1:
        return ""
    spec = specs.pop()
    return "" if not spec.endswith("f") else f"z{spec}" if signs == {0} else spec


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _is_flat(items: list[Any]) -> bool:
    return not any(isinstance(item, list) for item in items)


def _shown(value: Any, show: str) -> str:
    """Return a list as Python source, with floats as the text they're compared with."""
    if isinstance(value, list):
        return f"[{', '.join(_shown(item, show) for item in value)}]"
    if isinstance(value, str):
        return _quoted(value)
    return repr(value) if show == "{}" else _quoted(show.format(value))


def _gives_lists(tree: ast.expr) -> bool:
    if isinstance(tree, ast.Call):
        name = tree.func.attr if isinstance(tree.func, ast.Attribute) else ast.unparse(tree.func)
        return name in LISTING_CALLS
    return isinstance(tree, ast.List | ast.ListComp)


def _is_text(tree: ast.expr) -> bool:
    """Return whether an expression returns a string, judging by its form."""
    match tree:
        case ast.JoinedStr() | ast.Constant(value=str()) | ast.Attribute(attr="__name__"):
            return True
        case ast.IfExp(body=one, orelse=other):
            return _is_text(one) and _is_text(other)
        case ast.BinOp(op=ast.Add(), left=one, right=other):
            return _is_text(one) or _is_text(other)
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in TEXT_METHODS
        case ast.Call(func=ast.Name(id=name)):
            return name in TEXT_FUNCTIONS
    return False


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
