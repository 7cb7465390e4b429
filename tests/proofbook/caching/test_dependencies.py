"""What a page depends on: found out by running it, compared before it is served again."""

import os
import shutil
import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save_file

from proofbook.__main__ import main
from proofbook.caching import fingerprint
from tables import table


def write(project, files):
    """Write files, also where a folder was."""
    for name, text in files.items():
        if (project.root / name).is_dir():
            shutil.rmtree(project.root / name)
        project.write(name, text)


# What is there, what the page does, what is then written, and what the page shows before and after.
INPUTS = {
    "a module of a module": (
        {"outer.py": "import inner\n", "inner.py": "x = 1\n"},
        "import outer\nouter.inner.x",
        {"inner.py": "x = 2\n"},
        ("1", "2"),
    ),
    "a module of the sources": (
        {"src/own.py": "x = 1\n"}, "import own\nown.x", {"src/own.py": "x = 2\n"}, ("1", "2")
    ),
    "an optional module": (
        {},
        "try:\n    import extra\nexcept ImportError:\n    extra = None\nextra is None",
        {"src/extra.py": ""},
        ("True", "False"),
    ),
    "a module that is looked for and not imported": (
        {},
        "import importlib.util\nimportlib.util.find_spec('extra') is None",
        {"extra.py": ""},
        ("True", "False"),
    ),
    "a module that would now be found first": (
        {"lib/helper.py": "x = 1\n"},
        "import sys\nsys.path.append('lib')\nimport helper\nhelper.x",
        {"helper.py": "x = 2\n"},
        ("1", "2"),
    ),
    "a package that would now hide a module": (
        {"pack/__init__.py": "", "pack/part.py": "x = 1\n"},
        "from pack import part\npart.x",
        {"pack/part/__init__.py": "x = 2\n"},
        ("1", "2"),
    ),
    "a module that hides one of Python's": (
        {},
        "import colorsys\nhasattr(colorsys, 'mine')",
        {"colorsys.py": "mine = 1\n"},
        ("False", "True"),
    ),
    "a file that was opened in vain": (
        {},
        "try:\n    a = open('data.txt').read()\nexcept FileNotFoundError:\n    a = 'none'\na",
        {"data.txt": "here"},
        ("'none'", "'here'"),
    ),
    **{
        f"a folder that is listed by {names}": (
            {"data/a.txt": ""}, f"import glob, os\nlen({names})", {"data/b.txt": ""}, ("1", "2")
        )
        for names in ("os.listdir('data')", "glob.glob('data/*')", "[*os.scandir('data')]")
    },
    "a file in place of a folder": (
        {"data/a/x.txt": ""},
        "import os\n[entry.is_dir() for entry in os.scandir('data')]",
        {"data/a": ""},
        ("[True]", "[False]"),
    ),
    "an asset": (
        {"a.js": "1"},
        "class A:\n    def _repr_page_(self):\n        return '<b>', {'a.js': 'a.js'}\nA()",
        {"a.js": "2"},
        ("<b>", "<b>"),
    ),
}  # fmt: skip


@table("what", INPUTS)
def test_a_page_is_kept_until_an_input_changes(projects, what):
    files, code, edit, (before, after) = INPUTS[what]
    project = projects()
    write(project, files)
    assert project.shown(code) == [before]
    assert project.run(code).cached
    write(project, edit)
    assert not project.run(code).cached
    assert project.shown(code) == [after]


WRITES = """
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
NO_INPUTS = {
    "a module that is not loaded": ({"a.py": "", "b.py": ""}, "import a", {"b.py": "x = 1\n"}),
    "a module of another name": ({"src/a.py": ""}, "import a", {"b.py": ""}),
    "a folder that is no package": ({"a/b.py": ""}, "import a.b", {"a/b/c.txt": ""}),
    "files beside the modules": (
        {"a.py": ""},
        "import importlib.metadata, a\nimportlib.metadata.version('numpy') != ''",
        {"README.md": "", "site/index.html": ""},
    ),
    "what the page writes": ({}, WRITES, {"out.txt": "of another"}),
    "what the page makes anew": (
        {}, "with open('out.txt', 'w+') as f:\n    f.read()", {"out.txt": "of another"}
    ),
}  # fmt: skip


@table("what", NO_INPUTS)
def test_a_page_is_kept_whatever_else_changes(projects, what):
    files, code, edit = NO_INPUTS[what]
    project = projects()
    write(project, files)
    shown = project.shown(code)
    write(project, edit)
    assert project.run(code).cached
    assert project.shown(code) == shown


READS = {
    "open": "print(open('data.txt').read())",
    "pathlib": "import pathlib\nprint(pathlib.Path('data.txt').read_bytes())",
    "numpy": "import numpy\nprint(numpy.loadtxt('data.txt'))",
    "O_RDONLY": "import os\nprint(os.read(os.open('data.txt', os.O_RDONLY), 9))",
    "O_RDWR": "import os\nprint(os.read(os.open('data.txt', os.O_RDWR | os.O_CREAT), 9))",
    "r+": "with open('data.txt', 'r+b') as f:\n    print(f.read())",
    "a+": "with open('data.txt', 'a+') as f:\n    f.seek(0)\n    print(f.read())",
    "memmap": "import numpy\nprint(bytes(numpy.memmap('data.txt')))",
    "mmap": (
        "import mmap\nwith open('data.txt', 'r+b') as f:\n"
        "    with mmap.mmap(f.fileno(), 0) as m:\n        print(m[:])"
    ),
    "a link": (
        "import os, tempfile\nwith tempfile.TemporaryDirectory() as folder:\n"
        "    os.symlink(os.path.abspath('data.txt'), folder + '/x')\n"
        "    print(open(folder + '/x').read())"
    ),
    "a hard link": (
        "import os\nos.link('data.txt', 'x.txt')\nprint(open('x.txt').read())\nos.remove('x.txt')"
    ),
    "a copy": (
        "import os, shutil, tempfile\nwith tempfile.TemporaryDirectory() as folder:\n"
        "    print(open(shutil.copy('data.txt', folder)).read())"
    ),
    "tokenizers": "import tokenizers\nprint(tokenizers.models.WordPiece.read_file('data.txt'))",
    "torch": (
        "import torch\nprint(torch.from_file('data.txt', shared=False, size=2, dtype=torch.uint8))"
    ),
    "torch's storage": (
        "import torch\nprint(list(torch.UntypedStorage.from_file('data.txt', False, 2)))"
    ),
}
DATA = {"one": "11\n", "other": "2222\n"}


@table("how", READS)
def test_an_edit_of_a_file_is_seen_however_the_page_reads_it(project, how):
    code, preload = READS[how], ("torch",)
    project.write("data.txt", DATA["one"])
    first = project.shown(code, preload=preload)
    project.shown(code, preload=preload)  # the first made the folder of the cache, which some see
    assert project.run(code, preload=preload).cached
    project.write("data.txt", DATA["other"])
    second = project.shown(code, preload=preload)
    assert first != second
    assert project.shown(code, preload=preload) == second


@table(("spawn", "kind"), [(False, "torch"), (True, "numpy")])
def test_a_file_that_safetensors_reads_is_an_input(project, spawn, kind):
    weights = project.root / f"{kind}.safetensors"
    ask = f"from safetensors.{kind} import load_file\nload_file({weights.name!r})['w'].item()"
    settings = {"spawn": spawn, "preload": ("torch",)}
    for value in (3.0, 5.0):
        save_file({"w": np.array(value)}, weights)
        assert project.shown(ask, **settings) == [str(value)]
        assert project.run(ask, **settings).cached


def test_a_database_is_an_input(project):
    def put(value):
        with sqlite3.connect(project.root / "data.db") as base:
            base.execute("create table if not exists t (x)")
            base.execute("insert into t values (?)", (value,))
        base.close()

    put(1)
    code = "import sqlite3\nsqlite3.connect('data.db').execute('select * from t').fetchall()"
    assert project.shown(code) == ["[(1,)]"]
    assert project.run(code).cached
    put(2)
    assert project.shown(code) == ["[(1,), (2,)]"]


@table("limit", [1, fingerprint.LARGE_FILE])
def test_content_counts_and_times_do_not(projects, monkeypatch, limit):
    monkeypatch.setattr(fingerprint, "LARGE_FILE", limit)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    project = projects()
    path = project.write("module.py", "x = 1\n")
    ask = "import module\nmodule.x"
    assert project.shown(ask) == ["1"]
    path.touch()
    assert project.run(ask).cached
    stamp = path.stat().st_mtime_ns
    path.write_text("x = 2\n")
    os.utime(path, ns=(stamp, stamp))
    assert project.shown(ask) == ["2"]


def test_a_page_that_changes_what_it_reads_is_not_kept_and_says_so(project):
    project.write("count.txt", "1")
    code = (
        "with open('count.txt', 'r+') as f:\n    n = int(f.read())\n    f.seek(0)\n"
        "    f.write(str(n + 1))\nn"
    )
    [reason] = project.run(code).unkept
    assert reason == f"{project.root}/count.txt has changed since the page used it"
    assert project.shown(code) == ["2"]


def test_a_module_saved_while_its_page_runs_is_not_missed(project):
    project.write("module.py", "x = 1\n")
    save = "import module\nimport subprocess\nsubprocess.run('echo x = 2 > module.py', shell=True)"
    assert project.shown(f"{save};", "module.x") == ["1"]
    assert not project.run(f"{save};", "module.x").cached


def test_a_package_that_is_installed_anew_is_an_input_and_another_is_not(project, monkeypatch):
    site = project.root / "site-packages"
    project.write("site-packages/used.py", "x = 1\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.syspath_prepend(str(site))
    for name in ("used", "other"):
        project.write(f"site-packages/{name}-1.0.dist-info/RECORD", f"{name}.py,sha256=1,7\n")
    code = "import used\nused.x"
    assert not project.run(code).cached
    assert project.run(code).cached
    project.write("site-packages/other-1.0.dist-info/RECORD", "other.py,sha256=2,7\n")
    assert project.run(code).cached
    project.write("site-packages/used-1.0.dist-info/RECORD", "used.py,sha256=2,7\n")
    assert not project.run(code).cached


TIMES = [
    "import time\ntime.time()",
    "from time import perf_counter\nperf_counter()",
    "import time\n[time.monotonic_ns() for _ in range(2)]",
    "import time\ntime.strftime('%Y')",
    "import datetime\ndatetime.datetime.now()",
    "from datetime import date\ndate.today()",
    "import timing\ntiming.measured()",
]
TIMING = "import time\ndef measured():\n    return time.perf_counter()\n"


def run(project, page):
    return project.run_pages(page)[page.path]


@table("code", TIMES)
def test_a_page_that_asks_for_the_time_is_kept_only_if_it_says_so(project, code):
    project.write("timing.py", TIMING)
    page = project.page(code)
    for _ in range(2):
        found = run(project, page)
        assert not found.cached
        [reason] = found.unkept
        assert reason.startswith("the time differs in each run")
    for cached in (False, True):
        found = run(project, replace(page, reads=("clock",)))
        assert (found.unkept, found.cached) == ((), cached)


def test_what_asks_for_the_time_without_the_page_does_not_count(project):
    project.write("timing.py", TIMING)
    code = "import logging, random, timing, torch\nlogging.warning('x')\nrandom.random()"
    assert project.run(code, preload=("torch",)).unkept == ()


UNSEEN = {
    "subprocess": "import subprocess\nprint(subprocess.check_output(['cat', 'data.txt']))",
    "system": "import os\n_ = os.system('cat data.txt')",
    "popen": "import os\nprint(os.popen('cat data.txt').read())",
    "spawn": "import os\n_ = os.spawnlp(os.P_WAIT, 'cat', 'cat', 'data.txt')",
    "posix_spawn": (
        "import os\npid = os.posix_spawn('/bin/cat', ['cat', 'data.txt'], {})\n"
        "_ = os.waitpid(pid, 0)"
    ),
    "fork": (
        "import os\npid = os.fork()\nif pid == 0:\n    print(open('data.txt').read())\n"
        "    os._exit(0)\n_ = os.waitpid(pid, 0)"
    ),
    "multiprocessing": (
        "import multiprocessing\nprocess = multiprocessing.get_context('fork').Process(\n"
        "    target=lambda: print(open('data.txt').read()))\nprocess.start()\nprocess.join()"
    ),
    "a socket": (
        "import socket, threading\nserver = socket.create_server(('127.0.0.1', 0))\n"
        "client = socket.create_connection(server.getsockname())\n"
        "server.accept()[0].sendall(open('data.txt', 'rb').read())\nprint(client.recv(9))"
    ),
}


@table("how", UNSEEN)
def test_a_page_whose_inputs_cannot_be_seen_is_not_kept_and_says_why(project, how):
    project.write("data.txt", DATA["one"])
    first = project.run(UNSEEN[how])
    assert not any(block.failure for block in first.blocks)
    assert first.unkept
    end = "under reads: in its front matter"
    assert all(" cannot be tracked (" in why and why.endswith(end) for why in first.unkept)
    project.write("data.txt", DATA["other"])
    again = project.run(UNSEEN[how])
    assert not again.cached
    assert again.blocks[0].outputs != first.blocks[0].outputs


@table("pattern", ["data.txt", "*.txt", "./data.txt", "**/data.txt"])
def test_a_page_that_says_what_it_reads_is_kept_until_that_changes(projects, pattern):
    project = projects()
    project.write("data.txt", DATA["one"])
    page = replace(project.page(UNSEEN["subprocess"]), reads=(pattern,))
    assert run(project, page).unkept == ()
    assert run(project, page).cached
    project.write("data.txt", DATA["other"])
    assert "2222" in run(project, page).blocks[0].outputs[0].data
    project.write("more.txt", "")
    assert run(project, page).cached is (pattern != "*.txt")


def test_a_declared_file_that_changes_while_the_page_runs_is_not_missed(project):
    project.write("data.txt", DATA["one"])
    code = "import subprocess\nsubprocess.run('cat data.txt; echo 3 > data.txt', shell=True);"
    page = replace(project.page(code), reads=("data.txt",))
    assert any("under reads:" in reason for reason in run(project, page).unkept)
    assert not run(project, page).cached


def test_a_copied_book_is_not_served_the_other_s_results(projects, tmp_path_factory):
    """The cache may be shared, or copied with the book."""
    code = "import os\nprint(open('data.txt').read(), os.getcwd())"
    shared = tmp_path_factory.mktemp("cache")
    books = {text: projects() for text in DATA.values()}
    for _ in range(2):
        for text, one in books.items():
            one.write("data.txt", text)
            assert one.shown(code, cache_dir=shared) == [f"{text} {one.root}\n"]
            assert one.run(code, cache_dir=shared).cached


@table("name", ["preload", "jobs"])
def test_what_decides_how_pages_run_counts(project, monkeypatch, name):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    settings = {"preload": [("colorsys",), ("wave",)], "jobs": [1, 64]}[name]
    if name == "jobs" and len(os.sched_getaffinity(0)) == 1:
        pytest.skip("one processor gives one thread whatever `jobs` is")
    for value in settings:
        assert not project.run("1", **{name: value}).cached
        assert project.run("1", **{name: value}).cached


def test_the_command_says_once_why_a_page_is_not_kept(project, monkeypatch, capsys):
    fence = "```python\nimport os\n_ = os.system('true')\n_ = os.system('true')\n```\n"
    project.write("docs/index.md", fence)
    monkeypatch.chdir(project.root)
    assert main(["check"]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if "not kept" in line]
    assert line == (
        "docs/index.md: not kept: reads by other processes cannot be tracked (os.system); to keep "
        "the result, list the files the page reads under reads: in its front matter"
    )
