"""Answers to games: solving, solutions, policies by name, tables, files.

Rooms above this one draw and write what an answer's own methods offer. These methods are hooks: the
front door (`rollwise/__init__.py`) fills them before any answer exists, and the room of a hook is
imported when the hook is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from rollwise.machine.atomic_files import HtmlPage


class Hooks:
    """Functions of an answer that rooms above it have.

    Attributes
    ----------
    plot, report, page : callable
        Called by the methods of these names, with the answer and what they were given.
    """

    plot: Callable[..., Figure]
    report: Callable[..., HtmlPage]
    page: Callable[..., HtmlPage]


HOOKS = Hooks()
