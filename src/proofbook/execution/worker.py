"""Run a page in its own process.

The process has two pipes. The request arrives as one line of JSON; its pipe then stays open as long
as the parent lives, and the page ends when it closes. Each reply is one line of JSON; other lines
come from faulthandler, which writes them as the process dies.
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
import time
import traceback
import warnings
from dataclasses import replace
from json import dumps  # a page may replace json's with its own
from typing import Any, BinaryIO, NoReturn

from proofbook.caching.dependencies import Dependencies
from proofbook.execution import import_hooks
from proofbook.execution.capture import Capture
from proofbook.execution.descendants import adopt_orphans, end_descendants
from proofbook.execution.hidden_events import announce, announce_dates
from proofbook.execution.name_lookup import existing
from proofbook.execution.origins import origin
from proofbook.execution.session import Session
from proofbook.execution.side_effects import ACTED
from proofbook.model import Block, Failure, dump

LOOK = 0.05
"""Seconds between checks of how much the page has printed."""


def run_page(requests: int, replies: int) -> NoReturn:
    """Run the requested page, then end the process and everything it started."""
    page = os.getpid()
    try:
        _prepare_and_run(requests, replies)
    except BaseException:
        with contextlib.suppress(OSError):  # the parent may have died
            os.write(replies, traceback.format_exc().encode())
    finally:
        _end(page)


def _prepare_and_run(requests: int, replies: int) -> None:
    for descriptor in (requests, replies):
        os.set_inheritable(descriptor, False)
    if hasattr(os, "setsid"):
        os.setsid()  # whatever the page starts belongs to its group, and ends with it
    adopt_orphans()
    source = os.fdopen(requests, "rb")
    request = json.loads(source.readline())
    threading.Thread(target=_end_with_parent, args=(source, os.getpid()), daemon=True).start()
    capture = Capture()
    threading.Thread(
        target=_end_a_flood, args=(capture, request["flood"], replies), daemon=True
    ).start()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # input() reads the end of the file
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["root"])
    sys.path.insert(0, request["root"])
    sys.argv = [""]
    importlib.invalidate_caches()
    import_hooks.compile_project_from_source()
    import_hooks.find_sources(request["sources"])
    dependencies = Dependencies(request["root"], request["cache"])
    import_hooks.seed()
    import_hooks.compute_on(request["device"])
    # plt.show() has nothing to do: a block's open figures are shown when it ends.
    warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
    faulthandler.enable(replies)
    _tell_where_it_exits(replies)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _hold_its_tongue(replies))
    _run(request, capture, dependencies, replies)


def _run(
    request: dict[str, Any],
    capture: Capture,
    dependencies: Dependencies,
    replies: int,
) -> None:
    def tell(**message: Any) -> None:
        data = memoryview(dumps(message).encode() + b"\n")
        while data:
            data = data[os.write(replies, data) :]

    def limit(seconds: float, **what: object) -> None:
        tell(**what, limit=seconds)
        faulthandler.dump_traceback_later(seconds, exit=True, file=replies)

    def evaluate(done: int) -> None:
        for text, place in session.ready(done):
            limit(request["timeout"], claim=text)
            with dependencies.noting_writes() as written:
                value = session.evaluate(text, done)
            if value is None:
                continue
            if written and value.failure is None:
                acted = f"writes {written[0]}: {ACTED}"
                value = replace(value, data=None, failure=Failure(acted))
            tell(value=[text, place, dump(value)])

    blocks = [Block(**block) for block in request["blocks"]]
    announce_dates(block.code for block in blocks)
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
        evaluate(index + 1)
    limit(request["timeout"], claim="threads that the page left running")
    if failure := session.wait():
        tell(stray=dump(failure))
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


def _hold_its_tongue(replies: int) -> None:
    """Keep a process that the page has forked from replying for the page."""
    faulthandler.disable()
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, replies, inheritable=False)
    os.close(nothing)


def _end_a_flood(capture: Capture, most: int, replies: int) -> None:
    """End the page when it has printed more than it may."""
    while capture.size() <= most:
        time.sleep(LOOK)
    os.write(replies, dumps({"flood": most}).encode() + b"\n")
    faulthandler.dump_traceback(replies)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)  # at once: looking for descendants takes time
    os._exit(1)


def _end_with_parent(source: BinaryIO, page: int) -> NoReturn:
    source.read()  # nothing more is sent: this returns when the parent has closed or died
    _end(page)


def _end(page: int) -> NoReturn:
    # Skip exit handlers: those of preloaded packages belong to the fork server, and may wait for
    # its threads.
    if os.getpid() == page and hasattr(os, "killpg") and os.getpgrp() == page:
        end_descendants()
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    announce()
    run_page(os.dup(0), os.dup(1))
