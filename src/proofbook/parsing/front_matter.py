"""The front matter of a page: where it ends, and the values that it gives for symbols."""

import re
from collections.abc import Iterator

import yaml

from proofbook.model import Claim

FRONT_MATTER = re.compile(r"(?:---[ ]*\n.*?\n(?:---|\.\.\.)[ ]*\n)?\n*", re.DOTALL)
HEADER = re.compile(r"---[ ]*\n(.*?\n)(?:---|\.\.\.)[ ]*\n", re.DOTALL)

Fault = tuple[int, str, str]


def split_front_matter(text: str) -> tuple[str, int]:
    """Return the text after its front matter and first empty lines, and how many those are."""
    match = FRONT_MATTER.match(text)
    assert match is not None
    return text[match.end() :], match[0].count("\n")


def symbol_values(text: str, place: int) -> tuple[dict[str, Claim], list[Fault]]:
    """Read what a page's front matter gives for its symbols, as claims that fill in a value.

    Args:
        text: The whole page.
        place: How many blocks it has; the expressions are evaluated after all of them.

    Returns:
        A claim by the anchor of its symbol; line, message and excerpt of what cannot be one.
    """
    header = HEADER.match(text)
    if not header or "symbols:" not in header[1]:
        return {}, []
    claims: dict[str, Claim] = {}
    faults: list[Fault] = []
    for key, value in _entries(header[1]):
        line = key.start_mark.line + 2
        expression = value.value if isinstance(value, yaml.ScalarNode) else ""
        try:
            compile(expression, "<symbol>", "eval")
        except (SyntaxError, ValueError) as error:
            faults.append((line, f"symbols: {key.value}: no expression: {error}", expression))
        else:
            claims[key.value] = Claim("", line, place, value=expression)
    return claims, faults


def _entries(header: str) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
    """Yield the entries of `symbols:`, with the places where they stand."""
    try:
        root = yaml.compose(header, yaml.SafeLoader)
    except yaml.YAMLError:  # for the builder of the site to tell
        return
    for name, entries in root.value if isinstance(root, yaml.MappingNode) else ():
        if name.value == "symbols" and isinstance(entries, yaml.MappingNode):
            yield from (entry for entry in entries.value if isinstance(entry[0], yaml.ScalarNode))
