"""Run a lab in a kernel that starts the same way for everybody."""

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
        PluginError: a cell failed or hung, or the kernel died.
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
            "LAB_TOLD": str(told),
            "LAB_ROOT": str(settings.root),
            "LAB_PRELOAD": json.dumps(settings.preload),
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
