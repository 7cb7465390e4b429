"""What is imported once for all pages, and what may not be."""

import os
import sys

import pytest


@pytest.fixture
def installed(tmp_path_factory, monkeypatch):
    """A folder of packages that count as installed: the user's own site-packages."""
    base = tmp_path_factory.mktemp("base")
    monkeypatch.setenv("PYTHONUSERBASE", str(base))
    monkeypatch.setenv("PYTHONPATH", _user_site(base), prepend=os.pathsep)
    folder = base / _user_site(base)
    folder.mkdir(parents=True)
    return folder


def _user_site(base) -> str:
    return f"{base}/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


def test_preloaded_packages_are_there_before_the_page_imports_them(project):
    ask = "import sys\n'colorsys' in sys.modules"
    assert project.shown(ask) == ["False"]
    assert project.shown(ask + " ", preload=("colorsys",)) == ["True"]


def test_a_package_that_is_not_there_is_the_page_s_business(project):
    run = project.run("import no_such_package", preload=("no_such_package", "colorsys"))
    assert run.failure is None
    assert run.blocks[0].failure.reason == "ModuleNotFoundError: No module named 'no_such_package'"


def test_any_other_error_of_a_preload_is_told_for_each_page(project, installed):
    (installed / "broken_package.py").write_text("1 / 0\n")
    runs = project.run_pages(
        project.page("1", path="a.md"), project.page("2", path="b.md"), preload=("broken_package",)
    )
    for run in runs.values():
        assert run.failure.reason == "preloading 'broken_package' failed"
        assert "ZeroDivisionError: division by zero" in run.failure.detail
    (installed / "broken_package.py").write_text("mended = 1\n")
    run = project.run("import broken_package\nbroken_package.mended", preload=("broken_package",))
    assert run.blocks[0].outputs[0].data == "1"


def test_a_preload_that_dies_is_told(project, installed):
    (installed / "deadly_package.py").write_text("import os\nos._exit(1)\n")
    run = project.run("1", preload=("deadly_package",))
    assert run.failure.reason == "the process that preloads deadly_package died"


def test_a_module_of_the_project_is_not_preloaded(project, monkeypatch):
    project.write("mine.py", "x = 1\n")
    monkeypatch.setenv("PYTHONPATH", str(project.root), prepend=os.pathsep)
    run = project.run("1", preload=("mine",))
    assert run.failure.reason.startswith("preload imports 'mine' from the project (")
    assert run.failure.reason.endswith("mine.py): pages would never see an edit")


def test_a_module_of_the_project_named_as_one_of_python_s_does_not_reach_the_zygote(
    project, monkeypatch
):
    monkeypatch.chdir(project.root)
    project.write("socket.py", "raise RuntimeError('not me')\n")
    assert project.shown("1 + 1") == ["2"]
