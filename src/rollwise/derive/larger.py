"""A game within a larger one: the same states, with the same actions and outcomes.

Super Six with 40 sticks is the rest of the game with 41 after one stick is gone. A race of
30 steps is the end of one of 31. Such states have equal values in both games. The rule sheet need
not declare it: the two graphs are compared.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import build
from rollwise.derive.derived_game import places_in
from rollwise.errors import ParameterError, UsageError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.choices import actions_of, slopes_of

ROUNDING = 1e-12  # of chances that were added up in another order


class Larger(NamedTuple):
    """A larger game, and the location of a smaller one in it.

    Attributes
    ----------
    graph : StateGraph
        Of the larger game.
    place : (n,) int64
        For each state of the smaller game, its index in the larger one.
    """

    graph: StateGraph
    place: NDArray[np.int64]


def larger(game: Game, graph: StateGraph, by: int) -> Larger:
    """The same game with one whole-number parameter enlarged, if it contains the game itself.

    Parameters
    ----------
    game : Game
    graph : StateGraph
        Of this game.
    by : int
        Amount added to the parameter. The first parameter that works is used.

    Raises
    ------
    UsageError
        The states of the game are no part of any such larger one.
    """
    named = [spec.name for spec in game.specs if spec.type is int and game.base_game is game]
    for name in named:
        try:
            wide_game = dataclasses.replace(game, **{name: getattr(game, name) + by})
        except ParameterError:
            continue
        if wide_game.players != game.players:
            continue
        wide = build(wide_game)
        index = place_of(graph, wide)
        if index is not None:
            return Larger(wide, index)
    tried = f" (tried: {', '.join(named)})" if named else ""
    raise UsageError(
        f"{graph.title} has no rim to add: it isn't a part of the same game with a whole-number "
        f"parameter larger by {by}{tried}"
    )


def place_of(graph: StateGraph, wide: StateGraph) -> NDArray[np.int64] | None:
    """The indices of the states of one graph in another one: (n_states,) int64.

    None unless all of them are present, with the same actions and outcomes.
    """
    if graph.columns != wide.columns or graph.objective != wide.objective:
        return None
    index = places_in(graph.rows, wide.rows)
    if np.any(index < 0):
        return None
    actions, n_actions = actions_of(wide, index)
    if not np.array_equal(n_actions, np.diff(graph.action_indptr)):
        return None
    if not np.array_equal(wide.action_label[actions], graph.action_label):
        return None
    ours = _worth(graph, np.arange(graph.n_actions), index, wide.n_states)
    theirs = _worth(wide, actions, np.arange(wide.n_states), wide.n_states)
    same = all(abs(one - other).max() <= ROUNDING for one, other in zip(ours, theirs, strict=True))
    return index if same else None


def _worth(
    graph: StateGraph, actions: NDArray[np.int64], index: NDArray[np.int64], n: int
) -> tuple[Any, NDArray[np.float64]]:
    """Values of actions as linear functions of the values of n states: coefficients and constants.

    State s of the graph counts as the state ``index[s]``.
    """
    from scipy.sparse import csr_matrix

    after = slopes_of(graph, actions)
    places = after.action, index[after.state]
    return csr_matrix((after.slope, places), shape=(len(actions), n)), after.constant
