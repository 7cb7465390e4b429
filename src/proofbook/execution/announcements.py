"""Raise audit events where Python raises none, so `Dependencies` sees every access.

Python raises no event when it checks whether a file exists, how large it is, or when it changed.
Some readers open files in native code, and processes can be started without `subprocess`.
"""

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import BuiltinFunctionType, FrameType, FunctionType
from typing import Any

from proofbook.caching.dependencies import is_python_s
from proofbook.execution.import_hooks import after_import

READERS = {
    "safetensors._safetensors_rust": ("safe_open",),
    "sentencepiece": ("SentencePieceProcessor.LoadFromFile",),
    "tokenizers": (
        "Tokenizer.from_file",
        *(
            f"models.{kind}.{name}"
            for kind in ("BPE", "WordPiece", "WordLevel")
            for name in ("from_file", "read_file")
        ),
    ),
    "torch": ("from_file", "_C.import_ir_module"),
}
"""Functions that read a file in native code, by module."""

_EXACT = {"getsize": "size"} | dict.fromkeys(("getmtime", "getctime", "samefile"), "state")
"""Functions of `os.path` that ask for more than a file's existence and kind."""


def announce() -> None:
    """Announce file queries, native reads, and new processes in all modules loaded from now on."""
    for name in ("stat", "lstat", "access", "readlink"):
        _replace_in_os(name)
    for name in ("exists", "lexists", "isfile", "isdir", "islink"):
        if isinstance(native := getattr(os.path, name), BuiltinFunctionType):
            setattr(os.path, name, _asking(native, "kind"))
    after_import({module: _announcer(names) for module, names in READERS.items()})
    with suppress(ImportError):  # only on systems that fork
        import _posixsubprocess

        native = _posixsubprocess.fork_exec

        def fork_exec(*args: Any) -> int:
            sys.audit("proofbook.process")
            return native(*args)

        _posixsubprocess.fork_exec = fork_exec


def _replace_in_os(name: str) -> None:
    native = getattr(os, name)
    asking = _asking(native, {"readlink": "link"}.get(name, name))
    for supported in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
        if native in supported:
            supported.add(asking)
    if native in os.supports_effective_ids:
        os.supports_effective_ids.add(asking)
    setattr(os, name, asking)


def _asking(native: Callable[..., Any], word: str) -> Callable[..., Any]:
    """Wrap a function that queries a path."""

    @functools.wraps(native)
    def ask(path: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(path, str | bytes | os.PathLike):
            for question in _questions(word, sys._getframe(1), args):
                sys.audit("proofbook.asked", _from(path, kwargs.get("dir_fd")), question)
        return native(path, *args, **kwargs)

    ask.__module__ = "os"
    return ask


def _questions(word: str, asker: FrameType, args: tuple[Any, ...]) -> Iterator[str]:
    """Yield the questions that a caller asks about a path.

    Code in Python's own library usually checks only existence and kind, not times.
    """
    if "importlib" in asker.f_code.co_filename:
        return
    if word == "access":
        yield f"access {args[0] if args else os.F_OK}"
        return
    if word in ("lstat", "link"):
        yield "link"
    if word != "link":
        yield "kind" if word == "kind" else _depth(asker)


def _depth(asker: FrameType) -> str:
    code, outer = asker.f_code, asker.f_back
    if not is_python_s(code.co_filename):
        return "state"
    if "pathlib" in code.co_filename and code.co_name in ("stat", "lstat"):
        within = outer is not None and "pathlib" in outer.f_code.co_filename
        return "kind" if within else "state"
    return _EXACT.get(code.co_name, "kind")


def _from(path: Any, folder: int | None) -> Any:
    """Return a path as a string, resolved if it's relative to an open folder."""
    path = os.fsdecode(path)
    if folder is not None:
        with suppress(OSError):
            return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), path)
    return path


def _announcer(names: tuple[str, ...]) -> Callable[[Any], None]:
    def touch(module: Any) -> None:
        for dotted in names:
            owner, _, name = dotted.rpartition(".")
            with suppress(AttributeError, TypeError):  # other versions may define it elsewhere
                holder = functools.reduce(getattr, filter(None, owner.split(".")), module)
                native = getattr(holder, name)
                reader = _reading(native)
                bound = isinstance(holder, type) and not isinstance(native, FunctionType)
                setattr(holder, name, staticmethod(reader) if bound else reader)

    return touch


def _reading(native: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a native reader to report the paths among its arguments as opened."""

    @functools.wraps(native)
    def read(*args: Any, **kwargs: Any) -> Any:
        for given in (*args, *kwargs.values()):
            if isinstance(given, str | os.PathLike):
                sys.audit("open", os.fspath(given), "rb", os.O_RDONLY)
        return native(*args, **kwargs)

    return read
