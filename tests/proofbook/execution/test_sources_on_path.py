"""A page imports what is in the project's folders of modules, without installing it."""

import pytest

from tables import table


@pytest.fixture
def elsewhere(tmp_path_factory, monkeypatch):
    """A folder on the path before the project's own, as that of installed packages is."""
    folder = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


def reason(run):
    return run.blocks[-1].failure and run.blocks[-1].failure.reason


@table("spawn", [False, True])
@table(
    ("file", "sources"),
    [("src/own_one.py", ("src",)), ("a/b/own_one/__init__.py", ("src", "a/b"))],
)
def test_modules_and_packages_are_found(project, spawn, file, sources):
    module = project.write(file, "answer = 41\n")
    settings = {"sources": sources, "spawn": spawn, "cache_dir": f"cache-{spawn}"}
    assert project.shown("import own_one\nown_one.answer", **settings) == ["41"]
    module.unlink()


def test_other_folders_are_another_book(project):
    project.write("lib/own_one.py", "")
    page = project.page("import own_one")
    assert reason(project.run_pages(page, sources=("lib",))["page.md"]) is None
    assert "No module named 'own_one'" in reason(project.run_pages(page)["page.md"])


@table(
    ("file", "place", "folder"),
    [
        ("lib/own_one.py", "lib/own_one.py", "lib"),
        ("python/lib/own_one/__init__.py", "python/lib/own_one", "python/lib"),
    ],
)
def test_a_module_elsewhere_in_the_project_is_told_with_what_to_write(project, file, place, folder):
    module = project.write(file, "")
    told = reason(project.run("import own_one"))
    module.unlink()
    assert told == (
        f"ModuleNotFoundError: No module named 'own_one': {place} is not on the path; "
        f"add '{folder}' to sources, under proofbook in mkdocs.yml"
    )


@table("file", [".hidden/own_one.py", "venv/own_one.py", "a/b/c/d/own_one.py", "own_one/notes.txt"])
def test_what_is_nobody_s_module_is_not_advised(project, file):
    project.write("venv/pyvenv.cfg", "")
    project.write(file, "")
    told = reason(project.run("import own_one.part"))
    assert (
        told.removesuffix(".part'").rstrip("'") == "ModuleNotFoundError: No module named 'own_one"
    )


def test_the_same_module_in_two_places_is_the_installed_one(project, elsewhere):
    for folder in (elsewhere, project.root / "src"):
        (folder / "own_one").mkdir(parents=True)
        (folder / "own_one/__init__.py").write_text("from .part import answer\n")
        (folder / "own_one/part.py").write_text("answer = 41\n")
    project.write("src/own_one/_unreleased.py", "")
    code = "import own_one\nown_one.answer, 'elsewhere' in own_one.__file__"
    assert project.shown(code) == ["(41, True)"]


@table("file", ["own_one.py", "own_one/__init__.py", "own_one/part.py"])
def test_two_modules_of_one_name_are_refused_with_both_places(project, elsewhere, file):
    for folder in (elsewhere, project.root / "src"):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).with_name("__init__.py").write_text("")
        (folder / file).write_text(f"# of {folder}\n")
    page = project.page("import own_one")
    [run] = project.run_pages(page).values()
    place = "src/own_one" + (".py" if file == "own_one.py" else "")
    assert reason(run).startswith(f"ImportError: 'own_one' would come from {elsewhere}/own_one")
    assert f", but {place} is not the same: install the project with" in reason(run)
    assert "import_hooks" not in run.blocks[0].failure.detail
    for folder in (elsewhere, project.root / "src"):
        (folder / file).write_text("")
    assert reason(project.run_pages(page)["page.md"]) is None


@table(
    ("files", "code", "shown"),
    [
        (["src/colorsys.py"], "import colorsys\ncolorsys.rgb_to_hsv(0, 0, 1)[2]", "1"),
        (["src/own.py", "own.py"], "import own\nown.place", "'own.py'"),
        (
            ["src/own.py", "other/own.py"],
            "import sys\nsys.path.insert(0, 'other')\nimport own\nown.place",
            "'other/own.py'",
        ),
    ],
)
def test_python_s_own_modules_the_root_and_what_the_page_puts_first_come_first(
    projects, files, code, shown
):
    project = projects()
    for name in files:
        project.write(name, f"place = {name!r}\n")
    assert project.shown(code) == [shown]
