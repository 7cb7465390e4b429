"""Ask the kernel which files a page opens, even in native code or other processes (Linux).

A seccomp filter makes each `open` call of the page wait for a second process, the watcher, which
reads the path from the page's memory, records the file's state, and lets the call continue. If the
kernel or the system's security policy doesn't allow this, there is no watcher.
"""

import ctypes
import fcntl
import json
import os
import platform
import select
import socket
import struct
import sys
from contextlib import suppress
from typing import Any, NoReturn

from proofbook.caching import fingerprint
from proofbook.caching.dependencies import use_of

_SECCOMP = {"x86_64": 317, "aarch64": 277}
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_OPENAT, _OPENAT2, _OPEN, _CREAT = "openat", "openat2", "open", "creat"
_CALLS = {
    "x86_64": {257: _OPENAT, 437: _OPENAT2, 2: _OPEN, 85: _CREAT},
    "aarch64": {56: _OPENAT, 437: _OPENAT2},
}
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000
_SET_FILTER, _NEW_LISTENER = 1, 8
_NO_NEW_PRIVILEGES, _SET_PTRACER = 38, 0x59616D61
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_CONTINUE = 1
_HERE = -100  # AT_FDCWD
_LONGEST_PATH = 4096


class KernelWatch:
    """The page's connection to its watcher, made before the page runs."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line

    def opened(self) -> list[list[Any]]:
        """Return each opened file's path and use, and its signature and content before that use."""
        return list(self._ask(b"?"))

    def changing(self) -> dict[str, Any]:
        """Return the earlier state of files opened for writing since the last call."""
        return dict(self._ask(b"!"))

    def _ask(self, question: bytes) -> Any:
        self._line.sendall(question)
        with self._line.makefile() as answer:
            return json.loads(answer.readline())


def watch(*inherited: int) -> KernelWatch | None:
    """Start a watcher for this process; return `None` if that isn't possible.

    Args:
        inherited: Descriptors that only the page may hold; the watcher closes them.
    """
    machine = platform.machine()
    if not sys.platform.startswith("linux") or machine not in _CALLS:
        return None
    ours, theirs = socket.socketpair()
    between = os.fork()
    if between == 0:
        if os.fork():
            os._exit(0)  # orphan the watcher: the page may wait for all its children
        for descriptor in (ours.fileno(), *inherited):
            os.close(descriptor)
        _watch_until_nobody_is_left(theirs, machine)
    os.waitpid(between, 0)
    theirs.close()
    watcher = int(ours.recv(20))
    listener = _put_filter(machine, watcher)
    if listener < 0:
        ours.close()  # which ends the watcher
        return None
    socket.send_fds(ours, [b"!"], [listener])
    os.close(listener)
    return KernelWatch(ours)


def _put_filter(machine: str, watcher: int) -> int:
    """Install the filter; return the descriptor of its listener, or a negative number."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))

    calls = list(_CALLS[machine])
    load, equal, give = 0x20, 0x15, 0x06  # load a word of the call; compare and jump; return
    steps = [(load, 0, 0, 4), (equal, 1, 0, _ARCHITECTURE[machine]), (give, 0, 0, _ALLOW)]
    steps.append((load, 0, 0, 0))
    steps += [(equal, len(calls) - n, 0, call) for n, call in enumerate(calls)]
    steps += [(give, 0, 0, _ALLOW), (give, 0, 0, _NOTIFY)]
    program = Program(len(steps), b"".join(struct.pack("HBBI", *step) for step in steps))
    libc = ctypes.CDLL(None)
    libc.prctl(_SET_PTRACER, ctypes.c_ulong(watcher), 0, 0, 0)  # in case Yama guards memory
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return -1
    number = ctypes.c_long(_SECCOMP[machine])
    return int(libc.syscall(number, _SET_FILTER, _NEW_LISTENER, ctypes.byref(program)))


def _watch_until_nobody_is_left(line: socket.socket, machine: str) -> NoReturn:
    """Record and allow each call of the page and its children; exit when all have ended."""
    with suppress(BaseException), open(os.devnull, "r+b") as nothing:
        for descriptor in (0, 1, 2):
            os.dup2(nothing.fileno(), descriptor)
        line.sendall(str(os.getpid()).encode())
        _, (listener, *_), *_ = socket.recv_fds(line, 1, 1)
        calls = _CALLS[machine]
        opened: dict[tuple[str, tuple[bool, bool]], list[Any]] = {}
        changing: dict[str, Any] = {}
        waiting = select.poll()
        waiting.register(listener, select.POLLIN)
        waiting.register(line.fileno(), select.POLLIN)
        while True:
            for descriptor, event in waiting.poll():
                if descriptor == listener and event & select.POLLIN:
                    _note_and_let_go_on(listener, calls, opened, changing)
                elif descriptor == listener:
                    os._exit(0)
                elif question := line.recv(1):
                    answer = changing if question == b"!" else list(opened.values())
                    line.sendall(json.dumps(answer).encode() + b"\n")
                    changing.clear()
                else:
                    waiting.unregister(line.fileno())
    os._exit(1)


def _note_and_let_go_on(
    listener: int, calls: dict[int, str], opened: dict[Any, Any], changing: dict[str, Any]
) -> None:
    call = bytearray(80)
    try:
        fcntl.ioctl(listener, _RECEIVE, call, True)
    except OSError:  # the caller has been killed
        return
    number, task, _, kind, _, _, *words = struct.unpack("=QIIiIQ6Q", call)
    with suppress(OSError, ValueError):
        _note(task, calls[kind], words, opened, changing)
    with suppress(OSError):
        fcntl.ioctl(listener, _SEND, struct.pack("=QqiI", number, 0, 0, _CONTINUE))


def _note(
    task: int, call: str, words: list[int], opened: dict[Any, Any], changing: dict[str, Any]
) -> None:
    """Record the state of the file that a call is about to open."""
    folder, address, flags = _HERE, words[0], words[1]
    with open(f"/proc/{task}/mem", "rb", buffering=0) as memory:
        if call in (_OPENAT, _OPENAT2):
            folder, address, flags = words[0], words[1], words[2]
        if call == _OPENAT2:
            (flags,) = struct.unpack("=Q", os.pread(memory.fileno(), 8, words[2]))
        if call == _CREAT:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        path = os.pread(memory.fileno(), _LONGEST_PATH, address).partition(b"\0")[0]
    flags &= 0xFFFFFFFF
    if not path.startswith(b"/"):
        number = struct.unpack("=i", struct.pack("=I", folder & 0xFFFFFFFF))[0]
        place = "cwd" if number == _HERE else f"fd/{number}"
        path = os.path.join(os.readlink(f"/proc/{task}/{place}".encode()), path)
    name = os.path.normpath(os.fsdecode(path))
    if flags & os.O_DIRECTORY or fingerprint.is_installed(name):
        return
    signature = fingerprint.signature(name)
    use = use_of(flags, signature is not None)
    if use[1]:
        changing.setdefault(name, fingerprint.answer(name, "state"))
    if (name, use) not in opened:
        opened[name, use] = [name, *use, signature, fingerprint.content(name) if all(use) else None]
