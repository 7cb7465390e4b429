"""The reference of the engine names every option, setting and command, and none that is not."""

import json
import re
from dataclasses import fields, replace
from pathlib import Path

import pytest
import yaml

from proofbook.__main__ import main
from proofbook.commands.as_json import as_json
from proofbook.commands.as_text import Report, as_text
from proofbook.commands.check import Findings
from proofbook.parsing.fences import OPTIONS
from proofbook.problems import Problem
from proofbook.settings import Options

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/reference/proofbook.md").read_text(encoding="utf-8")
PROBLEM = Problem("docs/a page.md", 12, "the page says '3:4: 5'", "x[1:2]", "docs/b.md:1: no")


def first_column(heading: str) -> list[str]:
    _, _, section = TEXT.partition(f"\n## {heading}\n")
    return re.findall(r"^\| `([^`]+)` \|", section.partition("\n## ")[0], re.MULTILINE)


def rows(heading: str) -> dict[str, str]:
    _, _, section = TEXT.partition(f"\n## {heading}\n")
    found = re.findall(r"^\| `([^`]+)` \| ([^|]*) \|", section.partition("\n## ")[0], re.MULTILINE)
    return dict(found)


def test_options_of_fences():
    assert first_column("Fence options { #what-a-fence-may-say }") == list(
        dict.fromkeys(
            ["title", "hl_lines", "linenums", "timeout", "id", "raises", "hide", "fold", "source"]
            + ["show", "only"]
            + [name for options in OPTIONS.values() for name in options]
        )
    )
    kinds = {
        "all": set(OPTIONS) - {"facts"},  # which takes none
        "`python`, `pycon`": {"python", "pycon"},
        "with `show`": {"show"},
        "with `exec`": {"off"},
    }
    alone = {
        "source": {"python"},
        "raises": {"python"},
        "hide": {"python"},
        "fold": {"python"},
        "show": {"show"},
        "exec": {"off"},
    }
    for name, where in rows("Fence options { #what-a-fence-may-say }").items():
        wanted = kinds.get(where) or alone[name]
        assert {kind for kind, options in OPTIONS.items() if name in options} == wanted, name


def test_settings():
    assert rows("Settings") == {one.name: one.metadata["meaning"] for one in fields(Options)}


def test_commands(capsys):
    given = set()
    for arguments in (["--help"], ["check", "--help"], ["update", "--help"]):
        with pytest.raises(SystemExit, match="0"):
            main(arguments)
        given |= set(re.findall(r"--[a-z][\w-]*", capsys.readouterr().out))
    assert set(first_column("Commands")) == given - {"--help"}


def fence(language: str, title: str) -> str:
    return re.search(rf'^```{language} title="{title}"\n(.*?)^```$', TEXT, re.S | re.M)[1]


def test_an_editor_finds_each_problem_where_it_is():
    [task] = json.loads(fence("json", ".vscode/tasks.json"))["tasks"]
    pattern = task["problemMatcher"]["pattern"]
    text = as_text(Findings(problems=[PROBLEM, replace(PROBLEM, code="y")]), Report())
    found = re.findall(pattern["regexp"], text, re.MULTILINE)
    places = [
        {**{one: groups[pattern[one] - 1] for one in ("file", "line", "message")}}
        for groups in found
    ]
    assert places == 2 * [{"file": PROBLEM.path, "line": "12", "message": PROBLEM.message}]


def test_fields_for_programs():
    document = json.loads(as_json(Findings(problems=[PROBLEM])))
    _, _, section = TEXT.partition("\n## For a program\n")
    named = re.findall(r"^\| `([^`]+)` \| (.*) \|", section.partition("\n## ")[0], re.MULTILINE)
    assert [name for name, _ in named] == list(document)
    assert set(document["problems"][0]) <= set(re.findall(r"`(\w+)`", dict(named)["problems"]))


def test_the_hook_that_is_shown_is_the_one_that_is_given():
    [shown] = yaml.safe_load(fence("yaml", ".pre-commit-config.yaml"))["repos"][0]["hooks"]
    [given] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert {**given, **shown, "name": given["name"]} == given
