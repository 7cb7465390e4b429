"""A name exists where it leads from the page, Python, a module or a member to something."""

import importlib
import sys

import pytest

from proofbook.execution.name_lookup import existing

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


@pytest.mark.parametrize(
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
