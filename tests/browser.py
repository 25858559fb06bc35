"""An installed browser, driven by its DevTools protocol over a pipe: no network, no other library.

``Browser`` opens files, types, clicks and takes pictures. What a page logs as an error, or asks of
the network, is kept.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rollwise.errors import UsageError
from rollwise.plot.pages import FLAGS, find_browser

SECONDS = 60.0
# on the edited board of Royal Ur
OWN_PIECE = "document.querySelector('.edited .piece:not(.ring)')"
NINTH_SQUARE = "document.querySelectorAll('.edited .square')[10]"
KEYS = {"Enter": 13, "Tab": 9, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40, "ArrowUp": 38}


class Browser:
    """A browser with one page.

    Attributes
    ----------
    errors : list of str
        What went wrong in the page: exceptions, errors in its console, what its policy refused.
    asked : list of str
        The addresses that it asked for, but for files and data.
    """

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.asked: list[str] = []
        self._last = 0
        self._events = b""
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        (hear, to_browser), (from_browser, say) = os.pipe(), os.pipe()
        shell = 'exec "$0" "$@" 3<&' + str(hear) + " 4>&" + str(say)
        self._process = subprocess.Popen(
            ["bash", "-c", shell, find_browser(), *FLAGS, "--remote-debugging-pipe",
             f"--user-data-dir={self._folder.name}", "about:blank"],
            pass_fds=(hear, say),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        os.close(hear)
        os.close(say)
        self._out, self._in = to_browser, from_browser
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Network.emulateNetworkConditions", offline=True, latency=0,
                  downloadThroughput=0, uploadThroughput=0)  # fmt: skip
        self.screen(1280, 800)
        # Pages begin without games of earlier visits, except in `remembering_games`: the name of a
        # window holds them, since Chromium may empty the storage of a new profile. Seeds are the
        # same in each run of a test.
        source = (
            "try { if (!window.name) localStorage.clear();"
            " else for (const pair of Object.entries(JSON.parse(window.name)))"
            " localStorage.setItem(...pair); } catch {}"
            "(() => { let drawn = 0; const draw = () => (drawn += 1) * 2654435761 % 2 ** 32;"
            "crypto.getRandomValues = (array) => { for (const i in array) array[i] = draw();"
            " return array; }; Math.random = () => draw() / 2 ** 32; })()"
        )
        self.call("Page.addScriptToEvaluateOnNewDocument", source=source)

    @contextlib.contextmanager
    def remembering_games(self) -> Iterator[None]:
        """Leave games on the device, also if the test fails inside."""
        self.js("window.name = '{}'")
        try:
            yield
        finally:
            self.js("window.name = ''")

    def close(self) -> None:
        """End the browser and all its processes."""
        os.close(self._out)
        os.close(self._in)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._folder.cleanup()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask something of the browser, and wait for its answer."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._heard()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                found: dict[str, Any] = answer["result"]
                return found
            self._note(answer)

    def _heard(self) -> dict[str, Any]:
        while b"\0" not in self._events:
            if not select.select([self._in], [], [], SECONDS)[0]:
                raise TimeoutError("the browser doesn't answer")
            found = os.read(self._in, 1 << 20)
            if not found:
                raise RuntimeError("the browser has ended")
            self._events += found
        message, self._events = self._events.split(b"\0", 1)
        heard: dict[str, Any] = json.loads(message)
        return heard

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                self.errors.append(str(details.get("exception", {}).get("description", details)))
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "assert"):
                self.errors.append(str(params["args"]))
            case "Log.entryAdded" if params["entry"]["level"] == "error":
                self.errors.append(str(params["entry"]["text"]))
            case "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:", "about:")):
                    self.asked.append(url)

    # ---- what tests do

    def visit(self, path: Path, address: str = "") -> None:
        """Open a page of ours from its file, and wait until it is ready."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.resolve().as_uri() + address)
        self.wait("document.documentElement?.dataset.ready")

    def leave(self) -> None:
        """Leave the page: what it still asks a server for is no error of a later page."""
        self.call("Page.navigate", url="about:blank")
        self.errors.clear()

    def reload(self) -> None:
        """Load the page again, and wait for it."""
        self.js("if (window.name) window.name = JSON.stringify(localStorage); window.isOld = true")
        self.call("Page.reload")
        self.wait("!window.isOld && document.documentElement?.dataset.ready")

    def go(self, url: str) -> None:
        """Open a page of a server, with the network of this machine, and wait until it is ready."""
        self.call("Network.emulateNetworkConditions", offline=False, latency=0,
                  downloadThroughput=-1, uploadThroughput=-1)  # fmt: skip
        self.call("Page.navigate", url=url)
        self.wait("document.documentElement?.dataset.ready")

    def shut_out(self) -> list[list[str]]:
        """What in the page is hard to use for some people, as axe-core finds it."""
        found = importlib.util.find_spec("axe_core_python")
        if found is None or found.origin is None:
            pytest.skip("axe-core-python isn't installed: pip install axe-core-python")
        source = (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")
        self.js(f"{source};0")
        told: list[list[str]] = self.js(
            "axe.run().then(run => run.violations.map(one => [one.id, one.impact,"
            " one.nodes[0].html]))"
        )
        return told

    def js(self, expression: str) -> Any:
        """What an expression gives in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                          awaitPromise=True)  # fmt: skip
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description"))
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression holds in the page."""
        end = time.monotonic() + SECONDS
        while not self._holds(condition):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {condition}; {self.errors}")
            time.sleep(0.02)

    def _holds(self, condition: str) -> bool:
        """Whether an expression holds; no while the page is being replaced by another."""
        try:
            return bool(self.js(f"Boolean({condition})"))
        except RuntimeError as error:
            if "context" in str(error) or "navigated" in str(error):
                return False
            raise

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key."""
        code = KEYS.get(key, ord(key[0].upper()))
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        given = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **given)
        self.call("Input.dispatchKeyEvent", type="keyUp", **given)

    def click(self, selector: str) -> None:
        """Click in the middle of an element, as a finger does."""
        place = json.dumps(selector)
        self.js(f"document.querySelector({place}).scrollIntoView({{block: 'center'}})")
        box = self.js(
            f"(r => [r.x + r.width / 2, r.y + r.height / 2])"
            f"(document.querySelector({place}).getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left",
                      clickCount=1)  # fmt: skip

    def drag(self, start: str, end: str) -> None:
        """Drag the element of one expression in the page to that of another."""
        spots = self.js(
            f"[{start}, {end}].map(one => one.getBoundingClientRect())"
            ".map(r => [r.x + r.width / 2, r.y + r.height / 2])"
        )
        for kind, (x, y) in zip(("mousePressed", "mouseReleased"), spots, strict=True):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                      clickCount=1)  # fmt: skip

    def touch(self, selector: str) -> None:
        """Touch the middle of an element with a finger."""
        self.call("Emulation.setTouchEmulationEnabled", enabled=True)
        place = f"document.querySelector({json.dumps(selector)})"
        self.js(f"{place}.scrollIntoView({{block: 'center'}})")
        box = self.js(
            f"(r => [r.x + r.width / 2, r.y + r.height / 2])({place}.getBoundingClientRect())"
        )
        self.call(
            "Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": box[0], "y": box[1]}]
        )
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.call("Emulation.setTouchEmulationEnabled", enabled=False)

    def heard(self) -> list[tuple[str, str]]:
        """Roles and names in the accessibility tree, as a screen reader meets them."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        shown = [node for node in nodes if not node["ignored"]]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in shown]

    def screen(self, width: int, height: int, *, dark: bool = False, calm: bool = True) -> None:
        """Be a screen of this size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if width < 600 else 1, mobile=width < 600)  # fmt: skip
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"},
        ]
        self.call("Emulation.setEmulatedMedia", features=features)

    def picture(self) -> bytes:
        """The screen, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


def heading(browser: Browser) -> str:
    return str(browser.js("document.querySelector('h2').textContent"))


def open_browser() -> Browser:
    """A browser; the test is skipped, and says why, where none is installed."""
    try:
        return Browser()
    except UsageError:
        pytest.skip("no browser is installed: apt-get install chromium, or set ROLLWISE_BROWSER")
