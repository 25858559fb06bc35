"""The proof of a profile, and its ties.

The bounds on its values, and the upper bounds on the gain from deviating, are those of
`rollwise.kernels.deviations`, as is the argument. As in `rollwise.proofs.check`, they rest on two
facts: all play ends, and values with their bounds are a supersolution, or enclose the values of a
Markov chain. With fixed others a seat faces a Markov decision process. No policy, even with memory,
has a higher value than a supersolution.

Sweeps don't settle in components that play leaves slowly: one that is left once in 10^7 moves takes
some 10^8 sweeps. Such a game is solved and certified from each seat's point of view, as a game for
one player (`rollwise.many.seats.seen_from`), by the engine and the proof of all games. Multiples of
these bounds are then proved as all others are.

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

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.engine.bounds import solved
from rollwise.engine.certificates import certify_ending
from rollwise.graph import StateGraph
from rollwise.kernels.chances import keeps_small_numbers
from rollwise.kernels.deviations import SEVERAL, UNIT, check_bounds, look, need_of, rooms_of
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.layers import ordering_of
from rollwise.many.finding import pieces
from rollwise.many.seats import Stakes, seen_from, table_of
from rollwise.numbers.printed import how_many, percent, rounded_up
from rollwise.proofs.endless_play import require_ending

if TYPE_CHECKING:
    from rollwise.many.equilibrium import Equilibrium

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROOM = 2.0**-10  # relative room of bounds found by sweeps
MOST_SWEEPS, FEW_SWEEPS = 2_000, 8  # of a component
MULTIPLES = (1.5, 2.0, 3.0, 4.0, 16.0, 256.0)  # of the bounds of the engine, tried in turn


class SeatsGame:
    """The game of each seat for itself, solved by the engine and proved as every game for one is.

    Parameters
    ----------
    profile : sequence of (n_actions,) float64 or None
        The policies of the seat itself and of those after it: see `seen_from`.
    free : (n_actions,) bool, optional
        Actions among which the seat chooses, whoever is to move.
    """

    def __init__(
        self, graph: StateGraph, profile: Sequence[Floats | None], free: Mask | None = None
    ) -> None:
        self.graph, self.alone = graph, seen_from(graph, 0, profile, free)
        self.layer = ordering_of(self.alone).run()

    def certified(self, sign: float = 1.0) -> tuple[Floats, Floats]:
        """The values and their bounds, from the mover on: (n_states, players) float64 each.

        In units of `Stakes`; bounds are infinite without a proof.

        Parameters
        ----------
        sign : 1.0 for the most of each seat's payoff, -1.0 for the least
        """
        stakes, nothing = Stakes.of(self.graph), np.empty(0)
        # bounds leave room for rounding in proportion to values: those that the proof will see
        layer = replace(self.layer, endings=sign * stakes.units(self.layer.endings))
        search, begun = solved(layer, nothing, nothing)
        values = sign * layer.in_reading_order(search.found)
        bounds = certify_ending(self.alone, layer, sign * values, begun=begun).bounds
        players = self.graph.players
        movers = -np.arange(players) % players  # so many seats before the seat
        # row j has values of seat 0 with seat j to move: seat 0 is the k-th after the mover n - k
        values, bounds = (x.reshape(players, -1)[movers].T for x in (values, bounds))
        # a third of a win, as a payoff, has been rounded; and so is the number in units
        return np.clip(values, 0.0, 1.0), (bounds + 2.0 * UNIT) * (1.0 + 4.0 * UNIT)


@kernel
def bound_components(component, stop, table, probability, tied, numbers, room, most_sweeps):
    """Find candidates for the bounds of every state, component by component.

    Parameters
    ----------
    component, stop : int
        The first component, and the end of the range.
    table : Table
    probability, tied : (n_actions,)
        The profile, and actions that it may take as well: see `rollwise.kernels.deviations`.
    numbers : (3, n_states, n_seats) float64
        Values from 0 to 1; gains and errors, 0 at first, which grow as far as is needed.
    room : float
        Their relative excess over the required bounds.

    Returns
    -------
    int
        The first component in which they would grow further, or `stop`.
    """
    n_seats = numbers.shape[2]
    rooms, last = rooms_of(n_seats), np.empty((2, 2, n_seats))
    need = rooms[0]
    for c in range(component, stop):
        feedback, grows, sweep = table.feedback[c], True, 0
        several = feedback == SEVERAL
        while grows and sweep < most_sweeps:
            sweep += 1
            grows = False
            for place in range(table.ends[c], table.ends[c + 1]):
                s = index(table.order[place])
                # `need` is the first of `rooms`: the least bounds that these successors allow
                need_of(s, table, probability, tied, numbers, rooms)
                for bound in range(2):
                    for k in range(n_seats):
                        now = numbers[bound + 1, s, k]
                        # growth elsewhere reaches no state that comes before in the sweep
                        if several or feedback == s:
                            grows = grows or need[bound, k] > now
                        numbers[bound + 1, s, k] = max(now, need[bound, k] * (1.0 + room))
            if grows and feedback >= 0:
                hurry(sweep, numbers[1:, feedback], last, room)
        if grows:
            return c
    return stop


@inner_kernel
def hurry(sweep, bounds, last, room):
    """Let the bounds of a feedback state grow to their limit, after every second sweep.

    If growth falls by the factor r from sweep to sweep or faster, as that of sums of chances does,
    then what is left is at most r / (1 - r) times the last growth.

    Parameters
    ----------
    sweep : int
        Number of the finished sweep, from 1.
    bounds : (m, n_seats) float64, changed
    last : (2, m, n_seats) float64, changed
        The bounds before the last two sweeps.
    room : float
        The relative excess of the growth.
    """
    rate = 0.0
    # the rate of a sweep is the largest of all seats: one extrapolation has to cover each of them
    for i in range(bounds.shape[0]):
        for k in range(bounds.shape[1]):
            if sweep == 1:
                last[0, i, k] = 0.0
            before, now = last[0, i, k] - last[1, i, k], bounds[i, k] - last[0, i, k]
            if now > 0.0:
                rate = max(rate, now / before if before > 0.0 else np.inf)
    # odd sweeps only measure: the two growths of a rate must both come after the last jump
    more = rate / (1.0 - rate) * (1.0 + room) if sweep % 2 == 0 and rate < 1.0 else 0.0
    for i in range(bounds.shape[0]):
        for k in range(bounds.shape[1]):
            if more > 0.0:
                bounds[i, k] += (bounds[i, k] - last[0, i, k]) * more
            last[1, i, k] = last[0, i, k]
            last[0, i, k] = bounds[i, k]


def prove_profile(
    graph: StateGraph,
    values: Floats,
    probability: Floats,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Bound the error of a profile's values, and the gain of any seat by deviating.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    values : (n_states, players) float64
        Approximate values of the profile.
    probability : (n_actions,) float64
        The profile.
    progress : callable, optional
        Called now and then as ``progress(states done, states)``.

    Returns
    -------
    values : (n_states, players) float64
        The proved values: closer ones, where play is slow.
    bounds, gains : (n_states, players) float64
        Infinite without a proof: play is so slow that roundings count for more than chances.

    Raises
    ------
    EndlessPlay
        Players can go round for ever.
    """
    require_ending(graph)
    bounded = bounded_by_sweeps(graph, values, probability, progress=progress)
    if bounded is None:
        values, gains, bounds = slow_claims(graph, probability)
    else:
        gains, bounds = bounded
    # upper bound by deviating, minus the lower bound of the profile
    gains += bounds
    gains *= 1.0 + 4.0 * UNIT
    return values, bounds, gains


def bounded_by_sweeps(
    graph: StateGraph,
    values: Floats,
    probability: Floats,
    tied: Mask | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Floats, Floats] | None:
    """Proved gains and errors, see `rollwise.kernels.deviations`; None if sweeps find none."""
    numbers = np.zeros((3, *values.shape))
    numbers[0] = values
    tied = np.zeros(graph.n_actions, np.bool_) if tied is None else tied
    arrays = table_of(graph), probability, tied, numbers
    # the bounds are candidates, which `check_bounds` proves or refuses
    for first, stop in pieces(graph, progress):
        if bound_components(first, stop, *arrays, ROOM, MOST_SWEEPS) < stop:
            return None
    proved = keeps_small_numbers(1.0) and not check_bounds(*arrays)
    return (numbers[1], numbers[2]) if proved else None


def slow_claims(graph: StateGraph, probability: Floats) -> tuple[Floats, Floats, Floats]:
    """Values, gains and errors, where play leaves a component too slowly for sweeps.

    The bounds of the engine leave room for a part of the local error only. Their multiples have
    room for rounded units too, so that one sweep proves them.
    """
    others, stakes = [probability] * (graph.players - 1), Stakes.of(graph)
    worth, off = SeatsGame(graph, [probability, *others]).certified()
    best, room = SeatsGame(graph, [None, *others]).certified()
    values, nobody = stakes.on_grid(worth), np.zeros(graph.n_actions, np.bool_)
    # the larger the multiple, the more room for rounding, and the looser the bound
    for times in MULTIPLES:
        gains = np.maximum(best - values, 0.0) + times * room
        numbers = np.stack([values, gains, times * off])
        if not (np.isfinite(numbers).all() and keeps_small_numbers(1.0)):
            break
        # a few sweeps add the rounding of positions that the engine leaves without any
        arrays = table_of(graph), probability, nobody, numbers
        bound_components(0, len(arrays[0].feedback), *arrays, 0.0, FEW_SWEEPS)
        if not check_bounds(*arrays):
            return values, numbers[1], numbers[2]
    nothing = np.full(values.shape, np.inf)
    return values, nothing, nothing


ROUNDING = 1e-12  # a range that is no wider is none


@dataclass(frozen=True)
class Ties:
    """The ties of an equilibrium.

    Attributes
    ----------
    positions : int
        With several equally good actions for the mover.
    mattering : int
        Those of them with an effect on another seat.
    largest : float
        The largest change in the value of any seat by the choice in one of them.
    lowest, highest : tuple of float
        Value of each seat from the start over all ways to break them.
    error_bound : float
        Of each of these; proved.
    """

    positions: int
    mattering: int
    largest: float
    lowest: tuple[float, ...]
    highest: tuple[float, ...]
    error_bound: float

    @property
    def width(self) -> float:
        """Largest change in the value of any seat from the start."""
        pairs = zip(self.lowest, self.highest, strict=True)
        return max(high - low for low, high in pairs) + 2.0 * self.error_bound

    @property
    def matters(self) -> bool:
        """Whether they change the value of any seat from the start."""
        return self.width - 4.0 * self.error_bound > ROUNDING

    def text(self, *, payoffs: bool) -> str:
        """The ties and their effect from the start, in words."""
        shown, scale, unit = ("{:.6f}".format, 1, "") if payoffs else (percent, 100, " %")
        count = how_many(self.positions, "position")
        text = f"in {count} several actions are equally good to the mover"
        if self.mattering:
            text += f"; in {self.mattering:,} another seat cares, by up to {shown(self.largest)}"
        else:
            text += ", and to all others"
        if not math.isfinite(self.error_bound):
            return f"{text}; their effect from the start is unknown: no bound was proved"
        if not self.matters:
            most = f"{rounded_up(scale * self.width)}{unit}"
            return f"{text}; from the start they change at most {most} (proved)"
        ranges = ", ".join(
            f"seat {seat} {shown(low)} to {shown(high)}"
            for seat, (low, high) in enumerate(zip(self.lowest, self.highest, strict=True), 1)
        )
        return (
            f"{text}; over all ways to choose there each seat has from the start: {ranges} "
            f"(certified ± {rounded_up(scale * self.error_bound)}{unit} before rounding)"
        )


def find_ties(equilibrium: Equilibrium) -> Ties:
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
        return Ties(0, 0, 0.0, own, own, equilibrium.error_bound)
    mattering = int(np.count_nonzero(spread > ROUNDING))
    (low, off), (high, room) = _range(graph, values, probability, tied, matters=mattering > 0)
    return Ties(
        positions,
        mattering,
        float(stakes.span) * float(spread.max()) if mattering else 0.0,
        tuple(stakes.paid(low[0]).tolist()),
        tuple(stakes.paid(high[0]).tolist()),
        float(stakes.error(max(off[0].max(), room[0].max()))),
    )


def _range(
    graph: StateGraph, values: Floats, probability: Floats, tied: Mask, matters: bool
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """The least and the largest value of each seat in each state, and their errors."""
    if not matters:
        bounded = bounded_by_sweeps(graph, values, probability, tied)
        if bounded is not None:
            return (values, bounded[1]), (values, bounded[1])
    of_state = np.zeros(graph.n_states, np.bool_)
    of_state[graph.action_state[tied]] = True
    chance = np.where(of_state[graph.action_state], tied, probability)
    game = SeatsGame(graph, [chance] * graph.players, tied)
    return game.certified(-1.0), game.certified()


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
