"""Raise audit events where Python raises none, so that `Dependencies` hears of them.

Some readers open files in native code, some processes start without `subprocess`, and nothing tells
who asks for the time.
"""

import ast
import functools
import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import FunctionType
from typing import Any

from proofbook.caching.fingerprint import is_installed
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
    "torch": ("from_file", "UntypedStorage.from_file", "_C.import_ir_module"),
}
"""Functions that read a file in native code, by module."""
CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
CALENDARS = ("localtime", "gmtime", "ctime", "asctime", "strftime")
DATES = ("datetime.now", "datetime.today", "datetime.utcnow", "date.today")


def announce() -> None:
    """Announce native reads, new processes, and looks at the clock from now on."""
    after_import({module: _announcer(names) for module, names in READERS.items()})
    for name in (*CLOCKS, *(f"{name}_ns" for name in CLOCKS), *CALENDARS):
        setattr(time, name, _timing(getattr(time, name)))
    with suppress(ImportError):  # only on systems that fork
        import _posixsubprocess

        native = _posixsubprocess.fork_exec

        def fork_exec(*args: Any) -> int:
            sys.audit("proofbook.process")
            return native(*args)

        _posixsubprocess.fork_exec = fork_exec


def announce_dates(codes: Iterable[str]) -> None:
    """Announce the date if code of a page asks for it, which can't be seen when it does."""
    for code in codes:
        with suppress(SyntaxError):
            calls = (node.func for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
            for call in calls:
                if isinstance(call, ast.Attribute) and ast.unparse(call).endswith(DATES):
                    sys.audit("proofbook.clock", ast.unparse(call))


def _timing(native: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a clock; only the page's and the project's code counts as asking."""

    @functools.wraps(native)
    def read(*args: Any) -> Any:
        caller = sys._getframe(1)
        file = caller.f_code.co_filename
        if file.startswith(("<block", "<claim")) or not (
            file.startswith("<") or is_installed(file)
        ):
            sys.audit("proofbook.clock", f"{file}, line {caller.f_lineno}")
        return native(*args)

    return read


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
