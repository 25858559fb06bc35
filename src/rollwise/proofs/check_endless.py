"""Further checks for games with endless play: trusted, for these games alone.

`rollwise.graph.endings.settle` gives endless play its worth, and rejects rules for which this is
impossible. It is trusted in three respects. It finds where play can be prolonged forever. Every
round there costs points, or has the worth given by the rules. It joins only states of one value.
Its graph is checked by `rollwise.proofs.check`, except that play ends. Two facts replace this:

- If rounds cost points, sub- and supersolutions enclose the unique solution of the recursion,
  whether or not play ends (Bertsekas and Tsitsiklis 1991, proposition 2).
- If both players can keep the turn passing, more has to be proved. Let MIN take only actions that
  uphold a supersolution. Its value at the present state then never rises on average, so play that
  ends brings MAX at most this value. At some states the supersolution is at least the worth of
  endless play to MAX. Endless play brings MAX no more either, if it keeps returning to such
  states. `rollwise.kernels.check.force_an_end` proves the returns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph
from rollwise.graph.endings import settle
from rollwise.kernels import check as kernels
from rollwise.kernels.chances import chances_of
from rollwise.proofs.check import Floats, Verdict, check, with_border

NOWHERE = np.empty(0, np.int64)


def check_game(
    graph: StateGraph,
    values: Floats,
    bounds: Floats,
    border_values: Floats | None = None,
    border_bounds: Floats | None = None,
) -> Verdict:
    """Check the bounds of all values of a graph, even if its play may be endless.

    Parameters
    ----------
    values, bounds, border_values, border_bounds
        See `rollwise.proofs.check.check`.

    Raises
    ------
    EndlessPlay
        Play may be endless, and endless play has no worth.
    UsageError
        An array has the wrong length.
    """
    lists = values, bounds, border_values, border_bounds
    found = check(graph, *lists)
    if not len(found.endless):
        return found
    settled = settle(graph)
    standing, sure = settled.gather(values), settled.gather(bounds)
    found = check_settled(settled.graph, standing, sure, border_values, border_bounds)
    doubtful = np.zeros(len(standing), np.bool_)
    doubtful[found.unproved] = doubtful[found.endless] = True
    # the bound of each joined state, and the distances of the values that it represents
    lost = settled.place < 0
    with np.errstate(invalid="ignore"):
        away = np.abs(values - settled.spread(standing))
        needed = np.nextafter((settled.spread(sure) + away) * (1 + 2.0**-52), np.inf)
    proved = np.where(away == 0, bounds >= settled.spread(sure), bounds >= needed)
    proved &= ~settled.spread(doubtful, True)
    proved[lost] = (values[lost] == settled.hopeless) & (bounds[lost] >= 0)
    return Verdict(np.flatnonzero(~proved), NOWHERE, found.residual)


def check_settled(
    graph: StateGraph,
    values: Floats,
    bounds: Floats,
    border_values: Floats | None = None,
    border_bounds: Floats | None = None,
) -> Verdict:
    """Check the bounds of all values of a graph from `rollwise.graph.endings.settle`.

    Returns
    -------
    Verdict
        Its ``endless`` are the states from which a player may gain by endless play.
    """
    if not graph.n_states:  # neither player can end the play anywhere
        return Verdict(NOWHERE, NOWHERE, 0.0)
    lists = values, bounds, border_values, border_bounds
    found = check(graph, *lists)
    if graph.objective != "win" or len(found.unproved):
        return Verdict(found.unproved, NOWHERE, found.residual)
    ends = _ends_or_does_not_matter(graph, *lists)
    return Verdict(found.unproved, np.flatnonzero(~ends), found.residual)


def _ends_or_does_not_matter(
    graph: StateGraph,
    values: Floats,
    bounds: Floats,
    border_values: Floats | None,
    border_bounds: Floats | None,
) -> NDArray[np.bool_]:
    """Whether neither player gains by endless play from each state: (n_states,) bool."""
    known, sure = with_border(graph, values, bounds, border_values, border_bounds)
    arrays = graph.action_indptr, graph.action_lottery, graph.outcome_indptr, graph.outcome_state
    upholds = np.empty(graph.n_actions, np.bool_)
    kernels.find_upholding(*arrays, chances_of(graph.lotteries), known, 1.0, sure, upholds)
    # the worth of endless play to the player who could gain by it
    worth = 1.0 if graph.endless == "lose" else 0.0
    free, forcing = np.empty(graph.n_states, np.bool_), np.empty(graph.n_states, np.bool_)
    kernels.find_worth_it(worth, values, bounds, free, forcing)
    # play must never return to a component of a higher number; otherwise this proves no state
    component = np.empty(graph.n_states, np.int32)
    sizes = np.diff(graph.components.indptr)
    component[graph.components.order] = np.repeat(np.arange(len(sizes)), sizes)
    source = component[graph.action_state].repeat(np.diff(graph.outcome_indptr))
    inside = (graph.outcome_state >= 0) & (graph.outcome_state < graph.n_states)
    if np.any(component[graph.outcome_state[inside]] > source[inside]):
        return np.zeros(graph.n_states, np.bool_)
    lists = graph.action_indptr, graph.outcome_indptr, graph.outcome_state, graph.outcome_passes
    kernels.force_an_end(*lists, component, upholds, free, forcing)
    return np.asarray(free & forcing)
