"""Test whether an expression can have a different value: if it can't, it proves nothing."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proofbook.execution.expressions import Expression, as_data
from proofbook.execution.sharing import Lead, leads_of, shared
from proofbook.execution.value_mutations import mutated_values

LONGEST = 2.0
"""Seconds to spend on one expression; after that, it gets the benefit of the doubt."""
INDIFFERENT = (
    "comes out the same for all values of the names it reads, so it says nothing about this page"
)
ONE_OBJECT = (
    "{leads} are one object, compared with itself: copy it before it changes, or use `is` "
    "to say that they are the same"
)
NEVER_FALSE = (
    "stayed true for every other value tried for {names}: "
    "write an expression that would be false if the sentence were"
)


def vacuity_of(
    expression: Expression,
    data: Any,
    names: Mapping[str, object],
    made: Mapping[str, object],
    asserted: bool,
) -> str:
    """Return why an expression proves nothing; "" if it proves something, or if we can't tell.

    Evaluate it with other values of the names it reads until its value changes. Errors don't count.

    Args:
        expression: The expression to test.
        data: Its value, as JSON data.
        names: The names of the page.
        made: The names that the page's blocks bound.
        asserted: Whether it must be true.
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
        except BaseException:  # sys.exit() too: the page didn't ask for this
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
    """Yield leads to one object, a replacement for it, and whether that has the same kind.

    The expression's other values come first, then alterations, and finally a bare object.
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
    for leads in (*inner, *units):  # an attribute costs less to alter than a whole model
        value = leads[0].value(names)
        with contextlib.suppress(Exception):  # an object may refuse to be copied
            for other in mutated_values(value, expression.mentioned, expression.constants):
                yield leads, other, True
    for leads in units:
        yield leads, object(), False


def _with(
    names: Mapping[str, object], leads: Sequence[Lead], other: object
) -> Mapping[str, object]:
    """Return the names with another object in place of the one that the leads refer to."""
    for lead in leads:
        names = lead.replaced(names, other)
    return names


class _TimeIsUpError(BaseException):
    """A signal that time is up; `except Exception` doesn't catch it."""


@contextlib.contextmanager
def _no_longer_than(seconds: float) -> Iterator[None]:
    """Raise `_TimeIsUpError` after some seconds, on systems that can interrupt running code."""
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
