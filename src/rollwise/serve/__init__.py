"""Games in a browser with a server behind it: pages, reports, pictures and a JSON API.

`app` answers requests and computes nothing itself. Each solved game has processes of its own
(`workers`, `worker`) with limits, and a client can stop them. `offered` lists the games.
"""

from __future__ import annotations

import importlib

from rollwise.errors import MissingExtra


def require_web() -> None:
    """Raise unless the server's libraries are installed.

    Raises
    ------
    MissingExtra
        They aren't; the message is the command of their installation.
    """
    try:
        for name in ("starlette", "uvicorn"):
            importlib.import_module(name)
    except ImportError:
        raise MissingExtra('a server needs Starlette: pip install "rollwise[web]"') from None
