"""A browser for all tests of a file, and a place that serves pages of views."""

import shutil

import pytest

from browser import launched, served


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """Serves a folder, and puts markup and the files of views into it."""
    folder = tmp_path_factory.mktemp("views")
    with served(folder) as address:
        yield Shelf(folder, address)


class Shelf:
    """A folder whose pages have an address."""

    def __init__(self, folder, address):
        self.folder, self.address = folder, address

    def markup(self, view):
        """What a page gets of a view; the files that it needs are copied beside the page."""
        if not hasattr(view, "_repr_page_"):
            return view._repr_html_()
        markup, files = view._repr_page_()
        for name, path in files.items():
            shutil.copy(path, self.folder / name)
        return markup.replace("asset://", "")

    def page(self, *parts, name="index.html", head="<title>Views</title>"):
        """Write a page of views and of markup, and return its address."""
        body = "".join(part if isinstance(part, str) else self.markup(part) for part in parts)
        start = f'<!doctype html><html lang="en"><meta charset="utf-8">{head}'
        (self.folder / name).write_text(start + body, encoding="utf-8")
        return self.address + name
