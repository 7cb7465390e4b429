"""The command line: `proofbook init`, `check`, and `update`."""

import argparse
import io
import sys
from pathlib import Path
from typing import Any, NoReturn

from proofbook.checking.book import Book
from proofbook.checking.update import updated
from proofbook.commands.as_json import as_json
from proofbook.commands.as_text import as_text, progress_line
from proofbook.commands.check import Asked, Findings, check, read
from proofbook.commands.init import init
from proofbook.commands.watch import watch
from proofbook.model import Chapter, Run
from proofbook.problems import ChapterError
from proofbook.settings import load

COVERAGE = "also list prose that could be a claim but isn't"
SENTENCES = "like --coverage, and also list sentences that bind nothing, which aren't problems"
TWICE = "run everything a second time, and list the differences"
AGAINST = "plant errors in the code, and list the facts that catch none of them"
ONLY_DOCS = "ignore files that are not chapters; for a pre-commit hook"
FORMAT = "text, or one JSON document, with progress on stderr"
WATCH = "check again whenever a chapter, a module, a setting, or a file that was read changes"


def main(arguments: list[str] | None = None) -> int:
    """Create, check, or update a book; return the exit status."""
    options = _options(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):  # not every console can show every character
        sys.stdout.reconfigure(errors="backslashreplace", line_buffering=True)
    if options.command == "init":
        return init(options.folder)
    if options.command == "update":
        return _update(options)
    asked = Asked(options.coverage, options.sentences, options.twice, options.against)
    if options.watch:
        return watch(
            options.config_file,
            asked.covers,
            lambda book, is_first: _check(book, options, asked, tells_cached=is_first),
        )
    try:
        settings = load(options.config_file)
    except ChapterError as error:
        print(as_json(Findings(problems=error.problems)) if options.format == "json" else error)
        return 1
    with Book(settings, asked.covers) as book:
        return _check(book, options, asked)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="proofbook", description=__doc__)
    config: dict[str, Any] = {
        "type": Path,
        "metavar": "FILE",
        "help": "the book's settings; default: mkdocs.yml",
    }
    parser.add_argument("-f", "--config-file", default=Path("mkdocs.yml"), **config)
    commands = parser.add_subparsers(dest="command", required=True)
    purpose = "create a two-page book that passes, as a starting point"
    command = commands.add_parser("init", help=purpose, description=purpose)
    command.add_argument(
        "folder", nargs="?", type=Path, default=Path("."), help="default: this folder"
    )
    for name, purpose in (
        ("check", "run chapters and report what doesn't pass, without building a site"),
        ("update", "rewrite doctest outputs and equals= claims to match a run"),
    ):
        command = commands.add_parser(name, help=purpose, description=purpose)
        command.add_argument("-f", "--config-file", default=argparse.SUPPRESS, **config)
        command.add_argument(
            "paths", nargs="*", type=Path, help="files or folders; default: all chapters"
        )
        if name == "check":
            command.add_argument("--coverage", action="store_true", help=COVERAGE)
            command.add_argument("--sentences", action="store_true", help=SENTENCES)
            command.add_argument("--twice", action="store_true", help=TWICE)
            command.add_argument("--against", action="store_true", help=AGAINST)
            command.add_argument("--only-docs", action="store_true", help=ONLY_DOCS)
            command.add_argument("--format", choices=["text", "json"], default="text", help=FORMAT)
            command.add_argument("--watch", action="store_true", help=WATCH)
            checking = command
    options = parser.parse_args(arguments)
    if options.command == "check" and options.watch and options.format == "json":
        checking.error("--watch prints text only: leave out --format json")
    return options


def _check(
    book: Book, options: argparse.Namespace, asked: Asked, *, tells_cached: bool = True
) -> int:
    """Run chapters and print the findings; return 1 if there are any."""
    is_json = options.format == "json"

    def progress(chapter: Chapter, run: Run) -> None:
        if tells_cached or not run.cached:
            print(progress_line(chapter, run), file=sys.stderr if is_json else sys.stdout)

    findings = check(book, _files(book, options.paths, options.only_docs), asked, progress)
    if is_json:
        print(as_json(findings))
    else:
        print(as_text(findings, asked.sentences), end="")
    return 0 if findings.passes else 1


def _update(options: argparse.Namespace) -> int:
    """Rewrite chapters where they differ from a run, then check them."""
    try:
        settings = load(options.config_file)
    except ChapterError as error:
        print(error)
        return 1

    def progress(chapter: Chapter, run: Run) -> None:
        print(progress_line(chapter, run))

    with Book(settings) as book:
        files = _files(book, options.paths)
        texts, _ = read(book, files)
        for checked in book.check(texts, progress):
            path = checked.page.chapter.path
            file = book.settings.root / path
            text = file.read_bytes().decode()
            try:
                new = updated(text, checked)
            except ValueError as error:
                print(f"{path}: not updated: {error}")
                continue
            if new != text:
                file.write_bytes(new.encode())
                print(f"{path}: updated")
        findings = check(book, files, Asked(), progress)
        print(as_text(findings), end="")
        return 0 if findings.passes else 1


def _files(book: Book, paths: list[Path], only_docs: bool = False) -> list[Path]:
    """Return the chapters that the paths name; all of them if no path is given.

    Args:
        book: The book.
        paths: Files and folders.
        only_docs: Leave out files that are not chapters of the book.
    """
    files: list[Path] = []
    for path in paths or [book.settings.docs]:
        files += book.settings.pages(path) if path.is_dir() else [path]
    if only_docs:
        chapters = {file.resolve() for file in book.settings.pages(book.settings.docs)}
        files = [file for file in files if file.resolve() in chapters]
    return files


def run() -> NoReturn:
    """Run the command `proofbook`, and exit with its status."""
    sys.exit(main())


if __name__ == "__main__":
    run()
