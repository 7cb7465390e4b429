"""`make serve` with this book's own configuration shows a page that does not pass, and stays."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from mkdocs.config import load_config
from playwright.sync_api import Error, Page

ROOT = Path(__file__).parents[2]
PAGE = "docs/contributing.md"
FALSE = "\n```python\nnumber = 3\n```\n\nThis is [four]{ equals='number' }.\n"
HEADING = "document.getElementById('writing-an-exercise')"
CHAPTERS = ("encoder", "decoder", "family", "language-models", "practice", "labs")
PATIENCE = 600  # seconds for a first build, on a machine that does other things

pytestmark = [pytest.mark.slow]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """This project with its chapters' headings alone, and a page that says what is not so."""
    for path in ROOT.iterdir():
        if path.is_file() and path.name != ".git":
            shutil.copy(path, tmp_path)
    # No `.cache`: what a page read is known by its path, so that in a copy each page runs again.
    for name in ("docs", "src", "bench", "tests", "overrides", "tools"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for part in CHAPTERS:
        for path in (tmp_path / "docs" / part).rglob("*.md"):
            text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
            headings = "\n\n".join(re.findall(r"^#+ .+$", text, flags=re.MULTILINE))
            path.write_text(re.sub(r"\{ equals=.+? \}", "", headings))
        for path in (tmp_path / "docs" / part).glob("*.py"):
            path.write_text(f"# %% [markdown]\n# # {path.stem}\n# %%\n1 + 1\n")
    with (tmp_path / PAGE).open("a") as page:
        page.write(FALSE)
    return tmp_path


@pytest.fixture
def address(copy: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (copy / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{port}"],
            cwd=copy,
            env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(copy / "src")},
            stdout=log,
            stderr=log,
        )
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()
            server.wait(60)


def wait_for(url: str, text: str, log: Path) -> str:
    """The page once it has the text."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                page = answer.read().decode()
        except OSError:
            page = ""
        if text in page:
            return page
        time.sleep(0.5)
    raise AssertionError(f"no {text!r} after {PATIENCE} s:\n{log.read_text()[-3000:]}")


def seen(page: Page, expression: str) -> object:
    """The value of the expression, also of a page that is just being loaded again."""
    while True:
        try:
            return page.evaluate(expression)
        except Error as error:
            if "Execution context was destroyed" not in str(error):
                raise


@pytest.mark.browser
@pytest.mark.timeout(3 * PATIENCE)
def test_a_false_claim_is_shown_in_its_place_and_goes_when_it_is_mended(copy, address, browser):
    assert load_config(str(copy / "mkdocs.yml")).strict
    log = copy / "log"
    page = wait_for(f"{address}contributing/", "the page says &#x27;four&#x27;", log)
    assert "this run gives 3" in page
    assert f"{PAGE}:" in page
    assert "proofbook-failed" not in wait_for(address, "<title>", log)

    opened = browser.new_page()
    opened.goto(f"{address}contributing/")
    seen(opened, f"{HEADING}.scrollIntoView()")
    before = seen(opened, f"{HEADING}.getBoundingClientRect().top")

    text = (copy / PAGE).read_text()
    (copy / PAGE).write_text(text.replace("[four]", "[three]"))
    page = wait_for(f"{address}contributing/", ">three", log)
    assert "proofbook-failed" not in page

    # A browser that shows the page shows the mended one at the same place.
    opened.wait_for_function(
        "document.readyState === 'complete' && !document.querySelector('.proofbook-failed')"
    )
    after = seen(opened, f"{HEADING}.getBoundingClientRect().top")
    assert abs(after - before) < 5
    assert seen(opened, "scrollY") > 500
    opened.close()
