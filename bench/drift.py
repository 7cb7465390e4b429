"""Makes small mistakes in the book and in the package, and counts how many its own checks notice.

A mistake in a page is one that `proofbook check --coverage` of the page reports; beside it stand
what `mkdocs build --strict` with stock markdown-exec, and pytest's doctest, report of the same.
A mistake in a module is reported by a test, its own or one that imports it, or by a chapter that
shows it. All happens in a copy of the tree. Mistakes that change nothing which a reader or a caller
could notice are argued one by one in `drift_equivalent.toml`, and counted apart.

    python bench/drift.py [--prose 300] [--source 200] [--seed 0] [--only TEXT] [--json]
"""

import argparse
import json
import os
import shutil
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}  # read by imports
os.environ |= {"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
os.environ.setdefault("OMP_NUM_THREADS", "1")

from _judges import Doctest, Engine, Stock, Tests
from _mutations import Mutant, draw, page_edits, page_parses, parses, source_edits
from build import ROOT, copy_book
from proofbook.book import Book
from proofbook.bookfile import load
from proofbook.page import normal

HOME = ROOT / ".cache" / "bench" / "drift"
RESULT = ROOT / "bench" / "results" / "drift.json"
EQUIVALENT = ROOT / "bench" / "drift_equivalent.toml"
PAGE_JUDGES = ("book", "stock", "doctest")
"""Only the first is our own; the others show what it is worth."""
MODULE_JUDGES = ("own test", "other tests", "chapters")
"""Each is asked where those before it have noticed nothing."""


@dataclass
class Outcome:
    """A mutant, and who noticed.

    Attributes:
        mutant: What was changed.
        ours: The judges that should notice.
        caught: By the name of each judge, what it said; judges that said nothing are left out.
        reason: Why nobody could notice, where that is argued.
    """

    mutant: Mutant
    ours: Sequence[str]
    caught: dict[str, str] = field(default_factory=dict)
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Whether those let it pass that should have noticed."""
        return self.caught.keys().isdisjoint(self.ours)


class Clock:
    """Says how far things are, on stderr, and adds up how long each judge took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def judging(self, judge: str) -> Iterator[None]:
        """Count the time within as this judge's."""
        start = time.perf_counter()
        yield
        self.seconds[judge] = self.seconds.get(judge, 0.0) + time.perf_counter() - start

    def tell(self, number: int, of: int, one: Outcome) -> None:
        """One line for a mutant that all have judged."""
        mutant, found = one.mutant, "; ".join(f"{j}: {w}" for j, w in one.caught.items())
        place = f"{mutant.path}:{mutant.line}"
        line = f"{number}/{of} {place} {mutant.kind}: {found or 'survived'}"
        print(line[:200], file=sys.stderr, flush=True)


def copy_tree() -> Path:
    """A copy of the tree at a place that stays, so that results of unchanged pages stay known."""
    tree, fresh = HOME / "tree", HOME / "fresh"
    tree.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(fresh, ignore_errors=True)
    copy_book(fresh)
    shutil.copytree(ROOT / "tests", fresh / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    for old in tree.iterdir():
        if old.name != ".cache":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for new in fresh.iterdir():
        new.rename(tree / new.name)
    return tree


def keep_models_apart() -> Callable[[], None]:
    """Give the copy the models that are trained already; returns what forgets those of mutants."""
    kept = Path(os.environ.get("GLASSFORMER_CACHE") or "~/.cache/glassformer").expanduser()
    folder = HOME / "models"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for model in kept.glob("*.safetensors"):
        (folder / model.name).symlink_to(model)
    os.environ["GLASSFORMER_CACHE"] = str(folder)

    def forget() -> None:
        for file in folder.iterdir():
            if not file.is_symlink():
                file.unlink()

    return forget


def preload() -> None:
    """Import, without computing anything, what the forked processes need."""
    import beartype  # noqa: F401
    import markdown_exec  # noqa: F401
    import mkdocs.commands.build  # noqa: F401
    import pytest  # noqa: F401
    import safetensors.torch  # noqa: F401
    import torch  # noqa: F401
    import transformers.models.bert.modeling_bert  # noqa: F401


def texts(tree: Path, pattern: str) -> dict[str, str]:
    """The text of each file of a pattern, by path."""
    files = {path.relative_to(tree).as_posix(): path for path in sorted(tree.glob(pattern))}
    return {name: normal(path.read_text(encoding="utf-8")) for name, path in files.items()}


def chosen(found: dict[str, str], only: str) -> dict[str, str]:
    """Those of some files that have a text in their path."""
    return {path: text for path, text in found.items() if only in path}


def demand_that_all_hold(engine: Engine, pages: dict[str, str], needed: set[str]) -> None:
    """Stop where a page is wrong as it stands: then what is found there says nothing."""
    for path in sorted(needed):
        print(f"{path} as it stands", file=sys.stderr, flush=True)
        if wrong := engine.finds(path, pages[path]):
            raise SystemExit(f"{path} does not hold as it stands: {wrong}")


def judge_pages(
    mutants: Sequence[Mutant], pages: dict[str, str], engine: Engine, tree: Path, clock: Clock
) -> list[Outcome]:
    """Each mutant of a page before the engine, stock markdown-exec and doctest."""
    folders = [HOME / "stock", HOME / "doctest"]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    stock, doctest = Stock(tree, folders[0], pages), Doctest(tree, folders[1], pages)
    outcomes = []
    for mutant in mutants:
        one = Outcome(mutant, PAGE_JUDGES[:1])
        with clock.judging("book"):
            if wrong := engine.finds(mutant.path, mutant.text):
                one.caught["book"] = wrong
        for name, judge in (("stock", stock), ("doctest", doctest)):
            with clock.judging(name):
                if judge.catches(mutant.path, mutant.text):
                    one.caught[name] = "noticed"
        outcomes.append(one)
        clock.tell(len(outcomes), len(mutants), one)
    return outcomes


def judge_modules(
    mutants: Sequence[Mutant], pages: dict[str, str], engine: Engine, tree: Path, clock: Clock
) -> list[Outcome]:
    """Each mutant of a module before its tests, and before its chapters if they do not notice."""
    forget, tests = keep_models_apart(), Tests(tree)
    sound: set[str] = set()
    outcomes = []
    for mutant in mutants:
        one = Outcome(mutant, MODULE_JUDGES)
        with changed(tree / mutant.path, mutant.text):
            for judge, find in stages(Path(mutant.path), pages, engine, tests):
                with clock.judging(judge):
                    if wrong := find():
                        one.caught[judge] = wrong
                        break
        forget()
        demand_that_passes(tests, sound, one)
        outcomes.append(one)
        clock.tell(len(outcomes), len(mutants), one)
    return outcomes


def stages(
    module: Path, pages: dict[str, str], engine: Engine, tests: Tests
) -> list[tuple[str, Callable[[], str]]]:
    """Who looks at a module, in order: each says what is wrong, or nothing."""
    own, others = tests.stages(module)
    shown = chapters_of(module, pages)
    return [
        ("own test", lambda: tests.fails(own) if own else ""),
        ("other tests", lambda: tests.fails(others) if others else ""),
        ("chapters", lambda: next(filter(None, (engine.finds(p, pages[p]) for p in shown)), "")),
    ]


def chapters_of(module: Path, pages: dict[str, str]) -> list[str]:
    """The chapters that show a module; those that import from it where none does."""
    dotted = ".".join(module.with_suffix("").parts[1:])
    for sign in (f'show="{dotted}:', f"from {dotted} import"):
        if found := [path for path, text in pages.items() if sign in text]:
            return found
    return []


def demand_that_passes(tests: Tests, sound: set[str], one: Outcome) -> None:
    """Stop where a test that has failed fails without the mutant too."""
    for judge in ("own test", "other tests"):
        failed = one.caught.get(judge, "")
        if "::" in failed and failed not in sound:
            if tests.fails([failed]):
                raise SystemExit(f"{failed} fails as the tree stands")
            sound.add(failed)


@contextmanager
def changed(file: Path, text: str) -> Iterator[None]:
    """A file with another text for a while."""
    before = file.read_bytes()
    file.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        file.write_bytes(before)


def argue(outcomes: Iterable[Outcome]) -> None:
    """Note which survivors are argued to change nothing."""
    entries = tomllib.loads(EQUIVALENT.read_text())["mutant"] if EQUIVALENT.exists() else []
    known = {(e["file"], e["original"], e["mutated"]): e["reason"] for e in entries}
    for one in outcomes:
        mutant = one.mutant
        if one.passed:
            one.reason = known.get((mutant.path, mutant.original, mutant.mutated), "")


def counted(outcomes: Sequence[Outcome], judges: Sequence[str]) -> list[dict]:
    """A row a kind, and one for all: how many there were, and how many each judge noticed."""
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
    """The rows, with the share that each judge notices of what can be noticed."""
    head = [title, "mutants", "equivalent", *columns]
    print(f"\n| {' | '.join(head)} |\n|---|{'---:|' * (len(head) - 1)}")
    for row in rows:
        able = row["mutants"] - row["equivalent"]
        shares = [f"{row[name]} ({row[name] / able:.0%})" if able else "–" for name in columns]
        cells = [row["kind"], str(row["mutants"]), str(row["equivalent"]), *shares]
        print(f"| {' | '.join(cells)} |")


def survivors(outcomes: Iterable[Outcome]) -> list[dict]:
    """What nobody noticed who should have."""
    named = ("path", "line", "kind", "original", "mutated")
    left = [one.mutant for one in outcomes if one.passed and not one.reason]
    rows = [{name: getattr(mutant, name) for name in named} for mutant in left]
    return sorted(rows, key=lambda row: (row["path"], row["line"]))


def print_survivors(rows: list[dict]) -> None:
    """File and line of each, with what stood there and what came in its place."""
    print(f"\n{len(rows)} survived")
    for row in rows:
        before, after = around(row["original"], row["mutated"])
        print(f"{row['path']}:{row['line']}: {row['kind']}: {before} → {after}")


def around(original: str, mutated: str, margin: int = 30) -> tuple[str, str]:
    """Where two lines differ, with what stands around."""
    head = alike(original, mutated)
    tail = alike(original[head:][::-1], mutated[head:][::-1])
    start = max(head - margin, 0)
    before, after = (one[start : len(one) - tail + margin] for one in (original, mutated))
    return before, after


def alike(one: str, other: str) -> int:
    """How many signs two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prose", type=int, default=300, help="mutants of pages")
    parser.add_argument("--source", type=int, default=200, help="mutants of modules")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a text in the paths of the files to change")
    parser.add_argument("--json", action="store_true", help=f"write {RESULT.name}")
    options = parser.parse_args()
    tree, clock = copy_tree(), Clock()
    os.environ["PYTHONPATH"] = str(tree / "src")
    preload()
    pages, modules = texts(tree, "docs/**/*.md"), texts(tree, "src/glassformer/**/*.py")
    own_pages, own_modules = (chosen(files, options.only) for files in (pages, modules))
    of_pages = draw(own_pages, page_edits, page_parses, options.prose, options.seed)
    of_modules = draw(own_modules, source_edits, parses, options.source, options.seed)
    shown = [page for mutant in of_modules for page in chapters_of(Path(mutant.path), pages)]
    with Book(load(tree / "mkdocs.yml"), covers=True) as book:
        engine = Engine(book)
        demand_that_all_hold(engine, pages, {*shown, *(mutant.path for mutant in of_pages)})
        on_pages = judge_pages(of_pages, pages, engine, tree, clock)
        on_modules = judge_modules(of_modules, pages, engine, tree, clock)
    report(on_pages, on_modules, clock, options)


def report(
    on_pages: list[Outcome], on_modules: list[Outcome], clock: Clock, options: argparse.Namespace
) -> None:
    """Print the tables and the survivors, and keep them where that is asked for."""
    seconds = {judge: round(seconds) for judge, seconds in clock.seconds.items()}
    result: dict = {"seed": options.seed, "seconds": seconds}
    for name, outcomes, judges, columns in (
        ("pages", on_pages, PAGE_JUDGES, PAGE_JUDGES),
        ("modules", on_modules, MODULE_JUDGES, (*MODULE_JUDGES, "caught")),
    ):
        argue(outcomes)
        rows, left = counted(outcomes, judges), survivors(outcomes)
        print_table(name, rows, columns)
        print_survivors(left)
        result[name] = {"rows": rows, "survivors": left}
    print(f"\nseconds: {seconds}")
    if options.json:
        from _turns import machine

        RESULT.write_text(json.dumps({"machine": machine(), **result}, indent=1) + "\n")


if __name__ == "__main__":
    main()
