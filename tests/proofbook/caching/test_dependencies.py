"""What a page depends on: found out by running it, compared before it is served again."""

import os

from proofbook.caching import fingerprint
from tables import table


def _again(project, *codes):
    return project.run(*codes).cached


def test_a_page_that_reads_nothing_is_cached(project):
    assert not _again(project, "1 + 1")
    assert _again(project, "1 + 1")


def test_a_module_imported_by_a_module_is_an_input(project):
    project.write("outer.py", "import inner\n")
    project.write("inner.py", "x = 1\n")
    assert project.shown("import outer\nouter.inner.x") == ["1"]
    assert _again(project, "import outer\nouter.inner.x")
    project.write("inner.py", "x = 2\n")
    assert project.shown("import outer\nouter.inner.x") == ["2"]


def test_content_counts_and_times_do_not(project):
    path = project.write("module.py", "x = 1\n")
    stamp = path.stat().st_mtime_ns
    ask = "import module\nmodule.x"
    assert not _again(project, ask)
    path.touch()
    assert _again(project, ask)
    path.write_text("x = 2\n")
    os.utime(path, ns=(stamp, stamp))
    assert project.shown(ask) == ["2"]


def test_a_module_that_is_not_loaded_is_no_input(project):
    project.write("used.py", "x = 1\n")
    project.write("unused.py", "x = 1\n")
    assert not _again(project, "import used")
    project.write("unused.py", "x = 2\n")
    assert _again(project, "import used")


@table(
    "read",
    [
        "open('data.txt').read()",
        "import os\nos.read(os.open('data.txt', os.O_RDONLY), 9)",
        "import pathlib\npathlib.Path('data.txt').read_bytes()",
        "import numpy\nnumpy.loadtxt('data.txt')",
    ],
)
def test_a_file_that_is_opened_is_an_input(project, read):
    project.write("data.txt", "1\n")
    [before] = project.shown(read)
    assert _again(project, read)
    project.write("data.txt", "2\n")
    [after] = project.shown(read)
    assert after == before.replace("1", "2") != before
    (project.root / "data.txt").unlink()
    assert project.run(read).blocks[0].failure is not None


def test_a_large_file_is_an_input_too(project, monkeypatch):
    monkeypatch.setattr(fingerprint, "LARGE_FILE", 1)
    data = project.write("data.txt", "1")
    ask = "open('data.txt').read()"
    assert project.shown(ask) == ["'1'"]
    assert _again(project, ask)
    data.touch()
    assert _again(project, ask)
    data.write_text("2")
    assert project.shown(ask) == ["'2'"]


def test_a_file_that_was_looked_for_in_vain_is_an_input(project):
    code = "try:\n    print(open('data.txt').read())\nexcept FileNotFoundError:\n    print('none')"
    assert project.shown(code) == ["none\n"]
    assert _again(project, code)
    project.write("data.txt", "here")
    assert project.shown(code) == ["here\n"]


@table(
    "names", ["os.listdir('data')", "glob.glob('data/*')", "[e.name for e in os.scandir('data')]"]
)
def test_a_folder_that_is_listed_is_an_input(project, names):
    project.write("data/a.txt", "")
    code = f"import glob, os\nlen({names})"
    assert project.shown(code) == ["1"]
    assert _again(project, code)
    added = project.write("data/b.txt", "")
    assert project.shown(code) == ["2"]
    added.unlink()


def test_what_the_page_itself_writes_is_no_input(project):
    code = """
import os, tempfile
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x")
    open(path, "w").write("1")
    os.rename(path, path + "y")
    print(open(path + "y").read(), len(os.listdir(folder)))
open("draft.txt", "w").write("made")
os.rename("draft.txt", "out.txt")
print(open("out.txt").read())
"""
    assert project.shown(code) == ["1 1\nmade\n"]
    assert _again(project, code)
    project.write("out.txt", "touched by another")
    assert _again(project, code)


def test_a_file_that_is_read_and_then_changed_makes_the_result_unrepeatable(project):
    project.write("count.txt", "1")
    code = "n = int(open('count.txt').read())\nopen('count.txt', 'w').write(str(n + 1))\nn"
    assert [project.shown(code), project.shown(code)] == [["1"], ["2"]]


def test_a_module_saved_while_its_page_runs_is_not_missed(project):
    project.write("module.py", "x = 1\n")
    save = "import module\nimport subprocess\nsubprocess.run('echo x = 2 > module.py', shell=True)"
    assert project.shown(f"{save};", "module.x") == ["1"]
    assert not _again(project, f"{save};", "module.x")


def test_a_module_that_would_now_be_found_first_is_an_input(project):
    project.write("src/helper.py", "x = 1\n")
    code = "import sys\nsys.path.append('src')\nimport helper\nhelper.x"
    assert project.shown(code) == ["1"]
    project.write("unrelated.py", "")
    assert _again(project, code)
    project.write("helper.py", "x = 2\n")
    assert project.shown(code) == ["2"]


def test_a_package_that_would_now_hide_a_module_is_an_input(project):
    project.write("pack/__init__.py", "")
    project.write("pack/part.py", "x = 1\n")
    code = "from pack import part\npart.x"
    assert project.shown(code) == ["1"]
    (project.root / "pack/part").mkdir()
    assert _again(project, code)  # a folder without __init__.py hides nothing
    project.write("pack/part/__init__.py", "x = 2\n")
    assert project.shown(code) == ["2"]


def test_a_module_that_hides_one_of_python_is_an_input(project):
    code = "import colorsys\nhasattr(colorsys, 'mine')"
    assert project.shown(code) == ["False"]
    project.write("colorsys.py", "mine = 1\n")
    assert project.shown(code) == ["True"]


def test_an_optional_module_that_appears_is_an_input(project):
    code = "try:\n    import extra\nexcept ImportError:\n    extra = None\nextra is None"
    assert project.shown(code) == ["True"]
    assert _again(project, code)
    project.write("extra.py", "")
    assert project.shown(code) == ["False"]


def test_an_asset_is_an_input_wherever_it_lies(project):
    project.write("a.js", "1")
    code = "class A:\n    def _repr_page_(self):\n        return '', {'a.js': 'a.js'}\nA()"
    assert not _again(project, code)
    assert _again(project, code)
    project.write("a.js", "2")
    assert not _again(project, code)


def test_new_files_beside_the_modules_change_nothing(project):
    code = "import importlib.metadata, module\nimportlib.metadata.version('numpy') != ''"
    project.write("module.py", "")
    assert not _again(project, code)
    project.write("README.md", "")
    project.write("site/index.html", "")
    assert _again(project, code)


def test_a_package_that_is_installed_anew_is_an_input_and_another_is_not(project, monkeypatch):
    site = project.root / "site-packages"
    project.write("site-packages/used.py", "x = 1\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.syspath_prepend(str(site))
    for name in ("used", "other"):
        project.write(f"site-packages/{name}-1.0.dist-info/RECORD", f"{name}.py,sha256=1,7\n")
    code = "import used\nused.x"
    assert not _again(project, code)
    assert _again(project, code)
    project.write("site-packages/other-1.0.dist-info/RECORD", "other.py,sha256=2,7\n")
    assert _again(project, code)
    project.write("site-packages/used-1.0.dist-info/RECORD", "used.py,sha256=2,7\n")
    assert not _again(project, code)
