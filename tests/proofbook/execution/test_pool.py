"""Pages that die, hang or are interrupted: each is told, and harms no other."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from proofbook.execution import pool
from tables import table

FATAL = {
    "exit": ("import os\nos._exit(3)", "the block ended the page's process (exit code 3)", 1),
    "success": ("import os\n\nos._exit(0)", "the block ended the page's process (exit code 0)", 2),
    "segfault": (
        "import ctypes\ndef f():\n    ctypes.string_at(0)\nf()",
        "the block was killed by signal 11 (Segmentation fault)",
        2,
    ),
    "abort": ("import os\nos.abort()", "the block was killed by signal 6 (Aborted)", 1),
    "memory": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        "the block was killed by signal 9 (Killed): out of memory, most likely",
        None,
    ),
}


@table("spawn", [False, True])
def test_a_page_that_dies_is_told_and_harms_no_other(project, spawn):
    good = project.page("x = 7", "x", path="good.md")
    pages = [project.page("x = 1", FATAL[name][0], path=name) for name in FATAL]
    runs = project.run_pages(*pages, good, spawn=spawn, cache_dir=f"cache-{spawn}")
    for name, (_, reason, line) in FATAL.items():
        run = runs[name]
        assert (run.failure.reason, run.failure.line) == (reason, line)
        assert run.failed_block == 1
        assert len(run.blocks) == 1
    assert runs["good.md"].failure is None
    assert runs["good.md"].blocks[1].outputs[0].data == "7"


def test_a_hanging_block_is_told_with_its_line(project):
    page = project.page("x = 1", "import time\ndef f():\n    time.sleep(99)\n\nf()")
    first, second = page.blocks
    page = replace(page, blocks=(first, replace(second, timeout=1.0)))
    run = project.run_pages(page)["page.md"]
    assert run.failure.reason == "the block did not end within 1 s"
    assert (run.failed_block, run.failure.line) == (1, 2)
    assert run.failure.detail.splitlines()[1:] == [
        '  File "<block 2>", line 5 in <module>',
        '  File "<block 2>", line 3 in f',
    ]


def test_a_hanging_claim_is_named(project):
    code = "import threading\nx, never = 1, threading.Event()"
    run = project.run(code, claims=[("x", 1), ("never.wait()", 1)], timeout=1.0)
    assert run.failure.reason == "evaluating 'never.wait()' did not end within 1 s"
    assert run.failed_block is None
    assert run.values["x", 1].data == 1


def test_the_parent_ends_what_does_not_end_itself_by_its_own_limit(project, monkeypatch):
    monkeypatch.setattr(pool, "GRACE", 0.3)
    code = "import faulthandler, time\nfaulthandler.cancel_dump_traceback_later()\ntime.sleep(99)"
    page = project.page(code)
    page = replace(page, blocks=(replace(page.blocks[0], timeout=0.4),))
    run = project.run_pages(page, timeout=60.0)["page.md"]
    assert run.failure.reason == "the block did not end within 0.4 s"


def test_what_a_page_starts_ends_with_it(project):
    code = "import subprocess\nprocess = subprocess.Popen(['sleep', '99'])\nprint(process.pid)"
    pid = int(project.shown(code)[0])
    assert _ends(pid)


def _ends(pid: int) -> bool:
    for _ in range(1200):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (FileNotFoundError, ProcessLookupError):  # it ended while we looked
            return True
        time.sleep(0.05)
    return False


BUILDER = '''
import signal, sys, threading, time
from pathlib import Path
from proofbook.model import Block, Chapter
from proofbook.execution import pool
from proofbook.execution.runner import Runner
from proofbook.settings import Settings

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
if sys.argv[3] == "another":  # as some kernels do, which do not prefer the first thread
    threading.Thread(target=time.sleep, args=(99,), daemon=True).start()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
root = Path(sys.argv[1])
code = """
import os, time
open("pid", "w").write(str(os.getpid()))
os.rename("pid", "up")
time.sleep(99)
"""
with Runner(Settings(root, spawn=sys.argv[2] == "spawn")) as runner:
    runner.run([Chapter("page.md", (Block("python", code, 1),), ())])
'''


@table(
    ("how", "ending", "thread"),
    [
        ("fork", signal.SIGKILL, "first"),
        ("spawn", signal.SIGKILL, "first"),
        ("fork", signal.SIGINT, "first"),
        ("spawn", signal.SIGINT, "another"),
    ],
)
def test_pages_end_with_the_process_that_runs_them(tmp_path_factory, how, ending, thread):
    folder = tmp_path_factory.mktemp("book")
    builder = subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(folder), how, thread],
        stderr=subprocess.PIPE,
        text=True,
    )
    up = folder / "up"
    while not up.exists():
        assert builder.poll() is None
        time.sleep(0.02)
    builder.send_signal(ending)
    _, error = builder.communicate(timeout=120)
    assert _ends(int(up.read_text()))
    assert "resource_tracker" not in error
    if ending == signal.SIGINT:
        assert error.rstrip().endswith("KeyboardInterrupt")


def test_a_zygote_that_was_killed_is_replaced(project):
    assert project.shown("import os\nprint(os.getppid())") != []
    first = int(project.shown("import os\nprint(os.getppid())\n1")[0])
    os.kill(first, signal.SIGKILL)
    assert _ends(first)
    assert int(project.shown("import os\nprint(os.getppid())\n2")[0]) != first


def test_pages_run_side_by_side(project):
    def meet(mine: str, other: str) -> str:
        return (
            f"import pathlib, time\npathlib.Path({mine!r}).touch()\n"
            f"while not pathlib.Path({other!r}).exists():\n    time.sleep(0.01)"
        )

    pages = [
        project.page(meet("a", "b"), path="a.md"),
        project.page(meet("b", "a"), path="b.md"),
    ]
    runs = project.run_pages(*pages, jobs=2)
    assert [run.failure for run in runs.values()] == [None, None]


@table(
    ("flood", "spawn"),
    [
        ("while True:\n    print('y' * 999)", True),
        ("import os\nwhile True:\n    os.write(2, b'y' * 999)", False),
        ("import subprocess\nsubprocess.run('yes')", False),
    ],
)
def test_a_flood_ends_the_page_and_says_how_much_is_too_much(project, monkeypatch, flood, spawn):
    monkeypatch.setattr(pool, "FLOOD", 2_000_000)
    run = project.run("x = 1", flood, spawn=spawn)
    assert run.failure.reason == (
        "the block kept printing after the page had printed 2 MB: print less, or write to a file"
    )
    assert run.failed_block == 1
    assert run.failure.line is not None


def test_what_is_large_and_below_the_limit_passes(project, monkeypatch):
    monkeypatch.setattr(pool, "FLOOD", 2_000_000)
    [text] = project.shown("print('y' * 1_900_000)")
    assert "cut here: 1.9 MB" in text


LEAVES = {
    "a session": "p = subprocess.Popen(['sleep', '99'], start_new_session=True)\nprint(p.pid)",
    "a daemon": (
        "r, w = os.pipe()\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        os.write(w, str(os.getpid()).encode())\n        time.sleep(99)\n    os._exit(0)\n"
        "print(int(os.read(r, 99)))"
    ),
    "a shell's": "print(subprocess.check_output('setsid sleep 99 >&- 2>&- & echo $!', shell=True))",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc for what is left")
@table("ending", ["", "os._exit(3)", "os.kill(os.getpid(), 9)"])
@table("how", LEAVES)
def test_what_leaves_the_page_s_session_ends_with_it_too(project, how, ending):
    mark = f"import os, subprocess, time\nos.environ['MARK'] = {str(project.root)!r}\n"
    project.run(f"{mark}{LEAVES[how]}", ending)
    for _ in range(1200):
        if not _marked(str(project.root)):
            return
        time.sleep(0.05)
    raise AssertionError(f"still there: {_marked(str(project.root))}")


def _marked(mark: str) -> list[str]:
    """The processes whose environment holds a mark."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if f"MARK={mark}".encode() in file.read():
                    found.append(name)
        except OSError:
            continue
    return found
