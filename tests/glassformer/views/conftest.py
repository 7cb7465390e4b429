"""A browser for all tests of a file."""

import pytest

from browser import launched


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser
