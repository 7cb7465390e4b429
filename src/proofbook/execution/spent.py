"""Find exhausted iterators and files: with no items left, any claim about all of them is true."""

import io
import operator
import types
from collections.abc import Iterator

SPENT = "{name!r} is exhausted, so nothing is left to check: make it a list first"


def is_spent(value: object) -> bool:
    """Return whether an iterator or an open file has nothing left, without advancing it."""
    if isinstance(value, types.GeneratorType):
        return value.gi_frame is None
    if isinstance(value, io.IOBase):
        return _is_at_its_end(value)
    if not isinstance(value, Iterator) or type(value).__module__ not in ("builtins", "itertools"):
        return False
    if (left := operator.length_hint(value, -1)) >= 0:
        return left == 0
    parts = value.__reduce__()[1]  # what zip, map, filter, and enumerate iterate over
    return isinstance(parts, tuple) and any(map(is_spent, parts))


def _is_at_its_end(file: io.IOBase) -> bool:
    if file.closed or not file.readable() or not file.seekable():
        return False
    place = file.tell()
    end = file.seek(0, io.SEEK_END)
    file.seek(place)
    return place == end > 0
