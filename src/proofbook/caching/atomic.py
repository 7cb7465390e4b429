"""Write files completely or not at all."""

import os
import tempfile
from pathlib import Path


def replace(path: Path, content: str) -> None:
    """Replace a file's text atomically; readers see either the old text or the new.

    Raises:
        OSError: The folder doesn't exist or isn't writable.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
