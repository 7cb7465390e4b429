"""Importing inside a child: from source, seeded, and heard."""

import os

import pytest


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


@pytest.mark.parametrize("spawn", [False, True], ids=["fork", "spawn"])
def test_a_file_that_safetensors_reads_is_an_input(project, spawn):
    import torch
    from safetensors.torch import save_file

    weights = project.root / "weights.safetensors"
    ask = "from safetensors.torch import load_file\nload_file('weights.safetensors')['w'].item()"
    save_file({"w": torch.tensor(3.0)}, weights)
    settings = {"spawn": spawn, "preload": ("safetensors.torch",)}
    assert project.shown(ask, **settings) == ["3.0"]
    assert project.run(ask, **settings).cached
    save_file({"w": torch.tensor(5.0)}, weights)
    assert project.shown(ask, **settings) == ["5.0"]
