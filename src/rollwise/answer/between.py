"""What lies between the entries of layers, solved again when somebody asks.

An answer that keeps entries has the values of all states that are entered from another layer. So
play from any state comes to states with known values before it leaves the layer, or as it does.
What lies between is a small game, which ends there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import solve_and_certify
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import region, some_states
from rollwise.derive.changed import ROUNDED, with_ends
from rollwise.errors import UnknownState, UsageError, spelled
from rollwise.graph import title_of

if TYPE_CHECKING:
    from rollwise.answer.layered_solution import LayeredSolution
    from rollwise.answer.solution import Solution
    from rollwise.builders.by_layer import Layers
    from rollwise.graph import StateGraph

MOST_AGAIN = 3_000_000  # outcomes of a graph, which are solved in a second or two


def require_small(layers: Layers) -> None:
    """Make sure that each layer can be solved again in a moment, as a graph.

    Raises
    ------
    UsageError
    """
    assert layers.entered is not None
    inside = np.diff(layers.indptr) - np.diff(np.searchsorted(layers.entered, layers.indptr))
    most = int(inside.max())
    if most * layers.n_outcomes > MOST_AGAIN * layers.n_states:
        game = layers.rules.game
        every = spelled(python='keep="all"', command_line="--keep all")
        raise UsageError(
            f"{title_of(game.name, game.parameters)}: a layer has {most:,} states that aren't "
            f"entered from another one, too many to solve again when somebody asks; {every} keeps "
            "them"
        )


def solved_again(answer: LayeredSolution, row: Sequence[int]) -> Solution:
    """The answer in a state, and in what lies between it and the states that are kept.

    Raises
    ------
    UnknownState
        No play comes there, as far as that can be told.
    """
    rules, rows = Rules(answer.game), np.array([row], np.int32)
    answer.require_progress(rows)
    found = region(rules, rows, lambda new: answer.places_of(new) >= 0, answer.n_states)
    if found is None:
        state = rules.state_text(rules.layout.state(rows[0].tolist()))
        raise UnknownState(f"{answer.title}: no play comes to the state {state}")
    graph, border = some_states(rules, found, closed=True)
    places = answer.places_of(border)
    return ended_solution(answer, graph, border, places)


def ended_solution(
    answer: LayeredSolution, graph: StateGraph, rows: NDArray[np.int32], places: NDArray[np.int64]
) -> Solution:
    """The answer of a graph whose border is known, as one in which play ends there.

    Parameters
    ----------
    rows : (n_border, n_fields) int32
        The fields of the border.
    places : (n_border,) int64
        Its numbers among the states of the answer.
    """
    from rollwise.answer.solution import Solution

    values = answer.values[places]
    off = np.nextafter(answer.error_bounds[places] + ROUNDED, np.inf)
    found, certificate, seconds = solve_and_certify(graph, border_values=values, border_bounds=off)
    return Solution(
        with_ends(graph, rows, values, answer.stakes),
        answer.game,
        found.method,
        np.concatenate([found.values, values]),
        np.concatenate([certificate.bounds, off]),
        sweeps=found.sweeps,
        converged=found.converged,
        seconds={"solve": found.seconds, "certify": seconds},
    )


def entries_of(answer: LayeredSolution, entered: NDArray[np.int64]) -> LayeredSolution:
    """An answer of which only some states are kept."""
    return replace(
        answer,
        keep="entries",
        n_found=len(answer.states),
        states=answer.states[entered],
        layers=np.searchsorted(entered, answer.layers),
        start=int(np.searchsorted(entered, answer.start)),
        values=answer.values[entered],
        error_bounds=answer.error_bounds[entered],
        actions=answer.actions[entered],
    )
