"""What comes out otherwise at a second run is told, by line; what comes out alike is not."""

from books import make_book

from proofbook.__main__ import main
from tables import table

# A run leaves a mark, so that the next one is sure to differ.
COUNT = """\
from pathlib import Path

with Path("runs.txt").open("a") as file:
    file.write("x")

runs = Path("runs.txt").stat().st_size
"""
STEADY = "```python\nimport random\n\nrandom.random()\n```\n\n```pycon\n>>> 1 / 3\n0.333\n```\n"
SHOWS = f"# Page\n\n```python\n{COUNT}for i in range(4):\n    print(runs if i == 2 else i)\n```\n"
CLAIMS = (
    f"```python\n{COUNT}```\n\n[1]{{ equals='runs' }}, […]{{ value='runs' holds='runs < 9' }}\n"
)
PROMPTS = f"```python\n{COUNT}```\n\n```pycon\n>>> 7\n7\n>>> runs\n1\n```\n"
CRASHES = f"```python\n{COUNT}```\n\n```python\n1 / (2 - runs)\n```\n"


def check(folder, page, capsys, *options):
    make_book(folder, {"page.md": page})
    status = main(["-f", str(folder / "mkdocs.yml"), "check", *options])
    return status, capsys.readouterr().out


def test_a_page_that_hangs_on_nothing_passes(tmp_path, capsys):
    status, told = check(tmp_path, STEADY, capsys, "--twice")
    assert (status, told.splitlines()[-1]) == (0, "1 chapter, 0 problems")


def test_a_block_that_shows_something_else_is_told_with_its_lines(tmp_path, capsys):
    status, told = check(tmp_path, SHOWS, capsys, "--twice")
    assert status == 1
    assert "docs/page.md:4: a second run shows something else (- the first, + the second)" in told
    assert "      0\n      1\n    - 1\n    + 2\n      3\n" in told


@table(
    ("page", "told"),
    [
        (CLAIMS, "docs/page.md:10: in a second run: the page says '1', this run gives 2"),
        (PROMPTS, "docs/page.md:13: in a second run: the output differs"),
        (CRASHES, "docs/page.md:11: in a second run: ZeroDivisionError: division by zero"),
    ],
)
def test_what_held_once_must_hold_again(tmp_path_factory, capsys, page, told):
    folder = tmp_path_factory.mktemp("book")
    assert check(folder, page, capsys)[0] == 0
    status, said = check(folder, page, capsys, "--twice")
    assert status == 1
    assert told in said
    assert said.endswith("1 chapter, 1 problem\n")


def test_a_page_that_fails_is_not_run_again(tmp_path, capsys):
    status, told = check(tmp_path, f"```python\n{COUNT}1 / 0\n```\n", capsys, "--twice")
    assert status == 1
    assert "second" not in told
    assert (tmp_path / "runs.txt").read_text() == "x"
