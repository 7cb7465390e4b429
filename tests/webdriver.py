"""Browsers that Playwright does not drive: WebKitGTK, the nearest to Safari here, and Firefox.

Both are told what to do in the words of the W3C's WebDriver, WebKit over HTTP and Firefox over the
socket that geckodriver would speak to: an open page, the value of an expression, a click and a key
are all that the tests ask for, so no client library is needed. Chromium is told by Playwright, in
the same words.
"""

import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from browser import launched, missing, opened

MINIBROWSER = "webkit2gtk-4.1/MiniBrowser"  # in Debian's libwebkit2gtk-4.1-0
FIREFOX = (
    "WebDriver:Navigate",
    "WebDriver:ExecuteScript",
    "WebDriver:PerformActions",
    "WebDriver:SetWindowRect",
)
WITHOUT_GPU = {
    "LIBGL_ALWAYS_SOFTWARE": "1",
    "WEBKIT_DISABLE_COMPOSITING_MODE": "1",
    "WEBKIT_DISABLE_DMABUF_RENDERER": "1",
}
PATIENCE = 60.0  # seconds until a browser has begun, or has answered

Value = Any  # what JSON can say

# What WebDriver calls the keys that write nothing; what Playwright calls them is their name.
KEYS = {
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "ArrowLeft": "\ue012",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
}


@dataclass(frozen=True)
class Driven:
    """A browser with one window.

    Attributes:
        name: What to call it.
        ask: Takes one of its commands and what goes with it; gives its answer.
        commands: What it calls `open`, `evaluate`, `act` and `resize`.
    """

    name: str
    ask: Callable[[str, dict[str, Value]], Value]
    commands: tuple[str, str, str, str]

    def open(self, url: str) -> None:
        """Opens a page and waits until it is loaded."""
        self.ask(self.commands[0], {"url": url})

    def evaluate(self, expression: str) -> Value:
        """The value of an expression in the open page."""
        return self.ask(self.commands[1], {"script": f"return {expression}", "args": []})

    def click(self, x: float, y: float) -> None:
        """Moves a mouse to a place of the window, and clicks."""
        actions = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        self._act("pointer", [_move(x, y), *actions], {"pointerType": "mouse"})

    def point(self, x: float, y: float) -> None:
        """Moves a mouse to a place of the window."""
        self._act("pointer", [_move(x, y)], {"pointerType": "mouse"})

    def press(self, key: str) -> None:
        """Presses a key of `KEYS`, or one that writes a character."""
        value = KEYS.get(key, key)
        self._act("key", [{"type": kind, "value": value} for kind in ("keyDown", "keyUp")])

    def resize(self, width: int, height: int) -> None:
        """Gives the window a size, its frame included."""
        self.ask(self.commands[3], {"width": width, "height": height})

    def _act(
        self,
        kind: str,
        actions: list[dict[str, Value]],
        parameters: dict[str, Value] | None = None,
    ) -> None:
        source = {"type": kind, "id": kind, "actions": actions}
        source |= {"parameters": parameters} if parameters else {}
        self.ask(self.commands[2], {"actions": [source]})


def _move(x: float, y: float) -> dict[str, Value]:
    return {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}


@dataclass(frozen=True)
class Played:
    """Chromium: Playwright's page, told the same.

    Attributes:
        page: That page.
        name: What to call it.
    """

    page: Any
    name: str = "Chromium"

    def open(self, url: str) -> None:
        """Opens a page and waits until it is loaded and its scripts have started."""
        opened(self.page, url)

    def evaluate(self, expression: str) -> Value:
        """The value of an expression in the open page."""
        return self.page.evaluate(f"() => ({expression})")

    def click(self, x: float, y: float) -> None:
        """Moves a mouse to a place of the window, and clicks."""
        self.page.mouse.click(x, y)

    def point(self, x: float, y: float) -> None:
        """Moves a mouse to a place of the window."""
        self.page.mouse.move(x, y)

    def press(self, key: str) -> None:
        """Presses a key."""
        self.page.keyboard.press(key)

    def resize(self, width: int, height: int) -> None:
        """Gives the page a size."""
        self.page.set_viewport_size({"width": width, "height": height})


def found(package: str, *programs: str) -> str:
    """The path of the first program there is; a test that needs it is skipped without any."""
    path = next(filter(None, map(shutil.which, programs)), None)
    if path is None:
        missing(f"no {' or '.join(programs)} on the PATH; Debian's {package} has it")
    assert path
    return path


@contextmanager
def running(command: list[str], environment: dict[str, str], **options: Any) -> Iterator[None]:
    """Runs a program for as long as it is needed, with all that it starts."""
    process = subprocess.Popen(
        command,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        **options,
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # they have nothing to keep
        process.wait()


def patiently(attempt: Callable[[], Value], what: str) -> Value:
    """What an attempt gives as soon as it succeeds.

    Raises:
        TimeoutError: It failed for a minute.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return attempt()
        except (OSError, ValueError) as error:  # not there yet, or not yet written
            if time.monotonic() > end:
                raise TimeoutError(f"{what} did not begin in {PATIENCE:.0f} s: {error}") from error
            time.sleep(0.1)


@contextmanager
def screen() -> Iterator[str]:
    """Yields the name of a display that nobody sees."""
    reading, writing = os.pipe()
    command = [found("xvfb", "Xvfb"), "-displayfd", str(writing), "-nolisten", "tcp"]
    command += ["-screen", "0", "1280x900x24"]
    with running(command, {}, pass_fds=[writing]), os.fdopen(reading) as chosen:
        os.close(writing)
        yield f":{chosen.readline().strip()}"


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@contextmanager
def webkit() -> Iterator[Driven]:
    """WebKitGTK's own small browser, through its driver."""
    driver = found("webkit2gtk-driver", "WebKitWebDriver")
    browser = next(Path("/usr/lib").glob(f"*/{MINIBROWSER}"), None)
    if browser is None:
        missing(f"no {MINIBROWSER}; Debian's libwebkit2gtk-4.1-0 has it")
    port = free_port()

    def ask(command: str, body: dict[str, Value] | None = None, method: str = "POST") -> Value:
        return posted(f"http://127.0.0.1:{port}/{command}", body, method)

    options = {"binary": str(browser), "args": ["--automation"]}
    wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
    with (
        screen() as display,
        running([driver, f"--port={port}"], {**WITHOUT_GPU, "DISPLAY": display}),
    ):
        patiently(lambda: ask("status", method="GET"), driver)
        session = f"session/{ask('session', wanted)['sessionId']}"
        try:
            commands = ("url", "execute/sync", "actions", "window/rect")
            url, execute, act, resize = (f"{session}/{command}" for command in commands)
            yield Driven("WebKit", ask, (url, execute, act, resize))
        finally:
            ask(session, method="DELETE")


def posted(url: str, body: dict[str, Value] | None, method: str) -> Value:
    """What a driver answers over HTTP.

    Raises:
        RuntimeError: It could not do as it was told; the message is its own.
    """
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(url, data, method=method), timeout=PATIENCE) as answer:
            return json.load(answer)["value"]
    except HTTPError as error:
        raise RuntimeError(f"{url}: {error.read().decode()}") from error


@contextmanager
def chromium() -> Iterator[Played]:
    """Chromium, through Playwright."""
    with launched() as browser:
        yield Played(browser.new_page(viewport={"width": 1280, "height": 800}))


@contextmanager
def firefox(profile: Path) -> Iterator[Driven]:
    """Firefox without a window.

    Args:
        profile: An empty folder for what it keeps.
    """
    program = found("firefox-esr", "firefox-esr", "firefox")
    (profile / "user.js").write_text('user_pref("marionette.port", 0);\n')  # any that is free
    command = [program, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    with running(command, {}):
        port = patiently(lambda: int((profile / "MarionetteActivePort").read_text()), program)
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
            ask = marionette(connection)
            ask("WebDriver:NewSession", {})
            yield Driven("Firefox", ask, FIREFOX)


def marionette(connection: socket.socket) -> Callable[[str, dict[str, Value]], Value]:
    """Gives the function that asks Firefox: each message is its length, a colon, and JSON."""
    stream = connection.makefile("rwb")
    numbers = itertools.count(1)

    def hear() -> Value:
        length = b""
        while (sign := stream.read(1)) != b":":
            if not sign:
                raise ConnectionError("Firefox has hung up")
            length += sign
        return json.loads(stream.read(int(length)))

    def ask(command: str, body: dict[str, Value]) -> Value:
        message = json.dumps([0, next(numbers), command, body]).encode()
        stream.write(b"%d:%b" % (len(message), message))
        stream.flush()
        _, _, error, answer = hear()
        if error:
            raise RuntimeError(f"{command}: {error['error']}: {error['message']}")
        return answer.get("value")

    hear()  # who speaks, and in which version
    return ask
