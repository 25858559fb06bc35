"""The proof of a profile, and its ties.

With the policies of the others, a seat plays a game for one player
(`rollwise.many.alone`). The engine solves it, and the proof of all games proves it: once
with the seat's own policy, which bounds the values of the profile, and once with the seat free,
which bounds the gain from deviating. No policy of the seat, even with memory, has a higher value
than the optimal one.

Where several actions are equally good for the mover, the others may prefer one of them. `find_ties`
gives the range of the value of each seat from the start, over all ways to break all ties: in each
position with a tie the mover takes any of the equally good actions in this equilibrium, and
elsewhere all keep to it. The ends of the range are those of a game for one player, in which the
seat itself, or an adversary of the seat, breaks every tie. They are certified: no way to break
ties, even a varying one, leaves the range, and some way reaches each end, within the error bound.

Values are known within their bounds. Actions count as tied if the bounds of their
outcomes don't separate them. This includes all equally good ones, and possibly some that are worse
by less than some 1e-12.

Not every way to break ties is an equilibrium in itself. If a player is hurt, an
earlier action of this player may be better than that of the equilibrium. The range bounds the
effect of ties while no other choice changes. It makes no claim about other equilibria. Movers who
mix are indifferent too, but the equilibrium needs their probabilities, and these aren't called
ties.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.engine.bounds import bounds_of, solved
from rollwise.graph import StateGraph
from rollwise.kernels.chances import UNIT
from rollwise.kernels.jit import ONE, index, kernel
from rollwise.many.alone import SeatGame, by_seat, in_order, places_of
from rollwise.many.seats import Stakes
from rollwise.many.table import look, table_of
from rollwise.many.ties import ROUNDING, SeatTies
from rollwise.proofs.endless_play import require_ending

if TYPE_CHECKING:
    from rollwise.many.equilibrium import Equilibrium

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

UP = 1.0 + 8.0 * UNIT  # more than the roundings of a sum of bounds


def certified(
    game: SeatGame, stakes: Stakes, sign: float = 1.0, progress: Callable[[int], None] | None = None
) -> tuple[Floats, Floats]:
    """The values of a seat's game in solving order, and their bounds: (n_positions,) float64 each.

    In units of `stakes`; bounds are infinite without a proof.

    Parameters
    ----------
    sign : 1.0 for the most of each seat's payoff, -1.0 for the least
    progress : callable, optional
        Called at intervals with the number of solved positions.
    """
    values, bounds = np.empty(game.n_positions), np.empty(game.n_positions)
    # bounds leave room for rounding in proportion to values: those that the proof will see
    endings = sign * stakes.units(game.payoffs)
    for piece in game.pieces():
        layer, border = game.layer(piece)
        layer, known = replace(layer, endings=endings), (values[border], bounds[border])
        search, begun = solved(layer, *known)
        exact = search.found[: layer.n]
        # Bounds are proved for the rounded values. Value plus bound then rises in no move, as
        # `rollwise.proofs.check_rules` demands on the rule sheet.
        found = sign * stakes.on_grid(np.clip(sign * exact, 0.0, 1.0))
        same = np.array_equal(found, exact)
        proved = bounds_of(layer, found, known, encloses=False, begun=begun if same else None)
        values[piece] = found[::-1]
        bounds[piece] = np.inf if proved is None else proved.bounds[::-1]
        if progress is not None:
            progress(piece.stop)
    # a third of a win, as a payoff, has been rounded; and so is the number in units
    return sign * values, (bounds + 2.0 * UNIT) * UP


class Proof(NamedTuple):
    """A proved profile, with numbers from 0 to 1: (n_states, players) float64 each.

    Attributes
    ----------
    values : its values
    bounds : their error bounds
    gains : upper bounds on the gain of a seat by deviating
    """

    values: Floats
    bounds: Floats
    gains: Floats


def prove_profile(
    graph: StateGraph,
    probability: Floats,
    claimed: Floats | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Proof:
    """Bound the values of a profile, and the gain of any seat by deviating.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    probability : (n_actions,) float64
        The profile.
    claimed : (n_states, players) float64, optional
        Values to be bounded; by default those of the engine.
    progress : callable, optional
        Called now and then as ``progress(states done, states)``, counted for each seat twice.

    Returns
    -------
    Proof
        Its bounds are infinite without a proof: play is so slow that roundings count for more than
        chances.

    Raises
    ------
    EndlessPlay
        Players can go round for ever.
    """
    require_ending(graph)
    n, stakes, places = graph.n_states * graph.players, Stakes.of(graph), places_of(graph)

    def told(before: int) -> Callable[[int], None] | None:
        return None if progress is None else lambda done: progress(before + done, 2 * n)

    free = SeatGame(graph, places, probability, is_free=True)
    most, room = certified(free, stakes, progress=told(0))
    most += room
    most *= UP
    del free, room  # the second game needs their memory
    worth, bounds = certified(SeatGame(graph, places, probability), stakes, progress=told(n))
    values = worth if claimed is None else in_order(places, claimed)
    off = np.abs(values - worth)
    moved = np.flatnonzero(off)
    bounds[moved] = (bounds[moved] + off[moved]) * UP
    del worth, off, moved
    most -= values
    most += bounds * UP  # the bounds may cancel the difference, but not its rounding
    gains = np.maximum(most, 0.0, out=most)
    gains *= UP
    found, players = [gains, bounds, values], graph.players
    del values, bounds, gains, most
    return Proof(*(by_seat(places, found.pop(), players) for _ in Proof._fields))


def find_ties(equilibrium: Equilibrium) -> SeatTies:
    """The ties of an equilibrium, and their effect."""
    graph, stakes = equilibrium.graph, Stakes.of(equilibrium.graph)
    values = stakes.units(equilibrium.values)
    probability = equilibrium.policy.probability
    table = table_of(graph)
    tied, spread = np.zeros(graph.n_actions, np.bool_), np.zeros(graph.n_states)
    most = int(np.diff(graph.action_indptr).max())
    room = np.empty((most, equilibrium.players))
    mark_ties(table, values[None], probability, equilibrium.action_errors, room, tied, spread)
    positions = len(np.unique(graph.action_state[tied]))
    if not positions:
        own = equilibrium.worth
        return SeatTies(0, 0, 0.0, own, own, equilibrium.error_bound)
    mattering = int(np.count_nonzero(spread > ROUNDING))
    (low, off), (high, room) = _range(graph, probability, tied)
    return SeatTies(
        positions,
        mattering,
        float(stakes.span) * float(spread.max()) if mattering else 0.0,
        tuple(stakes.paid(low[0]).tolist()),
        tuple(stakes.paid(high[0]).tolist()),
        float(stakes.error(max(off[0].max(), room[0].max()))),
    )


def _range(
    graph: StateGraph, probability: Floats, tied: Mask
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """The least and the largest value of each seat in each state, and their errors."""
    of_state = np.zeros(graph.n_states, np.bool_)
    of_state[graph.action_state[tied]] = True
    chance = np.where(of_state[graph.action_state], tied, probability)
    places, stakes = places_of(graph), Stakes.of(graph)
    game = SeatGame(graph, places, chance, choices=tied)
    (low, off), (high, room) = (
        [by_seat(places, numbers, graph.players) for numbers in certified(game, stakes, sign)]
        for sign in (-1.0, 1.0)
    )
    return (low, off), (high, room)


@kernel
def mark_ties(table, values, probability, off, room, tied, spread):
    """Find actions equally good for the mover, in states without mixing and with several of them.

    Parameters
    ----------
    values : (1, n_states, n_seats) float64
    off : (n_actions,) float64
        Error bound of the mover's result by an action.
    room : (largest number of actions of a state, n_seats) float64, to write in
    tied : (n_actions,) bool, filled
    spread : (n_states,) float64, filled
        The largest difference of a seat's result between them.
    """
    n_seats, action_indptr = values.shape[2], table.action_indptr
    for place in range(values.shape[1]):
        s = index(place)
        first, last = index(action_indptr[s]), index(action_indptr[s + ONE])
        if last - first < 2:
            continue
        # the largest lower bound of the actions; an action is tied unless its upper bound is below
        least, several, taken = -np.inf, 0, 0
        for a in range(first, last):
            look(a, table, values, n_seats, room[a - first : a - first + 1])
            least = max(least, room[a - first, 0] - off[a])
            if probability[a] > 0.0:
                taken += 1
        for a in range(first, last):
            if room[a - first, 0] + off[a] >= least:
                several += 1
        if several < 2 or taken > 1:
            continue
        for a in range(first, last):
            tied[a] = room[a - first, 0] + off[a] >= least
        # a tie matters to seat k by the range of its values over the tied actions
        for k in range(n_seats):
            low, high = np.inf, -np.inf
            for a in range(first, last):
                if tied[a]:
                    low, high = min(low, room[a - first, k]), max(high, room[a - first, k])
            spread[s] = max(spread[s], high - low)


@kernel
def means_after(table, numbers, means):
    """The mean of numbers of seats over the outcomes of each action.

    Parameters
    ----------
    numbers : (1, n_states, n_seats) float64
    means : (n_actions, n_seats) float64, filled
    """
    for place in range(means.shape[0]):
        a = index(place)
        look(a, table, numbers, means.shape[1], means[a : a + ONE])
