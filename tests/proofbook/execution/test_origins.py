"""What a page shows as source is what it has loaded, or the page does not pass."""

from books import make_book

from proofbook.checking.book import Book
from proofbook.integrations.reading import load
from tables import table

PAGE = """\
```python
import sys

sys.path.insert(0, "src")
import lib
{code}
```

```python show="{target}"
```
"""
LIB = """\
import functools


def kept(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)
    return inner


def held(function):
    return lambda *args: function(*args)


def dropped(function):
    return lambda *args: 3


def plain():
    return 1


@kept
def wrapped():
    return 1


@held
def closed():
    return 1


@functools.lru_cache
def cached():
    return 1


@dropped
def replaced():
    return 1


SIZE = 3


class Box:
    size = 1

    def __init__(self):
        super().__init__()

    def open(self):
        return 1

    @property
    def wide(self):
        return 1

    @staticmethod
    def make():
        return 1

    @functools.cached_property
    def deep(self):
        return 1


class Empty:
    pass


def outer():
    def inner():
        return 1
    return inner
"""


def problems(folder, target: str, code: str = "", files=None) -> list[str]:
    text = PAGE.format(code=code, target=target)
    make_book(folder, {"a.md": text}, {"src/lib.py": LIB, **(files or {})})
    with Book(load(folder / "mkdocs.yml")) as book:
        for _ in range(2):  # run, then from the cache
            [checked] = book.check({"docs/a.md": text})
        assert checked.run.cached or checked.problems
        return [problem.message for problem in checked.problems]


@table(
    "target",
    [
        *("lib", "lib:plain", "lib:wrapped", "lib:closed", "lib:cached", "lib:SIZE", "lib:Box"),
        *("lib:Box.open", "lib:Box.wide", "lib:Box.make", "lib:Box.deep", "lib:Empty"),
        *("lib:outer.inner", "lib:Box.size", "json:dumps", "not_loaded:f"),
    ],
)
def test_what_runs_is_shown(tmp_path, target):
    assert problems(tmp_path, target, files={"src/not_loaded.py": "def f(): ...\n"}) == []


@table(
    ("target", "code"),
    [
        ("lib:replaced", ""),
        ("lib:plain", "lib.plain = lambda: 2"),
        ("lib:plain", "lib.plain = lib.kept(lib.plain)"),
        ("lib:plain", "vars(lib)['plain'] = lib.held(lib.plain)"),
        ("lib:wrapped", "lib.wrapped = lib.cached"),
        ("lib:Box.open", "lib.Box.open = lib.plain"),
        ("lib:Box", "lib.Box = type('Box', (), {'open': lambda self: 2})"),
        ("lib:plain", "del lib.plain"),
        ("lib:SIZE", "del lib.SIZE"),
    ],
)
def test_what_does_not_run_is_not_shown(tmp_path, target, code):
    [message] = problems(tmp_path, target, code)
    assert f"{target} does not run the code at line" in message


def test_a_module_of_the_same_name_elsewhere_is_told(tmp_path):
    other = {"elsewhere/lib.py": LIB + "\n"}
    code = "sys.modules.pop('lib'); sys.path.insert(0, 'elsewhere')\nimport lib"
    [message] = problems(tmp_path, "lib:plain", code, other)
    assert "the page imports lib from elsewhere/lib.py, but" in message
