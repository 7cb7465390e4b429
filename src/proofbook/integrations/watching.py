"""Tell a server about a saved file: at once if the system reports it, and soon if it doesn't.

MkDocs polls all files twice a second. Operating systems report changes sooner, but not in folders
shared by another machine, as with containers and networks, so polling continues.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress

from mkdocs.livereload import LiveReloadServer
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver

SETTLED = 0.03
"""Seconds without another change after which a save counts as finished."""
BUSY = 0.05
"""The largest share of the time that polling may take."""
CHANGES = {"created", "modified", "moved", "deleted", "closed"}


class Saving(FileSystemEventHandler):
    """Tells a server that there is something to build."""

    def __init__(self, server: LiveReloadServer) -> None:
        self.server = server

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Ask for a build, unless a file was only read or compiled."""
        is_compiled = "__pycache__" in os.fsdecode(event.src_path)
        if event.is_directory or event.event_type not in CHANGES or is_compiled:
            return
        with self.server._rebuild_cond:
            self.server._want_rebuild = True
            self.server._rebuild_cond.notify_all()


def watch_closely(server: LiveReloadServer, look: Callable[[], object]) -> Callable[[], None]:
    """Tell a server about changes promptly; return a function that stops this.

    Args:
        server: The site's server, with the paths that it watches.
        look: Looks at all files, like the server's watcher.
    """
    observer = Observer()
    is_told = False
    with suppress(OSError):  # the system can't watch more files
        for path in server._watched_paths:
            observer.schedule(Saving(server), path, recursive=True)
        observer.start()
        is_told = True
    if not is_told:
        _look_often(server, look)
    server.build_delay = SETTLED
    return observer.stop if is_told else lambda: None


def _look_often(server: LiveReloadServer, look: Callable[[], object]) -> None:
    """Poll for changes as often as the number of files allows."""
    watched = dict(server._watched_paths)
    begun = time.monotonic()
    look()
    seconds = 2 * (time.monotonic() - begun)  # the watcher compares them, too
    server.observer = PollingObserver(timeout=min(0.5, max(0.1, seconds / BUSY)))
    server._watched_paths.clear()
    for path, times in watched.items():
        for _ in range(times):
            server.watch(path)
