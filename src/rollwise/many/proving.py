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
from rollwise.graph.choices import are_best, fold_actions, has_ties
from rollwise.kernels.chances import UNIT
from rollwise.kernels.jit import ONE, index, kernel
from rollwise.many.alone import SeatGame, by_seat, in_order
from rollwise.many.seats import Stakes
from rollwise.many.table import look
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
    n, stakes = graph.n_states * graph.players, Stakes.of(graph)

    def told(before: int) -> Callable[[int], None] | None:
        return None if progress is None else lambda done: progress(before + done, 2 * n)

    free = SeatGame(graph, probability, is_free=True)
    most, room = certified(free, stakes, progress=told(0))
    most += room
    most *= UP
    del free, room  # the second game needs their memory
    worth, bounds = certified(SeatGame(graph, probability), stakes, progress=told(n))
    values = worth if claimed is None else in_order(graph, claimed)
    off = np.abs(values - worth)
    moved = np.flatnonzero(off)
    bounds[moved] = (bounds[moved] + off[moved]) * UP
    del worth, off, moved
    most -= values
    most += bounds * UP  # the bounds may cancel the difference, but not its rounding
    gains = np.maximum(most, 0.0, out=most)
    gains *= UP
    found = [gains, bounds, values]
    del values, bounds, gains, most
    return Proof(*(by_seat(graph, found.pop()) for _ in Proof._fields))


def find_ties(equilibrium: Equilibrium) -> SeatTies:
    """The ties of an equilibrium, and their effect."""
    graph, stakes = equilibrium.graph, Stakes.of(equilibrium.graph)
    probability, best = equilibrium.policy.probability, are_best(graph, equilibrium.ahead)
    has_tie = has_ties(graph, best)
    has_tie[equilibrium.mixing] = False
    if not has_tie.any():
        own = equilibrium.worth
        return SeatTies(0, 0, 0.0, own, own, equilibrium.error_bound)
    is_tied = has_tie[graph.action_state]
    tied = best & is_tied
    worth = equilibrium.action_worths
    most, least = (
        fold_actions(graph, fold, np.where(tied[:, None], worth, none))[has_tie]
        for fold, none in ((np.maximum, -np.inf), (np.minimum, np.inf))
    )
    spread = (most - least).max(axis=1)  # of a seat's results between the actions of a tie
    mattering = int(np.count_nonzero(spread > ROUNDING * stakes.span))
    # one seat breaks all ties: the seat itself, or an adversary of it
    game = SeatGame(graph, np.where(is_tied, tied, probability), choices=tied)
    (low, off), (high, room) = (
        [by_seat(graph, numbers) for numbers in certified(game, stakes, sign)]
        for sign in (-1.0, 1.0)
    )
    return SeatTies(
        int(np.count_nonzero(has_tie)),
        mattering,
        float(spread.max()) if mattering else 0.0,
        tuple(stakes.paid(low[0]).tolist()),
        tuple(stakes.paid(high[0]).tolist()),
        float(stakes.error(max(off[0].max(), room[0].max()))),
    )


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
