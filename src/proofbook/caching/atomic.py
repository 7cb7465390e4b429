"""Files written whole or not at all."""

import os
import tempfile
from pathlib import Path


def replace(path: Path, content: str) -> None:
    """Replace a file's text at once; anyone who reads it finds the old text or the new.

    Raises:
        OSError: The folder does not exist, or nothing can be written there.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
