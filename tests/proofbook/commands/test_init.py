"""`proofbook init` makes a book that passes everything, and overwrites nothing."""

import subprocess
import sys

import pytest
from books import run_in

from proofbook.__main__ import main
from proofbook.commands.init import STARTER
from tables import table

FILES = ["docs/dice.md", "docs/index.md", "mkdocs.yml", "src/two_dice.py"]


def files_in(folder):
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A book made in a folder that is there, and empty."""
    folder = tmp_path_factory.mktemp("made")
    assert main(["init", str(folder)]) == 0
    assert files_in(folder) == FILES
    return folder


def test_it_passes_check_and_coverage_and_a_strict_build(made, capsys):
    for options in ([], ["--coverage"]):
        assert main(["-f", str(made / "mkdocs.yml"), "check", *options]) == 0
        assert capsys.readouterr().out.endswith("2 chapters, 0 problems\n")
    done = run_in(made, "mkdocs", "build", "--strict", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert '<span class="k">def</span>' in (made / "site/dice/index.html").read_text()


@table(
    ("old", "new", "told"),
    [
        (
            "like an arrow",
            "like arrows",
            "docs/index.md:10: the page says 'five', this run gives 4",
        ),
        ("'flies', 'arrow'", "'arrow', 'flies'", "docs/index.md:21: the output differs"),
    ],
)
def test_what_it_invites_to_change_is_noticed(
    tmp_path_factory, monkeypatch, capsys, old, new, told
):
    folder = tmp_path_factory.mktemp("book")
    monkeypatch.chdir(folder)
    assert main(["init"]) == 0
    page = folder / "docs/index.md"
    page.write_text(page.read_text().replace(old, new))
    assert main(["check"]) == 1
    assert told in capsys.readouterr().out


@table("name", FILES)
def test_a_file_that_is_there_is_named_and_nothing_is_written(tmp_path_factory, capsys, name):
    folder = tmp_path_factory.mktemp("book")
    own = folder / name
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("mine")
    assert main(["init", str(folder)]) == 1
    assert capsys.readouterr().out.startswith(f"{own}: already there, so nothing was written.")
    assert files_in(folder) == [name]
    assert own.read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_told(tmp_path, capsys):
    (tmp_path / "docs").write_text("a file")
    assert main(["init", str(tmp_path)]) == 1
    assert "the book could not be written: " in capsys.readouterr().out


def test_the_module_of_the_starter_compiles_and_no_tool_takes_it_for_the_engine_s():
    assert {path.suffix for path in STARTER.rglob("*") if path.is_file()} == {".txt"}
    source = (STARTER / "src/two_dice.py.txt").read_text()
    shown = subprocess.run(
        [sys.executable, "-c", source + "\nprint(len(sums()))"], capture_output=True, text=True
    )
    assert shown.stdout == "36\n"
