"""Which versions of transformers the book works with: run by `make check-versions`.

Each version gets an environment of its own under `.cache/versions/`. It comes before the project's,
so it has transformers and whatever that version requires, and everything else is as pinned. There
the models are compared with those of transformers, and every chapter is checked. What passes is
written to `results/versions.json`, whose oldest and newest version are the supported range.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench/results/versions.json"
STEMS = ("parity", "gpt2", "llama", "marian", "families", "published", "rope_scaling")
STEMS += ("decoder_families", "vision")
PARITY = [f"tests/glassformer/test_{stem}.py" for stem in STEMS]


def key(release: str) -> list[int]:
    """Return a sort key for releases: 5.9.1 comes before 5.10.0."""
    return [int(part) for part in re.findall(r"\d+", release)]


def oldest() -> str:
    """Return the oldest version that the project says it works with."""
    found = re.search(r'"transformers>=([\d.]+)', (ROOT / "pyproject.toml").read_text())
    if found is None:
        raise ValueError("pyproject.toml names no oldest version of transformers")
    return found[1]


def newest() -> str:
    """Return the newest version that pip knows."""
    told = said(sys.executable, "-m", "pip", "index", "versions", "transformers")
    return re.findall(r"\(([\d.]+)\)", told)[0]


def said(*command: str | Path) -> str:
    """Return the output of a command, which must succeed."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise ChildProcessError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def environment(release: str) -> Path:
    """Return the interpreter of an environment where this version precedes the project's own."""
    folder = ROOT / ".cache/versions" / release
    scheme = {"base": str(folder), "platbase": str(folder)}
    python = Path(sysconfig.get_path("scripts", "venv", scheme)) / "python"
    if not python.exists():
        venv.create(folder)
    packages = Path(sysconfig.get_path("purelib", "venv", scheme))
    project = sysconfig.get_path("purelib")
    (packages / "project.pth").write_text(f"import site; site.addsitedir({project!r})\n")
    said(python, "-m", "pip", "install", "--quiet", f"transformers=={release}")
    return python


def record(release: str, tests_alone: bool) -> dict[str, Any]:
    """Check a version; return a record of what passed."""
    python = environment(release)
    ask = "from importlib.metadata import version; print(version({!r}))"
    names = ("transformers", "huggingface_hub", "tokenizers")
    versions = {name: said(python, "-c", ask.format(name)).strip() for name in names}
    if versions["transformers"] != release:
        raise ChildProcessError(f"asked for {release}, found {versions['transformers']}")
    tests = said(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PARITY)
    found = {**versions, "tests": int(re.findall(r"(\d+) passed", tests)[-1]), "chapters": None}
    if not tests_alone:
        book = said(python, "-m", "proofbook", "check")
        found["chapters"] = int(re.findall(r"(\d+) chapters, 0 problems", book)[-1])
    return found


def write(records: list[dict[str, Any]], failed: list[str]) -> None:
    """Store what passed, with what passed before on the same Python and torch."""
    ground = {"python": platform.python_version(), "torch": version("torch")}
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known = kept.get("passed", []) if kept.get("ground") == ground else []
    passed = {one["transformers"]: one for one in [*known, *records]}
    rows = sorted(
        (one for name, one in passed.items() if name not in failed),
        key=lambda one: key(one["transformers"]),
    )
    RESULTS.write_text(json.dumps({"ground": ground, "passed": rows}, indent=1) + "\n")


def main() -> int:
    """Check versions, write what passed, and print what didn't; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="*", help="the oldest supported and the newest if none")
    parser.add_argument("--tests-alone", action="store_true", help="leave out the chapters")
    options = parser.parse_args()
    records, failed = [], []
    for release in options.versions or [oldest(), newest()]:
        try:
            records.append(record(release, options.tests_alone))
        except ChildProcessError as error:
            failed.append(release)
            print(f"transformers {release}: failed\n{error}")
        else:
            print(f"transformers {release}: {records[-1]}")
    write(records, failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
