"""Read a page's front matter: its end, the values of symbols, and the files the page reads."""

import re

import yaml

from proofbook.model import Claim
from proofbook.parsing.syntax import expression_fault

HEADER = re.compile(r"---[ ]*\n(.*?\n)(?:---|\.\.\.)[ ]*\n", re.DOTALL)

Fault = tuple[int, str, str]


def split_front_matter(text: str) -> tuple[str, int]:
    """Return the text after front matter and leading empty lines, and how many lines precede it."""
    header = _header(text)
    body = text[header.end() if header else 0 :].lstrip("\n")
    return body, text.count("\n", 0, len(text) - len(body))


def _header(text: str) -> re.Match[str] | None:
    """Match the front matter of a text; if it isn't a mapping, it's prose between two rules."""
    header = HEADER.match(text)
    try:
        is_mapping = header and isinstance(yaml.load(header[1], yaml.SafeLoader), dict)
    except Exception:  # what looks like a date or a number to YAML may be invalid
        return None
    return header if is_mapping else None


def symbol_values(text: str, place: int) -> tuple[dict[str, Claim], list[Fault]]:
    """Read the values that a page's front matter gives to symbols, each as a claim to fill in.

    Args:
        text: The whole page.
        place: How many blocks it has; the expressions are evaluated after all of them.

    Returns:
        Each symbol's claim, by its anchor; and the line, message, and excerpt of each bad value.
    """
    header = _header(text)
    if not header or "symbols:" not in header[1]:
        return {}, []
    claims: dict[str, Claim] = {}
    faults: list[Fault] = []
    for key, value in _pairs(header[1], "symbols"):
        line = key.start_mark.line + 2
        expression = value.value if isinstance(value, yaml.ScalarNode) else ""
        if why := expression_fault(expression):
            faults.append((line, f"symbols: {key.value}: not an expression: {why}", expression))
        else:
            claims[key.value] = Claim("", line, place, value=expression)
    return claims, faults


def files_read(text: str) -> tuple[dict[str, int], list[Fault]]:
    """List the files that the blocks of a page read, according to its front matter.

    Returns:
        The line of each file or pattern; and the line, message, and excerpt of each invalid entry.
    """
    header = _header(text)
    node = _entry(header[1], "reads") if header and "reads:" in header[1] else None
    patterns: dict[str, int] = {}
    faults: list[Fault] = []
    for item in node.value if isinstance(node, yaml.SequenceNode) else [node] if node else ():
        line = item.start_mark.line + 2
        if isinstance(item, yaml.ScalarNode) and isinstance(node, yaml.SequenceNode) and item.value:
            patterns[item.value] = line
        else:
            faults.append((line, "reads: list the files, each on its own line after `- `", ""))
    return patterns, faults


def _pairs(header: str, key: str) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
    """Return the entries of a mapping in a header, with their places."""
    node = _entry(header, key)
    entries = node.value if isinstance(node, yaml.MappingNode) else []
    return [entry for entry in entries if isinstance(entry[0], yaml.ScalarNode)]


def _entry(header: str, key: str) -> yaml.Node | None:
    """Return the value of a key in a header."""
    try:
        root = yaml.compose(header, yaml.SafeLoader)
    except yaml.YAMLError:  # for the site builder to report
        return None
    pairs = root.value if isinstance(root, yaml.MappingNode) else ()
    return next((node for name, node in pairs if name.value == key), None)
