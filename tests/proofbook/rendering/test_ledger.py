"""The ledger says what was verified, and under what."""

import hashlib
import json
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version

import pytest

from proofbook.checking.book import Checked
from proofbook.model import BlockResult, Example, Run
from proofbook.parsing.page import parse
from proofbook.rendering.ledger import counts, exemptions, foot_html, provenance, verified_json
from proofbook.settings import Settings

TEXT = "```python\nx = 1\n```\n\n```pycon\n>>> x\n1\n>>> x\n1\n```\n\n[1]{ equals='x' }\n"
EXEMPT = (
    TEXT
    + "\n[2]{ .literal reason='source' }\n[3]{ .literal reason='name' }\n"
    + "[4]{ .literal reason='name' }\n\n<!-- [6]{ .literal reason='name' } -->\n"
    + "\n```python exec='off' reason='never ends'\n5\n```\n"
    + "\n```python exec='off' reason='needs a GPU'\n6\n```\n"
)
EXAMPLE = Example("x", "1\n", "1\n", 0)


def checked(path: str, text: str = TEXT) -> Checked:
    results = (BlockResult(), BlockResult(examples=(EXAMPLE, EXAMPLE))) if text else ()
    return Checked(parse(path, text), Run(results, {}, device="cuda:3"), [], {})


def settings(root, **kinds) -> Settings:
    return Settings(root, preload=("yaml", "markdown", "not_there"), **kinds)


def test_what_is_exempt_is_counted_apart_by_reason():
    assert exemptions(checked("a.md", EXEMPT)) == {"name": 2, "not run": 2, "source": 1}
    assert counts(checked("a.md", EXEMPT)) == counts(checked("a.md"))
    assert exemptions(checked("a.md")) == {}


def test_it_names_versions_files_and_commit(tmp_path):
    (tmp_path / "weights").write_bytes(b"w")
    about = provenance(settings(tmp_path, hashed={"weights": "weights", "css": "markdown:util.py"}))
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
    commit = provenance(settings(tmp_path))["commit"]
    assert re.fullmatch("[0-9a-f]{12}-dirty", commit)  # the file of weights is in no commit
    (tmp_path / "weights").unlink()
    assert provenance(settings(tmp_path))["commit"] == commit.removesuffix("-dirty")


def test_the_time_of_the_build_is_that_of_the_clock_in_utc_or_the_one_that_is_given(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    before = datetime.now(UTC).replace(second=0, microsecond=0)
    built = provenance(settings(tmp_path))["built"]
    read = datetime.strptime(built, "%Y-%m-%d %H:%M UTC").replace(tzinfo=UTC)
    assert before <= read <= datetime.now(UTC)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1500000000")
    assert provenance(settings(tmp_path))["built"] == "2017-07-14 02:40 UTC"


def test_a_variable_is_named_where_it_is_set_and_its_value_kept_back(tmp_path, monkeypatch):
    monkeypatch.setenv("BOOK_CHECKPOINT", "/home/someone/secret")
    monkeypatch.setenv("BOOK_EMPTY", "")
    named = ("BOOK_CHECKPOINT", "BOOK_EMPTY", "BOOK_UNSET")
    about = provenance(Settings(tmp_path, environment=named))
    assert about["variables"] == ["BOOK_CHECKPOINT"]
    assert "secret" not in verified_json([checked("a.md")], about, {}) + foot_html(
        checked("a.md"), about
    )


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="no package 'not_there'"):
        provenance(settings(tmp_path, hashed={"weights": "not_there:weights"}))


def test_the_foot_is_one_folded_line(tmp_path):
    about = provenance(settings(tmp_path))
    html = foot_html(checked("a.md"), about)
    assert html.count("<summary>") == 1
    assert "Verified when this page was built: 1 block, 2 doctests, 1 claim</summary>" in html
    assert "<dt>device</dt><dd><code>cuda:3</code></dd>" in html
    assert f"<dt>python</dt><dd><code>{platform.python_version()}</code></dd>" in html
    assert "exempt" not in html
    assert foot_html(checked("b.md", ""), about) == ""
    exempt = foot_html(checked("c.md", EXEMPT), about)
    assert "<dt>exempt</dt><dd><code>2 name, 2 not run, 1 source</code></dd>" in exempt


def test_the_site_s_ledger_adds_up(tmp_path):
    pages = [checked("a.md"), checked("b.md", EXEMPT), checked("c.md", "")]
    labs = {"lab.py": {"cells": 7, "assertions": 5}}
    ledger = json.loads(verified_json(pages, provenance(settings(tmp_path)), labs))
    totals = {"blocks": 2, "doctests": 4, "claims": 2, "exempt": 5}
    assert ledger["totals"] == totals | {"scripts": 2, "notebooks": 2}
    assert ledger["labs"] == labs
    assert ledger["exemptions"] == {"name": 2, "not run": 2, "source": 1}
    assert ledger["pages"]["c.md"]["blocks"] == 0
    assert ledger["pages"]["b.md"]["exempt"] == 5
    assert ledger["devices"] == ["cuda:3"]
    assert [page["device"] for page in ledger["pages"].values()] == ["cuda:3", "cuda:3", None]
