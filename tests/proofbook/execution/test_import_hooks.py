"""Importing inside a child: from source, seeded, and heard."""

import os

import numpy as np
from safetensors.numpy import save_file

from tables import table


def test_a_module_saved_twice_in_a_second_with_one_size_is_read_anew(project, monkeypatch):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    path = project.write("module.py", "x = 1\n")
    ask = "import module\nmodule.x"
    assert project.shown(ask) == ["1"]
    stamp = path.stat().st_mtime_ns
    path.write_text("x = 2\n")
    os.utime(path, ns=(stamp, stamp))
    assert project.shown(ask) == ["2"]


def test_a_stale_bytecode_file_is_not_used(project):
    import py_compile

    path = project.write("module.py", "x = 1\n")
    stamp = path.stat().st_mtime_ns
    py_compile.compile(str(path))
    path.write_text("x = 2\n")
    os.utime(path, ns=(stamp, stamp))
    assert project.shown("import module\nmodule.x") == ["2"]


def test_an_edited_module_is_seen_while_the_zygote_lives(project):
    project.write("package/__init__.py", "from package.part import x\n")
    project.write("package/part.py", "x = 1\n")
    ask = "import os, package\nprint(os.getppid(), package.x)"
    [first] = project.shown(ask)
    project.write("package/part.py", "x = 234\n")
    [second] = project.shown(ask)
    zygote, value = second.split()
    assert first.split() == [zygote, "1"]
    assert value == "234"


def test_a_module_made_after_the_zygote_started_is_found(project):
    assert project.run("import late").blocks[0].failure is not None
    project.write("late.py", "x = 5\n")
    assert project.shown("import late\nlate.x") == ["5"]


def test_a_module_made_in_the_tick_in_which_the_zygote_looked_is_found(project, monkeypatch):
    folder = project.write("lib/early.py", "").parent
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    assert project.run("import late").blocks[0].failure is not None
    stamp = folder.stat().st_mtime_ns
    project.write("lib/late.py", "x = 5\n")
    os.utime(folder, ns=(stamp, stamp))
    assert project.shown("import late\nlate.x") == ["5"]


@table(("spawn", "kind"), [(False, "torch"), (True, "numpy")])
def test_a_file_that_safetensors_reads_is_an_input(project, spawn, kind):
    weights = project.root / f"{kind}.safetensors"
    ask = f"from safetensors.{kind} import load_file\nload_file({weights.name!r})['w'].item()"
    settings = {"spawn": spawn, "preload": ("torch",)}
    for value in (3.0, 5.0):
        save_file({"w": np.array(value)}, weights)
        assert project.shown(ask, **settings) == [str(value)]
        assert project.run(ask, **settings).cached
