"""Pictures made by a browser that is installed: it opens the page and hands the drawing back."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import tempfile
import urllib.parse
from pathlib import Path

from rollwise.errors import RollwiseError, UsageError

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
    "brave-browser",
)
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--disable-gpu",  # what needs WebGL is drawn in software, with a screen or without
)
SECONDS = 240


class PictureFailed(RollwiseError):
    """The browser made no picture."""

    exit_code = 1


def find_browser() -> str:
    """The browser that makes pictures.

    Raises
    ------
    UsageError
        None is installed; says what to do.
    """
    asked = os.environ.get("ROLLWISE_BROWSER")
    if asked is not None:
        found = shutil.which(asked)
        if found is None:
            raise UsageError(f"ROLLWISE_BROWSER is {asked!r}, which can't be run")
        return found
    for name in (*NAMES, *PLACES):
        found = shutil.which(name)
        if found is not None:
            return found
    raise UsageError(
        ".png, .svg and .pdf are made by a browser, and none is installed: install Chromium or "
        "Chrome "
        "(or say where one is in ROLLWISE_BROWSER), or write .html, which needs none"
    )


def picture(page: str, form: str, width: int) -> bytes:
    """The drawing of a page with one figure.

    Parameters
    ----------
    page : str
        Made by `rollwise.plot.pages.page`.
    form : {"png", "svg"}
    width : int
        In pixels; a png has twice as many, for sharp print.

    Raises
    ------
    UsageError
        No browser is installed.
    PictureFailed
        The browser made no picture.
    """
    find_browser()
    # Drawing in space without a graphics card takes long: the picture is drawn once, not first
    # on the page and then again, and not sixty times a second.
    script = (
        "<script>window.requestAnimationFrame = (f) => setTimeout(() => f(performance.now()), 250);"
        "let asked;"
        "rollwiseLibrary.then(() => {"
        "Plotly.newPlot = (place, data, layout) => { asked = {data, layout}; }; });"
        "window.addEventListener('load', async () => {"
        "await Promise.all(rollwiseDrawn);"
        "const size = {width: document.getElementById('figure').clientWidth, "
        "height: asked.layout.height};"
        "const uri = await Plotly.toImage(asked, "
        f"{{format: '{form}', ...size, scale: {1 if form == 'svg' else 1.5}}});"
        "const p = document.createElement('pre'); p.id = 'picture'; p.textContent = uri;"
        "document.body.replaceChildren(p);});</script>"
    )
    # A window has a least width, so the page's own width is set.
    style = f"<style>body {{ width: {width}px; }} .figure {{ max-width: none; }}</style>"
    with tempfile.TemporaryDirectory(prefix="rollwise-") as folder:
        place = Path(folder) / "page.html"
        place.write_text(page.replace("<body>", f"<body>{style}{script}"), encoding="utf-8")
        asked = [f"--window-size={max(width, 500)},1000", "--dump-dom"]
        done = _opened(place, asked)
    found = re.search(r'<pre id="picture">data:image/[a-z+]+([^<]*)</pre>', done.stdout)
    if found is None:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise PictureFailed(f"the browser made no picture (exit code {done.returncode}): {said}")
    head, _, data = found.group(1).partition(",")
    if "base64" in head:
        return base64.b64decode(data)
    return urllib.parse.unquote(data.replace("&amp;", "&")).encode()


def printed(page: str) -> bytes:
    """A page as a .pdf file.

    Raises
    ------
    UsageError
        No browser is installed.
    PictureFailed
        The browser printed nothing.
    """
    with tempfile.TemporaryDirectory(prefix="rollwise-") as folder:
        place, out = Path(folder) / "page.html", Path(folder) / "page.pdf"
        place.write_text(page, encoding="utf-8")
        done = _opened(place, ["--no-pdf-header-footer", f"--print-to-pdf={out}"])
        if not out.exists():
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise PictureFailed(f"the browser printed nothing (code {done.returncode}): {said}")
        return out.read_bytes()


def _opened(place: Path, asked: list[str]) -> subprocess.CompletedProcess[str]:
    """What the browser does with a page in a folder of its own."""
    browser = find_browser()
    command = [
        browser,
        *FLAGS,
        f"--user-data-dir={place.parent}/profile",
        "--virtual-time-budget=20000",
        *asked,
        place.as_uri(),
    ]
    try:
        return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise PictureFailed(f"{browser} made no picture within {SECONDS} seconds") from None
