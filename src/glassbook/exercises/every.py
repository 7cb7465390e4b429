"""All of the book's checkers."""

import pkgutil
from importlib import import_module
from pathlib import Path

from glassbook.exercises.checking import Exercise


def checkers() -> dict[str, Exercise]:
    """Return every checker by its name, grouped by chapter."""
    found = pkgutil.iter_modules([str(Path(__file__).parent)], f"{__package__}.")
    modules = [import_module(one.name) for one in found]
    return {
        name: getattr(module, name) for module in modules for name in getattr(module, "__all__", ())
    }
