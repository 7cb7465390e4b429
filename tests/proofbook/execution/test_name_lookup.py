"""A name exists where it leads from the page, Python, a module or a member to something."""

import importlib
import sys
from collections import namedtuple
from functools import cached_property
from typing import ClassVar

import pytest

from proofbook.execution.name_lookup import existing
from tables import table

LIBRARY = """\
class Layer:
    size = 3

    def forward(self, hidden, *, cache_length=None):
        return hidden


def project(rows, bias=None):
    return rows
"""


@pytest.fixture(autouse=True)
def project(monkeypatch):
    """The project is what a test writes, whatever other tests of this process have imported."""
    monkeypatch.setattr(
        "proofbook.execution.name_lookup.is_own", lambda package: package.startswith("names_")
    )


@pytest.fixture
def page(tmp_path, monkeypatch):
    (tmp_path / "names_lib.py").write_text(LIBRARY)
    (tmp_path / "names_other.py").write_text("def far(width): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    library = importlib.import_module("names_lib")
    yield {"layer": library.Layer(), "math": importlib.import_module("math"), "nothing": None}
    for name in ("names_lib", "names_other"):
        sys.modules.pop(name, None)


@table(
    ("name", "there"),
    [
        ("layer", True),
        ("layer.size", True),
        ("layer.size.real", True),
        ("layer.height", False),
        ("nothing", True),
        ("nothing.size", False),
        ("Layer", True),  # a neighbour in the module that the page's object comes from
        ("project", True),
        ("forward", True),
        (".forward", True),
        (".layer", True),
        ("hidden", True),
        ("cache_length", True),
        ("bias", True),
        (".bias", False),
        ("hidden.size", False),
        ("cos", True),
        ("math.cos", True),
        ("math.cosinus", False),
        ("len", True),
        ("NotImplemented", True),
        ("json.decoder.JSONDecoder.decode", True),
        ("json.decoder.No", False),
        ("names_lib.project", True),
        ("far", False),
        ("width", False),
        ("no.such.module", False),
    ],
)
def test_where_a_name_leads(page, name, there):
    assert existing([name], page, []) == {name: there}


def test_packages_of_the_book_need_no_import(page):
    asked = ["far", "width", "names_other.far", "names_other.near"]
    packages = ["names_other", "no_such_package"]
    assert list(existing(asked, page, packages).values()) == [True, True, True, False]


def test_a_bare_word_runs_no_module(page, tmp_path):
    (tmp_path / "names_loud.py").write_text("raise SystemExit('run')\n")
    assert existing(["names_loud", "names_loud.x"], page, []) == {
        "names_loud": True,
        "names_loud.x": False,
    }
    assert "names_loud" not in sys.modules


def test_a_member_that_raises_leads_nowhere(page):
    class Lazy:
        def __getattr__(self, name):
            raise SystemExit(name)

    assert existing(["lazy.x", "x"], {"lazy": Lazy()}, []) == {"lazy.x": False, "x": False}


LOUD = """\
import pathlib

pathlib.Path({file!r}).write_text("run")


def run(speed): ...


class Engine:
    power: int = 3

    def start(self): ...
"""


@pytest.fixture
def loud(tmp_path, monkeypatch):
    """A package and a module whose code leaves a file when it runs; gives that file."""
    mark = tmp_path / "has_run"
    code = LOUD.format(file=str(mark))
    for name in ("names_danger.py", "names_pack/__init__.py", "names_pack/inner.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(code)
    (tmp_path / "names_pack" / "__init__.py").write_text(
        f"from names_pack.inner import run as started, Engine\nfrom . import other\n{code}"
    )
    (tmp_path / "names_pack" / "other.py").write_text("from .inner import *\nlast = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    return mark


@table(
    ("name", "there"),
    [
        ("names_danger", True),
        ("names_danger.run", True),
        ("names_danger.run.power", False),
        ("names_danger.Engine.start", True),
        ("names_danger.Engine.stop", False),
        ("names_danger.stop", False),
        ("names_pack.inner", True),
        ("names_pack.inner.run", True),
        ("names_pack.started", True),
        ("names_pack.Engine.start", True),
        ("names_pack.Engine.stop", False),
        ("names_pack.other.last", True),
        ("names_pack.none", False),
        ("started", True),
        ("Engine.start", True),
        ("speed", True),
        ("power", True),
        ("last", True),
        (".started", True),
        ("stopped", False),
    ],
)
def test_what_is_not_loaded_is_read_and_not_run(loud, name, there):
    assert existing([name], {}, ["names_pack"]) == {name: there}
    assert not loud.exists()
    assert not {"names_danger", "names_pack"} & sys.modules.keys()


class Alive:
    """Leaves a trace whenever its code runs."""

    ran: ClassVar[list[str]] = []
    plain = 3

    @property
    def computed(self):
        self.ran.append("computed")
        return self

    @cached_property
    def kept(self):
        self.ran.append("kept")
        return self

    def __getattr__(self, name):
        self.ran.append(name)
        return self


class Nosy(Alive):
    def __getattribute__(self, name):
        Alive.ran.append(name)
        return object.__getattribute__(self, name)


@table("thing", [Alive(), Nosy(), Alive])
def test_no_code_of_the_page_runs_for_its_prose(thing):
    asked = [
        "x.plain",
        "x.computed",
        "x.kept",
        "x.computed.plain",
        "x.other",
        "x.other.more",
        "plain",
    ]
    Alive.ran.clear()
    found = existing(asked, {"x": thing}, [])
    assert Alive.ran == []
    assert [name for name in asked if found[name]] == ["x.plain", "x.computed", "x.kept", "plain"]


def test_a_module_says_nothing_by_code_of_its_own(tmp_path, monkeypatch):
    text = (
        "import sys\ndef __getattr__(name):\n    sys.names_asked = name\n    return 3\nplain = 2\n"
    )
    (tmp_path / "names_lazy.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("names_lazy")
    asked = existing(["lazy.plain", "lazy.any", "any"], {"lazy": module}, [])
    assert asked == {"lazy.plain": True, "lazy.any": False, "any": True}
    assert not hasattr(sys, "names_asked")
    del sys.modules["names_lazy"]


def test_what_installed_packages_compute_is_asked():
    torch = importlib.import_module("torch")
    layer = torch.nn.Linear(2, 3)
    point = namedtuple("Point", "across")(torch.ones(2))
    asked = ["layer.weight.shape", "layer.weight.mT.ndim", "layer.height", "point.across.shape"]
    found = existing(asked, {"layer": layer, "point": point}, [])
    assert [name for name in asked if found[name]] == [*asked[:2], asked[3]]
