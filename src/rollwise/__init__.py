"""rollwise solves turn-based dice games: rules in plain Python in, a certified answer out.

This is the front door. It lists the public names and loads their modules at the first use, so
that importing it is instant. Its rooms, such as `rollwise.hidden`, are loaded so too.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rollwise.hooks import HOOKS as _HOOKS

__version__ = "0.2.0"

# The public names of each module.
_NAMES = {
    "game": "AGAIN DRAW END Game LOSE PASS PASS_BACK WIN last_left next_in parameter payoff "
    "payoffs policy replaced shared shared_by skip turned won_by",
    "graph": "StateGraph",
    "builders": "build",
    "models.arrays": "from_arrays from_gymnasium from_open_spiel",
    "engine.certificates": "Certificate certify",
    "graph.policies": "Policy",
    "answer.solution": "Solution",
    "answer.solve": "solve",
    "answer.solve_by_layers": "solve_by_layers",
    "answer.load": "load",
    "answer.verify": "verify",
    "answer.evaluation": "best_response best_responses evaluate",
    "derive.chase": "Chase",
    "analysis.contest": "Contest solve_contest",
    "derive.contest": "Duel",
    "analysis.check": "check",
    "analysis.distributions": "distribution distributions",
    "analysis.many_dice": "many_dice",
    "many.equilibrium": "Equilibrium equilibrium",
    "errors": "RollwiseError",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "AGAIN",
    "DRAW",
    "END",
    "LOSE",
    "PASS",
    "PASS_BACK",
    "WIN",
    "Certificate",
    "Chase",
    "Contest",
    "Duel",
    "Equilibrium",
    "Game",
    "Policy",
    "RollwiseError",
    "Solution",
    "StateGraph",
    "best_response",
    "best_responses",
    "bits",
    "boards",
    "build",
    "certify",
    "check",
    "dice",
    "distribution",
    "distributions",
    "equilibrium",
    "evaluate",
    "from_arrays",
    "from_gymnasium",
    "from_open_spiel",
    "last_left",
    "load",
    "many_dice",
    "next_in",
    "parameter",
    "payoff",
    "payoffs",
    "policy",
    "replaced",
    "shared",
    "shared_by",
    "skip",
    "solve",
    "solve_by_layers",
    "solve_contest",
    "turned",
    "verify",
    "won_by",
]

if TYPE_CHECKING:
    from rollwise import bits, boards, dice
    from rollwise.analysis.check import check
    from rollwise.analysis.contest import Contest, solve_contest
    from rollwise.analysis.distributions import distribution, distributions
    from rollwise.analysis.many_dice import many_dice
    from rollwise.answer.evaluation import best_response, best_responses, evaluate
    from rollwise.answer.load import load
    from rollwise.answer.solution import Solution
    from rollwise.answer.solve import solve
    from rollwise.answer.solve_by_layers import solve_by_layers
    from rollwise.answer.verify import verify
    from rollwise.builders import build
    from rollwise.derive.chase import Chase
    from rollwise.derive.contest import Duel
    from rollwise.engine.certificates import Certificate, certify
    from rollwise.errors import RollwiseError
    from rollwise.game import (
        AGAIN,
        DRAW,
        END,
        LOSE,
        PASS,
        PASS_BACK,
        WIN,
        Game,
        last_left,
        next_in,
        parameter,
        payoff,
        payoffs,
        policy,
        replaced,
        shared,
        shared_by,
        skip,
        turned,
        won_by,
    )
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Policy
    from rollwise.many.equilibrium import Equilibrium, equilibrium
    from rollwise.models.arrays import from_arrays, from_gymnasium, from_open_spiel


def _when_called(home: str, name: str) -> Callable[..., Any]:
    """A function whose module is imported at the first call."""
    return lambda *given, **named: getattr(importlib.import_module(home), name)(*given, **named)


_HOOKS.plot = _when_called("rollwise.plot", "plot")
_HOOKS.report = _when_called("rollwise.report", "report_page")
_HOOKS.page = _when_called("rollwise.page", "html_page")
_HOOKS.html = _when_called("rollwise.documents.views", "notebook_view")
_HOOKS.text = _when_called("rollwise.documents.views", "text_view")
_HOOKS.chase = _when_called("rollwise.derive.chase", "Chase")
_HOOKS.contest = _when_called("rollwise.derive.contest", "Duel")
_HOOKS.within = _when_called("rollwise.derive.within", "Within")
_HOOKS.with_score = _when_called("rollwise.derive.chase", "WithScore")
_HOOKS.average = _when_called("rollwise.answer.average", "with_best_rate")
_HOOKS.with_beliefs = _when_called("rollwise.hidden.beliefs", "with_beliefs")
_HOOKS.finite = _when_called("rollwise.answer.unbounded", "finite")
_HOOKS.cube = _when_called("rollwise.derive.cube", "Cube")
_HOOKS.create_form = _when_called("rollwise.derive.forms", "create_form")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"rollwise.{_HOME[name]}"), name)
    may_be_module = name.isidentifier() and not name.startswith("_")
    if may_be_module and importlib.util.find_spec(f"rollwise.{name}"):
        return importlib.import_module(f"rollwise.{name}")
    raise AttributeError(f"module 'rollwise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
