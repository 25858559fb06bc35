"""Strategy iteration where play may go on for ever, and endless play has its worth.

The choices within end components (see `rollwise.graph.endings`) are made in rounds.
Within a round they stand: every play ends, or certainly goes on for ever, and the
rest is solved as usual. Then the choices are improved at these values (Howard 1960),
until none can be.

Where points are counted, the first choices bring play to an end. Improved ones do
too, since every round costs (Bertsekas and Tsitsiklis 1991).

Where both players can keep the turn passing, the first choices are the best ones of
a game in which every move within an end component may be the last, with a small
chance (Condon 1992). Where that chance is very small, the game may be too hard to
solve; then the rounds, in which both players improve at once, can come back to choices
that stood before. So another chance is tried. The certificate says whether the result
is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph, sign_of
from rollwise.graph.endings import EndComponents, end_components, regroup, ways_out
from rollwise.kernels.solving import EPSILON
from rollwise.methods.sweeping import action_values, greedy_actions, with_border

MOST_ROUNDS = 1_000
MARGIN = 16 * EPSILON  # relative; what an action must be better by, to be taken instead
LAST_MOVES = (1e-6, 1e-4, 1e-2)  # the chance of each move to be the last, one after the other
NEARLY = 1e-12  # values that are closer to each other, and tied, are the same

Ints = NDArray[np.int64]
Solve = Callable[[StateGraph], NDArray[np.float64]]


def solve_in_rounds(
    graph: StateGraph, border_values: NDArray[np.float64] | None, solve: Solve
) -> tuple[NDArray[np.float64], int]:
    """Find the values of a graph with end components.

    Parameters
    ----------
    graph : StateGraph
        As `rollwise.graph.endings.settle` gives it.
    border_values : (n_border,) float64, optional
    solve : callable
        Finds the values of a graph in which every play ends.

    Returns
    -------
    values : (n_states,) float64
    rounds : int
    """
    found = end_components(graph)
    if graph.objective != "win":
        chosen = ways_out(graph, np.ones(graph.n_actions, np.bool_))
        values, rounds, _ = _improved(graph, found, chosen, border_values, solve)
        return values, rounds
    total = 0
    for chance in LAST_MOVES:
        begin = solve(with_last_moves(graph, found, chance))
        chosen = greedy_actions(graph, _extended(graph, begin, border_values))
        values, rounds, at_rest = _improved(graph, found, chosen, border_values, solve)
        total += rounds
        if at_rest:
            break
    return _level(graph, found, _extended(graph, values, border_values)), total


def _improved(
    graph: StateGraph,
    found: EndComponents,
    chosen: Ints,
    border_values: NDArray[np.float64] | None,
    solve: Solve,
) -> tuple[NDArray[np.float64], int, bool]:
    """Improve choices round by round, until none can be, or those of an earlier round come back.

    Parameters
    ----------
    chosen : (n_states,) int64
        The first choices; changed.

    Returns
    -------
    values : (n_states,) float64
    rounds : int
    at_rest : bool
        No choice can be improved.
    """
    choosing = (found.number >= 0) & (np.diff(graph.action_indptr) > 1)
    sign = sign_of(graph.objective)
    values, stood = np.empty(0), set()
    for rounds in range(1, MOST_ROUNDS + 1):
        stood.add(chosen[choosing].tobytes())
        values = solve(with_choices(graph, found, choosing, chosen))
        worth = sign * action_values(graph, _extended(graph, values, border_values))
        now = worth[chosen]
        best = np.maximum.reduceat(worth, graph.action_indptr[:-1])
        margin = MARGIN * np.maximum(np.abs(best), np.abs(now))
        better = choosing & (best > now + margin)
        if not better.any():
            return values, rounds, True
        first = np.where(worth == best[graph.action_state], np.arange(graph.n_actions), len(worth))
        chosen[better] = np.minimum.reduceat(first, graph.action_indptr[:-1])[better]
        if chosen[choosing].tobytes() in stood:
            break
    return values, rounds, False


def with_last_moves(graph: StateGraph, found: EndComponents, chance: float) -> StateGraph:
    """The graph in which moves that may be repeated for ever can be the last, which is a draw.

    Parameters
    ----------
    chance : float
        Of each such move to be the last.
    """
    may_repeat = found.stays
    counts = np.diff(graph.outcome_indptr)
    total = np.add.reduceat(graph.outcome_weight.astype(np.float64), graph.outcome_indptr[:-1])
    places = graph.outcome_indptr[1:][may_repeat]

    def insert(array: NDArray[Any], what: Any) -> NDArray[Any]:
        return np.insert(array, places, what)

    weight = graph.outcome_weight.astype(np.float64)
    return graph.with_arrays(
        outcome_indptr=np.append(0, np.cumsum(counts + may_repeat)).astype(np.int64),
        outcome_state=insert(graph.outcome_state, -1),
        outcome_weight=insert(weight, chance * total[may_repeat]),
        outcome_passes=insert(graph.outcome_passes, False),
        outcome_payoff=insert(graph.outcome_payoff, 0.0),
    )


def with_choices(
    graph: StateGraph, found: EndComponents, choosing: NDArray[np.bool_], chosen: Ints
) -> StateGraph:
    """The graph in which some choices stand; what then goes on for ever ends as a draw."""
    numbers = np.arange(graph.n_actions)
    kept = numbers[~choosing[graph.action_state] | (numbers == chosen[graph.action_state])]
    place = np.arange(graph.n_states)
    taken = np.zeros(graph.n_actions, np.bool_)
    taken[kept] = True
    if graph.objective == "win":
        stalled = end_components(graph, taken & found.stays).stays
        kept = np.where(stalled[kept], -1, kept)
        owner = graph.action_state[numbers[taken]]
    else:
        owner = graph.action_state[kept]
    return regroup(graph, place, kept, owner)


def _level(
    graph: StateGraph, found: EndComponents, known: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Make values the same that are nearly so and tied, for the certificate to see the tie.

    Parameters
    ----------
    known : (n_states + n_border,) float64
    """
    values = known[: graph.n_states].copy()
    nearly = found.stays & (
        np.abs(action_values(graph, known) - values[graph.action_state]) <= NEARLY
    )
    tied = end_components(graph, nearly)
    states = tied.states
    sizes = np.zeros(len(tied))
    np.maximum.at(sizes, tied.number[states], np.abs(values[states]))
    values[states] = np.where(
        sizes[tied.number[states]] <= NEARLY,
        0.0,
        np.copysign(sizes[tied.number[states]], values[states]),
    )
    return values


def _extended(
    graph: StateGraph, values: NDArray[np.float64], border_values: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Values of states, and those of the border behind them."""
    extended = with_border(graph, 0.0, border_values)
    extended[: graph.n_states] = values
    return extended
