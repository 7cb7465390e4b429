"""The command line: `proofbook init`, `check`, and `update`."""

import argparse
import io
import os
import sys
from contextlib import ExitStack, closing, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, TextIO

from proofbook.checking.book import Book, Checked
from proofbook.checking.update import updated
from proofbook.commands.as_json import as_json
from proofbook.commands.as_text import Report, as_text, count, progress_line
from proofbook.commands.check import Asked, Findings, check
from proofbook.commands.init import init
from proofbook.commands.watch import INTERRUPTED, watch
from proofbook.integrations.reading import Manuscript
from proofbook.problems import ChapterError

COVERAGE = "also list prose that could be a claim but isn't"
SENTENCES = "like --coverage, and also list sentences and number words that bind nothing"
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
            lambda book, manuscript, is_first: _check(
                book, manuscript, options, asked, tells_cached=is_first
            ),
        )
    with ExitStack() as stack:
        document = sys.stdout if options.format == "json" else None
        if document:  # which has nothing else in it, whatever hooks and plugins print
            stack.enter_context(redirect_stdout(sys.stderr))
        try:
            manuscript = Manuscript(options.config_file)
            stack.callback(manuscript.close)
        except ChapterError as error:
            findings = Findings(problems=error.problems)
            print(as_json(findings) if document else error, file=document)
            return 1
        book = stack.enter_context(Book(manuscript.settings, asked.covers))
        return _check(book, manuscript, options, asked, document)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="proofbook", description=__doc__)
    config: dict[str, Any] = {
        "type": Path,
        "metavar": "FILE",
        "help": "the book's settings; default: mkdocs.yml or mkdocs.yaml",
    }
    parser.add_argument("-f", "--config-file", **config)
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
    book: Book,
    manuscript: Manuscript,
    options: argparse.Namespace,
    asked: Asked,
    document: TextIO | None = None,
    *,
    tells_cached: bool = True,
) -> int:
    """Run chapters and print the findings, as JSON into a document; return 1 if there are any."""
    report = Report()
    done = 0

    def progress(checked: Checked) -> None:
        nonlocal done
        done += 1
        if tells_cached or not checked.run.cached:
            print(progress_line(checked.page.chapter, checked.run))
        if not document:
            print(report.of(checked.problems), end="")

    read = manuscript.read(options.paths, only_pages=options.only_docs)
    try:
        findings = check(book, read, asked, progress)
    except KeyboardInterrupt:
        if document or options.watch:
            raise
        print(f"{report.rest()}\ninterrupted: {done} of {count(len(read[0]), 'chapter')} checked")
        return INTERRUPTED
    if not options.paths:
        findings = replace(findings, foreign=manuscript.foreign)
    if document:
        print(as_json(findings), file=document)
    else:
        print(as_text(findings, report, asked.sentences), end="")
    return 0 if findings.passes else 1


def _update(options: argparse.Namespace) -> int:
    """Rewrite chapters where they differ from a run, then check them."""
    try:
        manuscript = Manuscript(options.config_file)
    except ChapterError as error:
        print(error)
        return 1

    def progress(checked: Checked) -> None:
        print(progress_line(checked.page.chapter, checked.run))

    with closing(manuscript), Book(manuscript.settings) as book:
        texts, _ = manuscript.read(options.paths)
        for checked in book.check(texts, progress):
            path = checked.page.chapter.path
            file = book.settings.root / path
            try:
                text = file.read_bytes().decode()
                new = updated(text, checked)
            except (ValueError, OSError) as error:
                print(f"{path}: not updated: {error}")
                continue
            if new != text:
                file.write_bytes(new.encode())
                print(f"{path}: updated")
        findings = check(book, manuscript.read(options.paths), Asked(), progress)
        print(as_text(findings, Report()), end="")
        return 0 if findings.passes else 1


def run() -> NoReturn:
    """Run the command `proofbook`, and exit with its status."""
    try:
        sys.exit(main())
    except BrokenPipeError:  # as in `proofbook check | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    run()
