"""The naive twin of `rollwise.proofs.check`, in exact arithmetic.

Every double is a whole multiple of 2^-1074, so in this unit all numbers of a graph are whole, and
Python's own are as long as they need to be. Nothing is compiled and nothing is divided: the two
sides of each inequality are multiplied by the sum of the action's weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.proofs.check import Floats, Verdict, with_border

UNIT = 2**1074  # in one


def check_exactly(
    graph: StateGraph,
    values: Floats,
    bounds: Floats,
    border_values: Floats | None = None,
    border_bounds: Floats | None = None,
) -> Verdict:
    """Check the bounds of all values of a graph: as `rollwise.proofs.check.check` does."""
    known, sure = with_border(graph, values, bounds, border_values, border_bounds)
    proved, residual = look_ahead_exactly(graph, known, sure)
    return Verdict(np.flatnonzero(~proved), staying(graph), residual)


def staying(graph: StateGraph) -> NDArray[np.int64]:
    """The states that play may never leave, by repeated looks at all of them."""
    n, ends = graph.n_states, np.ones(graph.n_states + graph.n_border + 1, np.bool_)
    ends[:n] = False  # the last place, index -1, is the end of the game
    while True:
        leads = np.logical_or.reduceat(ends[graph.outcome_state], graph.outcome_indptr[:-1])
        found = np.logical_and.reduceat(leads, graph.action_indptr[:-1])
        if np.array_equal(found, ends[:n]):
            return np.flatnonzero(~found)
        ends[:n] = found


def look_ahead_exactly(
    graph: StateGraph, values: Floats, bounds: Floats
) -> tuple[NDArray[np.bool_], float]:
    """What states prove, one look ahead.

    Parameters
    ----------
    values, bounds : (n_states + n_border,) float64

    Returns
    -------
    proved : (n_states,) bool
        Which states prove their bound.
    residual : float
        Rounded.

    Raises
    ------
    UsageError
        A reward, a payoff or a weight isn't finite.
    """
    n, sign = graph.n_states, -1 if graph.objective == "minimize" else 1
    given = graph.action_reward, graph.outcome_payoff, graph.outcome_weight
    if not all(np.all(np.isfinite(numbers)) for numbers in given):
        raise UsageError(f"{graph.title}: rewards, payoffs and weights must be finite")
    value, bound, vague = _in_units(values), _in_units(bounds), np.isinf(bounds).tolist()
    reward, payoff = _in_units(graph.action_reward), _in_units(graph.outcome_payoff)
    whole = graph.outcome_weight.dtype.kind == "i"
    weight = graph.outcome_weight.tolist() if whole else _in_units(graph.outcome_weight)
    action_indptr, outcome_indptr = graph.action_indptr.tolist(), graph.outcome_indptr.tolist()
    state, passes = graph.outcome_state.tolist(), graph.outcome_passes.tolist()
    proved, residual = np.zeros(n, np.bool_), 0.0
    for s in range(n):
        above, below, best = True, False, -np.inf
        for a in range(action_indptr[s], action_indptr[s + 1]):
            outcomes = range(outcome_indptr[a], outcome_indptr[a + 1])
            total = sum(weight[k] for k in outcomes)
            worth, after = total * reward[a], 0
            sound = min(weight[k] for k in outcomes) > 0
            for k in outcomes:
                t, w = state[k], weight[k]
                if t < 0:
                    worth += w * payoff[k]
                else:
                    worth += -w * value[t] if passes[k] else w * value[t]
                    after += w * bound[t]
                    sound = sound and not vague[t]
            gap, room = sign * (worth - total * value[s]), total * bound[s]
            above = above and sound and gap + after <= room
            below = below or vague[s] or (sound and after - gap <= room)
            best = max(best, _divided(gap, total * UNIT) if total > 0 else np.inf)
        proved[s] = vague[s] or (above and below)
        residual = max(residual, abs(best))
    proved &= np.isfinite(values[:n]) & (bounds[:n] >= 0)
    return proved, residual


def _in_units(numbers: NDArray[Any]) -> list[int]:
    """Doubles as whole numbers, of 2^-1074 each; 0 stands for what is no number."""
    fractions = [x.as_integer_ratio() if np.isfinite(x) else (0, 1) for x in numbers.tolist()]
    return [numerator * (UNIT // denominator) for numerator, denominator in fractions]


def _divided(numerator: int, denominator: int) -> float:
    try:
        return numerator / denominator
    except OverflowError:
        return np.inf if numerator > 0 else -np.inf
