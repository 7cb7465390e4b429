"""Test whether an expression can come out differently: else it proves nothing."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proofbook.execution.alterations import alterations
from proofbook.execution.expressions import Expression, as_data
from proofbook.execution.sharing import Lead, leads_of, shared

LONGEST = 2.0
"""Seconds that are spent on one expression; beyond that it is believed."""
INDIFFERENT = (
    "comes out the same for all values of the names it reads, so it says nothing about this page"
)
ONE_OBJECT = (
    "{leads} are one object, compared with itself: keep a copy before it changes, or use `is` "
    "to say that they are one"
)
NEVER_FALSE = (
    "stayed true for every other value tried for {names}: "
    "write an expression that would be false if the sentence were"
)


def doubt_of(
    expression: Expression,
    data: Any,
    names: Mapping[str, object],
    made: Mapping[str, object],
    asserted: bool,
) -> str:
    """Say why an expression proves nothing; "" if it proves something, or if it's unknown.

    It is evaluated with other values of the names it reads until its value changes. An error
    proves nothing.

    Args:
        expression: What is doubted.
        data: Its value, as JSON data.
        names: The names of the page.
        made: Those that a block of the page bound.
        asserted: Whether it is there to be true.
    """
    read = expression.values_read(made)
    groups = shared(expression.tree, names, read)
    apart = {lead.root for leads in groups for lead in leads}
    units = [*([Lead(name, name)] for name in read if name not in apart), *groups]
    same = indifferent = 0
    end = time.perf_counter() + LONGEST
    known = [
        (lead, value)
        for lead, value in leads_of(expression.tree, names, read)
        if lead.root not in apart
    ]
    for leads, other, alike in _others(expression, units, known, names):
        try:
            with _no_longer_than(end - time.perf_counter()):
                if as_data(expression.value(_with(names, leads, other))) != data:
                    return ""
        except _TimeIsUpError:
            return ""
        except BaseException:  # sys.exit() too: the page asked for none of this
            continue
        same += alike
        indifferent += not alike
    if groups and same:
        return ONE_OBJECT.format(leads=" and ".join(lead.text for lead in groups[0]))
    if units and indifferent == len(units):
        return INDIFFERENT
    return NEVER_FALSE.format(names=", ".join(read)) if asserted and data is True and same else ""


def _others(
    expression: Expression,
    units: Sequence[Sequence[Lead]],
    known: Sequence[tuple[Lead, object]],
    names: Mapping[str, object],
) -> Iterator[tuple[Sequence[Lead], object, bool]]:
    """Yield leads to one object, another one for it, and whether that is of the same kind.

    What else the expression leads to is such a value too. Last comes for each an object that is
    good for nothing.
    """
    values = [value for _, value in known]
    values += [item for one in values if isinstance(one, list | tuple) for item in one[:3]]
    inner = [[lead] for lead, value in known if lead.links and not callable(value)]
    for leads in (*units, *inner):
        value = leads[0].value(names)
        for other in values:
            kinds = type(value), type(other)
            if other is not value and (isinstance(other, kinds[0]) or isinstance(value, kinds[1])):
                yield leads, other, True
    for leads in (*units, *inner):
        value = leads[0].value(names)
        with contextlib.suppress(Exception):  # an object may refuse to be copied
            for other in alterations(value, expression.mentioned, expression.constants):
                yield leads, other, True
    for leads in units:
        yield leads, object(), False


def _with(
    names: Mapping[str, object], leads: Sequence[Lead], other: object
) -> Mapping[str, object]:
    """Return the names with another object wherever these lead."""
    for lead in leads:
        names = lead.replaced(names, other)
    return names


class _TimeIsUpError(BaseException):
    """Raised between two steps of whatever takes too long; `except Exception` lets it pass."""


@contextlib.contextmanager
def _no_longer_than(seconds: float) -> Iterator[None]:
    """Raise where something takes longer, on systems that can interrupt it."""
    if seconds <= 0:
        raise _TimeIsUpError
    main = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not main:
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
