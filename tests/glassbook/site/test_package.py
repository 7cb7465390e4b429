"""What is read of a package without importing it, on a package made for it."""

from pathlib import Path

import pytest

from glassbook.site.api.package import Packages

FILES = {
    "__init__.py": '"""A package."""\n\nfrom made.parts.one import one\n',
    "inner.py": '''\
"""A module."""

import math

from made.parts import one as first, Thing
from made.checks import check_size

SIZES = AXES = (2, 3)
"""How long the axes are."""
# A comment,
# in two lines.
SEED: int = 5
_HIDDEN = 7
PAIR = LEFT, RIGHT = (11, 13)
EXERCISE = Exercise("the answer", asks=f"the {LEFT} of it")


def double(x: int,
    y: int = 2,
) -> int:
    # a comment on the body
    """Double it."""
    if x < 0:
        raise ValueError(f"the size ({x}) must " "be positive")
    check_size(x)
    return _helped(x)


def _helped(x):
    raise TypeError("short")
    raise KeyError("three words here")


@decorated
class Holder(Thing):
    """Holds."""

    # what it is about
    width: int
    _own: int
    depth: int = 3

    def __call__(self) -> None: ...

    @property
    def size(self) -> int:
        """The size."""
        return self._check()

    def _check(self):
        raise ValueError("a holder must not be empty")

    def extra_repr(self): ...


class Made:
    def __init__(self, width: int):
        self.width = width
''',
    "checks.py": '''\
def check_size(x):
    """Check."""
    raise ValueError("sizes … must differ, all of them")
''',
    "parts/__init__.py": """\
from made.parts.one import one
from made.parts.thing import Thing
""",
    "parts/one.py": 'def one():\n    """One."""\n',
    "parts/thing.py": "class Thing:\n    def turn(self): ...\n",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Packages:
    root: Path = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        file = root / "src/made" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return Packages(root, ["src/made"], ["made.*"])


def test_modules_and_what_they_offer_in_the_order_of_their_lines(package):
    assert list(package.modules) == ["made.checks", "made.inner", "made.parts"]
    inner = package.modules["made.inner"]
    assert [one.short for one in inner.members] == [
        *("SIZES", "AXES", "SEED", "PAIR", "EXERCISE", "double", "Holder", "Made")
    ]
    assert [one.name for one in package.modules["made.parts"].members] == [
        "made.parts.one.one",
        "made.parts.thing.Thing",
    ]
    assert (inner.kind, inner.doc, inner.path) == ("module", "A module.", "src/made/inner.py")
    assert (inner.first, inner.last) == (1, FILES["inner.py"].count("\n"))


@pytest.mark.parametrize(
    ("name", "signature", "doc"),
    [
        ("SIZES", "SIZES = AXES = (2, 3)", "How long the axes are."),
        ("SEED", "SEED: int = 5", "A comment, in two lines."),
        ("PAIR", "PAIR = LEFT, RIGHT = (11, 13)", ""),
        ("EXERCISE", "EXERCISE = Exercise(...)", "Asked for: the … of it."),
        ("double", "def double(x: int,\n    y: int = 2,\n) -> int", "Double it."),
        (
            "Holder",
            "@decorated\nclass Holder(Thing):\n    # what it is about\n"
            "    width: int\n    depth: int = 3",
            "Holds.",
        ),
        ("Holder.__call__", "def __call__(self) -> None: ...", ""),
        ("Holder.size", "@property\ndef size(self) -> int", "The size."),
        ("Made", "class Made:\n    def __init__(self, width: int)", ""),
    ],
)
def test_signatures_are_the_sources_own_lines(package, name, signature, doc):
    symbol = package.symbols[f"made.inner.{name}"]
    assert (symbol.signature, symbol.doc) == (signature, doc)


def test_lines_begin_with_decorators_and_comments_do_not_count(package):
    lines = FILES["inner.py"].split("\n")
    holder = package.symbols["made.inner.Holder"]
    assert lines[holder.first - 1] == "@decorated"
    assert lines[holder.last - 1] == "    def extra_repr(self): ..."
    assert [one.short for one in holder.members] == ["__call__", "size"]


def test_messages_are_those_that_reach_who_calls(package):
    assert sorted(package.symbols["made.inner.double"].messages) == [
        "KeyError: three words here",
        "ValueError: sizes … must differ, all of them",
        "ValueError: the size (…) must be positive",
    ]
    assert package.symbols["made.inner.Holder.size"].messages == (
        "ValueError: a holder must not be empty",
    )


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("made.one", "made.parts.one.one"),
        ("made.parts.one", "made.parts.one.one"),
        ("made.inner.first", "made.parts.one.one"),
        ("made.inner.Thing.turn", "made.parts.thing.Thing.turn"),
        ("made.inner", "made.inner"),
        ("made.inner.math", None),
        ("made.inner._helped", None),
        ("made.nowhere", None),
        ("made.inner.Holder.nothing", None),
    ],
)
def test_names_are_followed_through_the_modules_that_hand_them_on(package, name, found):
    symbol = package.find(name)
    assert (symbol.name if symbol else None) == found
