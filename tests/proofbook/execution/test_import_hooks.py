"""Importing inside a child: from source, seeded, and heard."""

import os


def test_a_stale_bytecode_file_is_not_used(project):
    import py_compile

    path = project.write("module.py", "x = 1\n")
    stamp = path.stat().st_mtime_ns
    py_compile.compile(str(path))
    path.write_text("x = 2\n")
    os.utime(path, ns=(stamp, stamp))
    assert project.shown("import module\nmodule.x") == ["2"]


def test_a_module_made_in_the_tick_in_which_the_zygote_looked_is_found(project, monkeypatch):
    folder = project.write("lib/early.py", "").parent
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    assert project.run("import late").blocks[0].failure is not None
    stamp = folder.stat().st_mtime_ns
    project.write("lib/late.py", "x = 5\n")
    os.utime(folder, ns=(stamp, stamp))
    assert project.shown("import late\nlate.x") == ["5"]
