"""Figures as files: a page independent of any network, or a picture made by an installed browser.

Large parts of a page are packed (gzip, as base64): Plotly's library, and figures with repetitive
texts under the pointer. Pages become four to eight times smaller; `page.js` unpacks.
"""

from __future__ import annotations

import base64
import gzip
import html
import importlib.resources
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING

from rollwise.errors import RollwiseError, UsageError
from rollwise.numbers.printed import with_minus

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

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
    "--disable-gpu",  # WebGL is drawn in software, with a screen or without
)
SECONDS = 240
FORMATS = (".html", ".png", ".svg")


class PictureFailed(RollwiseError):
    """The browser made no picture."""

    exit_code = 1


def find_browser() -> str:
    """The browser for making pictures.

    Raises
    ------
    UsageError
        None is installed; the message names remedies.
    """
    asked = os.environ.get("ROLLWISE_BROWSER")
    if asked is not None:
        found = shutil.which(asked)
        if found is None:
            raise UsageError(f"ROLLWISE_BROWSER is {asked!r}, and can't be run")
        return found
    for name in (*NAMES, *PLACES):
        found = shutil.which(name)
        if found is not None:
            return found
    raise UsageError(
        ".png, .svg and .pdf are made by a browser, and none is installed: install Chromium or "
        "Chrome "
        "(or set ROLLWISE_BROWSER to its path), or write .html, without a browser"
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
    size = f"{{format: '{form}', scale: {1 if form == 'svg' else 1.5}}}"
    script = f"<script>const asFile = {size};\n{resource('plot', 'picture.js')}</script>"
    # A window has a least width, so the page's own width is set.
    own = f"<style>body {{ width: {width}px; }} .figure {{ max-width: none; }}</style>"
    with tempfile.TemporaryDirectory(prefix="rollwise-") as folder:
        place = Path(folder) / "page.html"
        place.write_text(page.replace("<body>", f"<body>{own}{script}"), encoding="utf-8")
        asked = [f"--window-size={max(width, 500)},1000", "--dump-dom"]
        done = _opened(place, asked)
    found = re.search(r'<pre id="picture">data:image/[a-z+]+([^<]*)</pre>', done.stdout)
    if found is None:
        said = (done.stderr.strip().splitlines() or ["without a message"])[-1]
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
        The browser printed no file.
    """
    with tempfile.TemporaryDirectory(prefix="rollwise-") as folder:
        place, out = Path(folder) / "page.html", Path(folder) / "page.pdf"
        place.write_text(page, encoding="utf-8")
        done = _opened(place, ["--no-pdf-header-footer", f"--print-to-pdf={out}"])
        if not out.exists():
            said = (done.stderr.strip().splitlines() or ["without a message"])[-1]
            raise PictureFailed(f"the browser printed no file (code {done.returncode}): {said}")
        return out.read_bytes()


def _opened(place: Path, asked: list[str]) -> subprocess.CompletedProcess[str]:
    """Run the browser on a page, with a profile beside it."""
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


def marked(text: str) -> str:
    """Text by the author of the rules as HTML: words in backticks are code."""
    return re.sub(r"(`+)(.+?)\1", r"<code>\2</code>", html.escape(text))


def packed(text: str, name: str) -> str:
    """A text as an element of a page, for `page.js` to unpack by its name."""
    data = base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()
    return f'<script type="text/plain" id="{html.escape(name)}">{data}</script>'


def resource(room: str, name: str) -> str:
    """A style or a script of a room."""
    folder = importlib.resources.files(f"rollwise.{room}")
    return folder.joinpath(name).read_text(encoding="utf-8")


def style(*names: str) -> str:
    """The style of a page with figures, with further ones for reports."""
    return "\n".join([resource("plot", "page.css"), *(resource("report", name) for name in names)])


def library() -> str:
    """Plotly's library and ours, as they go into a page once."""
    from plotly.offline import get_plotlyjs

    ours = resource("plot", "page.js")
    return f"{packed(get_plotlyjs(), 'plotly')}\n<script>{ours}</script>"


def embed(figure: Figure, name: str) -> str:
    """A figure as a piece of a page with the `library`."""
    meta = figure.layout.meta
    # The figure's space is reserved while it is unpacked, so that the page below doesn't move.
    heights = f"--wide: {meta['wide']['height']:.0f}px; --narrow: {meta['narrow']['height']:.0f}px"
    return (
        f'<div class="figure" id="{html.escape(name)}" style="{heights}" role="figure" '
        f'aria-label="{html.escape(with_minus(meta["alt"]))}"></div>\n'
        f"{packed(figure.to_json(), f'{name}-data')}\n"
        f"<script>rollwiseFigure({json.dumps(name)});</script>"
    )


def shell(title: str, head: str, body: str) -> str:
    """A whole page: its title, and the other parts in HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{html.escape(title)}</title>\n{head}</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def document(title: str, style: str, body: str, head: str = "") -> str:
    """A whole page with the `library`, as `shell` makes it."""
    return shell(title, f"<style>{style}</style>\n{library()}\n{head}", body)


def page(figure: Figure, title: str) -> str:
    """A whole page with one figure."""
    return document(title, style(), embed(figure, "figure"))


def check_target(path: Path) -> None:
    """Raise, before any work, if a figure can't be written to a file.

    Raises
    ------
    UsageError
        The name has another ending than .html, .png and .svg; or there is no browser for a
        picture.
    OutputError
        The file can't be written.
    """
    from rollwise.machine.atomic_files import check_place

    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: the name must end in {', '.join(FORMATS)}")
    if path.suffix != ".html":
        find_browser()
    check_place(path)


def write_figure(figure: Figure, path: Path, title: str, width: int = 1100) -> None:
    """Write a figure to a file, all at once or not at all.

    Parameters
    ----------
    width : int
        Of a .png or .svg, in pixels; under 760 the layout for narrow screens is used.

    Raises
    ------
    UsageError, OutputError
        See `check_target`.
    """
    from rollwise.machine.atomic_files import write_atomically, write_text

    check_target(path)
    text = page(figure, title)
    if path.suffix == ".html":
        write_text(path, text)
        return

    content = picture(text, path.suffix[1:], width)
    if path.suffix == ".svg":
        content = _told(content.decode(), title, figure.layout.meta["alt"]).encode()
    write_atomically(path, lambda place: place.write_bytes(content))


def _told(svg: str, title: str, alt: str) -> str:
    """An SVG with a title and an alternative text."""
    words = f"<title>{html.escape(title)}</title><desc>{html.escape(alt)}</desc>"
    return re.sub(r"<svg\b[^>]*", lambda head: f'{head[0]} role="img"', svg, count=1).replace(
        ">", f">{words}", 1
    )
