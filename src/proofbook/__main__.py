"""The command line: `python -m proofbook check [OPTION…] [PATH…]` and `update [PATH…]`."""

import argparse
import io
import sys
from pathlib import Path
from typing import NoReturn

from proofbook.checking.against import against
from proofbook.checking.book import Book, Checked
from proofbook.checking.rerun import again
from proofbook.checking.update import updated
from proofbook.coverage.coverage import cover
from proofbook.coverage.report import is_whole, report
from proofbook.maths.symbol_table import strange_symbols
from proofbook.model import Chapter, Run
from proofbook.problems import ChapterError, Problem
from proofbook.settings import load


def main(arguments: list[str] | None = None) -> int:
    """Check or update chapters; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m proofbook", description=__doc__)
    parser.add_argument("-f", "--config-file", type=Path, default=Path("mkdocs.yml"))
    commands = parser.add_subparsers(dest="command", required=True)
    for name, purpose in (
        ("check", "run chapters and report what does not pass; builds no site"),
        ("update", "rewrite doctest outputs and equals= claims to what a run gives"),
    ):
        command = commands.add_parser(name, help=purpose, description=purpose)
        command.add_argument("paths", nargs="*", type=Path, help="files or folders; all if none")
        if name == "check":
            asked = "say too what in the prose could be a claim and is not"
            command.add_argument("--coverage", action="store_true", help=asked)
            asked = "with --coverage's findings, list sentences that bind nothing; none is a fault"
            command.add_argument("--sentences", action="store_true", help=asked)
            asked = "run all a second time, and say what comes out otherwise"
            command.add_argument("--twice", action="store_true", help=asked)
            asked = "plant errors in the code, and list the facts that notice none"
            command.add_argument("--against", action="store_true", help=asked)
    options = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a page may hold what a console cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    covers = options.command == "check" and (options.coverage or options.sentences)
    try:
        settings = load(options.config_file)
    except ChapterError as error:
        print(error)
        return 1
    with Book(settings, covers) as book:
        files = _files(book, options.paths or [book.settings.docs])
        if options.command == "update":
            _update(book, files)
            return _check(book, files)
        return _check(
            book,
            files,
            twice=options.twice,
            sentences=options.sentences,
            planting=options.against,
        )


def _check(
    book: Book,
    files: list[Path],
    *,
    twice: bool = False,
    sentences: bool = False,
    planting: bool = False,
) -> int:
    """Run chapters and print every problem, and what is uncovered; 1 where there is anything."""
    texts, problems = _read(book, files)
    pages = book.check(texts, _progress)
    problems += [problem for checked in pages for problem in checked.problems]
    problems += strange_symbols(pages, book.settings)
    if twice:
        problems += again(pages, book.settings, _progress)
    for problem in problems:
        print(f"\n{problem}")
    whole = [checked for checked in pages if book.covers and not checked.problems]
    coverage = [cover(checked, book.settings) for checked in whole]
    if coverage:
        print(f"\n{report(coverage, sentences)}")
    surviving = _surviving(book, pages) if planting else 0
    print(f"\n{_count(len(files), 'chapter')}, {_count(len(problems), 'problem')}")
    return 1 if problems or surviving or not is_whole(coverage) else 0


def _surviving(book: Book, pages: list[Checked]) -> int:
    """Print the facts that no planted error made false; give how many there are."""
    trials = against(pages, book.settings)
    surviving = [trial for trial in trials if trial.noticed is None]
    for trial in surviving:
        print(f"\n{trial}")
    seen = len(trials) - len(surviving)
    print(f"\n{_count(len(trials), 'fact')}: {seen} seen false, {len(surviving)} not")
    return len(surviving)


def _update(book: Book, files: list[Path]) -> None:
    """Rewrite what a run gives otherwise than the chapters say."""
    texts, _ = _read(book, files)
    for checked in book.check(texts, _progress):
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


def _files(book: Book, paths: list[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        files += book.settings.pages(path) if path.is_dir() else [path]
    return files


def _progress(chapter: Chapter, run: Run) -> None:
    how = "cached" if run.cached else f"{run.seconds:.1f} s"
    blocks, claims = len(chapter.blocks), len(chapter.claims)
    print(
        f"{chapter.path}: {_count(blocks, 'block')}, {_count(claims, 'claim')}, {how}", flush=True
    )
    for reason in run.unkept:
        print(f"{chapter.path}: not kept: {reason}", flush=True)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def run() -> NoReturn:
    """Run the command `proofbook` and leave with its exit status."""
    sys.exit(main())


if __name__ == "__main__":
    run()
