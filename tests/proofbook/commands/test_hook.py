"""The hook for pre-commit: called as pre-commit calls it, with the names of changed files."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from books import make_book

ROOT = Path(__file__).parents[3]
RIGHT = "# A\n\n```python\nx = 2\n```\n\n[two]{ equals='x' }\n"
WRONG = RIGHT.replace("two", "three")
README = "# Readme\n\n```python\nraise SystemExit\n```\n"


def hook():
    [found] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    return found


@pytest.fixture
def repository(tmp_path):
    """A book in a repository, and a command `proofbook` on the path of its environment."""
    pages = {"index.md": RIGHT, "part/with space.md": RIGHT}
    make_book(tmp_path / "work", pages, {"README.md": README, "notes/more.md": WRONG})
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "work", check=True)
    command = tmp_path / "bin" / "proofbook"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m proofbook "$@"\n')
    command.chmod(0o755)
    return tmp_path / "work"


def commit(repository, *arguments):
    """Call the hook as a commit of all files would."""
    git = ["git", "-c", "core.quotepath=off"]
    subprocess.run([*git, "add", "-A"], cwd=repository, check=True)
    staged = subprocess.run(
        [*git, "diff", "--staged", "--name-only", "-z"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    names = [name for name in staged if name.endswith(".md")]  # types: [markdown]
    return subprocess.run(
        [*shlex.split(hook()["entry"]), *arguments, *names],
        cwd=repository,
        env={**os.environ, "PATH": f"{repository.parent / 'bin'}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_chapters_are_checked_and_other_files_passed_over(repository):
    done = commit(repository)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("\n2 chapters, 0 problems\n")
    assert "README" not in done.stdout

    (repository / "docs/part/with space.md").write_text(WRONG)
    done = commit(repository)
    assert done.returncode == 1
    assert "docs/part/with space.md:7: the page says 'three', this run gives 2" in done.stdout


def test_a_commit_without_chapters_checks_none(repository):
    for page in (repository / "docs").rglob("*.md"):
        page.unlink()
    (repository / "docs/wrong.txt").write_text(WRONG)
    done = commit(repository)
    assert (done.returncode, done.stdout) == (0, "\n0 chapters, 0 problems\n")
