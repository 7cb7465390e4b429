"""Find what a notebook must install if the book isn't installed: exact versions from PyPI."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, metadata, packages_distributions, version
from pathlib import Path
from typing import Any

from proofbook.execution.sources import sources_of
from proofbook.model import Chapter
from proofbook.settings import Settings


def requirements(chapter: Chapter, settings: Settings) -> list[str]:
    """Return requirements for the book itself and the other packages that a chapter imports."""
    project = _project(settings.root)
    name = project.get("name", "")
    number = project.get("version", "")
    found = [f"{name}=={number}" if number else name] if name else []
    brought = {_normal(re.split(r"[^\w.-]", line)[0]) for line in project.get("dependencies", [])}
    for package in sorted(set(_imports(chapter)) - sys.stdlib_module_names):
        if _is_own(package, settings) or _normal(package) in brought:
            continue
        distribution = _distribution(package)
        if distribution and _normal(distribution) not in brought:
            found.append(f"{distribution}=={_released(distribution)}")
    return list(dict.fromkeys(found))


def _project(root: Path) -> dict[str, Any]:
    file = root / "pyproject.toml"
    if not file.is_file():
        return {}
    return _read(file.read_text(encoding="utf-8"))


@cache  # each chapter asks
def _read(toml: str) -> dict[str, Any]:
    return tomllib.loads(toml).get("project", {})


def _imports(chapter: Chapter) -> Iterator[str]:
    """Yield the top-level packages that the blocks of a chapter import."""
    for block in chapter.blocks:
        for code in sources_of(block):
            if "import" in code:
                yield from _imported(code)


@lru_cache(maxsize=1024)  # a served book asks again after each edit
def _imported(code: str) -> list[str]:
    found = []
    try:
        tree = ast.parse(code)
    except SyntaxError:  # a prompt that is meant to fail
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append(node.module.partition(".")[0])
    return found


def _is_own(package: str, settings: Settings) -> bool:
    folders = (*settings.source_folders, settings.root)
    return any(
        (folder / package).is_dir() or (folder / f"{package}.py").is_file() for folder in folders
    )


@cache
def _distribution(package: str) -> str:
    """Return the distribution that a package belongs to; "" if it is not installed."""
    try:
        return metadata(package)["Name"]
    except PackageNotFoundError:
        return next(iter(packages_distributions().get(package, [])), "")


@cache
def _released(distribution: str) -> str:
    """Return the installed version as PyPI knows it: 2.13.0+cpu is a build of 2.13.0."""
    return version(distribution).partition("+")[0]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
