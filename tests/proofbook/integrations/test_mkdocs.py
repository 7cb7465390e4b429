"""`plugins: [proofbook]` is enough: pages are run and shown, and fail the build when wrong."""

import json
import re

import pytest
from books import build, build_error, make_book, run_in

from tables import table

PAGE = """\
---
title: First
---

# Page with [three]{ equals="len(names)" } names

!!! note "In an admonition"

    ```python title="names.py"
    from helper import greet

    names = greet("a", "b", "c")
    names
    ```

=== "In a tab"

    ```pycon
    >>> names[0]
    'a'
    ```

Half of them: […]{ value="len(names) / 2" holds="len(names) < 9" }.

```python show="helper:greet"
```

```python source="below"
class Card:
    def _repr_html_(self):
        return "<b>card</b>"

Card()
```

```python exec="off" reason="it would never end"
while True: pass
```
"""
HELPER = 'def greet(*names):\n    print("# hello <you>, *friend*")\n    return list(names)\n'
CONFIG = """\
site_name: x
repo_url: https://github.com/someone/book
edit_uri: edit/main/docs/
plugins:
  - proofbook: {sources: [lib]}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    book = tmp_path_factory.mktemp("book")
    pages = {"index.md": "# Home\n", "a/page.md": PAGE}
    make_book(book, pages, {"lib/helper.py": HELPER}, CONFIG)
    (book / "helper.py").symlink_to(book / "lib" / "helper.py")
    return build(book)


def test_a_page_shows_what_its_blocks_gave(site):
    page = (site / "a" / "page" / "index.html").read_text()
    assert "# hello &lt;you&gt;, *friend*" in page
    assert "[&#x27;a&#x27;, &#x27;b&#x27;, &#x27;c&#x27;]" in page
    assert '<span class="filename">names.py</span>' in page
    assert "<b>card</b>" in page
    assert page.index("<b>card</b>") < page.index('<span class="nc">Card</span>')
    assert '<span class="proofbook-claim proofbook-bounded">1.5<button' in page
    assert "Not run: it would never end" in page
    lines = "https://github.com/someone/book/blob/main/lib/helper.py#L1-L3"
    assert f'<a href="{lines}">lib/helper.py, lines 1 to 3</a>' in page
    assert '<span class="nf">greet</span>' in page
    assert "../../assets/proofbook/proofbook.css" in page
    assert ".proofbook-sign" in (site / "assets" / "proofbook" / "proofbook.css").read_text()


def test_claims_leave_a_sign_that_opens_them_and_nothing_in_the_contents(site):
    page = (site / "a" / "page" / "index.html").read_text()
    assert "equals=" not in page
    assert 'id="page-with-three-names"' in page
    assert re.search(r'<a [^>]*href="#page-with-three-names"[^>]*>Page with three names</a>', page)
    signs = re.findall(r'popovertarget="([\w-]+)"', page)
    opened = re.findall(r'popover id="([\w-]+)"', page)
    assert signs == opened == ["proof-0", "proof-1"]
    assert "<code>len(names)</code> gave <code>3</code>" in page


def test_the_ledger_counts_what_was_verified(site):
    page = (site / "a" / "page" / "index.html").read_text()
    assert "Verified when this page was built: 2 blocks, 1 doctest, 2 claims" in page
    assert "Verified" not in (site / "index.html").read_text()
    ledger = json.loads((site / "verified.json").read_text())
    counted = {"blocks": 2, "doctests": 1, "claims": 2, "exempt": 1}
    assert ledger["totals"] == {**counted, "scripts": 1, "notebooks": 1}
    assert ledger["pages"]["docs/a/page.md"]["device"] == "cpu"


def test_a_value_in_a_heading_is_in_its_address_the_contents_and_the_search(tmp_path):
    heading = "## After […]{ value='str(steps)' holds='steps < 9' } steps"
    text = f"# A\n\n```python\nsteps = 7\n```\n\n{heading}\n"
    site = build(
        make_book(tmp_path, {"a.md": text}, config="site_name: x\nplugins: [search, proofbook]\n")
    )
    page = (site / "a" / "index.html").read_text()
    assert re.search(r'<a [^>]*href="#after-7-steps"[^>]*>After 7 steps</a>', page)
    found = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    titles = {entry["location"]: entry["title"] for entry in found}
    assert titles["a/#after-7-steps"] == "After 7 steps"


def test_assets_are_copied_once_and_named_by_content(tmp_path):
    code = """\
```python
from pathlib import Path

class View:
    def _repr_page_(self):
        Path("view.js").write_text("draw()")
        return '<script src="asset://view.js"></script>', {"view.js": Path("view.js").resolve()}

View()
```
"""
    site = build(make_book(tmp_path, {"a.md": code, "b/c.md": code}))
    (copied,) = (site / "assets" / "proofbook").glob("*-view.js")
    assert copied.read_text() == "draw()"
    assert f'src="../assets/proofbook/{copied.name}"' in (site / "a" / "index.html").read_text()
    assert f'src="../../assets/proofbook/{copied.name}"' in (site / "b/c/index.html").read_text()


@table("flags", ["-q", "-v --no-strict"])
def test_a_failure_fails_the_build_whatever_the_flags(tmp_path, flags):
    book = make_book(tmp_path, {"index.md": "# A\n\n```python\nx = 1\nx / 0\n```\n"})
    done = run_in(book, "mkdocs", "build", *flags.split())
    assert done.returncode == 1
    assert "docs/index.md:5: ZeroDivisionError: division by zero" in done.stderr
    assert "| x / 0" in done.stderr


def test_all_failures_of_all_pages_are_told_at_once(tmp_path):
    book = make_book(
        tmp_path,
        {
            "index.md": "[3]{ equals='x' }\n\n```python\nx = 2\n```\n",
            "sound.md": "```python\ny = 2\n```\n",
            "exit.md": "```python\nraise SystemExit(0)\n```\n",
            "interrupt.md": "```python\nraise KeyboardInterrupt\n```\n",
            "died.md": "```python\nimport os\nos._exit(0)\n```\n",
            "hangs.md": '```python timeout="0.5"\nx = 1\nwhile True: pass\n```\n',
        },
    )
    (book / "docs" / "latin.md").write_bytes("é".encode("latin-1"))
    message = build_error(book)
    assert "docs/index.md:1: the page says '3', this run gives 2" in message
    assert "docs/latin.md:1: this file cannot be read" in message
    assert "docs/exit.md:2: " in message
    assert "docs/interrupt.md:2: KeyboardInterrupt" in message
    assert "docs/died.md:" in message
    assert "docs/hangs.md:" in message
    assert "sound.md" not in message


def test_listed_as_extension_too_each_block_runs_once(tmp_path):
    config = "site_name: x\nplugins: [proofbook]\nmarkdown_extensions: [proofbook]\n"
    code = '```python\nwith open("runs.txt", "a") as file:\n    file.write("run ")\n```\n'
    book = make_book(tmp_path, {"index.md": code}, config=config)
    build(book)
    assert (book / "runs.txt").read_text() == "run "


def test_a_file_to_hash_that_is_not_there_is_named(tmp_path):
    config = "site_name: x\nplugins:\n  - proofbook: {hashed: {weights: no/such.bin}}\n"
    assert "no/such.bin" in build_error(make_book(tmp_path, {"index.md": "# A\n"}, config=config))


ABSENT = """\
# Absent

```python
class MissingWeightsError(OSError): ...


def weights():
    raise MissingWeightsError("the weights are not here: run fetch")
```

```python
given = weights()
```

Two is [2]{ equals="given[0]" }.
"""
ABSENCES = "site_name: x\nplugins:\n  - proofbook: {absences: [MissingWeightsError]}\n"
DOCTEST = """\
```pycon
>>> import warnings
>>> class MissingWeightsError(OSError): ...
>>> def weights(): raise MissingWeightsError("run fetch")
>>> weights()
2
```
"""


@table("page", [ABSENT, DOCTEST])
def test_without_what_a_page_asks_for_the_rest_of_the_book_is_built(tmp_path_factory, caplog, page):
    """What is not here is said, on the page too, which counts for nothing in the ledger."""
    sound = "```python\nx = [2]\n```\n\nTwo is [2]{ equals='x[0]' }.\n"
    caplog.clear()
    book = make_book(
        tmp_path_factory.mktemp("book"), {"absent.md": page, "sound.md": sound}, config=ABSENCES
    )
    site = build(book)
    assert "MissingWeightsError: " in (site / "absent" / "index.html").read_text()
    assert "proofbook-ledger" not in (site / "absent" / "index.html").read_text()
    (told,) = (one for one in caplog.records if "MissingWeightsError" in one.getMessage())
    assert told.levelname == "WARNING"
    ledger = json.loads((site / "verified.json").read_text())
    assert ledger["totals"]["claims"] == ledger["totals"]["blocks"] == 1
    assert ledger["pages"]["docs/absent.md"]["problems"] == ledger["problems"] == 1


def test_what_is_false_beside_what_is_absent_fails_as_ever(tmp_path):
    false = "```python\nx = [3]\n```\n\nTwo is [2]{ equals='x[0]' }.\n"
    for number, pages in enumerate([{"a.md": false + ABSENT}, {"a.md": ABSENT, "b.md": false}]):
        error = build_error(make_book(tmp_path / str(number), pages, config=ABSENCES))
        assert "1 problem in the book" in error
        assert "MissingWeightsError" not in error
    assert "MissingWeightsError" in build_error(make_book(tmp_path / "plain", {"a.md": ABSENT}))


GENERATED = """\
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

@event_priority(-100)
def on_files(files, config):
    files.append(File.generated(config, "plain.md", content="# Plain"))
    files.append(File.generated(config, "made.md", content="```python\\nx = 1 / 0\\n```"))
    return files
"""


def test_a_page_that_another_plugin_makes_is_run_too(tmp_path):
    config = "site_name: x\nplugins: [proofbook]\nhooks: [hook.py]\n"
    book = make_book(tmp_path, {"index.md": "# A\n"}, {"hook.py": GENERATED}, config)
    assert "made.md:2: ZeroDivisionError" in build_error(book)


CAPTIONS = """\
def on_config(config):
    captions = config.plugins["proofbook"].captions
    captions.append(lambda page, shown, place: f"{page.url}: {place}")
    captions.append(lambda page, shown, place: f"<b>{place}, {shown.last}</b>")
"""


def test_other_plugins_may_name_a_shown_source_one_after_the_other(tmp_path):
    config = "site_name: x\nplugins: [proofbook]\nhooks: [hook.py]\n"
    files = {"hook.py": CAPTIONS, "src/lib.py": "x = 2\n\n\ndef f():\n    return 1\n"}
    page = '```python show="lib:f"\n```\n'
    book = make_book(tmp_path, {"index.md": "# A\n", "b.md": page}, files, config)
    caption = "<b>b/: src/lib.py, lines 4 to 5, 5</b>"
    for title in ("One", "Other"):  # each build asks the plugins anew
        (book / "docs/index.md").write_text(f"# {title}\n")
        html = (build(book) / "b/index.html").read_text()
        assert f'<p class="proofbook-source">{caption}</p>' in html


PICTURE = """\
# Picture

```python
print("wombat")
```

```python
class Drawing:
    def _repr_html_(self):
        return "<table><tr><td>quo" + "kka</td></tr></table>"

Drawing()
```
"""


def test_search_finds_what_was_printed_and_reads_no_picture(tmp_path):
    config = "site_name: x\ntheme: material\nplugins: [search, proofbook]\n"
    build(make_book(tmp_path, {"index.md": PICTURE}, config=config))
    index = (tmp_path / "site/search/search_index.json").read_text()
    page = (tmp_path / "site/index.html").read_text()
    assert "wombat" in index
    assert "quokka" not in index
    assert "<td>quokka</td>" in page
    assert "data-placeholder" not in page + index
