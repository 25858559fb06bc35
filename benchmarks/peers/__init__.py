"""Tools that solve the same problems, each a module of its own.

A module says what it is and what it can state::

    TOOL = "QuantEcon"            # as it is printed
    PACKAGE = "quantecon"         # what pip installs; None for what is here already
    WAYS = {"policy-iteration": "policy iteration"}   # a row each

    def refusal(work, way): ...   # why it can't state the problem, or None
    def start(problem, way): ...  # imports, reading: not timed; gives a function that is

The function returned by `start` does the whole work once and gives an `Answer`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any

# In the order in which they take turns.
PEERS = (
    "rollwise_itself",
    "by_hand",
    "storm",
    "quantecon",
    "mdpsolver",
    "pymdptoolbox",
    "open_spiel",
    "plain_python",
)


@dataclass(frozen=True)
class Answer:
    """What a tool gave.

    Attributes
    ----------
    seconds : mapping of str to float
        By stage: ``build`` makes the tool's model, ``solve`` the answer, ``certify`` a proof.
    worth : callable
        Gives the answer by state, in the order of the problem's graph, or as a number for
        the start alone. It is called after the clock has stopped.
    claim : str
        What it says of its error.
    claimed : float or None
        The error that it claims, where that is a number.
    """

    seconds: Mapping[str, float]
    worth: Callable[[], Any]
    claim: str
    claimed: float | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)


def peer(name: str) -> ModuleType:
    """The module of a tool."""
    return importlib.import_module(f"benchmarks.peers.{name}")


def installed(module: ModuleType) -> str | None:
    """The version of a tool; an empty text where there is nothing to install; None if missing."""
    if module.PACKAGE is None:
        return ""
    try:
        return version(module.PACKAGE)
    except PackageNotFoundError:
        return None
