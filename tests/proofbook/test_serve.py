"""Under `mkdocs serve` an author sees errors in place, and their end, without a restart."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from books import make_book

PAGE = (
    "# Page\n\n```python\nfrom helper import answer\n\nanswer()\n```\n\n[41]{ equals='answer()' }\n"
)
FAULTY = PAGE.replace("[41]", "[42]") + "\n[Nowhere](nowhere.md)\n"
CONFIG = "site_name: x\nplugins:\n  - proofbook: {sources: [lib]}\n"
PATIENCE = 30


class Served:
    """A book under `mkdocs serve`."""

    def __init__(self, book: Path, port: int) -> None:
        self.book = book
        self.url = f"http://127.0.0.1:{port}/"

    def wait_for(self, text: str, gone: str = "") -> str:
        """The page, once it has one text and not the other."""
        page = ""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(self.url, timeout=5) as answer:
                    page = answer.read().decode()
            except OSError:
                page = ""
            if text in page and not (gone and gone in page):
                return page
            time.sleep(0.1)
        raise AssertionError(f"no {text!r} (or still {gone!r}) after {PATIENCE} s in\n{page}")

    def save(self, name: str, text: str) -> None:
        """Save a file; the watcher compares whole seconds on some systems."""
        path = self.book / name
        path.write_text(text)
        later = time.time() + 2
        os.utime(path, (later, later))


@pytest.fixture(params=["", "strict: true\n"], ids=["lenient", "strict"])
def served(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    files = {"lib/helper.py": "def answer():\n    return 41\n"}
    book = make_book(tmp_path, {"index.md": FAULTY}, files, CONFIG + request.param)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "serve", "-q", "-a", f"127.0.0.1:{port}"],
        cwd=book,
        env=os.environ | {"PYTHONPATH": str(book / "lib"), "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield Served(book, port)
    process.terminate()
    process.wait(PATIENCE)


def test_errors_show_in_place_and_go_at_the_next_good_save(served):
    page = served.wait_for("the page says &#x27;42&#x27;, this run gives 41")
    assert "docs/index.md:9: " in page

    served.save("docs/index.md", PAGE)
    served.wait_for("<code>41</code>", gone="proofbook-error")

    served.save("docs/index.md", PAGE.replace("answer()\n", "answer() / 0\n"))
    page = served.wait_for("proofbook-error")
    assert "docs/index.md:6: ZeroDivisionError" in page

    served.save("docs/index.md", PAGE)
    page = served.wait_for("<code>41</code>", gone="proofbook-error")
    assert "Verified when this page was built" in page

    served.save("lib/helper.py", "def answer():\n    return 43\n")
    page = served.wait_for("the page says &#x27;41&#x27;, this run gives 43")
    assert "docs/index.md:9: " in page
    assert "<code>43</code>" in page

    served.save("docs/index.md", PAGE.replace("[41]", "[43]"))
    served.wait_for("<code>43</code>", gone="proofbook-failed")

    (served.book / "docs" / "index.md").write_bytes(b"# Caf\xe9\n")
    os.utime(served.book / "docs" / "index.md", (time.time() + 9,) * 2)
    served.wait_for("docs/index.md:1: this file cannot be read")
    served.save("docs/index.md", PAGE.replace("[41]", "[43]"))
    served.wait_for("<code>43</code>", gone="cannot be read")
