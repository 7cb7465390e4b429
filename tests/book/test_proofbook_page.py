"""The reference of the engine names every option, setting and command, and none that is not."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from proofbook.__main__ import main
from proofbook.parsing.fences import OPTIONS
from proofbook.settings import Options

TEXT = (Path(__file__).parents[2] / "docs/reference/proofbook.md").read_text(encoding="utf-8")


def first_column(heading: str) -> list[str]:
    _, _, section = TEXT.partition(f"\n## {heading}\n")
    return re.findall(r"^\| `([^`]+)` \|", section.partition("\n## ")[0], re.MULTILINE)


def rows(heading: str) -> dict[str, str]:
    _, _, section = TEXT.partition(f"\n## {heading}\n")
    found = re.findall(r"^\| `([^`]+)` \| ([^|]*) \|", section.partition("\n## ")[0], re.MULTILINE)
    return dict(found)


def test_options_of_fences():
    assert first_column("What a fence may say") == list(
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
    for name, where in rows("What a fence may say").items():
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
