"""A server hears of what is saved, and of nothing else."""

import os
import shutil
import time

import pytest
from mkdocs.livereload import LiveReloadServer
from watchdog.observers.polling import PollingObserver

from proofbook.integrations import watching

PATIENCE = 20  # seconds; MkDocs's own watcher, which has not begun here, would say nothing


@pytest.fixture
def server(tmp_path):
    """Watch a folder as a server that nobody asks for anything."""
    (tmp_path / "docs/part").mkdir(parents=True)
    (tmp_path / "docs/page.md").write_text("One.")
    server = LiveReloadServer(lambda: None, "127.0.0.1", 0, str(tmp_path))
    server.watch(str(tmp_path / "docs"))
    stop = watching.watch_closely(server, lambda: None)
    yield server
    stop()


def hears(server, seconds: float) -> bool:
    with server._rebuild_cond:
        return server._rebuild_cond.wait_for(lambda: server._want_rebuild, seconds)


SAVES = {
    "written": lambda page: page.write_text("Two."),
    "replaced": lambda page: os.replace(shutil.copy(page, page.with_suffix(".new")), page),
    "added": lambda page: page.with_name("other.md").write_text("Two."),
    "added below": lambda page: (page.parent / "part/other.md").write_text("Two."),
    "removed": lambda page: page.unlink(),
    "moved": lambda page: page.rename(page.parent / "part/page.md"),
}
NO_SAVES = {
    "read": lambda page: page.read_text(),
    "compiled": lambda page: (
        (page.parent / "__pycache__").mkdir()
        or (page.parent / "__pycache__/page.pyc").write_bytes(b"")
    ),
}


@pytest.mark.parametrize("save", SAVES.values(), ids=SAVES)
def test_a_save_is_heard_at_once(server, tmp_path, save):
    save(tmp_path / "docs/page.md")
    assert hears(server, PATIENCE)


@pytest.mark.parametrize("look", NO_SAVES.values(), ids=NO_SAVES)
def test_what_saves_nothing_is_not_heard(server, tmp_path, look):
    look(tmp_path / "docs/page.md")
    assert not hears(server, 0.3)
    (tmp_path / "docs/page.md").write_text("Two.")
    assert hears(server, PATIENCE)


def test_where_the_system_watches_no_more_files_they_are_looked_at_often(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(watching.Observer, "schedule", refuse)
    server = LiveReloadServer(lambda: None, "127.0.0.1", 0, str(tmp_path), polling_interval=99)
    server.watch(str(tmp_path))
    watching.watch_closely(server, lambda: time.sleep(0.01))()
    assert isinstance(server.observer, PollingObserver)
    assert 0.1 <= server.observer.timeout <= 0.5
    assert server._watched_paths == {str(tmp_path): 1}
