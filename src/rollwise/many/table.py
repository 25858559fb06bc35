"""The arrays of a graph for the search for an equilibrium, which needs the values of all seats."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.graph import StateGraph
from rollwise.kernels.jit import ONE, index, inlined, kernel
from rollwise.many.seats import Stakes, payoffs_of


class Table(NamedTuple):
    """The arrays of a graph for three or more seats."""

    order: Any  # states and ends of the components: `rollwise.graph.lotteries.Components`
    ends: Any
    action_indptr: Any
    outcome_indptr: Any
    outcome_state: Any
    lottery: Any  # (n_actions,): the lottery of each action
    indptr: Any  # the following are those of the lotteries
    chance: Any
    over: Any
    passes: Any
    payoff: Any  # (n_lottery_outcomes, n_seats) float64, in units of `Stakes`; of endings
    feedback: Any  # (n_components,) int64: see `find_feedback`


def table_of(graph: StateGraph) -> Table:
    """The arrays of a graph for the kernels."""
    lotteries, parts = graph.lotteries, graph.components
    outcomes = graph.action_indptr, graph.outcome_indptr, graph.outcome_state
    feedback = np.empty(len(parts), np.int64)
    find_feedback(parts.order, parts.indptr, parts.position, *outcomes, feedback)
    return Table(
        parts.order,
        parts.indptr,
        *outcomes,
        graph.action_lottery,
        lotteries.indptr,
        lotteries.chances(),
        lotteries.over,
        lotteries.passes,
        Stakes.of(graph).units(payoffs_of(graph)),
        feedback,
    )


ACYCLIC, SEVERAL = -1, -2


@kernel
def find_feedback(order, ends, position, action_indptr, outcome_indptr, outcome_state, feedback):
    """Find the state of each component that a sweep in solving order reads before it writes it.

    Parameters
    ----------
    feedback : (n_components,) int64, filled
        The state; ACYCLIC if there is none, SEVERAL if there are several.
    """
    for c in range(feedback.shape[0]):
        feedback[c] = ACYCLIC
        for place in range(ends[c], ends[c + 1]):
            s = index(order[place])
            begin = index(outcome_indptr[action_indptr[s]])
            for o in range(begin, index(outcome_indptr[action_indptr[s + ONE]])):
                t = outcome_state[o]
                # A state at this place or behind it: the sweep hasn't written its value yet.
                if t >= 0 and position[t] >= place and position[t] < ends[c + 1]:
                    is_only = feedback[c] == ACYCLIC or feedback[c] == t
                    feedback[c] = t if is_only else SEVERAL


@inlined
def look(a, table, numbers, seats, found):
    """Averages of numbers of the first seats over an action's outcomes.

    ``numbers[i, s, k]`` belongs to the seat k places after the mover. Where the turn moves on by i
    seats, the mover of state s is the seat n - i of the next state.

    Parameters
    ----------
    a : int
    table : Table
    numbers : (m, n_states, n_seats) float64
        First the values, then others, 0 at the end of the game.
    seats : int
        Number of the seats; those of the others become 0.
    found : (m, n_seats) float64, filled
    """
    indptr, chance, over, passes = table.indptr, table.chance, table.over, table.passes
    outcome_state, payoff = table.outcome_state, table.payoff
    m, n_seats = found.shape
    i = index(table.lottery[a])
    found[:] = 0.0
    first, begin = index(indptr[i]), index(table.outcome_indptr[a])
    for j in range(first, index(indptr[i + ONE])):
        p = chance[j]
        if over[j]:
            for k in range(seats):
                found[0, k] += p * payoff[j, k]
            continue
        t, on = index(outcome_state[begin + j - first]), index(np.int64(passes[j]))
        for row in range(m):
            # The mover of t is the seat `on` of s: seat k of s is seat k - on of t, counted round.
            for k in range(min(on, index(seats))):
                found[row, k] += p * numbers[row, t, index(n_seats) - on + k]
            for k in range(on, index(seats)):
                found[row, k] += p * numbers[row, t, k - on]
