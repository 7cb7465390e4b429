"""`check --watch` checks again what has changed, and nothing else, until Ctrl-C."""

import queue
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from books import make_book

CONFIG = "site_name: x\nplugins: [proofbook]\n"
PAGE = "# A\n\n```python\nfrom helper import answer\n```\n\n[41]{ equals='answer()' }\n"
DATA = """# B

```python
from pathlib import Path

names = sorted(path.name for path in Path("data").iterdir())
text = Path("texts/a.txt").read_text()
```

[one]{ equals="len(names)" }, [yes]{ equals="text" }
"""
FILES = {"src/helper.py": "def answer():\n    return 41\n", "data/one": "", "texts/a.txt": "yes"}
PATIENCE = 30


class Watched:
    """A book under `check --watch`."""

    def __init__(self, book, *options):
        self.book = book
        self.process = subprocess.Popen(
            [sys.executable, "-m", "proofbook", "check", "--watch", *options],
            cwd=book,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # A job in the background ignores Ctrl-C, and so does all that it starts.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line)

    def next(self):
        """What is told of the next check, up to its last line."""
        told, end = "", time.monotonic() + PATIENCE
        while not told.endswith("watching for changes; press Ctrl-C to stop\n"):
            try:
                told += self._lines.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no check ended within {PATIENCE} s:\n{told}") from None
        return told

    def save(self, name, text):
        """Save a file, and return what is told of the check that follows."""
        path = self.book / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return self.next()

    def stop(self):
        """Press Ctrl-C; returns the exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


@pytest.fixture
def watched(tmp_path):
    book = make_book(tmp_path, {"a.md": PAGE, "data.md": DATA}, FILES, CONFIG)
    watched = Watched(book)
    yield watched
    watched.process.kill()
    watched.process.wait(PATIENCE)


def test_each_change_is_checked_and_nothing_else_runs(watched):
    told = watched.next()
    assert "docs/a.md: 1 block, 1 claim, " in told
    assert "\n2 chapters, 0 problems\n" in told

    told = watched.save("docs/a.md", PAGE.replace("[41]", "[42]"))  # prose: nothing runs
    assert re.match(
        r"\n\d\d:\d\d:\d\d docs/a\.md changed\n\n"
        r"docs/a\.md:7: the page says '42', this run gives 41\n    \| answer\(\)\n\n"
        r"2 chapters, 1 problem\n\nwatching",
        told,
    )

    told = watched.save("src/helper.py", "def answer():\n    return 42\n")
    assert " src/helper.py changed\ndocs/a.md: 1 block, 1 claim, " in told
    assert "docs/data.md" not in told
    assert "2 chapters, 0 problems" in told

    told = watched.save("texts/a.txt", "no")
    assert " texts/a.txt changed\ndocs/data.md: 1 block, 2 claims, " in told
    assert "docs/data.md:10: the page says 'yes', this run gives 'no'" in told
    assert "docs/a.md" not in told

    told = watched.save("data/two", "")  # a page that does not pass is watched like any other
    assert " data changed\n" in told
    assert "docs/data.md:10: the page says 'one', this run gives 2" in told
    assert watched.stop() == 1


def test_chapters_and_settings_come_and_go(watched):
    watched.next()
    told = watched.save("docs/part/new.md", "# New\n\n```python\n1 / 0\n```\n")
    assert " docs/part/new.md changed\n" in told
    assert "docs/part/new.md:4: ZeroDivisionError" in told

    (watched.book / "docs/part/new.md").unlink()
    assert "\n2 chapters, 0 problems\n" in watched.next()

    told = watched.save("mkdocs.yml", "site_name: [")
    assert " mkdocs.yml changed\nmkdocs.yml:1: these settings cannot be used" in told
    told = watched.save("mkdocs.yml", "site_name: x\nplugins: [{proofbook: {sources: [lib]}}]\n")
    assert "docs/a.md:4: ModuleNotFoundError: No module named 'helper': src/helper.py" in told
    told = watched.save("lib/helper.py", FILES["src/helper.py"])
    assert "\n2 chapters, 0 problems\n" in told
    assert watched.stop() == 0


def test_a_page_that_changes_what_it_reads_is_not_checked_for_ever(tmp_path):
    page = (
        "```python\nfrom pathlib import Path\n\nlog = Path('log.txt')\n"
        "log.write_text(log.read_text() + 'x')\nNone\n```\n"
    )
    watched = Watched(make_book(tmp_path, {"log.md": page}, {"log.txt": ""}, CONFIG))
    watched.next()
    time.sleep(1)  # longer than it takes to hear of a change
    runs = len((tmp_path / "log.txt").read_text())
    told = watched.save("log.txt", "")
    assert re.findall(r"(?m)^\d\d:\d\d:\d\d (.*)$", told) == ["log.txt changed"]
    assert (runs, len((tmp_path / "log.txt").read_text())) == (1, 1)
    assert watched.stop() == 0
