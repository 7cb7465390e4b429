"""Keep what a lab showed, and return it as long as everything it depended on is unchanged.

The engine's cache does this; it sees a lab as a page with one block.
"""

import json
import os
from pathlib import Path
from typing import Any

from mkdocs.structure.pages import Page

from booksite.labs.running import HERE, Cell
from proofbook.caching import fingerprint
from proofbook.caching.cache import Cache
from proofbook.model import Block, BlockResult, Chapter, Output, Run
from proofbook.settings import Settings


class Kept:
    """The outputs of the labs' last runs, on disk.

    Args:
        settings: The book's settings.
    """

    def __init__(self, settings: Settings) -> None:
        world = {
            "root": str(settings.root),
            "environment": fingerprint.environment(),
            "variables": settings.watched_environment(),
            "runs": [path.read_text() for path in _files()],
        }
        self._cache = Cache(settings.cache, world, dict(os.environ))

    def load(self, page: Page) -> list[Cell] | None:
        """Return the cells of a lab with their outputs, if those would be the same now."""
        run = self._cache.load(_chapter(page))
        return None if run is None else json.loads(run.blocks[0].outputs[0].data)

    def store(self, page: Page, cells: list[Cell], seen: dict[str, Any]) -> None:
        """Store a lab's outputs, if everything it depended on was seen and is unchanged."""
        if not (seen["unseen"] or seen["changed"]):
            result = BlockResult((Output("text", json.dumps(cells)),))
            self._cache.store(_chapter(page), Run((result,), {}), seen)


def _files() -> list[Path]:
    """List the files that determine how a lab is run and what is kept of it."""
    files = HERE.parent.rglob("*.*")
    return sorted(path for path in files if path.is_file() and path.suffix != ".pyc")


def _chapter(page: Page) -> Chapter:
    script = Block("python", page.file.content_string, 1)
    return Chapter(f"docs/{page.file.src_uri}", (script,), ())
