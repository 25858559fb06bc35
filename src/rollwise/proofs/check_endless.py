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
  states. `force_an_end` proves the returns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph
from rollwise.graph.endings import settle
from rollwise.kernels.jit import ONE, index, kernel
from rollwise.layers import layer_of_graph
from rollwise.proofs.check import Floats, Verdict, check, with_border
from rollwise.proofs.layers import claims, look_ahead

NOWHERE = np.empty(0, np.int64)


def check_game(graph: StateGraph, values: Floats, bounds: Floats) -> Verdict:
    """Check the bounds of all values of a graph, even if its play may be endless.

    Parameters
    ----------
    values, bounds : (n_states,) float64

    Raises
    ------
    EndlessPlay
        Play may be endless, and endless play has no worth.
    UsageError
        An array has the wrong length.
    """
    found = check(graph, values, bounds)
    if not len(found.endless):
        return found
    settled = settle(graph)
    standing, sure = settled.gather(values), settled.gather(bounds)
    found = check_settled(settled.graph, standing, sure)
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
    layer, n = layer_of_graph(graph), graph.n_states
    assert layer.parts is not None
    here = layer.by_place(values), layer.by_place(bounds)
    claimed = claims(layer, *here, known[n:], sure[n:])
    sizes = np.diff(layer.parts.ends)
    component = np.repeat(np.arange(len(sizes)), sizes)[::-1].copy()
    # the worth of endless play to the player who could gain by it
    worth = 1.0 if graph.endless == "lose" else 0.0
    free, forcing = claimed[:n, 1] >= worth, -claimed[:n, 0] >= worth
    force_an_end(layer.blocks[0][1], layer.tables, component, claimed, free, forcing)
    return np.asarray(layer.in_reading_order(free & forcing))


@kernel
def force_an_end(block, tables, component, bounds, free, forcing):
    """Mark the positions where one player can force an end of play, or a position marked at first.

    This player takes only actions that uphold the lower bound, the other one any. A position is
    marked as soon as, for all actions of the other, there is a chance to reach a marked position
    or to leave the component. If all are marked, play can't go round forever among positions
    unmarked at first: in as many moves as there are positions there is always a chance
    to leave them (the attractor of de Alfaro 1997, chance on the player's side). Play must never
    return to a component of a higher number; otherwise this proves no position.

    Parameters
    ----------
    block, tables
        Of a layer of one block and one throw.
    component : (n,) int64
        A number of each position.
    bounds : (n_places, 2) float64
        Of values for the mover.
    free, forcing : (n,) bool, filled
        By place: with the other one as the mover, and with this player. At first the positions
        with an upper bound of at least the worth of endless play, for either mover.
    """
    first, lottery, target, indptr = block.first, block.lottery, block.target, tables.indptr
    n, found = component.shape[0], np.empty(2)
    upholds = np.empty(lottery.shape[0], np.bool_)
    for i in range(n):
        o = index(first[i, 2])
        for a in range(index(first[i, 1]), index(first[i + 1, 1])):
            look_ahead(tables, index(lottery[a]), target, o, bounds, found)
            upholds[a] = bounds[i, 0] <= found[0]
            for _ in range(index(indptr[lottery[a] + ONE]) - index(indptr[lottery[a]])):
                if target[o] < n and component[target[o]] > component[i]:
                    # Play might come back to a component that it left, so the proof fails.
                    free[:] = False
                    return
                o += ONE
    changed = True
    while changed:
        changed = False
        for i in range(n):
            if free[i] and forcing[i]:
                continue
            every, some = True, False
            o = index(first[i, 2])
            for a in range(index(first[i, 1]), index(first[i + 1, 1])):
                with_free, with_forcing = False, False
                for j in range(index(indptr[lottery[a]]), index(indptr[lottery[a] + ONE])):
                    t, passes = index(target[o]), tables.weight[j] < 0.0
                    o += ONE
                    if t >= index(n) or component[t] != component[i]:
                        with_free, with_forcing = True, True
                    else:
                        # After a pass the other player moves, and the marks change places.
                        with_free = with_free or (forcing[t] if passes else free[t])
                        with_forcing = with_forcing or (free[t] if passes else forcing[t])
                every = every and with_free
                some = some or (upholds[a] and with_forcing)
            if every and not free[i]:
                free[i], changed = True, True
            if some and not forcing[i]:
                forcing[i], changed = True, True
