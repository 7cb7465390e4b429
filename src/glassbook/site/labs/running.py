"""Run a lab in a kernel that starts the same way for everybody, and keep what it showed."""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import jupytext
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, DeadKernelError

from proofbook.caching import fingerprint
from proofbook.caching.cache import Cache
from proofbook.model import Block, BlockResult, Chapter, Output, Run
from proofbook.settings import Settings

Cell = dict[str, Any]
"""A cell of a notebook, as in its file."""

LabRun = tuple[list[Cell], dict[str, Any]]
"""The cells of a lab with their outputs, and what its run depended on."""

PROFILE = Path(__file__).with_name("profile_default")
RULE = "-" * 18  # above and below the cell in nbclient's messages
STRICT: dict[str, Any] = {
    "timeout": 600,
    "startup_timeout": 120,
    "iopub_timeout": 60,
    "raise_on_iopub_timeout": True,
    "force_raise_errors": True,  # even of a cell whose tag allows them
    "coalesce_streams": True,  # a kernel may send what is printed in pieces
}


def read_cells(script: str) -> list[Cell]:
    """Read the cells of a lab."""
    cells: list[Cell] = jupytext.reads(script, "py:percent").cells
    return cells


def run(lab: File, settings: Settings) -> LabRun:
    """Return the cells of a lab with their outputs, and what the lab depended on.

    Raises:
        PluginError: A cell failed or hung, or the kernel died.
    """
    notebook = jupytext.reads(lab.content_string, "py:percent")
    resources = {"metadata": {"path": str(settings.root)}}
    try:
        with surroundings(settings) as told:
            NotebookClient(notebook, kernel_name="python3", resources=resources, **STRICT).execute()
            return notebook.cells, json.loads(told.read_text(encoding="utf-8"))
    except (CellControlSignal, DeadKernelError) as error:
        raise PluginError(complaint(lab, str(error))) from error


@contextmanager
def surroundings(settings: Settings) -> Iterator[Path]:
    """Make kernels start the same way for everybody, whatever their own settings are.

    Yield the file in which the kernel notes what the lab depended on.
    """
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder).resolve() / "told.json"
        shutil.copytree(PROFILE, Path(folder) / PROFILE.name)
        own = {
            "IPYTHONDIR": folder,
            "JUPYTER_CONFIG_DIR": folder,
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "PYTHONWARNINGS": "ignore:IProgress not found",  # what would draw such bars
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # or the kernel warns about frozen modules
            "LAB": json.dumps([str(told), str(settings.root), settings.preload]),
        }
        with patch.dict(os.environ, own):
            yield told


def complaint(lab: File, message: str) -> str:
    """Return what failed and where: file, line, and the cell with its traceback, without colors."""
    text = lab.content_string
    plain = re.sub(r"\x1b\[[\d;]*m", "", message)
    source = re.search(rf"^{RULE}\n(.*?)\n{RULE}$", plain, re.DOTALL | re.MULTILINE)
    within = re.findall(r"Cell In\[\d+\], line (\d+)", plain)
    line = ""
    if source and source[1] in text:
        start = text[: text.index(source[1])].count("\n")
        line = f":{start + int(within[0] if within else 1)}"
    return f"docs/{lab.src_uri}{line}: a cell of this lab fails\n\n{plain}"


class Kept:
    """The outputs of the labs' last runs, on disk, in the engine's cache.

    To that, a lab is a page with one block.

    Args:
        settings: The book's settings.
    """

    def __init__(self, settings: Settings) -> None:
        code = sorted(Path(__file__).parent.rglob("*.py"))  # how a lab is run, and what is kept
        world = {
            "root": str(settings.root),
            "environment": fingerprint.environment(),
            "variables": settings.watched_environment(),
            "runs": [path.read_text() for path in code],
        }
        self._cache = Cache(settings.cache, world)

    def load(self, lab: File) -> LabRun | None:
        """Return the cells of a lab with their outputs, if those would be the same now.

        With them comes what the run depended on.
        """
        if (found := self._cache.find(_chapter(lab))) is None:
            return None
        run, seen = found
        return json.loads(run.blocks[0].outputs[0].data), seen

    def store(self, lab: File, cells: list[Cell], seen: dict[str, Any]) -> bool:
        """Store a lab's outputs, if everything it depended on was seen and is unchanged.

        Return whether that is so.
        """
        if seen["unseen"] or seen["changed"]:
            return False
        result = BlockResult((Output("text", json.dumps(cells)),))
        self._cache.store(_chapter(lab), Run((result,), {}), seen)
        return True


def _chapter(lab: File) -> Chapter:
    return Chapter(f"docs/{lab.src_uri}", (Block("python", lab.content_string, 1),), ())
