"""Find iterators and files that are used up: anything is true of what is left."""

import io
import operator
import types
from collections.abc import Iterator

SPENT = "{name!r} is used up, so nothing is left to check: make it a list first"


def is_spent(value: object) -> bool:
    """Tell whether an iterator or an open file has nothing left; neither is moved."""
    if isinstance(value, types.GeneratorType):
        return value.gi_frame is None
    if isinstance(value, io.IOBase):
        return _is_at_its_end(value)
    if not isinstance(value, Iterator) or type(value).__module__ not in ("builtins", "itertools"):
        return False
    if (left := operator.length_hint(value, -1)) >= 0:
        return left == 0
    parts = value.__reduce__()[1]  # what zip, map, filter and enumerate walk along
    return isinstance(parts, tuple) and any(map(is_spent, parts))


def _is_at_its_end(file: io.IOBase) -> bool:
    if file.closed or not file.readable() or not file.seekable():
        return False
    place = file.tell()
    end = file.seek(0, io.SEEK_END)
    file.seek(place)
    return place == end > 0
