"""Kernels for notebooks, forked from a process that has the heavy packages imported.

Forking one takes a moment where its imports would take seconds. Nothing of the project is
imported beforehand, no random generator is seeded, and its namespace is as empty as any.
"""

import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

NAME = "forked"
# What Jupyter starts in place of a kernel: it asks for one, and lasts as long as that.
ASKING = (
    "import socket, sys; door = socket.socket(socket.AF_UNIX); door.connect(sys.argv[1]); "
    "door.sendall(sys.argv[2].encode() + b'\\n'); door.recv(1)"
)


@contextlib.contextmanager
def kernels(folder: Path, root: Path, preload: Sequence[str]) -> Iterator[KernelSpecManager]:
    """Where Jupyter finds kernels that run in a folder and have these packages imported."""
    door = folder / "door"
    listening = subprocess.Popen(
        [sys.executable, __file__, str(door), *preload],
        cwd=root,
        env=os.environ | {"IPYTHONDIR": str(folder / "ipython")},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    spec = {
        "argv": [sys.executable, "-ISc", ASKING, str(door), "{connection_file}"],
        "display_name": NAME,
        "language": "python",
    }
    home = folder / "kernels" / NAME
    home.mkdir(parents=True)
    (home / "kernel.json").write_text(json.dumps(spec))
    try:
        assert listening.stdout is not None
        assert listening.stdout.readline() == b"ready\n"
        yield KernelSpecManager(kernel_dirs=[str(folder / "kernels")])
    finally:
        os.killpg(listening.pid, signal.SIGKILL)
        listening.wait()


def manager(found: KernelSpecManager) -> AsyncKernelManager:
    """A kernel that is not started yet."""
    return AsyncKernelManager(kernel_name=NAME, kernel_spec_manager=found)


def listen(door: str, preload: Sequence[str]) -> None:
    """Import the packages, then fork a kernel for each connection file that comes in."""
    for name in (*preload, "ipykernel.kernelapp"):
        importlib.import_module(name)
    server = socket.socket(socket.AF_UNIX)
    server.bind(door)
    server.listen()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    while True:
        asked, _ = server.accept()
        file = asked.makefile().readline().strip()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            server.close()
            run(file, asked)
        asked.close()


def run(file: str, asked: socket.socket) -> None:
    """Be a kernel until it is shut down, or until what asked for it is gone."""
    from ipykernel.kernelapp import IPKernelApp

    threading.Thread(target=leave_with, args=[asked], daemon=True).start()
    try:
        IPKernelApp.launch_instance(["-f", file, "--HistoryManager.enabled=False"])
    finally:
        os._exit(0)


def leave_with(asked: socket.socket) -> None:
    """End this process as soon as the other end is closed: a kernel keeps a model in memory."""
    asked.recv(1)
    os._exit(0)


if __name__ == "__main__":
    listen(sys.argv[1], sys.argv[2:])
