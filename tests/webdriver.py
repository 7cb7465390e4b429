"""Browsers that Playwright does not drive: WebKitGTK, the nearest to Safari here, and Firefox.

Both are told what to do in the words of the W3C's WebDriver, WebKit over HTTP and Firefox over the
socket that geckodriver would speak to: an open page and the value of an expression are all that
the tests ask for, so no client library is needed.
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

from browser import missing

MINIBROWSER = "webkit2gtk-4.1/MiniBrowser"  # in Debian's libwebkit2gtk-4.1-0
WITHOUT_GPU = {
    "LIBGL_ALWAYS_SOFTWARE": "1",
    "WEBKIT_DISABLE_COMPOSITING_MODE": "1",
    "WEBKIT_DISABLE_DMABUF_RENDERER": "1",
}
PATIENCE = 60.0  # seconds until a browser has begun, or has answered

Value = Any  # what JSON can say


@dataclass(frozen=True)
class Driven:
    """A browser with one window.

    Attributes:
        name: What to call it.
        ask: Takes one of its commands and what goes with it; gives its answer.
        commands: What it calls `open` and `evaluate`.
    """

    name: str
    ask: Callable[[str, dict[str, Value]], Value]
    commands: tuple[str, str]

    def open(self, url: str) -> None:
        """Opens a page and waits until it is loaded."""
        self.ask(self.commands[0], {"url": url})

    def evaluate(self, expression: str) -> Value:
        """The value of an expression in the open page."""
        return self.ask(self.commands[1], {"script": f"return {expression}", "args": []})


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
            yield Driven("WebKit", ask, (f"{session}/url", f"{session}/execute/sync"))
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
            yield Driven("Firefox", ask, ("WebDriver:Navigate", "WebDriver:ExecuteScript"))


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
