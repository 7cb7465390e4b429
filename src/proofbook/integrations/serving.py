"""Serve a book whose pages are made when somebody opens them.

`mkdocs serve` builds the whole site before it serves any of it. While it's used with the engine,
two of its names stand for others: the one that builds, which only opens the site, and the server.
"""

import posixpath
import re
from collections.abc import Iterable
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from mkdocs.commands import serve as serving
from mkdocs.commands.build import build
from mkdocs.livereload import LiveReloadServer

import proofbook
from proofbook.integrations.live import Live
from proofbook.integrations.watching import watch_closely

SCRIPT = (Path(proofbook.__file__).parent / "static/live.js").read_text(encoding="utf-8")
POLL = re.compile(r"livereload/(\d+)/(.*)")
BODY = re.compile(rb"<body\b[^>]*>")


def take_over(live: Live) -> None:
    """Have `mkdocs serve` open a book instead of building it."""
    serving.build = live.open
    serving.LiveReloadServer = partial(PageServer, live)  # type: ignore[assignment, misc]


def hand_back() -> None:
    """Undo that."""
    serving.build = build
    serving.LiveReloadServer = LiveReloadServer  # type: ignore[misc]


class PageServer(LiveReloadServer):
    """MkDocs's server, for pages that are made on request."""

    def __init__(self, live: Live, **given: Any) -> None:
        super().__init__(**given)
        self.live = live
        self.stop_watching = lambda: None

    def serve(self, *, open_in_browser: bool = False) -> None:
        """Serve until interrupted."""
        self.live.begin(self.builder, list(self._watched_paths))
        self.builder = self._rebuild
        if self._watched_paths:
            self.stop_watching = watch_closely(self, self.live.look)
        super().serve(open_in_browser=open_in_browser)

    def shutdown(self, wait: bool = False) -> None:
        """Stop serving."""
        self.stop_watching()
        self.live.close()
        super().shutdown(wait)

    def _rebuild(self) -> None:
        with self._epoch_cond:  # nobody has to wait
            self._visible_epoch = self._wanted_epoch
            self._epoch_cond.notify_all()
        self.live.rebuild()

    def _serve_request(self, environ: Any, start_response: Any) -> Iterable[bytes] | None:
        path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "ignore")
        if not path.startswith(self.mount_path):
            return super()._serve_request(environ, start_response)
        place = path.removeprefix(self.mount_path)
        if found := POLL.fullmatch(place):
            epoch = self.live.wait_for_newer(unquote(found[2]), int(found[1]))
            return _answer(start_response, "text/plain", str(epoch).encode())
        place = posixpath.normpath(f"/{place}index.html" if path.endswith("/") else f"/{place}")[1:]
        if place in self.live.pages:
            return _answer(start_response, "text/html", self._page(place))
        if f"{place}/index.html" in self.live.pages:
            start_response("302 Found", [("Location", f"{quote(path)}/")])
            return []
        if place.endswith(".html") and place not in self.live.site.config.theme.static_templates:
            return (
                None
                if not Path(self.root, place).is_file()
                else super()._serve_request(environ, start_response)
            )
        if not Path(self.root, place).is_file():
            self.live.wait_until_settled()  # it may be made with a page, or of all pages
        return super()._serve_request(environ, start_response)

    def _page(self, place: str) -> bytes:
        """Return a page, with what has gone wrong, and with the script that reloads it."""
        html, epoch, troubles = self.live.page(place)
        said = "".join(
            f'<div class="proofbook-error" role="alert"><pre><code>{escape(one)}</code></pre></div>'
            for one in troubles
        ).encode()
        content = html.encode("utf-8", "xmlcharrefreplace")
        body = BODY.search(content)
        at = body.end() if body else 0
        content = content[:at] + said + content[at:]
        if not self._watched_paths:
            return content
        script = (
            f'<script data-page="{escape(quote(place))}" data-epoch="{epoch}" '
            f'data-mount="{escape(self.mount_path)}">{SCRIPT}</script>'
        ).encode()
        end = content.rfind(b"</body>")
        return content[:end] + script + content[end:] if end >= 0 else content + script


def _answer(start_response: Any, kind: str, content: bytes) -> list[bytes]:
    start_response(
        "200 OK",
        [
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(content))),
            ("Cache-Control", "no-cache"),
        ],
    )
    return [content]
