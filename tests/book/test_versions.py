"""The range of versions that the project states is the one that was checked."""

import json
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = json.loads((ROOT / "bench/results/versions.json").read_text(encoding="utf-8"))
PASSED = [one["transformers"] for one in RESULTS["passed"]]


def order(release: str) -> list[int]:
    return [int(part) for part in release.split(".")]


def test_versions_stand_in_their_order_and_each_passed_its_tests():
    assert sorted(PASSED, key=order) == PASSED
    assert len(set(PASSED)) == len(PASSED) > 1
    assert all(one["tests"] > 0 for one in RESULTS["passed"])


def test_with_the_oldest_and_the_newest_every_chapter_was_checked():
    assert RESULTS["passed"][0]["chapters"] is not None
    assert RESULTS["passed"][-1]["chapters"] is not None


def test_the_readme_names_the_oldest_and_the_newest_that_passed():
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    [(first, last)] = re.findall(r"`transformers` ([\d.]+\d) to ([\d.]+\d)", readme)
    assert (first, last) == (PASSED[0], PASSED[-1])


def test_the_metadata_asks_for_the_oldest_that_passed_or_later():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [asked] = [one for one in project["dependencies"] if one.startswith("transformers")]
    major = order(PASSED[-1])[0]
    assert asked == f"transformers>={PASSED[0]},<{major + 1}"


def test_the_version_that_the_book_is_built_with_lies_between():
    assert PASSED[0] != PASSED[-1]
    assert order(PASSED[0]) <= order(version("transformers")) <= order(PASSED[-1])
    assert RESULTS["ground"]["torch"].partition("+")[0] == version("torch").partition("+")[0]
