"""A name exists where it leads from the page, Python, a module or a member to something."""

import importlib
import sys
from collections import namedtuple

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


def test_a_bare_word_runs_no_module(page, tmp_path):
    (tmp_path / "names_loud.py").write_text("raise SystemExit('run')\n")
    assert existing(["names_loud"], page, []) == {"names_loud": True}
    assert "names_loud" not in sys.modules
    assert existing(["names_loud.x"], page, []) == {"names_loud.x": False}


def test_a_member_that_raises_leads_nowhere(page):
    class Lazy:
        def __getattr__(self, name):
            raise SystemExit(name)

    assert existing(["lazy.x", "x"], {"lazy": Lazy()}, []) == {"lazy.x": False, "x": False}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that no page has imported."""
    for name, code in {
        "__init__.py": "from names_pack.inner import Engine, run\nstarted = run\n",
        "inner.py": "def run(speed): ...\n\n\nclass Engine:\n    def start(self): ...\n",
        "other.py": "last = 1\n",
    }.items():
        (tmp_path / "names_pack").mkdir(exist_ok=True)
        (tmp_path / "names_pack" / name).write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in ("names_pack", "names_pack.inner", "names_pack.other"):
        sys.modules.pop(name, None)


@table(
    ("name", "there"),
    [
        ("names_pack.inner.run", True),
        ("names_pack.started", True),
        ("names_pack.Engine.start", True),
        ("names_pack.Engine.stop", False),
        ("names_pack.other.last", True),
        ("names_pack.none", False),
        ("started", True),
        ("Engine.start", True),
        ("speed", True),
        (".started", True),
        ("stopped", False),
    ],
)
def test_the_books_packages_are_imported(package, name, there):
    assert existing([name], {}, ["names_pack"]) == {name: there}


def test_what_installed_packages_compute_is_asked():
    torch = importlib.import_module("torch")
    layer = torch.nn.Linear(2, 3)
    point = namedtuple("Point", "across")(torch.ones(2))
    asked = ["layer.weight.shape", "layer.weight.mT.ndim", "layer.height", "point.across.shape"]
    found = existing(asked, {"layer": layer, "point": point}, [])
    assert [name for name in asked if found[name]] == [*asked[:2], asked[3]]
