"""rollwise solves turn-based dice games: rules in plain Python in, a certified answer out.

This is the front door. It lists the public names and loads what they need when
they are first used, so that importing it is instant.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Each public name and the module that it comes from.
_HOME = {
    "AGAIN": "game",
    "DRAW": "game",
    "END": "game",
    "LOSE": "game",
    "PASS": "game",
    "WIN": "game",
    "Game": "game",
    "parameter": "game",
    "policy": "game",
    "rule": "game",
    "StateGraph": "graph",
    "build": "builders",
    "Certificate": "certificate",
    "certify": "certificate",
    "Policy": "policies",
    "Solution": "solution",
    "solve": "solution",
    "LayeredSolution": "layers",
    "solve_by_layers": "layers",
    "load": "storage",
    "read_layers": "layer_files",
    "best_response": "by_name",
    "evaluate": "by_name",
    "Chase": "chase",
    "Contest": "analysis.contest",
    "Duel": "analysis.contest_graph",
    "solve_contest": "analysis.contest",
    "check": "analysis.check",
    "distribution": "by_name",
    "distributions": "by_name",
    "many_dice": "analysis.many_dice",
    "RollwiseError": "errors",
}

__all__ = [
    "AGAIN",
    "DRAW",
    "END",
    "LOSE",
    "PASS",
    "WIN",
    "Certificate",
    "Chase",
    "Contest",
    "Duel",
    "Game",
    "LayeredSolution",
    "Policy",
    "RollwiseError",
    "Solution",
    "StateGraph",
    "best_response",
    "build",
    "certify",
    "check",
    "dice",
    "distribution",
    "distributions",
    "evaluate",
    "load",
    "many_dice",
    "parameter",
    "policy",
    "read_layers",
    "rule",
    "solve",
    "solve_by_layers",
    "solve_contest",
]

if TYPE_CHECKING:
    from rollwise import dice
    from rollwise.analysis.check import check
    from rollwise.analysis.contest import Contest, solve_contest
    from rollwise.analysis.contest_graph import Duel
    from rollwise.analysis.many_dice import many_dice
    from rollwise.builders import build
    from rollwise.by_name import best_response, distribution, distributions, evaluate
    from rollwise.certificate import Certificate, certify
    from rollwise.chase import Chase
    from rollwise.errors import RollwiseError
    from rollwise.game import (
        AGAIN,
        DRAW,
        END,
        LOSE,
        PASS,
        WIN,
        Game,
        parameter,
        policy,
        rule,
    )
    from rollwise.graph import StateGraph
    from rollwise.layer_files import read_layers
    from rollwise.layers import LayeredSolution, solve_by_layers
    from rollwise.policies import Policy
    from rollwise.solution import Solution, solve
    from rollwise.storage import load


def __getattr__(name: str) -> Any:
    if name == "dice":
        return importlib.import_module("rollwise.dice")
    if name in _HOME:
        return getattr(importlib.import_module(f"rollwise.{_HOME[name]}"), name)
    raise AttributeError(f"module 'rollwise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
