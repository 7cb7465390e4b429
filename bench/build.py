"""Build the same chapters in four ways, and print how long each takes, as ratios within one run.

(a) plain MkDocs: the fences are shown, not run;
(b) stock markdown-exec: the fences run in the process that builds;
(c) Jupyter Book 1.x with its execution cache, in an environment of its own;
(d) this project: proofbook.

Every build is a whole process on a fresh copy of the book. The four take turns, so that a slow
minute of the machine affects all of them, and a ratio is the median of the ratios of all turns.

    python bench/build.py [--rounds 3] [--without-jupyter-book] [--json]
"""

import argparse
import json
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from _turns import keep, ratio

ROOT = Path(__file__).resolve().parents[1]
JUPYTER_BOOK = ROOT / ".cache" / "bench" / "jupyter-book"
FENCE = re.compile(r"^( *)```(python|pycon)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
CLAIM = re.compile(r"\{ (?:equals|holds|value)\b[^\n]*?\}(?=[\s.,:;!?|*)]|$)", re.MULTILINE)
LAB_LINK = re.compile(r"\[([^\]]*)\]\((?:\.\./)*labs/[^)]*\)")
SIGN = "\n\n<!-- edited -->"


class _Loader(yaml.SafeLoader):
    """A loader that reads `!!python/name:` tags as the names they hold."""


class _Name(str):
    pass


class _Dumper(yaml.SafeDumper):
    pass


_PREFIX = "tag:yaml.org,2002:python/name:"
_Loader.add_constructor("!ENV", lambda loader, node: None)  # nobody edits a copy
_Loader.add_multi_constructor(_PREFIX, lambda loader, suffix, node: _Name(suffix))
_Dumper.add_representer(_Name, lambda dumper, name: dumper.represent_scalar(_PREFIX + name, ""))


def configure(book: Path, change: Callable[[dict], None]) -> None:
    """Rewrite the book's mkdocs.yml."""
    path = book / "mkdocs.yml"
    config = yaml.load(path.read_text(), Loader=_Loader)
    change(config)
    path.write_text(yaml.dump(config, Dumper=_Dumper, sort_keys=False))


def drop_proofbook(config: dict, *instead: str) -> None:
    """Leave the theme and the other plugins as they are."""
    drop_plugins(config, "proofbook")
    config["plugins"] += instead


def drop_plugins(config: dict, *names: str) -> None:
    """Remove the plugins whose names begin so; one with options is a mapping under its name."""
    named = [(p if isinstance(p, str) else next(iter(p)), p) for p in config["plugins"]]
    config["plugins"] = [p for name, p in named if not name.startswith(names)]


def drop_labs(book: Path) -> None:
    """Remove the labs, which every builder but (c) would run in the same way."""
    shutil.rmtree(book / "docs" / "labs")

    def change(config: dict) -> None:
        config["nav"] = [part for part in config["nav"] if "Labs" not in part]
        drop_plugins(config, "mkdocs-jupyter", "booksite/labs")

    configure(book, change)
    for page in (book / "docs").rglob("*.md"):
        page.write_text(LAB_LINK.sub(r"\1", page.read_text()))


def copy_book(folder: Path) -> Path:
    """Copy what a build of the chapters reads, without caches."""
    folder.mkdir(parents=True)
    for name in (
        "docs",
        "src",
        "overrides",
        "mkdocs.yml",
        "pyproject.toml",
        "constraints.txt",
        "bench/results",
    ):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, folder / name)
    drop_labs(folder)
    return folder


def chapters(book: Path) -> Iterator[tuple[Path, str]]:
    """Yield the pages that have code to run, and their text."""
    for path in sorted((book / "docs").rglob("*.md")):
        text = path.read_text()
        if any("show=" not in m[3] for m in FENCE.finditer(text)):
            yield path, text


def plain(folder: Path) -> Path:
    """Make (a): the same pages under MkDocs alone."""
    book = copy_book(folder)
    configure(book, drop_proofbook)
    return book


def stock(folder: Path) -> Path:
    """Make (b): each fence marked for markdown-exec, one session for each page."""
    book = copy_book(folder)
    configure(book, lambda config: drop_proofbook(config, "markdown-exec"))
    for path, text in chapters(book):
        path.write_text(stock_page(text, f'exec="on" source="above" session="{path.stem}"'))
    return book


def stock_page(text: str, options: str) -> str:
    """Return a page as markdown-exec reads it: no claims, no shown sources, and marked fences."""

    def mark(match: re.Match) -> str:
        indent, language, given, code = match.groups()
        if "show=" in given:
            return ""
        return f"{indent}```{language} {options}\n{code}{indent}```"

    return FENCE.sub(mark, CLAIM.sub("", text))


def jupyter_book(folder: Path) -> Path:
    """Make (c): each page a MyST notebook, run by this environment's kernel and cached."""
    folder.mkdir(parents=True)
    pages = []
    head = "---\njupytext:\n  text_representation:\n    extension: .md\n    format_name: myst\n"
    head += "kernelspec:\n  name: bench\n  display_name: bench\n---\n"
    for path, text in chapters(ROOT):

        def cell(match: re.Match) -> str:
            _, language, options, code = match.groups()
            if "show=" in options:
                return ""
            if language == "pycon":
                lines = [
                    line[4:] for line in code.splitlines() if line.lstrip()[:3] in (">>>", "...")
                ]
                code = "\n".join(lines) + "\n"
            return f"```{{code-cell}} ipython3\n{code}```"

        body = re.sub(r"\A---\n.*?^---\n", "", text, count=1, flags=re.MULTILINE | re.DOTALL)
        page = folder / path.name
        page.write_text(head + FENCE.sub(cell, CLAIM.sub("", body)))
        pages.append(path.stem)
    toc = {"format": "jb-book", "root": pages[0], "chapters": [{"file": p} for p in pages[1:]]}
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc))
    execute = {"execute_notebooks": "cache", "timeout": 300}
    (folder / "_config.yml").write_text(yaml.safe_dump({"title": "bench", "execute": execute}))
    return folder


def ours(folder: Path) -> Path:
    """Make (d): the book as it is."""
    return copy_book(folder)


def environment(book: Path) -> dict[str, str]:
    """Return an environment in which the copy's own `src` runs, on all of the machine's threads."""
    return os.environ | {
        "PYTHONPATH": str(book / "src"),
        "NO_MKDOCS_2_WARNING": "1",
        "HF_HUB_OFFLINE": "1",
        "JUPYTER_PATH": str(JUPYTER_BOOK / "kernels"),
    }


def mkdocs(book: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "mkdocs", *arguments, "-f", str(book / "mkdocs.yml")]


def seconds(command: list[str], book: Path) -> float:
    """Return the wall time of a whole process; a failure is shown and ends the run."""
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=book, env=environment(book), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return time.perf_counter() - start


def build(kind: str, book: Path) -> float:
    if kind == "jupyter book":
        return seconds([str(JUPYTER_BOOK / "bin" / "jupyter-book"), "build", str(book)], book)
    return seconds(mkdocs(book, "build", "--quiet"), book)


def install_jupyter_book() -> None:
    """Make the environment of (c) once: Jupyter Book there, its kernel here."""
    if not (JUPYTER_BOOK / "bin" / "jupyter-book").exists():
        subprocess.run([sys.executable, "-m", "venv", JUPYTER_BOOK], check=True)
        pip = [JUPYTER_BOOK / "bin" / "pip", "install", "--quiet", "jupyter-book<2"]
        subprocess.run(pip, check=True)
    kernel = JUPYTER_BOOK / "kernels" / "kernels" / "bench" / "kernel.json"
    kernel.parent.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "bench", "language": "python"}
    kernel.write_text(json.dumps(spec))


def attention(book: Path) -> Path:
    """Return the chapter that is edited."""
    return next(book.rglob("attention.md"))


def edit(page: Path, words: str) -> None:
    """End a chapter with these words, in place of those of an earlier edit."""
    text = page.read_text().split(SIGN)[0]
    page.write_text(f"{text}{SIGN}\n\n{words}\n")


def edit_prose(book: Path, number: int) -> str:
    """Change a sentence of one chapter, and no code; return the words to look for on the page."""
    words = f"An edit of the prose, number {number}."
    edit(attention(book), words)
    return words


def edit_code(book: Path, number: int) -> str:
    """Change a line of code; return the words that only its output can contain."""
    edit(attention(book), f'```python\nprint("An edit of the code:", 7 * {number})\n```')
    return f"An edit of the code: {7 * number}"


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def page_text(address: str) -> str:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return answer.read().decode()
    except OSError:
        return ""


def wait_for(address: str, words: str, limit: float = 300) -> float:
    """Return the seconds until the served page has the words."""
    start = time.perf_counter()
    while words not in page_text(address):
        if time.perf_counter() - start > limit:
            raise SystemExit(f"{address} did not show {words!r} within {limit} s")
        time.sleep(0.02)
    return time.perf_counter() - start


@contextmanager
def served(book: Path) -> Iterator[tuple[str, Path]]:
    """Serve a book; yield the address of the edited chapter and the log of the server."""
    host = f"127.0.0.1:{free_port()}"
    page = attention(book).relative_to(book / "docs").with_suffix("")
    log = book / "serve.log"
    command = mkdocs(book, "serve", "--no-strict", "--dev-addr", host)
    words = edit_prose(book, 0)
    with log.open("w") as out:
        server = subprocess.Popen(
            command, cwd=book, env=environment(book), stdout=out, stderr=out, start_new_session=True
        )
        try:
            wait_for(f"http://{host}/{page}/", words)
            yield f"http://{host}/{page}/", log
        finally:
            server.terminate()
            server.wait(30)


def wait(book: Path, address: str, change: Callable[[Path, int], str], number: int) -> float:
    """Return the seconds from saving an edit to the rebuilt page."""
    time.sleep(1.5)
    return wait_for(address, change(book, number))


def time_builds(
    rounds: int, kinds: dict[str, Callable[[Path], Path]], folder: Path
) -> Iterator[dict]:
    """Time builds, cold, unchanged, and with changed prose: each kind in turn, `rounds` times."""
    times: dict[tuple[str, str], list[float]] = {}
    for turn in range(rounds):
        for kind, make in kinds.items():
            book = make(folder / f"{kind}-{turn}".replace(" ", "-"))
            times.setdefault((kind, "cold"), []).append(build(kind, book))
            times.setdefault((kind, "unchanged"), []).append(build(kind, book))
            edit_prose(book, turn + 1)
            times.setdefault((kind, "prose edited"), []).append(build(kind, book))
            print(f"  turn {turn + 1}: {kind} done", file=sys.stderr, flush=True)
    print(f"| {'build':<16} | {'state':<12} | median s | ÷ plain | ÷ stock | ÷ jupyter book |")
    print("|---|---|---:|---:|---:|---:|")
    for (kind, state), measured in times.items():
        row = [f"{statistics.median(measured):8.2f}"]
        kept = {"build": kind, "state": state}
        for other in ("plain", "stock", "jupyter book"):
            against = times.get((other, state))
            found = ratio(measured, against) if against else None
            row.append(f"{found.median:.2f}" if found else "–")
            kept |= {f"over {other}": vars(found)} if found else {}
        print(f"| {kind:<16} | {state:<12} | {' | '.join(row)} |")
        yield kept


def print_serve(edits: int, folder: Path) -> None:
    """Print how long an author waits after editing prose, ours against plain in turns, or code."""
    books = {"plain": plain(folder / "serve-plain"), "ours": ours(folder / "serve-ours")}
    with served(books["plain"]) as (address, _), served(books["ours"]) as (our_address, log):
        turns = [
            (
                wait(books["plain"], address, edit_prose, number),
                wait(books["ours"], our_address, edit_prose, number),
            )
            for number in range(1, edits + 1)
        ]
        code = [wait(books["ours"], our_address, edit_code, n) for n in range(1, edits + 1)]
        runs = [float(t) for t in re.findall(r"attention\.md: .* in ([\d.]+) s", log.read_text())]
    prose, our_prose = (statistics.median(times) for times in zip(*turns, strict=True))
    code_wait, run = statistics.median(code), statistics.median(runs[-edits:])
    print(f"\nserve, prose edit to page: plain {prose:.2f} s, ours {our_prose:.2f} s,")
    print(f"difference {our_prose - prose:+.2f} s (goal ≤ +0.3 s)")
    print(f"serve, code edit to page: {code_wait:.2f} s; the chapter's own run {run:.2f} s,")
    print(
        f"difference to plain's prose edit and that run {code_wait - prose - run:+.2f} s "
        f"(goal ≤ +0.3 s), to our own {code_wait - our_prose - run:+.2f} s"
    )


def print_imports(rounds: int) -> None:
    """Time `import glassformer` beside `import torch`, each in a fresh process."""
    alone = {"torch": [], "glassformer": []}
    for _ in range(2 * rounds + 1):
        for module, measured in alone.items():
            measured.append(seconds([sys.executable, "-c", f"import {module}"], ROOT))
    torch, glassformer = (statistics.median(t) for t in alone.values())
    print(f"\nimport torch {torch:.2f} s, import glassformer {glassformer:.2f} s, ")
    print(f"difference {glassformer - torch:+.2f} s (goal ≤ +0.1 s)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-jupyter-book", action="store_true")
    parser.add_argument("--json", action="store_true", help="write bench/results/build.json")
    options = parser.parse_args()
    kinds = {"plain": plain, "stock": stock, "jupyter book": jupyter_book, "ours": ours}
    if options.without_jupyter_book:
        del kinds["jupyter book"]
    else:
        install_jupyter_book()
    with tempfile.TemporaryDirectory() as folder:
        rows = [*time_builds(options.rounds, kinds, Path(folder))]
        print_serve(2 * options.rounds + 1, Path(folder))
    print_imports(options.rounds)
    if options.json:
        keep("build", rows)


if __name__ == "__main__":
    main()
