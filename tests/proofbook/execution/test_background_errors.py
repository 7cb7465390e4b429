"""What goes wrong beside the page fails it: threads, tasks, `__del__`, forked processes."""

from tables import table

FAIL = "def fail():\n    1 / 0\n"
STRAY = {
    "a thread": FAIL + "import threading\nt = threading.Thread(target=fail)\nt.start()\nt.join()",
    "a timer": FAIL + "import threading\nt = threading.Timer(0, fail)\nt.start()\nt.join()",
    "a task": (
        "import asyncio\nasync def fail():\n    1 / 0\n"
        "async def main():\n    asyncio.create_task(fail())\n    await asyncio.sleep(0.05)\n"
        "asyncio.run(main())"
    ),
    "a callback": (
        FAIL + "import asyncio\nasync def main():\n"
        "    asyncio.get_running_loop().call_soon(fail)\n    await asyncio.sleep(0.05)\n"
        "asyncio.run(main())"
    ),
    "__del__": "class A:\n    def __del__(self):\n        1 / 0\na = A()\ndel a",
    "a weak reference": (
        "import weakref\nclass A:\n    pass\na = A()\nr = weakref.ref(a, lambda r: 1 / 0)\ndel a"
    ),
    "a forked process": (
        "import os\npid = os.fork()\nif pid == 0:\n    1 / 0\n_ = os.waitpid(pid, 0)"
    ),
}


@table("how", STRAY)
def test_an_error_that_nobody_catches_fails_its_block(project, how):
    run = project.run("x = 1", STRAY[how], "x")
    assert [output.data for output in run.blocks[2].outputs] == ["1"]
    failure = run.blocks[1].failure
    assert failure.reason.endswith("ZeroDivisionError: division by zero")
    assert failure.reason != "ZeroDivisionError: division by zero"
    assert "1 / 0" in run.blocks[1].failure.detail
    assert "1 / 0" in STRAY[how].split("\n")[failure.line]
    assert not any("Traceback" in output.data for output in run.blocks[1].outputs)


LATE = """\
import threading

go = threading.Event()


def late():
    go.wait()
    1 / 0


thread = threading.Thread(target=late)
"""


def test_what_fails_after_its_block_fails_a_later_one(project):
    run = project.run(f"{LATE}thread.start()", "go.set()\nthread.join()", "last = 1")
    assert run.blocks[0].failure is None
    assert "ZeroDivisionError" in run.blocks[1].failure.reason
    assert run.blocks[2].failure is None


def test_what_fails_after_the_last_block_fails_the_page(project):
    code = f"{LATE}threading._register_atexit(go.set)\nthread.start()"
    run = project.run(code)
    assert run.blocks[0].failure is None
    assert "ZeroDivisionError: division by zero" in run.failure.reason
    assert not project.run(code).cached


def test_a_task_that_nobody_asks_is_found_at_the_end_of_the_page(project):
    code = (
        "import asyncio\nasync def fail():\n    1 / 0\nloop = asyncio.new_event_loop()\n"
        "task = loop.create_task(fail())\nring = [task]\nring.append(ring)\n"
        "loop.run_until_complete(asyncio.sleep(0.01))"
    )
    run = project.run(code, "loop.close()\ndel task, ring")
    assert "ZeroDivisionError" in run.failure.reason


@table(
    "code",
    [
        "import threading, sys\nt = threading.Thread(target=sys.exit)\nt.start()\nt.join()",
        "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()",
        "import threading\nthreading.excepthook = lambda args: print('caught')\n"
        "t = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()",
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor()\n"
        "print(pool.submit(lambda: 3).result())",
        "import asyncio\nasync def fail():\n    1 / 0\nasync def main():\n"
        "    return await asyncio.gather(fail(), return_exceptions=True)\n"
        "print(asyncio.run(main()))",
    ],
)
def test_what_is_meant_passes(project, code):
    project.shown(code, "1")


def test_a_claim_whose_evaluation_fails_beside_it_fails(project):
    code = "class A:\n    def __del__(self):\n        1 / 0\n"
    value = project.run(code, claims=[("A() is not None", 1)]).values["A() is not None", 1]
    assert value.failure.reason.startswith("in A.__del__: ZeroDivisionError")


CHILD = {
    "falls through": "pass",
    "raises": "raise ValueError('mine')",
    "exits": "import sys; sys.exit(3)",
    "exits at once": "os._exit(3)",
    "prints": "print('child')",
    "forks again": "os.fork()",
}


@table("how", CHILD)
def test_a_forked_process_never_goes_on_with_the_page(project, how):
    fork = f"import os\npid = os.fork()\nif pid == 0:\n    {CHILD[how]}\n"
    fork += "else:\n    os.waitpid(pid, 0)\n"
    fork += "print('once' if pid else 'child')"
    page = project.page("print('first')", fork, "print('last')", claims=[("pid > 0", 2)])
    run = project.run_pages(page)["page.md"]
    assert run.failure is None
    assert [o.data for o in run.blocks[0].outputs] == ["first\n"]
    if how == "raises":
        assert run.blocks[1].failure.reason == "in a forked process: ValueError: mine"
        assert [o.data for o in run.blocks[2].outputs] == ["last\n"]
        return
    lines = "".join(o.data for o in run.blocks[1].outputs).split()
    assert lines.count("once") == 1
    assert set(lines) <= {"once", "child"}
    assert [o.data for o in run.blocks[2].outputs] == ["last\n"]
    assert run.values["pid > 0", 2].data is True
