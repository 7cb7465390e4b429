"""A real browser for tests: serves a folder, opens its pages, and keeps what went wrong."""

import gzip
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

# WebGPU, imitated by the processor where there's no graphics processor.
WEBGPU = [flag for flag in FLAGS if flag != "--disable-gpu"] + [
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    "--enable-features=Vulkan",
]

# A page's scripts start after its first frame; then what starts them goes.
STARTED = "!document.getElementById('after-first-frame')"
LOADED = 120_000  # milliseconds to wait for a page: the whole book is long, and others may compute


@dataclass
class Visit:
    """An open page.

    Attributes:
        page: Playwright's page.
        requests: Every URL asked for, in order.
        foreign: Those that lead to another host.
        complaints: Console errors, uncaught exceptions, and answers of 400 and above.
    """

    page: Any
    requests: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


def required() -> bool:
    """Whether a missing browser is a failure: in CI it is, on a reader's machine it is not."""
    return bool(os.environ.get("CI") or os.environ.get("GLASSFORMER_REQUIRE_BROWSER"))


def missing(reason: str) -> None:
    """Skips the test, or fails it where a browser is required."""
    if required():
        pytest.fail(f"{reason}, and this machine must have a browser", pytrace=False)
    pytest.skip(reason)


def executable() -> str:
    """The path of an installed Chromium or Chrome."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing(f"no browser: none of {', '.join(NAMES)} is on the PATH")
    assert path
    return path


@contextmanager
def served(
    folder: Path, sent: list[tuple[str, int]] | None = None, *, watched: bool = False
) -> Iterator[str]:
    """Serves a folder on a free port of 127.0.0.1; yields its address, with a slash at the end.

    Args:
        folder: What to serve.
        sent: Takes the path and the size of each answer, as it went over the wire: text is then
            compressed, as hosts of static sites do.
        watched: Whether pages note what goes wrong in them.
    """
    plain = Watched if watched else Quiet
    handler = plain if sent is None else partial(Compressing, sent)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Quiet(SimpleHTTPRequestHandler):
    """A file server that writes no log and has an answer for the icon that browsers ask for."""

    def do_GET(self) -> None:
        if self.path == "/favicon.ico" and not os.path.exists(self.translate_path(self.path)):
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *arguments: object) -> None:
        pass


class Compressing(Quiet):
    """One that compresses text, lets browsers keep what it sends, and counts its bytes."""

    protocol_version = "HTTP/1.1"  # many answers over one connection

    def __init__(self, sent: list[tuple[str, int]], *args: Any, **kwargs: Any) -> None:
        self.sent = sent
        super().__init__(*args, **kwargs)

    def do_GET(self) -> None:
        path = self.translate_path(self.path)
        file = (
            Path(path, "index.html") if os.path.isdir(path) and path.endswith("/") else Path(path)
        )
        if not file.is_file():
            super().do_GET()
            return
        data = file.read_bytes()
        packed = file.suffix not in (".woff2", ".png")
        data = gzip.compress(data, 6) if packed else data
        self.sent.append((self.path, len(data)))
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(file)))
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "max-age=600")
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(data)


# Notes in the page itself what any browser says of it: errors of scripts, files that are missing,
# and what would come from another host. That a ResizeObserver is told the rest at the next frame
# is no mistake, though browsers say it as one.
NOTING = b"""<script>(() => {
  const root = document.documentElement;
  const note = said => /^ResizeObserver loop completed/.test(said)
    || root.setAttribute("data-said", `${root.dataset.said ?? ""}${said}\\n`);
  addEventListener("error", event =>
    note(event.message ?? `missing: ${event.target.src ?? event.target.href}`), true);
  addEventListener("unhandledrejection", event => note(`rejected: ${event.reason}`));
  addEventListener("securitypolicyviolation", event => note(`asks for ${event.blockedURI}`));
  const { error } = console;
  console.error = (...said) => { note(said.join(" ")); error.apply(console, said); };
})()</script>"""
OWN_HOST = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:"
FRAMED = """<!doctype html><html lang="en"><title>A page in a frame</title>
<body style="margin: 0"><iframe class="framed" {sandbox}
style="display: block; width: {width}; height: 800px; border: 0" src="{page}"></iframe>"""


def framed(root: str, page: str, *, width: int = 0, still: bool = False) -> str:
    """The address of a page in a frame: as narrow as wanted, and without scripts if wanted."""
    return f"{root}framed/{width}/{'still' if still else 'live'}/{page}"


class Watched(Quiet):
    """One whose pages note what goes wrong in them, and that shows them in frames too."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        file = Path(self.translate_path(path))
        file = file / "index.html" if path.endswith("/") else file
        if path.startswith("/framed/"):
            _, _, width, kind, page = path.split("/", 4)
            size = f"{width}px" if int(width) else "100%"
            sandbox = 'sandbox="allow-same-origin"' if kind == "still" else ""
            self.send_page(FRAMED.format(sandbox=sandbox, width=size, page=f"/{page}").encode())
        elif file.suffix == ".html" and file.is_file():
            self.send_page(file.read_bytes().replace(b"<head>", b"<head>" + NOTING, 1))
        else:
            super().do_GET()

    def send_page(self, data: bytes) -> None:
        """Sends a page that may ask for nothing but its own host's files."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", OWN_HOST)
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def launched() -> Iterator[Any]:
    """A headless browser of its own, closed at the end."""
    path = executable()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("no playwright: pip install playwright")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def opened(page: Any, url: str) -> None:
    """Opens an address in a page of Playwright, and waits until its scripts have started."""
    page.goto(url)
    page.wait_for_function(STARTED)


@contextmanager
def visit(
    browser: Any,
    url: str,
    *,
    width: int = 1280,
    dark: bool = False,
    javascript: bool = True,
    touch: bool = False,
) -> Iterator[Visit]:
    """Opens a page in a fresh profile and records its requests and complaints.

    Args:
        browser: What `launched` yields.
        url: The page's address.
        width: The window's width in pixels.
        dark: Whether the system prefers dark pages.
        javascript: Whether scripts run.
        touch: Whether there are fingers in place of a mouse.
    """
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
        java_script_enabled=javascript,
        has_touch=touch,
    )
    try:
        page = context.new_page()
        page.set_default_navigation_timeout(LOADED)
        seen = Visit(page)
        host = urlsplit(url).netloc

        def asked(request: Any) -> None:
            seen.requests.append(request.url)
            parts = urlsplit(request.url)
            if parts.scheme not in ("data", "blob", "about") and parts.netloc != host:
                seen.foreign.append(request.url)

        def said(message: Any) -> None:
            if message.type == "error":
                seen.complaints.append(f"console: {message.text}")

        def answered(response: Any) -> None:
            if response.status >= 400:
                seen.complaints.append(f"{response.status}: {response.url}")

        page.on("request", asked)
        page.on("console", said)
        page.on("response", answered)
        page.on("pageerror", lambda error: seen.complaints.append(f"uncaught: {error}"))
        if javascript:
            opened(page, url)
        else:
            page.goto(url)
        yield seen
    finally:
        context.close()
