"""The command line: `python -m proofbook check [PATH…]` and `update [PATH…]`."""

import argparse
import sys
from pathlib import Path

from proofbook.book import Book
from proofbook.bookfile import load
from proofbook.model import Chapter, Run
from proofbook.problems import Problem


def main(arguments: list[str] | None = None) -> int:
    """Check or update chapters; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m proofbook", description=__doc__)
    parser.add_argument("--config-file", "-f", type=Path, default=Path("mkdocs.yml"))
    commands = parser.add_subparsers(dest="command", required=True)
    for name, purpose in (
        ("check", "run chapters and report what does not pass; builds no site"),
        ("update", "rewrite doctest outputs and equals= claims to what a run gives"),
    ):
        command = commands.add_parser(name, help=purpose, description=purpose)
        command.add_argument("paths", nargs="*", type=Path, help="files or folders; all if none")
    options = parser.parse_args(arguments)
    with Book(load(options.config_file)) as book:
        files = _files(options.paths or [book.settings.docs])
        return check(book, files)


def check(book: Book, files: list[Path]) -> int:
    """Run chapters, print every problem; 1 where there is one."""
    texts, problems = _read(book, files)
    for checked in book.check(texts, _progress):
        problems += checked.problems
    for problem in problems:
        print(f"\n{problem}")
    print(f"\n{len(files)} chapters, {len(problems)} problems")
    return 1 if problems else 0


def _read(book: Book, files: list[Path]) -> tuple[dict[str, str], list[Problem]]:
    texts: dict[str, str] = {}
    problems = []
    for file in files:
        path = book.name(file)
        try:
            texts[path] = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            problems.append(Problem(path, 1, f"this file cannot be read: {error}"))
    return texts, problems


def _files(paths: list[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        files += sorted(path.rglob("*.md")) if path.is_dir() else [path]
    return files


def _progress(chapter: Chapter, run: Run) -> None:
    how = "cached" if run.cached else f"{run.seconds:.1f} s"
    print(f"{chapter.path}: {len(chapter.blocks)} blocks, {len(chapter.claims)} claims, {how}")


if __name__ == "__main__":
    sys.exit(main())
