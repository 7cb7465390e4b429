"""Make small mistakes in the book and in the package, and count how many its own checks notice.

A mistake in a page is noticed if `proofbook check --coverage` reports it; `mkdocs build --strict`
with stock markdown-exec and pytest's doctest get the same mistakes for comparison. A mistake in a
module is noticed by a test, its own or one that imports it, or by a chapter that shows it; the
book's models are not retrained for it. Everything happens in a copy of the tree. Mistakes that
change nothing a reader or a caller could notice are argued one by one in `drift_equivalent.toml`,
and counted separately.

    python bench/drift.py [--prose 300] [--source 200] [--seed 0] [--only TEXT] [--json [FILE]]
    python bench/drift.py --again [--json]

Judgments are stored, so an interrupted run goes on, and several runs of the same command at once
share the work. With `--again`, the survivors of the run whose results are stored are judged once
more, by the tree as it is now.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}  # read by imports
os.environ |= {"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
os.environ.setdefault("OMP_NUM_THREADS", "1")

from _journal import Journal, digest, key_of
from _judges import LIMIT, Doctest, Engine, Stock, Tests
from _models import Models
from _mutations import Mutant, draw, page_edits, page_parses, parses, redrawn, source_edits
from build import ROOT, copy_book
from proofbook.checking.book import Book
from proofbook.parsing.page import normal
from proofbook.settings import load

HOME = ROOT / ".cache" / "bench" / "drift"
RESULT = ROOT / "bench" / "results" / "drift.json"
EQUIVALENT = ROOT / "bench" / "drift_equivalent.toml"
PAGE_JUDGES = ("book", "stock", "doctest")
"""Only the first is our own; the others are there for comparison."""
MODULE_JUDGES = ("own test", "other tests", "chapters")
"""Each is asked if those before it have noticed nothing."""
FEW = 60
"""Up to this many mutants of modules, judging them is faster than running all tests once."""


@dataclass
class Outcome:
    """A mutant, and who noticed.

    Attributes:
        mutant: What was changed.
        ours: The judges that should notice.
        caught: What each judge said, by its name; judges that said nothing are left out.
        seconds: How long each took.
        reason: Why nobody could notice, if that is argued.
    """

    mutant: Mutant
    ours: Sequence[str]
    caught: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Whether it got past those that should have noticed."""
        return self.caught.keys().isdisjoint(self.ours)

    def ask(self, judge: str, find: Callable[[], str]) -> bool:
        """Ask a judge, and record what it says and how long it took; return whether it notices."""
        start = time.perf_counter()
        if wrong := find():
            self.caught[judge] = wrong
        self.seconds[judge] = round(time.perf_counter() - start, 1)
        return bool(wrong)

    def tell(self) -> None:
        """Report on stderr what was found."""
        found = "; ".join(f"{judge}: {wrong}" for judge, wrong in self.caught.items())
        place = f"{self.mutant.path}:{self.mutant.line} {self.mutant.kind}"
        line = f"{place}: {found or 'survived'}".replace("\n", " ")
        print(f"{line[:180]} {self.seconds}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Bench:
    """A copy of the tree to work in, and what is known about it.

    Attributes:
        folder: Where this process may write.
        tree: The copy.
        pages: Its pages, by path.
        engine: The engine, with this copy as its book.
        journal: What was judged.
        digest: A name for the content of the tree.
        models: The trained models of the copy.
    """

    folder: Path
    tree: Path
    pages: dict[str, str]
    engine: Engine
    journal: Journal
    digest: str
    models: Models

    def demand_that_holds(self, path: str) -> None:
        """Stop if a page is wrong without a change, since then its results mean nothing."""
        if wrong := self.engine.finds(path, self.pages[path]):
            raise SystemExit(f"{path} does not hold even unchanged: {wrong}")

    def judged(
        self, mutants: Sequence[Mutant], ours: Sequence[str], ask: Callable[[Outcome], None]
    ) -> list[Outcome]:
        """Return each mutant's outcome; judge those that no process has judged or is judging."""
        for wait in (False, True):
            for path in sorted({mutant.path for mutant in mutants}):
                with self.journal.alone(path, wait) as mine:
                    for mutant in mutants if mine else ():
                        if mutant.path == path and self.known(mutant) is None:
                            one = Outcome(mutant, ours)
                            ask(one)
                            self.journal.add(self.key(mutant), [one.caught, one.seconds])
                            one.tell()
        return [Outcome(mutant, ours, *self.known(mutant) or ()) for mutant in mutants]

    def known(self, mutant: Mutant) -> list[dict] | None:
        """Return what was found for a mutant."""
        return self.journal.get(self.key(mutant))

    def key(self, mutant: Mutant) -> str:
        """Return the journal's key for a mutant."""
        return key_of(self.digest, mutant.path, mutant.text)


def copy_tree(folder: Path) -> Path:
    """Make a copy of the tree at a fixed place, so that results of unchanged pages stay known."""
    tree, fresh = folder / "tree", folder / "fresh"
    tree.mkdir(exist_ok=True)
    shutil.rmtree(fresh, ignore_errors=True)
    copy_book(fresh)
    shutil.copytree(ROOT / "tests", fresh / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    for old in tree.iterdir():
        if old.name != ".cache":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for new in fresh.iterdir():
        new.rename(tree / new.name)
    return tree


def preload() -> None:
    """Import everything the forked processes need, without computing anything."""
    import beartype  # noqa: F401
    import markdown_exec  # noqa: F401
    import mkdocs.commands.build  # noqa: F401
    import pytest  # noqa: F401
    import safetensors.torch  # noqa: F401
    import torch  # noqa: F401
    import transformers.models.bert.modeling_bert  # noqa: F401


def texts(tree: Path, pattern: str) -> dict[str, str]:
    """Return the text of each file that matches a pattern, by path."""
    files = {path.relative_to(tree).as_posix(): path for path in sorted(tree.glob(pattern))}
    return {name: normal(path.read_text(encoding="utf-8")) for name, path in files.items()}


def chosen(found: dict[str, str], only: str) -> dict[str, str]:
    """Return the files that have a text in their path."""
    return {path: text for path, text in found.items() if only in path}


def judge_pages(mutants: Sequence[Mutant], bench: Bench) -> list[Outcome]:
    """Judge each mutant of a page with the engine, stock markdown-exec, and doctest."""
    folders = [bench.folder / "stock", bench.folder / "doctest"]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    stock = Stock(bench.tree, folders[0], bench.pages)
    doctest = Doctest(bench.tree, folders[1], bench.pages)

    def ask(one: Outcome) -> None:
        path, text = one.mutant.path, one.mutant.text
        bench.demand_that_holds(path)
        one.ask("book", lambda: bench.engine.finds(path, text))
        one.ask("stock", lambda: "noticed" if stock.catches(path, text) else "")
        one.ask("doctest", lambda: "noticed" if doctest.catches(path, text) else "")

    return bench.judged(mutants, PAGE_JUDGES[:1], ask)


def judge_modules(mutants: Sequence[Mutant], bench: Bench) -> list[Outcome]:
    """Judge each mutant of a module with its tests, and with its chapters if those do not notice.

    If there are few, it does not pay to run all tests of the unchanged tree first: a test that
    fails is then run once more without the mutant.
    """
    if all(bench.known(mutant) for mutant in mutants):
        return bench.judged(mutants, MODULE_JUDGES, lambda one: None)
    few = len(mutants) <= FEW
    tests = Tests(bench.tree, {} if few else seconds_of_tests(bench))
    bench.models.remember()

    def ask(one: Outcome) -> None:
        module = Path(one.mutant.path)
        with changed(bench.tree / module, one.mutant.text):
            any(one.ask(judge, find) for judge, find in stages(module, bench, tests))
        bench.models.forget()
        failed = next(iter(one.caught.values()), "")
        if few and "::" in failed and tests.fails([failed]):
            raise SystemExit(f"{failed} fails in the unchanged tree")
        if "chapters" in one.caught:
            for path in chapters_of(module, bench.pages):
                bench.demand_that_holds(path)

    return bench.judged(mutants, MODULE_JUDGES, ask)


def seconds_of_tests(bench: Bench) -> dict[str, float]:
    """Return how long each test takes in the unchanged tree; stop if one fails."""
    key = key_of(bench.digest, "tests")
    with bench.journal.alone(key, wait=True):
        if bench.journal.get(key) is None:
            tests = Tests(bench.tree, {})
            if failed := tests.fails(tests.files):
                raise SystemExit(f"{failed} fails as the tree stands")
            bench.journal.add(key, tests.seconds)
    return bench.journal.get(key) or {}


def stages(module: Path, bench: Bench, tests: Tests) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the judges of a module, in order: each returns what is wrong, or nothing."""
    own, others = tests.stages(module)
    shown = chapters_of(module, bench.pages)
    found = (bench.engine.finds(path, bench.pages[path]) for path in shown)
    yield "own test", lambda: tests.fails(own) if own else ""
    bench.models.lend()
    yield "other tests", lambda: tests.fails(others) if others else ""
    yield "chapters", lambda: next(filter(None, found), "")


def chapters_of(module: Path, pages: dict[str, str]) -> list[str]:
    """Return the chapters that show a module."""
    dotted = ".".join(module.with_suffix("").parts[1:])
    return [path for path, text in pages.items() if f'show="{dotted}:' in text]


@contextmanager
def changed(file: Path, text: str) -> Iterator[None]:
    """Replace the text of a file for a while."""
    before = file.read_bytes()
    file.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        file.write_bytes(before)


def argue(outcomes: Iterable[Outcome]) -> None:
    """Mark the survivors that are argued to change nothing."""
    entries = tomllib.loads(EQUIVALENT.read_text())["mutant"] if EQUIVALENT.exists() else []
    known = {(e["file"], e["original"], e["mutated"]): e["reason"] for e in entries}
    for one in outcomes:
        mutant = one.mutant
        if one.passed:
            one.reason = known.get((mutant.path, mutant.original, mutant.mutated), "")


def counted(outcomes: Sequence[Outcome], judges: Sequence[str]) -> list[dict]:
    """Return a row for each kind and one for all: mutants, and how many each judge noticed."""
    rows = []
    for kind in [*sorted({one.mutant.kind for one in outcomes}), "all"]:
        some = [one for one in outcomes if kind in (one.mutant.kind, "all")]
        row: dict = {"kind": kind, "mutants": len(some)}
        row["equivalent"] = sum(bool(one.reason) for one in some)
        row |= {judge: sum(judge in one.caught for one in some) for judge in judges}
        row["caught"] = sum(not one.passed for one in some)
        rows.append(row)
    return rows


def print_table(title: str, rows: list[dict], columns: Sequence[str]) -> None:
    """Print the rows, with the share of noticeable mutants that each judge notices."""
    head = [title, "mutants", "equivalent", *columns]
    print(f"\n| {' | '.join(head)} |\n|---|{'---:|' * (len(head) - 1)}")
    for row in rows:
        able = row["mutants"] - row["equivalent"]
        shares = [f"{row[name]} ({row[name] / able:.0%})" if able else "–" for name in columns]
        cells = [row["kind"], str(row["mutants"]), str(row["equivalent"]), *shares]
        print(f"| {' | '.join(cells)} |")


def survivors(outcomes: Iterable[Outcome]) -> list[dict]:
    """Return what nobody noticed who should have."""
    named = ("path", "line", "kind", "before", "after")
    left = [one.mutant for one in outcomes if one.passed and not one.reason]
    rows = [{name: getattr(mutant, name) for name in named} for mutant in left]
    return sorted(rows, key=lambda row: (row["path"], row["line"]))


def print_survivors(rows: list[dict]) -> None:
    """Print file and line of each survivor, with the old text and the new."""
    print(f"\n{len(rows)} survived")
    for row in rows:
        before, after = around(*(" ".join(row[name].split()) for name in ("before", "after")))
        print(f"{row['path']}:{row['line']}: {row['kind']}: {before} → {after}")


def around(original: str, mutated: str, margin: int = 30) -> tuple[str, str]:
    """Return where two lines differ, with the text around it."""
    head = alike(original, mutated)
    tail = alike(original[head:][::-1], mutated[head:][::-1])
    start = max(head - margin, 0)
    before, after = (one[start : len(one) - tail + margin] for one in (original, mutated))
    return before, after


def alike(one: str, other: str) -> int:
    """Return how many characters two texts have in common at the beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prose", type=int, default=300, help="mutants of pages")
    parser.add_argument("--source", type=int, default=200, help="mutants of modules")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a text in the paths of the files to change")
    parser.add_argument("--again", action="store_true", help="judge the survivors once more")
    parser.add_argument(
        "--json", nargs="?", const=RESULT.name, help=f"write {RESULT.name}, or a file beside it"
    )
    options = parser.parse_args()
    journal = Journal(HOME)
    folder = journal.place()
    tree = copy_tree(folder)
    models = Models(folder / "models", tree)
    os.environ["PYTHONPATH"] = str(tree / "src")
    preload()
    pages, modules = texts(tree, "docs/**/*.md"), texts(tree, "src/glassformer/**/*.py")
    with Book(load(tree / "mkdocs.yml", {"timeout": LIMIT}), covers=True) as book:
        kept = {path.relative_to(ROOT).as_posix() for path in RESULT.parent.glob("drift*.json")}
        content = digest(tree, without=kept)
        bench = Bench(folder, tree, pages, Engine(book), journal, content, models)
        if options.again:
            ask_again(bench, pages | modules, options)
        else:
            ask_all(bench, pages, modules, options)


def ask_all(
    bench: Bench, pages: dict[str, str], modules: dict[str, str], options: argparse.Namespace
) -> None:
    """Draw mutants, judge them, and report."""
    pages, modules = (chosen(files, options.only) for files in (pages, modules))
    of_pages = draw(pages, page_edits, page_parses, options.prose, options.seed)
    of_modules = draw(modules, source_edits, parses, options.source, options.seed)
    result = report(judge_pages(of_pages, bench), judge_modules(of_modules, bench))
    if options.json:
        coverage = bench.engine.covers(bench.pages)
        start = {"machine": circumstances(), "seed": options.seed, "coverage": coverage}
        write(start | result, options.json)


def ask_again(bench: Bench, files: dict[str, str], options: argparse.Namespace) -> None:
    """Judge the survivors of the run whose results are stored, if their lines still exist."""
    result = json.loads(RESULT.read_text())
    result["again"] = {"machine": circumstances()}
    for name, judge in (("pages", judge_pages), ("modules", judge_modules)):
        before = result[name]["survivors"]
        mutants = [one for row in before if (one := redrawn(row, files.get(row["path"], "")))]
        outcomes = judge(mutants, bench)
        argue(outcomes)
        left = survivors(outcomes)
        print_survivors(left)
        noticed = sum(not one.passed for one in outcomes)
        result["again"][name] = {"asked": len(mutants), "noticed": noticed, "survivors": left}
    if options.json:
        write(result, options.json)


def report(on_pages: list[Outcome], on_modules: list[Outcome]) -> dict:
    """Print the tables and the survivors; return the same as data."""
    seconds: Counter[str] = Counter()
    for one in on_pages + on_modules:
        seconds.update(one.seconds)
    result: dict = {"seconds": {judge: round(some) for judge, some in seconds.items()}}
    for name, outcomes, judges, columns in (
        ("pages", on_pages, PAGE_JUDGES, PAGE_JUDGES),
        ("modules", on_modules, MODULE_JUDGES, (*MODULE_JUDGES, "caught")),
    ):
        argue(outcomes)
        rows, left = counted(outcomes, judges), survivors(outcomes)
        print_table(name, rows, columns)
        print_survivors(left)
        result[name] = {"rows": rows, "survivors": left}
    print(f"\nseconds: {result['seconds']}")
    return result


def circumstances() -> dict[str, str | int]:
    """Return the machine, and the commit of what was judged."""
    from _turns import machine

    head = git("rev-parse", "--short", "HEAD")
    dirty = "-dirty" if git("status", "--porcelain", "--", "docs", "src", "tests") else ""
    return machine() | {"commit": f"{head}{dirty}"}


def git(*words: str) -> str:
    """Return git's output for this tree."""
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def write(result: dict, name: str) -> None:
    """Write the results to where a page reads them."""
    (RESULT.parent / name).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
