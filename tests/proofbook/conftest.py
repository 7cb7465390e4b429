"""Throwaway projects: pages given as code, run as a book's pages are."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from proofbook.execution.runner import Runner
from proofbook.model import Block, Chapter, Claim, Run
from proofbook.settings import Settings

# The same examples in every run, so that no build fails by chance; ten times as many by night.
settings.register_profile("suite", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("nightly", derandomize=True, deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


class Project:
    """A folder with modules and data, in which pages run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._runners: dict[Settings, Runner] = {}

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def page(
        self, *codes: str, claims: Sequence[tuple[str, int]] = (), path: str = "page.md"
    ) -> Chapter:
        """Make a chapter of blocks (doctests begin with a prompt) and claims with their places."""
        blocks = [
            Block("pycon" if code.startswith(">>>") else "python", code, line=10 * index)
            for index, code in enumerate(codes, start=1)
        ]
        holds = [Claim("", line=1, place=place, holds=text) for text, place in claims]
        return Chapter(path, tuple(blocks), tuple(holds))

    def runner(self, **settings: Any) -> Runner:
        """Return the runner of these settings; it is closed after the test."""
        chosen = Settings(self.root, **settings)
        return self._runners.setdefault(chosen, Runner(chosen))

    def run_pages(self, *chapters: Chapter, **settings: Any) -> dict[str, Run]:
        """Run chapters side by side."""
        return self.runner(**settings).run(chapters)

    def run(self, *codes: str, claims: Sequence[tuple[str, int]] = (), **settings: Any) -> Run:
        """Run one page."""
        [run] = self.run_pages(self.page(*codes, claims=claims), **settings).values()
        return run

    def shown(self, *codes: str, **settings: Any) -> list[str]:
        """Run one page without failure and return all that it showed."""
        run = self.run(*codes, **settings)
        assert run.failure is None
        assert [block.failure for block in run.blocks] == [None] * len(codes)
        return [output.data for block in run.blocks for output in block.outputs]

    def close(self) -> None:
        """End the processes of all runners."""
        for runner in self._runners.values():
            runner.close()


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """An empty project, whose processes end with the test."""
    made = Project(tmp_path)
    yield made
    made.close()
