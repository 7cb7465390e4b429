"""The ledger says what was verified, and under what."""

import hashlib
import json
import platform
import subprocess
from importlib.metadata import version

import pytest

from proofbook.book import Checked
from proofbook.bookfile import BookSettings
from proofbook.ledger import circumstances, counts, foot_html, verified_json
from proofbook.model import BlockResult, Example, Run
from proofbook.page import parse
from proofbook.settings import Settings

TEXT = "```python\nx = 1\n```\n\n```pycon\n>>> x\n1\n>>> x\n1\n```\n\n[1]{ equals='x' }\n"
EXAMPLE = Example("x", "1\n", "1\n", 0)


def checked(path: str, text: str = TEXT) -> Checked:
    results = (BlockResult(), BlockResult(examples=(EXAMPLE, EXAMPLE))) if text else ()
    return Checked(parse(path, text), Run(results, {}, device="cuda:3"), [], {})


def settings(root, **kinds) -> BookSettings:
    return BookSettings(Settings(root, preload=("yaml", "markdown", "not_there")), root, **kinds)


def test_it_counts_blocks_examples_and_claims():
    assert counts(checked("a.md")) == {"blocks": 1, "doctests": 2, "claims": 1}


def test_it_names_versions_files_and_commit(tmp_path):
    (tmp_path / "weights").write_bytes(b"w")
    about = circumstances(
        settings(tmp_path, hashed={"weights": "weights", "css": "markdown:util.py"})
    )
    assert about["versions"] == {
        "python": platform.python_version(),
        "markdown": version("markdown"),
    }
    assert about["data"]["weights"] == hashlib.sha256(b"w").hexdigest()[:16]
    assert len(about["data"]["css"]) == 16
    assert about["commit"] == ""
    subprocess.run(
        "git init -q; git -c user.name=a -c user.email=b commit -q --allow-empty -m c",
        shell=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    assert len(circumstances(settings(tmp_path))["commit"]) == 12


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="no package 'not_there'"):
        circumstances(settings(tmp_path, hashed={"weights": "not_there:weights"}))


def test_the_foot_is_one_folded_line(tmp_path):
    about = circumstances(settings(tmp_path))
    html = foot_html(checked("a.md"), about)
    assert html.count("<summary>") == 1
    assert "Verified when this page was built: 1 block, 2 doctests, 1 claim</summary>" in html
    assert "<dt>device</dt><dd><code>cuda:3</code></dd>" in html
    assert f"<dt>python</dt><dd><code>{platform.python_version()}</code></dd>" in html
    assert foot_html(checked("b.md", ""), about) == ""


def test_the_site_s_ledger_adds_up(tmp_path):
    pages = [checked("a.md"), checked("b.md"), checked("c.md", "")]
    ledger = json.loads(verified_json(pages, circumstances(settings(tmp_path))))
    assert ledger["totals"] == {"blocks": 2, "doctests": 4, "claims": 2}
    assert ledger["pages"]["c.md"]["blocks"] == 0


def test_a_preloaded_submodule_stands_under_its_package(tmp_path):
    running = Settings(tmp_path, preload=("markdown.util", "markdown.core"))
    about = circumstances(BookSettings(running, tmp_path))
    assert list(about["versions"]) == ["python", "markdown"]
