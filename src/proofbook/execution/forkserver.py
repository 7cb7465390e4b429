"""Import the preloaded packages once, then fork a process for each page.

Forking takes milliseconds; the imports take seconds. The server imports nothing from the project,
which may be edited while it runs, and computes nothing, since torch's worker threads don't survive
a fork. Its stdin is a socket: for each pair of pipes that it receives, it forks a page and sends
back the page's process id.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Sequence

from proofbook.caching.fingerprint import is_installed
from proofbook.execution.descendants import adopt_orphans, end_descendants
from proofbook.execution.hidden_events import announce
from proofbook.execution.worker import run_page


def serve(door: socket.socket, preload: Sequence[str]) -> None:
    """Import the packages, report any trouble, and fork a page for each request."""
    announce()
    adopt_orphans()
    trouble = _preload(preload)
    gc.collect()
    gc.freeze()  # the collector would touch, and so copy, the memory shared with children
    _tell(door, trouble=trouble)
    pages: dict[int, int] = {}

    def reap(*_: object) -> None:
        for page in list(pages):
            with contextlib.suppress(ChildProcessError):
                ended, status = os.waitpid(page, os.WNOHANG)
                if ended:
                    _say_farewell(pages.pop(page), os.waitstatus_to_exitcode(status))
        # Kill what pages left running, but not their watchers, which are in the pages' groups.
        end_descendants(lambda child, group: child in pages or group in pages)

    signal.signal(signal.SIGCHLD, reap)
    while True:
        _, pipes, *_ = socket.recv_fds(door, 1, 2)
        if not pipes:
            return  # the parent closed the socket or died
        requests, replies = pipes
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})  # until `pages` lists the page
        page = os.fork()
        if page == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            door.close()
            for other in pages.values():
                os.close(other)
            run_page(requests, replies)
        os.close(requests)
        pages[page] = replies
        _tell(door, page=page)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def _tell(door: socket.socket, **message: object) -> None:
    door.sendall(json.dumps(message).encode() + b"\n")


def _say_farewell(replies: int, exit_code: int) -> None:
    with contextlib.suppress(OSError):  # nobody listens once a page is done
        os.write(replies, b'\n{"exit": %d}\n' % exit_code)
    os.close(replies)


def _preload(names: Sequence[str]) -> str | None:
    """Import the packages; return what went wrong, if anything."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            pass  # a page that needs it will fail at the line that imports it
        except BaseException:
            return f"preloading {name!r} failed\n{traceback.format_exc()}"
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and os.path.isfile(file) and not is_installed(os.path.abspath(file)):
            return (
                f"preload imports {name!r} from the project ({file}): pages would never see an edit"
            )
    return None


if __name__ == "__main__":
    serve(socket.socket(fileno=os.dup(0)), sys.argv[1:])
    os._exit(0)
