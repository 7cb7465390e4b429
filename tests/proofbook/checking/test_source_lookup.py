"""A symbol is shown as it stands in its file, and nothing is imported for it."""

import sys

import pytest

from proofbook.checking.source_lookup import show

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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


def test_lines_are_named_in_words(folder):
    assert show("pack.mod:LIMIT", [folder]).place == "line 5"
    assert show("pack.mod:twice", [folder]).place == "lines 9 to 12"


def test_an_installed_module_is_found_without_importing_it(folder):
    assert show("this:d", [folder]).code == "d = {}"
    assert "this" not in sys.modules


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("pack.other:f", "no source file of a module 'pack.other'"),
        ("pack.mod:thrice", "defines no 'thrice'"),
        ("pack.mod:Box.close", "defines no 'Box.close'"),
        ("pack.mod:twice.x", "defines no 'twice.x'"),
    ],
)
def test_what_is_not_there_is_an_error(folder, target, message):
    with pytest.raises(LookupError, match=message):
        show(target, [folder])


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ("3 * x", "'3 \\* x' stands in pack.mod nowhere"),
        ("size", "'size' stands in pack.mod at lines 16, 19; say more of one"),
    ],
)
def test_a_text_must_lead_to_one_statement(folder, only, message):
    with pytest.raises(LookupError, match=message):
        show("pack.mod", [folder], only)
