"""Parts of all documents: a game's name, a state, ties, and numbers valid in JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rollwise.game import Game

if TYPE_CHECKING:
    from rollwise.analysis.losses import Spread
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Ties

Document = dict[str, Any]


def game_head(of: StateGraph | Game) -> Document:
    """The first keys of a document about a game."""
    name = of.name if isinstance(of, Game) else of.game
    more = {"players": of.players} if of.players > 2 else {}
    return {"game": name, "parameters": dict(of.parameters), **more}


def sizes(graph: StateGraph) -> dict[str, int]:
    """The size of a graph."""
    return {"states": graph.n_states, "actions": graph.n_actions, "outcomes": graph.n_outcomes}


def state_fields(graph: StateGraph, state: int) -> dict[str, int]:
    """The fields of a state by name."""
    return graph.view[state].named


def ties_document(ties: Ties | None) -> dict[str, int] | None:
    """``equally_good``: in how many states several actions are."""
    return None if ties is None else ties._asdict()


def spread_document(spread: Spread | None) -> Document | None:
    """``spread``: ranges of the losses over all optimal policies."""
    if spread is None:
        return None
    ends = {"loss": spread.mean, "loss_first": spread.first, "loss_second": spread.second}
    return {
        **{name: [number_or_none(end) for end in pair] for name, pair in ends.items()},
        "error_bound": number_or_none(spread.error_bound),
    }


def number_or_none(value: float | None) -> float | None:
    """A number as JSON knows it: infinities and NaN become null."""
    return None if value is None or not math.isfinite(value) else value
