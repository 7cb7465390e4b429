"""A symbol is shown as it stands in its file, and nothing is imported for it."""

import re
import sys

import pytest

from proofbook.checking.source_lookup import show
from tables import table

SOURCE = '''\
"""A module."""

raise RuntimeError("never imported")

LIMIT = 3
WIDE: int = 4


@staticmethod
def twice(x):
    """Double."""
    return 2 * x


class Box:
    size = 1

    def open(self):
        return (
            self.size
        )
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("ROOT = 1\n")
    (tmp_path / "pack" / "mod.py").write_text(SOURCE)
    return tmp_path


@table(
    ("target", "first", "last", "code"),
    [
        ("pack.mod:LIMIT", 5, 5, "LIMIT = 3"),
        ("pack.mod:WIDE", 6, 6, "WIDE: int = 4"),
        (
            "pack.mod:twice",
            9,
            12,
            '@staticmethod\ndef twice(x):\n    """Double."""\n    return 2 * x',
        ),
        (
            "pack.mod:Box.open",
            18,
            21,
            "def open(self):\n    return (\n        self.size\n    )",
        ),
        ("pack:ROOT", 1, 1, "ROOT = 1"),
        ("pack.mod", 1, 21, SOURCE.rstrip("\n")),
    ],
)
def test_a_symbol_has_its_lines(folder, target, first, last, code):
    found = show(target, [folder])
    assert (found.first, found.last, found.code) == (first, last, code)
    assert "pack.mod" not in sys.modules


@table(
    ("target", "only", "first", "last", "code"),
    [
        ("pack.mod:twice", "2 * x", 12, 12, "return 2 * x"),
        ("pack.mod:Box", "size = ", 16, 16, "size = 1"),
        ("pack.mod:Box", "self.size", 19, 21, "return (\n    self.size\n)"),
        ("pack.mod", "@staticmethod", 9, 12, SOURCE.split("\n\n\n")[1]),
        ("pack.mod", "never imported", 3, 3, 'raise RuntimeError("never imported")'),
    ],
)
def test_of_a_symbol_one_statement_can_be_shown(folder, target, only, first, last, code):
    found = show(target, [folder], only)
    assert (found.first, found.last, found.code) == (first, last, code)


def test_an_installed_module_is_found_without_importing_it(folder):
    assert show("this:d", [folder]).code == "d = {}"
    assert "this" not in sys.modules


@table(
    ("target", "message"),
    [
        ("pack.other:f", "no source file for a module 'pack.other'"),
        ("pack.mod:thrice", "defines no 'thrice'"),
        ("pack.mod:Box.close", "defines no 'Box.close'"),
        ("pack.mod:twice.x", "defines no 'twice.x'"),
    ],
)
def test_what_is_not_there_is_an_error(folder, target, message):
    with pytest.raises(LookupError, match=message):
        show(target, [folder])


@table(
    ("file", "line", "target", "written"),
    [
        ("again/__init__.py", "from again.parts import Box", "again:Box", "again.parts:Box"),
        (
            "again/__init__.py",
            "from .parts import Box as B",
            "again:B.size",
            "again.parts:Box.size",
        ),
        ("again/__init__.py", "from . import parts", "again:parts", "again.parts"),
        ("again/__init__.py", "from . import parts", "again:parts.Box", "again.parts:Box"),
        ("again/more.py", "from .parts import Box", "again.more:Box", "again.parts:Box"),
        ("one.py", "from again.parts import Box", "one:Box", "again.parts:Box"),
    ],
)
def test_a_name_that_is_only_imported_is_shown_from_where_it_is_defined(
    tmp_path_factory, file, line, target, written
):
    folder = tmp_path_factory.mktemp("modules")
    (folder / "again").mkdir()
    (folder / "again/parts.py").write_text("class Box:\n    size = 1\n")
    (folder / file).write_text(f"{line}\n")
    with pytest.raises(LookupError, match=f'but imports it; write show="{re.escape(written)}"'):
        show(target, [folder])
    assert show(written, [folder]).path == folder / "again/parts.py"


def test_a_module_that_cannot_be_parsed_is_named(tmp_path):
    (tmp_path / "broken.py").write_text("def f(:\n")
    with pytest.raises(SyntaxError, match=r"\(broken\.py, line 1\)"):
        show("broken:f", [tmp_path])


@table(
    ("only", "message"),
    [
        ("3 * x", "'3 \\* x' is nowhere in pack.mod"),
        ("size", "'size' is in pack.mod at lines 16, 19; quote more of one of them"),
    ],
)
def test_a_text_must_lead_to_one_statement(folder, only, message):
    with pytest.raises(LookupError, match=message):
        show("pack.mod", [folder], only)


@table(
    "more",
    [
        "f = wrapper(f)",
        "if wide:\n    def f(): ...",
        "try:\n    from fast import f\nexcept ImportError:\n    pass",
        "for f in ():\n    pass",
        "with open('x') as f:\n    pass",
        "(f := print)",
        "[f := one for one in ()]",
        "f: object = print",
        "f += 1",
        "del f",
        "import fast as f",
        "class f: ...",
        "def other():\n    global f\n    f = print",
        "match wide:\n    case [f, *_]:\n        pass",
        "a, (f, *b) = 1, (2,)",
        "@decorated\ndef f(): ...",
    ],
)
def test_what_is_bound_again_at_its_level_is_not_shown(tmp_path, more):
    file = tmp_path / "mod.py"
    definition = "def f():\n    return 1\n"
    for text in (f"{definition}{more}\n", f"{more}\n{definition}"):
        file.write_text(text)
        with pytest.raises(LookupError, match=r"'f' is bound at lines \d+, \d+|defines no 'f'"):
            show("mod:f", [tmp_path])
    inner = "\n".join(f"    {line}" for line in f"{definition}{more}".split("\n"))
    file.write_text(f"class Box:\n{inner}\n")
    if "global" not in more:
        with pytest.raises(LookupError, match=r"'f' is bound at lines|defines no 'Box\.f'"):
            show("mod:Box.f", [tmp_path])


@table(
    "text",
    [
        "@overload\ndef f(x: int): ...\n\n\ndef f(x):\n    return 1\n",
        "f: int\n\nf = 3\n",
        "def other():\n    f = 2\n    return [f for f in ()], lambda f: f\n\n\ndef f(): ...\n",
        "class Box:\n    f = 2\n\n\ndef f(): ...\n",
        "x.f = 2\n\n\ndef f(): ...\n",
    ],
)
def test_a_name_that_is_bound_once_is_shown(tmp_path, text):
    (tmp_path / "mod.py").write_text(text)
    assert "f" in show("mod:f", [tmp_path]).code


def test_two_modules_of_one_name_are_told_apart(tmp_path):
    for folder, text in (("src", "f = 1\n"), (".", "f = 2\n")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "mod.py").write_text(text)
    with pytest.raises(LookupError, match="two modules are called 'mod'"):
        show("mod:f", [tmp_path / "src"], root=tmp_path)
    (tmp_path / "mod.py").write_text("f = 1\n")
    assert show("mod:f", [tmp_path / "src"], root=tmp_path).code == "f = 1"
