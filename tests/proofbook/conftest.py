"""Throwaway projects: pages given as code, run as a book's pages are."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from books import opened

from proofbook.checking.book import Book
from proofbook.execution import pool
from proofbook.execution.processes import ForkServer
from proofbook.execution.runner import Runner
from proofbook.model import Block, Chapter, Claim, Run
from proofbook.settings import Settings


class LastingForkServer(ForkServer):
    """A fork server that the runners of several tests use, one after another."""

    def close(self) -> None:
        """Leave it running for the next test."""

    def end(self) -> None:
        """End it."""
        super().close()


def _read_at_start() -> dict[str, str]:
    """The variables that Python and its libraries read as they start; pages get the others anew."""
    return {name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "MPL"))}


@pytest.fixture(scope="session", autouse=True)
def shared_fork_servers() -> Iterator[None]:
    """Fork the pages of all tests from one process for each set of preloaded packages.

    A test that sets what such a process reads as it starts gets one of its own.
    """
    usual = _read_at_start()
    servers: dict[tuple[tuple[str, ...], str], LastingForkServer] = {}

    def fork_server(settings: Settings) -> ForkServer:
        if _read_at_start() != usual:
            return ForkServer(settings)
        key = settings.preload, settings.child_environment()["OMP_NUM_THREADS"]
        if key not in servers or servers[key].trouble or servers[key].has_died():
            servers[key] = LastingForkServer(settings)
        return servers[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "ForkServer", fork_server)
        yield
    for server in servers.values():
        server.end()


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
def projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Project]]:
    """Makes empty projects, whose processes end with the test."""
    made: list[Project] = []

    def make() -> Project:
        made.append(Project(tmp_path_factory.mktemp("project")))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """An empty project, whose processes end with the test."""
    made = Project(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Book]:
    """A book without files, for pages that need none; not to be changed."""
    with opened(tmp_path_factory.mktemp("book")) as made:
        yield made
