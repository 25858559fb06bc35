"""Figures as files: a page that needs no network, or a picture made by an installed browser.

What is large goes into a page packed (gzip, as base64): Plotly's library, and figures,
whose texts under the pointer repeat themselves. That makes pages four to eight times
smaller; `page.js` unpacks.
"""

from __future__ import annotations

import base64
import gzip
import html
import importlib.resources
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from rollwise.errors import UsageError

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

FORMATS = (".html", ".png", ".svg")

STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
  background: #fff; color: #222; }
.figure { width: 100%; max-width: 1100px; margin: 0 auto; min-height: var(--wide); }
@media (max-width: 759px) { .figure { min-height: var(--narrow); } }
@media (prefers-color-scheme: dark) { body { background: #16181d; color: #e8e8e8; } }
@media print { .modebar { display: none; } }
"""


def packed(text: str, name: str) -> str:
    """A text as an element of a page, which `page.js` unpacks by its name."""
    data = base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()
    return f'<script type="text/plain" id="{html.escape(name)}">{data}</script>'


def library() -> str:
    """Plotly's library and ours, as they go into a page once."""
    from plotly.offline import get_plotlyjs

    room = importlib.resources.files("rollwise.plot")
    ours = room.joinpath("page.js").read_text(encoding="utf-8")
    return f"{packed(get_plotlyjs(), 'plotly')}\n<script>{ours}</script>"


def embed(figure: Figure, name: str) -> str:
    """A figure as a piece of a page that has the `library`."""
    meta = figure.layout.meta
    # Its place is kept free while it is unpacked, so that nothing below it moves.
    heights = f"--wide: {meta['wide']['height']:.0f}px; --narrow: {meta['narrow']['height']:.0f}px"
    return (
        f'<div class="figure" id="{html.escape(name)}" style="{heights}" role="figure" '
        f'aria-label="{html.escape(meta["alt"])}"></div>\n'
        f"{packed(figure.to_json(), f'{name}-data')}\n"
        f"<script>rollwiseFigure({json.dumps(name)});</script>"
    )


def page(figure: Figure, title: str) -> str:
    """A whole page with one figure."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n{library()}\n</head>\n"
        f"<body>\n{embed(figure, 'figure')}\n</body>\n</html>\n"
    )


def check_target(path: Path) -> None:
    """Make sure, before any work, that a figure can be written to a file.

    Raises
    ------
    UsageError
        The name has another ending than .html, .png and .svg; or a picture is
        asked for, and there is no browser to make it.
    OutputError
        The file can't be written.
    """
    from rollwise.machine.atomic_files import check_place

    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: the name must end in {', '.join(FORMATS)}")
    if path.suffix != ".html":
        from rollwise.plot.browser import find_browser

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
    from rollwise.plot.browser import picture

    content = picture(text, path.suffix[1:], width)
    if path.suffix == ".svg":
        content = _told(content.decode(), title, figure.layout.meta["alt"]).encode()
    write_atomically(path, lambda place: place.write_bytes(content))


def _told(svg: str, title: str, alt: str) -> str:
    """A drawing that says what it is and what can be seen."""
    words = f"<title>{html.escape(title)}</title><desc>{html.escape(alt)}</desc>"
    return re.sub(r"<svg\b[^>]*", lambda head: f'{head[0]} role="img"', svg, count=1).replace(
        ">", f">{words}", 1
    )
