"""Problems are told with the file and the line that the author wrote."""

import pytest
from books import build_error, make_book

from proofbook.__main__ import main
from tables import table

CONFIG = """\
site_name: t
theme: mkdocs
plugins: [proofbook]
hooks: [hook.py]
markdown_extensions:
  - pymdownx.snippets: {base_path: [parts], check_paths: true}
"""
HOOK = """\
def on_page_markdown(markdown, **_):
    return markdown.replace("@@MORE@@", "One.\\n\\nTwo.\\n\\nThree.")
"""
PART = "a\n\nb\n\nc\n"
FALSE_PART = "a\n\n```python\ny = 2\n```\n\n[five]{ equals='y' }\n"
BLOCK = "```python\nx = 3\n```\n\n[four]{ equals='x' }\n"


@pytest.fixture
def told(tmp_path, monkeypatch, capsys):
    """What `check` prints of a page, beside two files that it may include."""

    def check(page: str) -> str:
        files = {"parts/part.md": PART, "parts/false.md": FALSE_PART, "hook.py": HOOK}
        monkeypatch.chdir(make_book(tmp_path, {"index.md": page}, files, CONFIG))
        assert main(["check"]) == 1
        return capsys.readouterr().out

    return check


@table(
    ("page", "places"),
    [
        (f'# T\n\n--8<-- "part.md"\n\n{BLOCK}', ["docs/index.md:9"]),
        (f'---\na: b\n---\n# T\n\n--8<-- "part.md"\n\n{BLOCK}', ["docs/index.md:12"]),
        (
            f"# T\n\n--8<--\npart.md\nfalse.md\n--8<--\n\n{BLOCK}",
            ["parts/false.md:7", "index.md:12"],
        ),
        (f'--8<-- "false.md"\n\n--8<-- "part.md"\n\n{BLOCK}', ["parts/false.md:7", "index.md:9"]),
        (f"# T\n\n@@MORE@@\n\n{BLOCK}", ["docs/index.md:9"]),
        (f"# T\n\n{BLOCK}", ["docs/index.md:7"]),
    ],
)
def test_lines_are_those_that_the_author_wrote(told, page, places):
    found = told(page)
    assert all(f"{place}: the page says" in found for place in places)
    assert found.count("the page says") == len(places)


def test_a_second_run_is_told_with_the_same_lines(told, capsys):
    page = '--8<-- "part.md"\n\n```python\nimport random\nrandom.SystemRandom().random()\n```\n'
    told(f"{page}\n{BLOCK}")
    right = f"{page}\n{BLOCK}".replace("[four]", "[three]")
    with open("docs/index.md", "w") as file:
        file.write(right)
    assert main(["check", "--twice"]) == 1
    assert "docs/index.md:4: a second run shows something else" in capsys.readouterr().out


def test_a_page_that_markdown_cannot_convert_is_told_and_others_are_checked(told, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "other.md").write_text(BLOCK)
    found = told('# T\n\n--8<-- "nope.md"\n')
    assert "docs/index.md:3: Markdown cannot convert this page: SnippetMissingError" in found
    assert "docs/other.md:5: the page says 'four'" in found
    assert "docs/index.md:3: Markdown cannot convert this page" in build_error(tmp_path)
