"""A task as it is done in another process: as this one would do it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

import rollwise
from rollwise.errors import ClusterError, on_command_line, words_of_the_command_line
from rollwise.machine import user_cache


class Ways(NamedTuple):
    """How this process does things, which another one is to do for it.

    Attributes
    ----------
    version : str
        Of rollwise.
    on_command_line : bool
        Whether messages speak of options.
    keeps : bool
        Whether answers are read from the user's cache and kept there.
    """

    version: str
    on_command_line: bool
    keeps: bool

    @classmethod
    def here(cls) -> Ways:
        """Those of this process."""
        return cls(rollwise.__version__, on_command_line(), user_cache.in_use())


def done(ways: Ways, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives in this process, which does it for another.

    Raises
    ------
    ClusterError
        This process has another rollwise.
    """
    check_version(rollwise.__version__, ways.version)
    user_cache.use(ways.keeps)
    with words_of_the_command_line() if ways.on_command_line else contextlib.nullcontext():
        return function(*arguments)


def check_version(there: str, here: str = rollwise.__version__) -> None:
    """Make sure that a worker has the rollwise that the tasks come from.

    Raises
    ------
    ClusterError
    """
    if there != here:
        raise ClusterError(
            f"a worker has rollwise {there}, and not {here}; install the same on all machines"
        )
