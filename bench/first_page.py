"""Time how long a reader waits for a book that has never run, and for one that has.

A copy of the book without any results is served as it is configured: seconds until the home page
is there, until the first chapter shows its outputs, the longest for any of some other pages opened
then, and until all pages have run. The server is then stopped and started again: seconds until the
home page is there. The environment is installed, and models are downloaded, before.

    python bench/first_page.py [--json]
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from _turns import keep
from proofbook.rendering.page_renderer import RUNNING
from serving import copied, served, wait_for, wait_until_ready

FIRST = "encoder/tokens/"
OTHERS = ("gpt/modern-block/", "labs/heads/", "language-models/assistant/", "contributing/")


def since(begun: float) -> float:
    """Return the seconds since a moment."""
    return time.monotonic() - begun


def first_start(book: Path, log: Path) -> Iterator[tuple[str, float]]:
    """Serve a book that has never run until all of it has; yield the seconds of each step."""
    begun = time.monotonic()
    with served(book, log) as root:
        wait_for(root, "<title>")
        yield "home", since(begun)
        wait_for(root + FIRST, "</html>", gone=RUNNING)
        yield "first chapter with its outputs", since(begun)
        yield "another page, worst", max(opened(root + page) for page in OTHERS)
        wait_until_ready(log)
        yield "all pages", since(begun)


def opened(address: str) -> float:
    """Return the seconds until a page is there, with or without its outputs."""
    begun = time.monotonic()
    wait_for(address, "</html>")
    return since(begun)


def second_start(book: Path, log: Path) -> Iterator[tuple[str, float]]:
    """Serve a book that has run; yield the seconds until it's there."""
    begun = time.monotonic()
    with served(book, log) as root:
        wait_for(root, "<title>")
        yield "home, started again", since(begun)


def main() -> None:
    """Start the server twice, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="write bench/results/first_page.json")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as log:
        book = Path(folder)
        copied(book)
        for start in (first_start, second_start):
            for name, seconds in start(book, Path(log.name)):
                print(f"{name:32}{seconds:10.1f} s", flush=True)
                rows.append({"until": name, "seconds": seconds})
    if options.json:
        keep("first_page", rows)


if __name__ == "__main__":
    main()
