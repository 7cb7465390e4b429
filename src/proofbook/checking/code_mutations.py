"""Plant wrong computations in the code of a page, each one slip that an author could make."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from proofbook.model import Block

AXES = {-1: -2, -2: -1, 0: 1, 1: 0, 2: 1, 3: 2}
BY_AXIS = frozenset(
    [
        *("all", "any", "argmax", "argmin", "argsort", "cumsum", "flip", "log_softmax", "max"),
        *("mean", "median", "min", "norm", "prod", "softmax", "sort", "std", "sum", "topk"),
        *("unbind", "var"),
    ]
)
TURNED = frozenset({"T", "mT", "H", "mH"})
MASKS = frozenset({"tril", "triu"})
MADE = frozenset({"arange", "linspace", "tensor"})
LOADING = frozenset({"from_config", "from_hf", "from_pretrained", "load"})
OPPOSITES = {"argmax": "argmin", "argmin": "argmax", "max": "min", "min": "max", "tril": "triu"}
OPPOSITES |= {
    "randn": "rand",
    "ones": "zeros",
    "zeros": "ones",
    "triu": "tril",
    "sorted": "reversed",
    "any": "all",
    "all": "any",
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    ast.Pow: ast.Mult,
}
RANDOM_WEIGHTS = "(lambda made: [w.data.normal_(std=0.02) for w in made.parameters()] and made)"

Change = tuple[str, ast.expr]


@dataclass(frozen=True)
class Mutation:
    """One error in the code of one block.

    Attributes:
        block: Index of the block.
        statement: Index of the statement within the block.
        kind: The kind of slip.
        code: The whole block with the error in it.
    """

    block: int
    statement: int
    kind: str
    code: str


def mutations_of(index: int, block: Block) -> Iterator[Mutation]:
    """Yield every error that can be planted in a block; none in a doctest."""
    if block.kind != "python":
        return
    tree = ast.parse(block.code)
    for number, statement in enumerate(tree.body):
        for node in ast.walk(statement):
            if not isinstance(node, ast.expr):
                continue
            for kind, other in _changes(node):
                wrong = _replaced(tree, node, other)
                yield Mutation(index, number, kind, ast.unparse(wrong))


def _changes(node: ast.expr) -> Iterator[Change]:
    """Yield each error that could replace an expression: its kind and its code."""
    match node:
        case ast.BinOp(op=ast.MatMult()):
            for left, right in ((_turned(node.left), node.right), (node.left, _turned(node.right))):
                yield "operands transposed", ast.BinOp(left, node.op, right)
            yield "operands swapped", ast.BinOp(node.right, node.op, node.left)
        case ast.BinOp() if type(node.op) in OPERATORS:
            operator = OPERATORS[type(node.op)]()
            yield "another operator", ast.BinOp(node.left, operator, node.right)
        case ast.Attribute(attr=name) if name in TURNED:
            yield "operands transposed", node.value
        case ast.Compare(ops=[one]) if type(one) in COMPARISONS:
            other = COMPARISONS[type(one)]()
            yield "another comparison", ast.Compare(node.left, [other], node.comparators)
        case ast.Subscript():
            yield from _other_items(node)
        case ast.Call():
            yield from _other_calls(node)


def _turned(operand: ast.expr) -> ast.expr:
    return ast.Attribute(operand, "mT", ast.Load())


def _other_items(node: ast.Subscript) -> Iterator[Change]:
    """Yield subscripts with one index changed: the last instead of the first, or a neighbor."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for at, part in enumerate(parts):
        for other in _neighbors(part):
            changed = [*parts[:at], other, *parts[at + 1 :]]
            inner = ast.Tuple(changed, ast.Load()) if isinstance(node.slice, ast.Tuple) else other
            yield "another index", ast.Subscript(node.value, inner, node.ctx)


def _neighbors(index: ast.expr) -> Iterator[ast.expr]:
    match index:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            yield ast.Constant(-1 if number == 0 else number - 1)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            yield ast.Constant(0 if number == 1 else 1 - number)
        case ast.Name():
            yield ast.BinOp(index, ast.Sub(), ast.Constant(1))


def _other_calls(node: ast.Call) -> Iterator[Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    for at, keyword in enumerate(node.keywords):
        if keyword.arg in ("dim", "axis"):
            for axis in _other_axes(keyword.value):
                other = ast.keyword(keyword.arg, axis)
                named = [*node.keywords[:at], other, *node.keywords[at + 1 :]]
                yield "another axis", ast.Call(node.func, node.args, named)
    if name in BY_AXIS and isinstance(node.func, ast.Attribute) and node.args:
        for axis in _other_axes(node.args[0]):
            yield "another axis", ast.Call(node.func, [axis, *node.args[1:]], node.keywords)
    if name in MASKS:
        shifted = ast.keyword("diagonal", ast.Constant(1 if name == "tril" else 2))
        rest = [one for one in node.keywords if one.arg != "diagonal"]
        yield "shifted mask", ast.Call(node.func, node.args[:1], [*rest, shifted])
    if name in MADE:
        yield "reversed order", ast.parse(f"({ast.unparse(node)}).flip(0)", mode="eval").body
    if name in LOADING:
        yield "random weights", ast.Call(ast.parse(RANDOM_WEIGHTS, mode="eval").body, [node], [])
    if name in OPPOSITES:
        opposite = _renamed(node.func, OPPOSITES[name])
        yield "the opposite", ast.Call(opposite, node.args, node.keywords)
    if len(node.args) > 1 and not any(isinstance(one, ast.Starred) for one in node.args):
        first, second, *others = node.args
        yield "operands swapped", ast.Call(node.func, [second, first, *others], node.keywords)


def _other_axes(axis: ast.expr) -> Iterator[ast.expr]:
    match axis:
        case ast.Constant(value=int(number)) if number in AXES:
            yield ast.Constant(AXES[number])
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            if -number in AXES:
                yield ast.Constant(AXES[-number])


def _renamed(function: ast.expr, name: str) -> ast.expr:
    if isinstance(function, ast.Attribute):
        return ast.Attribute(function.value, name, ast.Load())
    return ast.Name(name, ast.Load())


def _replaced(tree: ast.Module, node: ast.expr, other: ast.expr) -> ast.Module:
    """Return a copy of a tree with one expression replaced."""
    memo = {id(node): copy.deepcopy(other)}
    return ast.fix_missing_locations(copy.deepcopy(tree, memo))
