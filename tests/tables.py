"""A table of cases is one test, which tells each row that fails."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def table(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Any], Any]:
    """Call a test with every row, then fail with all the rows that failed.

    It is written as `pytest.mark.parametrize` is. The rows share what fixtures give.

    Args:
        names: The arguments that a row gives, as a tuple or with commas between them.
        rows: A value for the only name, or a tuple of values for several.
    """
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    cases = [row if len(columns) > 1 else (row,) for row in rows]
    assert cases

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def test_of_all(**fixtures: Any) -> None:
            failures = []
            for case in cases:
                row = dict(zip(columns, case, strict=True))
                try:
                    test(**fixtures, **row)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"in the row {row}")
                    failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(cases)} rows", failures)

        signature = inspect.signature(test)
        given = [each for each in signature.parameters.values() if each.name not in columns]
        assert len(given) == len(signature.parameters) - len(columns)
        test_of_all.__signature__ = signature.replace(parameters=given)  # type: ignore[attr-defined]
        return test_of_all

    return decorate
