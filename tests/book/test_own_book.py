"""The tutorial of the engine, followed by the letter in an empty folder."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/reference/own-book.md"
FENCE = re.compile(r'^(`{3,})(\w+)(?: title="([^"]*)")?\n(.*?)^\1$', re.DOTALL | re.MULTILINE)
INSTALL = "in a copy of this repository"  # which the tests of the distribution do


def fences() -> Iterator[tuple[str, str, str]]:
    """Language, title and text of each fence of the page."""
    for _, language, title, text in FENCE.findall(PAGE.read_text(encoding="utf-8")):
        yield language, title, text


class Reader:
    """Somebody who types what the page says, in a terminal and in an editor."""

    def __init__(self, folder: Path, commands: Path) -> None:
        self.folder = folder
        self.path = f"{commands}{os.pathsep}{os.environ['PATH']}"
        self.done: list[str] = []

    def type(self, text: str) -> None:
        """Type commands, and compare what they answer with the lines behind a `#`."""
        for line in re.split(r"^(?!#)", text, flags=re.MULTILINE):
            command, *answers = line.splitlines() or [""]
            if command.startswith("cd "):
                self.folder /= command[3:]
            elif command:
                self._run(command, [answer.removeprefix("# ") for answer in answers])

    def _run(self, command: str, answers: list[str]) -> None:
        done = subprocess.run(
            command,
            shell=True,
            cwd=self.folder,
            env={**os.environ, "PATH": self.path, "NO_MKDOCS_2_WARNING": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        said, told = done.stdout.splitlines(), done.stdout + done.stderr
        for answer in answers:
            assert any(line.startswith(answer) for line in said), f"{answer!r} is not in\n{told}"
        fails = any(answer.endswith("1 problem") for answer in answers)
        assert done.returncode == fails, told
        self.done.append(command)

    def change(self, name: str, difference: str) -> None:
        """Change a file as a difference says."""
        lines = [(line[:1], line[1:]) for line in difference.splitlines(keepends=True)]
        old = "".join(line for sign, line in lines if sign in " -")
        new = "".join(line for sign, line in lines if sign in " +")
        file = self.folder / name
        assert file.read_text().count(old) == 1
        file.write_text(file.read_text().replace(old, new))

    def write(self, title: str, text: str) -> None:
        """Write a page, or what comes at its end."""
        name = title.removeprefix("at the end of ")
        before = (self.folder / name).read_text() if name != title else ""
        (self.folder / name).write_text(before + text)


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    """A reader in an empty folder, with an environment in which proofbook is installed."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("proofbook", "mkdocs"):
        file = commands / name
        file.write_text(f'#!/bin/sh\nexec {sys.executable} -m {name} "$@"\n')
        file.chmod(0o755)
    folder = tmp_path / "empty"
    folder.mkdir()
    return Reader(folder, commands)


def test_every_step_does_what_the_page_says(reader: Reader):
    for language, title, text in fences():
        if language == "sh" and title != INSTALL:
            reader.type(text)
        elif language == "diff":
            reader.change(title, text)
        elif language == "markdown":
            reader.write(title, text)
    page = (reader.folder / "docs/tea.md").read_text()
    assert "[six]{ equals=" in page
    assert "Green tea is the quickest" in (reader.folder / "site/tea/index.html").read_text()
    assert len(reader.done) == 8
    steps = {title: text for _, title, text in fences()}["the steps of a workflow"]
    assert set(re.findall(r"run: (.*)", steps)) <= set(reader.done)


def test_the_unbound_number_that_the_page_suggests_is_found(reader: Reader):
    reader.type("proofbook init\n")
    (reader.folder / "docs/tea.md").write_text("# Tea\n\nWait 5 minutes.\n")
    with pytest.raises(AssertionError, match=r"docs/tea.md:3: numeral: 5"):
        reader.type("proofbook check --coverage docs/tea.md\n# 1 chapter, 0 problems\n")
