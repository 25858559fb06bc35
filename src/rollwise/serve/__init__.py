"""Games in a browser with a server behind it: pages, reports, pictures and a JSON API.

`app` answers requests. It computes nothing itself: each game that is solved has a
process of its own (`workers`, `worker`), which can be stopped and has its limits. `offered` says
what games there are.
"""

from __future__ import annotations

import importlib

from rollwise.errors import MissingExtra


def require_web() -> None:
    """Make sure that the server's libraries are installed.

    Raises
    ------
    MissingExtra
        They aren't; the message is the command that installs them.
    """
    try:
        for name in ("starlette", "uvicorn"):
            importlib.import_module(name)
    except ImportError:
        raise MissingExtra('a server needs Starlette: pip install "rollwise[web]"') from None
