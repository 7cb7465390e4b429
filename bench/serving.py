"""Time how long an author waits under `mkdocs serve`: from a save to the page, and to the site.

A copy of the book is served as it is configured. Some pages, including the longest, get edits one
after another; each edit waits for the site of the one before. A page counts once it is served with
the edit; the site counts once the search, which is written last, finds the edit. First, sentences
are added to a page; then blocks, with which it runs again: the server reports how long that took.
Numbers are shares of the first one in the table: less is faster.

    python bench/serving.py [--edits 10] [--pages gpt/modern-block.md …] [--json]
"""

import argparse
import itertools
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _turns import keep

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("docs", "src", "bench", "tests", "overrides", "tools")
PAGES = ["gpt/modern-block.md", "encoder/attention.md", "contributing.md"]
INDEX = "search/search_index.json"
PATIENCE = 3600  # seconds for the first runs of all pages and labs
EDITS = {
    "prose": "\nThe sentence that is looked for is {mark}.\n",
    "code": '\n```python\n"The sentence that is looked for is {mark}."\n```\n',
}


def copied(folder: Path) -> None:
    """Copy the project."""
    for path in ROOT.iterdir():
        if path.is_file() and path.name != ".git":
            shutil.copy(path, folder)
    for name in PARTS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)


@contextmanager
def served(book: Path, log: Path) -> Iterator[str]:
    """Serve a book; return its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"PYTHONPATH": str(book / "src"), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{port}"]
    with log.open("w") as stream:
        server = subprocess.Popen(command, cwd=book, env=environment, stdout=stream, stderr=stream)
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()
            server.wait(60)


def wait_for(address: str, text: str, gone: str | None = None) -> None:
    """Ask for an address until it has one text and not the other."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
                page = answer.read().decode()
            if text in page and (gone is None or gone not in page):
                return
        except OSError:
            time.sleep(0.5)
        time.sleep(0.02)
    raise TimeoutError(f"no {text!r} at {address}")


def wait_until_ready(log: Path) -> None:
    """Wait until all pages have run."""
    end = time.monotonic() + PATIENCE
    while not re.search(r"All \d+ pages are ready", log.read_text()):
        if time.monotonic() > end:
            raise TimeoutError(f"some pages haven't run:\n{log.read_text()[-2000:]}")
        time.sleep(0.05)


def edit(book: Path, name: str, text: str, mark: str, root: str) -> tuple[float, float]:
    """Add a text to a page; return the seconds until the page has it, and until the site has it."""
    file = book / "docs" / name
    address = root + re.sub(r"(index)?\.md$", "/", name).lstrip("/")
    begun = time.monotonic()
    file.write_text(file.read_text() + text.format(mark=mark))
    wait_for(address, mark)
    seen = time.monotonic() - begun
    wait_for(root + INDEX, mark)
    return seen, time.monotonic() - begun


def ran(log: Path, name: str, before: int) -> float:
    """Read how long the blocks of a page took since a place in the log."""
    text = log.read_text()[before:]
    return sum(map(float, re.findall(rf"{re.escape(name)}: \d+ blocks? in ([\d.]+) s", text)))


def main() -> None:
    """Edit each page, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--edits", type=int, default=10)
    parser.add_argument("--pages", nargs="*", default=PAGES)
    parser.add_argument("--json", action="store_true", help="write bench/results/serving.json")
    options = parser.parse_args()
    rows = []
    columns = ("page, median", "page, worst", "site, median", "site, worst", "runs, median")
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:
        book, log = Path(folder), Path(file.name)
        copied(book)
        with served(book, log) as root:
            wait_until_ready(log)
            print(f"{'edit':34}" + "".join(f"{name:>14}" for name in columns))
            for name, (kind, text) in itertools.product(options.pages, EDITS.items()):
                times = []
                for turn in range(options.edits):
                    before = len(log.read_text())
                    mark = f"mark-{kind}-{turn}-{len(rows)}-{os.getpid()}"
                    times.append((*edit(book, name, text, mark, root), ran(log, name, before)))
                pages, sites, runs = zip(*times, strict=True)
                found = [statistics.median(pages), max(pages), statistics.median(sites)]
                found += [max(sites), statistics.median(runs)]
                print(f"{kind:6}{name:28}" + "".join(f"{one:14.2f}" for one in found), flush=True)
                rows.append({"page": name, "edit": kind, **dict(zip(columns, found, strict=True))})
    if options.json:
        keep("serving", rows)


if __name__ == "__main__":
    main()
