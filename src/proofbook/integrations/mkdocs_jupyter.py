"""Refuse mkdocs-jupyter settings that break the book's promise.

By default, mkdocs-jupyter publishes a failing cell as if it were output, and keeps a notebook's old
output after the modules it imports have changed. A book that checks what it says can do neither.
Settings that allow them are refused rather than silently replaced.
"""

from collections.abc import Mapping
from typing import Any

from mkdocs.exceptions import ConfigurationError


def refuse_unproved_notebooks(plugins: Mapping[str, Any]) -> None:
    """Check the mkdocs-jupyter settings among a book's plugins.

    Raises:
        ConfigurationError: Notebooks are not executed, errors are allowed, or its cache is on.
    """
    notebooks = plugins.get("mkdocs-jupyter")
    if notebooks is None:
        return
    needed = {"execute": True, "allow_errors": False, "cache": False}
    given = {name: notebooks.config[name] for name in needed}
    if wrong := [name for name in needed if given[name] != needed[name]]:
        reasons = {
            "execute": "its notebooks would show outputs that nobody computed",
            "allow_errors": "a failing cell would be published as output",
            "cache": "a notebook would keep its old output after the modules it imports change",
        }
        lines = [
            f"  {name}: {str(needed[name]).lower()}   # is {str(given[name]).lower()}: "
            f"{reasons[name]}"
            for name in wrong
        ]
        raise ConfigurationError(
            "mkdocs-jupyter does not run notebooks as this book promises; set\n" + "\n".join(lines)
        )
