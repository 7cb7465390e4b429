"""The process in which a page runs, and the one that forks such processes.

`python -m proofbook.child page` runs one page. `python -m proofbook.child zygote torch …` imports
the packages named and then forks itself for each page it is asked for, which takes milliseconds
where the imports take seconds. A page is two pipes: the request comes in as one line of JSON, and
the replies go out, a line each; lines that are not JSON are faulthandler's. The request's pipe
stays open as long as the parent lives: its end is the page's end.
"""

import contextlib
import faulthandler
import gc
import importlib
import json
import os
import signal
import socket
import sys
import threading
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, BinaryIO, NoReturn

from proofbook import imports
from proofbook.capture import Capture
from proofbook.fingerprint import is_installed
from proofbook.model import Block
from proofbook.session import Session
from proofbook.watch import Watch
from proofbook.wire import dump


def run_page(requests: int, replies: int) -> NoReturn:
    """Run the page that the request describes, and end the process with all that it started."""
    try:
        _prepare_and_run(requests, replies)
    except BaseException:
        os.write(replies, traceback.format_exc().encode())
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
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["root"])
    sys.path.insert(0, request["root"])
    sys.argv = [""]
    importlib.invalidate_caches()
    imports.compile_project_from_source()
    watch = Watch(ignored=request["cache"])
    imports.seed()
    # plt.show() has nothing to do: figures that are open at the end of a block are shown.
    warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
    faulthandler.enable(replies)
    _run(request, capture, watch, replies)


def _run(request: dict[str, Any], capture: Capture, watch: Watch, replies: int) -> None:
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
    session = Session(blocks, [(text, place) for text, place in request["claims"]], capture)
    evaluate(0)
    for index, block in enumerate(blocks):
        limit(block.timeout or request["timeout"], begin=index)
        result = session.run(index)
        tell(block=dump(result))
        for output in result.outputs:
            for path in output.assets.values():
                watch.add(path)
        if result.failure is not None:
            break
        evaluate(index + 1)
    faulthandler.cancel_dump_traceback_later()
    tell(done=watch.seen())


def _end_with_parent(source: BinaryIO) -> NoReturn:
    source.read()  # nothing more is sent: this returns when the parent has closed or died
    _end()


def _end() -> NoReturn:
    # No exit handlers: those of preloaded packages are the zygote's, and may wait for its threads.
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def zygote(preload: Sequence[str]) -> None:
    """Import packages once, then fork a page for each pair of pipes that comes in at stdin."""
    door = socket.socket(fileno=os.dup(0))
    imports.announce_native_reads()
    trouble = _preload(preload)
    gc.collect()
    gc.freeze()  # the collector would touch, and so copy, every page of memory shared with children
    door.sendall(json.dumps({"trouble": trouble}).encode() + b"\n")
    pages: dict[int, int] = {}

    def reap(*_: object) -> None:
        for pid in list(pages):
            with contextlib.suppress(ChildProcessError):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    replies = pages.pop(pid)
                    exit_code = os.waitstatus_to_exitcode(status)
                    with contextlib.suppress(OSError):
                        os.write(replies, b'\n{"exit": %d}\n' % exit_code)
                    os.close(replies)

    signal.signal(signal.SIGCHLD, reap)
    while True:
        _, pipes, *_ = socket.recv_fds(door, 1, 2)
        if not pipes:
            return  # the parent has closed or died
        requests, replies = pipes
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            door.close()
            for other in pages.values():
                os.close(other)
            run_page(requests, replies)
        os.close(requests)
        os.write(replies, b'{"group": %d}\n' % pid)
        pages[pid] = replies
        reap()  # it may have ended before it was known


def _preload(names: Sequence[str]) -> str | None:
    """Import the packages; return what is wrong with them, if anything is."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            pass  # a page that needs it will say so, at the line that does
        except BaseException:
            return f"the preload of {name!r} failed\n{traceback.format_exc()}"
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and os.path.isfile(file) and not is_installed(os.path.abspath(file)):
            return f"preload imports {name!r} of the project ({file}): it would never see an edit"
    return None


if __name__ == "__main__":
    if sys.argv[1] == "zygote":
        zygote(sys.argv[2:])
    else:
        imports.announce_native_reads()
        run_page(os.dup(0), os.dup(1))
