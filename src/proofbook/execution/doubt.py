"""Whether an expression could have come out otherwise: what nothing can change, proves nothing."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Set
from typing import Any

from proofbook.execution.expressions import Expression, as_data

LONGEST = 2.0
"""Seconds that are spent on one expression; beyond that it counts as one that could."""


def can_come_out_otherwise(
    expression: Expression, data: Any, names: Mapping[str, object], made: Set[str]
) -> bool:
    """Evaluate an expression with other values of the names it reads until it gives something else.

    An error tells nothing, unless other values give nothing else. Where time is up, or there are
    no values but modules and classes, nobody can tell: it counts as True.

    Args:
        expression: What is doubted.
        data: What it gives, as JSON data.
        names: The names of the page.
        made: Those that a block of the page bound.
    """
    given = False
    end = time.perf_counter() + LONGEST
    for evaluate, alike in expression.others(names, made):
        try:
            with _no_longer_than(end - time.perf_counter()):
                if as_data(evaluate()) != data:
                    return True
                given = given or alike
        except _TimeIsUpError:
            return True
        except Exception:
            continue
    return not given


class _TimeIsUpError(Exception):
    pass


@contextlib.contextmanager
def _no_longer_than(seconds: float) -> Iterator[None]:
    """Raise where something takes longer, on systems that can interrupt it."""
    if seconds <= 0:
        raise _TimeIsUpError
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def stop(*_: object) -> None:
        raise _TimeIsUpError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
