"""Keep what a lab showed, and return it as long as everything it depended on is unchanged.

The engine's cache does this; it sees a lab as a page with one block.
"""

import json
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from glassbook.site.labs.running import Cell, LabRun
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
    script = Block("python", lab.content_string, 1)
    return Chapter(f"docs/{lab.src_uri}", (script,), ())
