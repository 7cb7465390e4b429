"""The process in which a page runs.

It speaks through two pipes. The request comes in as one line of JSON, and its pipe then stays open
as long as the parent lives: its end is the page's end. The replies go out, a line of JSON each;
lines that are not JSON are faulthandler's, which writes them as the process dies.
`python -m proofbook.execution.worker` runs one page on stdin and stdout; a fork server forks into
`run_page`.
"""

import contextlib
import faulthandler
import importlib
import json
import os
import signal
import sys
import threading
import traceback
import warnings
from typing import Any, BinaryIO, NoReturn

from proofbook.caching.dependencies import Dependencies
from proofbook.execution import import_hooks
from proofbook.execution.capture import Capture
from proofbook.execution.name_lookup import existing
from proofbook.execution.origins import origin
from proofbook.execution.session import Session
from proofbook.model import Block, dump


def run_page(requests: int, replies: int) -> NoReturn:
    """Run the page that the request describes, and end the process with all that it started."""
    try:
        _prepare_and_run(requests, replies)
    except BaseException:
        with contextlib.suppress(OSError):  # the parent may have died
            os.write(replies, traceback.format_exc().encode())
    finally:
        _end()


def _prepare_and_run(requests: int, replies: int) -> None:
    for descriptor in (requests, replies):
        os.set_inheritable(descriptor, False)
    source = os.fdopen(requests, "rb")
    request = json.loads(source.readline())
    if hasattr(os, "setsid"):
        os.setsid()  # whatever the page starts belongs to its group, and ends with it
    threading.Thread(target=_end_with_parent, args=(source,), daemon=True).start()
    capture = Capture()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # input() finds nobody to answer
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["root"])
    sys.path.insert(0, request["root"])
    sys.argv = [""]
    importlib.invalidate_caches()
    import_hooks.compile_project_from_source()
    dependencies = Dependencies(request["root"], request["cache"])
    import_hooks.seed()
    import_hooks.compute_on(request["device"])
    # plt.show() has nothing to do: figures that are open at the end of a block are shown.
    warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
    faulthandler.enable(replies)
    _tell_where_it_exits(replies)
    _run(request, capture, dependencies, replies)


def _run(
    request: dict[str, Any], capture: Capture, dependencies: Dependencies, replies: int
) -> None:
    def tell(**message: Any) -> None:
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            data = data[os.write(replies, data) :]

    def limit(seconds: float, **what: object) -> None:
        tell(**what, limit=seconds)
        faulthandler.dump_traceback_later(seconds, exit=True, file=replies)

    def evaluate(done: int) -> None:
        for text, place in session.ready(done):
            limit(request["timeout"], claim=text)
            tell(value=[text, place, dump(session.evaluate(text, done))])

    blocks = [Block(**block) for block in request["blocks"]]
    session = Session(
        blocks,
        [(text, place) for text, place in request["claims"]],
        frozenset(request["assertions"]),
        capture,
        request["device"],
    )
    evaluate(0)
    for index, block in enumerate(blocks):
        limit(block.timeout or request["timeout"], begin=index)
        result = session.run(index)
        tell(block=dump(result))
        for output in result.outputs:
            for path in output.assets.values():
                dependencies.add(path)
        if result.failure is not None:
            break
        evaluate(index + 1)
    limit(request["timeout"], claim="the names in the prose")
    tell(names=existing(request["names"], session.names, request["packages"]))
    tell(
        origins={
            name: (found := origin(name, request["root"])) and dump(found)
            for name in request["shows"]
        }
    )
    faulthandler.cancel_dump_traceback_later()
    tell(done=dependencies.seen())


def _tell_where_it_exits(replies: int) -> None:
    leave, page = os._exit, os.getpid()

    def _exit(status: int) -> NoReturn:
        if os.getpid() == page:  # not in a process that the page has forked
            faulthandler.dump_traceback(replies, all_threads=False)
        leave(status)

    os._exit = _exit


def _end_with_parent(source: BinaryIO) -> NoReturn:
    source.read()  # nothing more is sent: this returns when the parent has closed or died
    _end()


def _end() -> NoReturn:
    # No exit handlers: those of preloaded packages are the fork server's, and may wait for its
    # threads.
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    import_hooks.announce_native_reads()
    run_page(os.dup(0), os.dup(1))
