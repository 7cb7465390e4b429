"""No edit of what a page asks for is missed: by each way of asking, a change makes it run again."""

import os
import subprocess
import sys

import pytest

from tables import table

KEPT = "under reads: in its front matter"
DATA = {"one": "11\n", "other": "2222\n"}

CONTENT = {
    "r+": "with open('data.txt', 'r+') as f:\n    print(f.read())",
    "a+": "with open('data.txt', 'a+') as f:\n    f.seek(0)\n    print(f.read())",
    "r+b": "with open('data.txt', 'r+b') as f:\n    print(f.read())",
    "O_RDWR": "import os\nprint(os.read(os.open('data.txt', os.O_RDWR), 9))",
    "O_RDWR | O_CREAT": "import os\nprint(os.read(os.open('data.txt', os.O_RDWR | os.O_CREAT), 9))",
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
}


def _text(project, code):
    return "".join(project.shown(code))


@table("how", CONTENT)
def test_an_edit_is_seen_however_the_page_looks(project, how):
    code = CONTENT[how]
    project.write("data.txt", DATA["one"])
    first = _text(project, code)
    _text(project, code)  # the first run made the folder of the cache, which scanning sees
    assert project.run(code).cached
    project.write("data.txt", DATA["other"])
    second = _text(project, code)
    assert first != second
    assert _text(project, code) == second


def test_a_module_that_is_looked_for_and_not_imported_is_an_input(project):
    code = "import importlib.util\nprint(importlib.util.find_spec('extra') is None)"
    assert _text(project, code) == "True\n"
    project.write("extra.py", "")
    assert _text(project, code) == "False\n"


def test_a_file_in_place_of_a_folder_is_seen(project):
    project.write("data/a/x.txt", "")
    code = "import os\nprint([e.is_dir() for e in os.scandir('data')])"
    assert _text(project, code) == "[True]\n"
    (project.root / "data/a/x.txt").unlink()
    (project.root / "data/a").rmdir()
    project.write("data/a", "")
    assert _text(project, code) == "[False]\n"


def test_what_the_page_makes_anew_is_no_input(project):
    code = "with open('out.txt', 'w+') as f:\n    f.write('1')\n    f.seek(0)\n    print(f.read())"
    assert _text(project, code) == "1\n"
    project.write("out.txt", "of another")
    assert project.run(code).cached


def test_a_page_that_changes_what_it_reads_is_not_kept_and_says_so(project):
    project.write("count.txt", "1")
    code = (
        "with open('count.txt', 'r+') as f:\n    n = int(f.read())\n    f.seek(0)\n"
        "    f.write(str(n + 1))\nprint(n)"
    )
    run = project.run(code)
    [reason] = run.unkept
    assert reason == f"{project.root}/count.txt has changed since the page used it"
    assert _text(project, code) == "2\n"


NATIVE = {
    "tokenizers": "import tokenizers\nprint(tokenizers.models.WordPiece.read_file('data.txt'))",
    "sqlite3": (
        "import sqlite3\nwith open('data.txt', 'rb') as f:\n    pass\n"
        "try:\n    print(sqlite3.connect('data.txt').execute('select * from t').fetchall())\n"
        "except sqlite3.DatabaseError as error:\n    print(error)"
    ),
    "torch's storage": (
        "import torch\nprint(list(torch.UntypedStorage.from_file('data.txt', False, 2)))"
    ),
    "torch": (
        "import torch\nprint(torch.from_file('data.txt', shared=False, size=2, dtype=torch.uint8))"
    ),
}


@table("how", ["tokenizers", "torch", "torch's storage"])
def test_what_native_code_reads_is_an_input(project, how):
    project.write("data.txt", DATA["one"])
    first = project.shown(NATIVE[how], preload=("torch",))
    project.write("data.txt", DATA["other"])
    assert project.shown(NATIVE[how], preload=("torch",)) != first


@table("spawn", [False, True])
def test_a_page_with_a_framework_is_kept_however_it_is_started(project, spawn):
    code = "import torch\ntorch.ones(2).sum()"
    for cached in (False, True):
        run = project.run(code, spawn=spawn, cache_dir=f"cache-{spawn}")
        assert (run.unkept, run.cached) == ((), cached)


TIMES = [
    "import time\ntime.time()",
    "from time import perf_counter\nperf_counter()",
    "import time\n[time.monotonic_ns() for _ in range(2)]",
    "import time\ntime.strftime('%Y')",
    "import datetime\ndatetime.datetime.now()",
    "from datetime import date\ndate.today()",
    "import timing\ntiming.measured()",
]


@table("code", TIMES)
def test_a_page_that_asks_for_the_time_is_kept_only_if_it_says_so(project, code):
    from dataclasses import replace

    project.write("timing.py", "import time\ndef measured():\n    return time.perf_counter()\n")
    page = project.page(code)
    for _ in range(2):
        run = _run(project, page)
        assert not run.cached
        [reason] = run.unkept
        assert reason.startswith("the time differs in each run")
    for cached in (False, True):
        run = _run(project, replace(page, reads=("clock",)))
        assert (run.unkept, run.cached) == ((), cached)


def test_what_asks_for_the_time_without_the_page_does_not_count(project):
    project.write("timing.py", "import time\ndef measured():\n    return time.perf_counter()\n")
    code = "import logging, random, timing\nlogging.warning('x')\nrandom.random()"
    assert project.run(code).unkept == ()


def test_a_database_is_an_input(project):
    import sqlite3

    def put(value):
        with sqlite3.connect(project.root / "data.db") as base:
            base.execute("create table if not exists t (x)")
            base.execute("insert into t values (?)", (value,))
        base.close()

    put(1)
    code = "import sqlite3\nprint(sqlite3.connect('data.db').execute('select * from t').fetchall())"
    assert _text(project, code) == "[(1,)]\n"
    assert project.run(code).cached
    put(2)
    assert _text(project, code) == "[(1,), (2,)]\n"


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
    run = project.run(UNSEEN[how])
    assert not any(block.failure for block in run.blocks)
    assert run.unkept
    assert all(" cannot be tracked (" in reason and reason.endswith(KEPT) for reason in run.unkept)
    first = run.blocks[0].outputs
    project.write("data.txt", DATA["other"])
    again = project.run(UNSEEN[how])
    assert not again.cached
    assert again.blocks[0].outputs != first


def _declaring(project, *reads):
    from dataclasses import replace

    return replace(project.page(UNSEEN["subprocess"]), reads=reads)


def _run(project, page):
    [run] = project.run_pages(page).values()
    return run


@table("pattern", ["data.txt", "*.txt", "./data.txt", "**/data.txt"])
def test_a_page_that_says_what_it_reads_is_kept(project, pattern):
    project.write("data.txt", DATA["one"])
    page = _declaring(project, pattern)
    assert _run(project, page).unkept == ()
    assert _run(project, page).cached
    project.write("data.txt", DATA["other"])
    run = _run(project, page)
    assert not run.cached
    assert "2222" in run.blocks[0].outputs[0].data


def test_a_new_file_that_a_declared_pattern_names_counts(project):
    project.write("data.txt", DATA["one"])
    page = _declaring(project, "*.txt")
    _run(project, page)
    project.write("more.txt", "")
    assert not _run(project, page).cached


def test_a_declared_file_that_changes_while_the_page_runs_is_not_missed(project):
    project.write("data.txt", DATA["one"])
    code = "import subprocess\nsubprocess.run('cat data.txt; echo 3 > data.txt', shell=True);"
    from dataclasses import replace

    page = replace(project.page(code), reads=("data.txt",))
    assert any("under reads:" in reason for reason in _run(project, page).unkept)
    assert not _run(project, page).cached


def test_a_copied_book_is_not_served_the_other_s_results(project, tmp_path_factory):
    """The cache may be shared, or copied with the book."""
    code = "import os\nprint(open('data.txt').read(), os.getcwd())"
    project.write("data.txt", DATA["one"])
    shared = tmp_path_factory.mktemp("cache")
    other = type(project)(tmp_path_factory.mktemp("copy"))
    try:
        other.write("data.txt", DATA["other"])
        for one in (project, other, project, other):
            [text] = one.shown(code, cache_dir=shared)
            assert text == f"{(one.root / 'data.txt').read_text()} {one.root}\n"
            assert one.run(code, cache_dir=shared).cached
    finally:
        other.close()


@table("name", ["preload", "jobs"])
def test_what_decides_how_pages_run_counts(project, monkeypatch, name):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    settings = {"preload": [("colorsys",), ("wave",)], "jobs": [1, 64]}[name]
    if name == "jobs" and len(os.sched_getaffinity(0)) == 1:
        pytest.skip("one processor gives one thread whatever `jobs` is")
    for value in settings:
        assert not project.run("1", **{name: value}).cached
        assert project.run("1", **{name: value}).cached


def test_the_command_says_once_why_a_page_is_not_kept(project):
    fence = "```python\nimport os\n_ = os.system('true')\n_ = os.system('true')\n```\n"
    project.write("docs/index.md", fence)
    command = [sys.executable, "-m", "proofbook", "check"]
    said = subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=True)
    [line] = [line for line in said.stdout.splitlines() if "not kept" in line]
    assert line == (
        "docs/index.md: not kept: reads by other processes cannot be tracked (os.system); to keep "
        "the result, list the files the page reads under reads: in its front matter"
    )
