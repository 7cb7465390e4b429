"""Find numbers that look checked and aren't: the expression of their words names no bound."""

import ast
import math
import re

NUMBER = re.compile(r"(?<![\w.,^-])\d+(?:,\d{3})*(?:\.\d+)?(?!\w|[.,]\d|-\w)")
NOT_PROSE = re.compile(r"(`+).+?\1|\$[^$\n]+\$", re.DOTALL)
LOOSE = (
    "{number} is no number of this expression: bind it by equals=, or write the bound "
    "that the expression checks"
)


def loose_number(words: str, expression: str) -> str:
    """Return the first number in words that an expression doesn't contain; "" if there is none.

    A percentage may be a fraction there, and a number may be part of a string.
    """
    nodes = ast.walk(ast.parse(expression, mode="eval"))
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    texts = " ".join(one for one in constants if isinstance(one, str))
    values = [one for one in constants if isinstance(one, int | float)]
    for number in NUMBER.findall(NOT_PROSE.sub(" ", words)):
        value = float(number.replace(",", ""))
        if number not in texts and not any(
            math.isclose(other, one) for one in values for other in (value, value / 100)
        ):
            return str(number)
    return ""
