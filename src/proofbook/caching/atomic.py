"""Files written whole or not at all."""

import os
import tempfile
from pathlib import Path


def replace(path: Path, content: str) -> None:
    """Put a text in the place of a file's; whoever reads meanwhile finds the old or the new.

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
