"""Run a lab through mkdocs-jupyter, in a kernel that starts the same way for everybody."""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from mkdocs.exceptions import PluginError
from mkdocs.structure.pages import Page
from nbclient.exceptions import CellControlSignal, DeadKernelError
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from nbformat import from_dict

from proofbook.settings import Settings

Cell = dict[str, Any]
"""A cell of a notebook, as in its file."""

HERE = Path(__file__).with_name("jupyter")
RULE = "-" * 18  # above and below the cell in nbclient's messages


def run(
    page: Page, execute: Callable[[], None], settings: Settings
) -> tuple[list[Cell], dict[str, Any]]:
    """Return the cells of a lab with their outputs, and what the lab depended on.

    Args:
        page: The page of the lab.
        execute: Has mkdocs-jupyter run it, and put the notebook where the page's content belongs.
        settings: The book's settings.

    Raises:
        PluginError: a cell failed or hung, or the kernel died.
    """
    try:
        with surroundings(settings) as told:
            execute()
            asked = json.loads(told.read_text(encoding="utf-8"))
    except (CellControlSignal, DeadKernelError) as error:
        raise PluginError(complaint(page, str(error))) from error
    merging = CoalesceStreamsPreprocessor()  # a kernel may send what is printed in pieces
    notebook = from_dict(json.loads(page.content or ""))
    cells: list[Cell] = [merging.preprocess_cell(cell, {}, 0)[0] for cell in notebook["cells"]]
    for cell in cells:
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":  # which a tag can allow
                parts = RULE, cell["source"], RULE, "", *output["traceback"]
                raise PluginError(complaint(page, "\n".join(parts)))
    return cells, asked


@contextmanager
def surroundings(settings: Settings) -> Iterator[Path]:
    """Make kernels start the same way for everybody, whatever their own settings are.

    Yield the file in which the kernel notes what the lab depended on.
    """
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder).resolve() / "told.json"
        shutil.copytree(HERE / "profile_default", Path(folder) / "profile_default")
        own = {
            "IPYTHONDIR": folder,
            "JUPYTER_CONFIG_DIR": str(HERE),
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "PYTHONWARNINGS": "ignore:IProgress not found",  # what would draw such bars
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # or the kernel warns about frozen modules
            "LAB_TOLD": str(told),
            "LAB_ROOT": str(settings.root),
            "LAB_PRELOAD": json.dumps(settings.preload),
        }
        with patch.dict(os.environ, own):
            yield told


def complaint(page: Page, message: str) -> str:
    """Return what failed and where: file, line, and the cell with its traceback, without colors."""
    text = page.file.content_string
    plain = re.sub(r"\x1b\[[\d;]*m", "", message)
    source = re.search(rf"^{RULE}\n(.*?)\n{RULE}$", plain, re.DOTALL | re.MULTILINE)
    within = re.findall(r"Cell In\[\d+\], line (\d+)", plain)
    line = ""
    if source and source[1] in text:
        start = text[: text.index(source[1])].count("\n")
        line = f":{start + int(within[0] if within else 1)}"
    return f"docs/{page.file.src_uri}{line}: a cell of this lab fails\n\n{plain}"
