"""The proof of a profile, and its ties.

The bounds on its values, and the upper bounds on the gain from deviating, are those of
`rollwise.kernels.deviations`, as is the argument. As in `rollwise.proofs.check`, they rest on two
facts: all play ends, and values with their bounds are a supersolution, or enclose the values of a
Markov chain. With fixed others a seat faces a Markov decision process. No policy, even with memory,
has a higher value than a supersolution.

Slow components get their bounds from linear systems, because sweeps don't settle.
A component that play leaves once in 10^7 moves takes some 10^8 sweeps. Each unknown is
one number of a state and a seat. It is the largest of some options, each a constant plus a mean of
unknowns, and strategy iteration finds it (Howard 1960): a sparse LU factorization evaluates the
chosen options. These results aren't trusted: `rollwise.kernels.deviations` and
`rollwise.kernels.ties` check them.

Where several actions are equally good for the mover, the others may prefer one of them. `find_ties`
gives the range of the value of each seat from the start, over all ways to break all ties: in each
position with a tie the mover takes any of the equally good actions in this equilibrium, and
elsewhere all keep to it. The ends of the range are those of a game in which the seat itself, or an
adversary of the seat, breaks every tie. They are certified (`rollwise.kernels.ties`): no way to
break ties, even a varying one, leaves the range, and some way reaches each end, within the error
bound.

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
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array, eye_array, kron, vstack
from scipy.sparse.linalg import splu

from rollwise.graph import StateGraph
from rollwise.kernels.chances import keeps_small_numbers
from rollwise.kernels.deviations import (
    LARGER,
    SEVERAL,
    TINY,
    UNIT,
    Table,
    check_bounds,
    need_of,
    rooms_of,
)
from rollwise.kernels.jit import index, inner_kernel, kernel
from rollwise.kernels.ties import bound_ties, check_ties, mark_ties, sweep_ties
from rollwise.many.component import Component, worth_of_actions
from rollwise.many.finding import pieces
from rollwise.many.seats import Stakes, table_of
from rollwise.numbers.printed import how_many, percent, rounded_up
from rollwise.proofs.endless_play import require_ending

if TYPE_CHECKING:
    from rollwise.many.equilibrium import Equilibrium

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

MOST_POLICIES = 100
WIDER = (1.0 + 2.0**-10, 2.0, 16.0, 256.0)  # times bounds, until they hold in spite of rounding
ROOM = 2.0**-10  # relative room of bounds found by sweeps
AT_HAND = 2_000  # sweeps, before and after a system is solved
MOST_SWEEPS = 100_000  # of a component that is too large for a system
MOST_UNKNOWNS = 400_000


class Options(NamedTuple):
    """Options of some unknowns, each with the value `constant` plus `mean` of the unknowns.

    Attributes
    ----------
    owner : (n_options,) int64
        The unknown of each option.
    constant : (n_options,) float64
    mean : (n_options, n_unknowns) sparse
    """

    owner: Ints
    constant: Floats
    mean: Any

    @classmethod
    def of(cls, parts: Sequence[Options]) -> Options:
        """All of them."""
        return cls(
            np.concatenate([part.owner for part in parts]),
            np.concatenate([part.constant for part in parts]),
            csr_array(vstack([part.mean for part in parts])),
        )

    def chosen(self, rows: Any, factor: Floats | float = 1.0) -> Options:
        """Some of them, with their constants and means times a factor."""
        scaled = csr_array(self.mean[rows].multiply(np.reshape(factor, (-1, 1))))
        return Options(self.owner[rows], self.constant[rows] * factor, scaled)


def largest(options: Options, n: int) -> Floats:
    """The unknowns, each as large as the best of its options: (n,) float64.

    NaN where no solution is found.
    """
    order = np.lexsort((np.arange(len(options.owner)), options.owner))
    owner, constant = options.owner[order], options.constant[order]
    mean = csr_array(options.mean[order])
    begins = np.searchsorted(owner, np.arange(n))
    taken = begins.copy()
    for _ in range(MOST_POLICIES):
        try:
            solution = splu(csc_array(eye_array(n) - mean[taken])).solve(constant[taken])
        except RuntimeError:  # it is singular
            break
        worth = constant + mean @ solution
        best = np.maximum.reduceat(worth, begins)
        places = np.where(worth == best[owner], np.arange(len(owner)), len(owner))
        better = best > worth[taken] + 4.0 * UNIT * np.abs(worth[taken])
        if not better.any():
            return np.asarray(solution)
        taken = np.where(better, np.minimum.reduceat(places, begins), taken)
    return np.full(n, np.nan)


class Steps:
    """Successors of the actions of a component, for each seat.

    An unknown is the number ``players * state + seat``, with local numbers of states.

    Attributes
    ----------
    n : int
        Number of unknowns.
    mean : (n_actions * players, n) sparse
        The mean of the unknowns after each action.
    mixture : (n, n_actions * players) sparse
        The profile in each state.
    off, rounding : (n_actions * players,) float64
        Excess of the mean value after an action over the value of the state, and a bound on its
        rounding error.
    """

    def __init__(self, component: Component, probability: Floats, values: Floats) -> None:
        self.component = component
        seats, n_actions = component.graph.players, len(component.actions)
        self.n = seats * len(component.states)
        self.mean = self._mean(n_actions, seats)
        chances = probability[component.actions]
        pairs = chances, (component.state_of, np.arange(n_actions))
        shape = len(component.states), n_actions
        self.mixture = csr_array(kron(coo_array(pairs, shape=shape), eye_array(seats)))
        self.owner = (
            component.state_of[:, None] * seats + np.arange(seats)
        ).ravel()  # of each action and seat
        own, table = values[component.states], component.table
        ahead = self.known(values, values, table)
        terms = 12.0 + np.diff(component.begins)[component.state_of]
        outcomes = np.diff(table.indptr)[table.lottery[component.actions]]
        self.most_outcomes = int(outcomes.max())
        self.off = ahead - own[component.state_of].ravel()
        size = ahead + own[component.state_of].ravel()
        self.rounding = np.repeat(terms + outcomes.max(), seats) * UNIT * size + TINY

    def _mean(self, n_actions: int, seats: int) -> Any:
        component, every = self.component, np.arange(seats)
        rows, columns, chances = [], [], []
        for a in range(n_actions):
            for code, p in zip(*component.rows(a, 1.0)[:2], strict=True):
                rows.append(a * seats + every)
                columns.append(code // seats * seats + (every - code % seats) % seats)
                chances.append(np.full(seats, p))
        places = np.concatenate([[0], *rows])[1:], np.concatenate([[0], *columns])[1:]
        entries = np.concatenate([[0.0], *chances])[1:]
        return csr_array((entries, places), shape=(n_actions * seats, self.n))

    def known(self, outside: Floats, inside: Floats | None, table: Table) -> Floats:
        """Means of numbers of states over each action's outcomes: (n_actions * players,) float64.

        Parameters
        ----------
        outside : (n_states, players) float64
            Of the whole graph.
        inside : the same, or None
            Of the states of the component; None for zeros.
        """
        component = self.component
        numbers = outside.copy()
        numbers[component.states] = 0.0 if inside is None else inside[component.states]
        means = np.empty((len(component.actions), component.graph.players))
        worth_of_actions(component.states, table, numbers[None], means)
        return means.ravel()

    def bounds(self, later: Floats) -> Floats:
        """Mean bound of the outcomes of each action outside the component."""
        table = self.component.table
        return self.known(later, None, table._replace(payoff=np.zeros_like(table.payoff)))

    def actions(self, constant: Floats) -> Options:
        """Each action and seat as an option."""
        return Options(self.owner, constant, self.mean)

    def profile(self, constant: Floats) -> Options:
        """The profile as an option of each unknown."""
        return Options(np.arange(self.n), constant, self.mixture @ self.mean)

    def nothing(self) -> Options:
        """Zero, as an option of each unknown."""
        return Options(np.arange(self.n), np.zeros(self.n), csr_array((self.n, self.n)))

    @property
    def larger(self) -> float:
        """The factor for the roundings of sums of bounds."""
        most = np.diff(self.component.begins).max() + self.most_outcomes
        return float(LARGER + 8.0 * (12.0 + most) * UNIT)


def put_bounds(steps: Steps, options: Options, later: Floats, wider: float) -> None:
    """Replace the bounds by the least ones that prove themselves, with some room."""
    scaled = options.chosen(np.arange(len(options.owner)), steps.larger)
    candidates = largest(scaled._replace(constant=scaled.constant * wider), steps.n)
    right = np.isfinite(candidates) & (candidates >= 0.0)
    states = steps.component.states
    bounds = np.where(right.all(), candidates, np.inf).reshape(len(states), -1)
    later[states] = np.maximum(bounds, 0.0)


def bound_profile(steps: Steps, gains: Floats, errors: Floats, wider: float) -> None:
    """Candidates for the bounds of a component: see `rollwise.kernels.deviations`."""
    mixed, rounding = steps.mixture @ steps.off, steps.mixture @ steps.rounding
    here = steps.mixture @ steps.bounds(errors)
    put_bounds(steps, steps.profile(np.abs(mixed) + rounding + here), errors, wider)
    seats, later = steps.component.graph.players, steps.bounds(gains)
    free = np.flatnonzero(steps.owner % seats == 0)
    actions = steps.actions(steps.off + steps.rounding + later).chosen(free)
    others = np.flatnonzero(np.arange(steps.n) % seats)
    profile = steps.profile(mixed + rounding + steps.mixture @ later).chosen(others)
    put_bounds(steps, Options.of([steps.nothing(), actions, profile]), gains, wider)


def put_ties(steps: Steps, tied: Mask, sign: float, values: Floats) -> None:
    """The values of one end of the range in a component: see `rollwise.kernels.ties`."""
    component = steps.component
    following = steps.known(values, None, component.table)
    free, rows = _free(steps, tied)
    actions = steps.actions(sign * following).chosen(rows)
    profile = steps.profile(sign * (steps.mixture @ following)).chosen(np.flatnonzero(~free))
    differences = sign * largest(Options.of([actions, profile]), steps.n)
    if np.isfinite(differences).all():
        shape = len(component.states), -1
        values[component.states] = np.clip(differences, 0.0, 1.0).reshape(shape)


def bound_end(steps: Steps, tied: Mask, sign: float, errors: Floats, wider: float) -> None:
    """Candidates for the errors of one end of the range: see `rollwise.kernels.ties`."""
    free, rows = _free(steps, tied)
    later, off = steps.bounds(errors), sign * steps.off
    actions = steps.actions(off + steps.rounding + later).chosen(rows)
    best = np.full(steps.n, -np.inf)
    np.maximum.at(best, steps.owner[rows], off[rows])
    reach = rows[off[rows] == best[steps.owner[rows]]]
    reach = reach[np.unique(steps.owner[reach], return_index=True)[1]]
    nearest = steps.actions(steps.rounding - off + later).chosen(reach)
    mixed = np.abs(steps.mixture @ steps.off) + steps.mixture @ (steps.rounding + later)
    profile = steps.profile(mixed).chosen(np.flatnonzero(~free))
    every = [steps.nothing(), actions, nearest, profile]
    put_bounds(steps, Options.of(every), errors, wider)


def _free(steps: Steps, tied: Mask) -> tuple[Mask, Ints]:
    """The unknowns with ties, and the tied actions and seats."""
    seats = steps.component.graph.players
    rows = np.flatnonzero(np.repeat(tied[steps.component.actions], seats))
    free = np.zeros(steps.n, np.bool_)
    free[steps.owner[rows]] = True
    return free, rows


def in_turn(
    first: int, stop: int, sweep: Callable[[int, int, int], int], directly: Callable[[int], None]
) -> None:
    """Settle components from `first` on: by sweeps, and by linear systems if sweeps are too slow.

    Parameters
    ----------
    sweep : callable
        Called with the first component, the end of the range, and the largest number of sweeps of
        each; returns the first component that doesn't settle.
    directly : callable
        Called with the number of a component.
    """
    while (component := sweep(first, stop, AT_HAND)) < stop:
        directly(component)
        first = component + 1


def bound_by_system(
    graph: StateGraph,
    table: Table,
    probability: Floats,
    values: Floats,
    sweep: Callable[[int, int, int, float], int],
    put: Callable[[Steps, float], None],
    bounds: Sequence[Floats],
    number: int,
) -> None:
    """Find bounds of a component by a linear system; they are infinite if none hold.

    Parameters
    ----------
    sweep : callable
        As that of `in_turn`, with the relative room of the bounds.
    put : callable
        Stores candidates, widened by a factor.
    bounds : sequence of (n_states, players) float64
    number : int
        Of the component.
    """
    component = Component.of(number, graph, table, values)

    def holds(room: float, most: int) -> bool:
        return sweep(number, number + 1, most, room) > number

    if len(component.states) * graph.players > MOST_UNKNOWNS:
        settled = holds(ROOM, MOST_SWEEPS)
    else:
        steps, settled = Steps(component, probability, values), False
        for wider in WIDER:
            put(steps, wider)
            if settled := holds(0.0, AT_HAND):
                break
    if not settled:
        for numbers in bounds:
            numbers[component.states] = np.inf


@kernel
def bound_components(component, stop, table, probability, numbers, room, most_sweeps):
    """Find candidates for the bounds of every state, component by component.

    Parameters
    ----------
    component, stop : int
        The first component, and the end of the range.
    table : Table
    probability : (n_actions,) float64
        The profile.
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
                need_of(s, table, probability, numbers, rooms)
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
    for i in range(bounds.shape[0]):
        for k in range(bounds.shape[1]):
            if sweep == 1:
                last[0, i, k] = 0.0
            before, now = last[0, i, k] - last[1, i, k], bounds[i, k] - last[0, i, k]
            if now > 0.0:
                rate = max(rate, now / before if before > 0.0 else np.inf)
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
) -> tuple[Floats, Floats]:
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
    bounds, gains : (n_states, players) float64
        Infinite without a proof: in components that play leaves too slowly, and in
        positions that lead there.

    Raises
    ------
    EndlessPlay
        Players can go round for ever.
    """
    require_ending(graph)
    numbers = np.zeros((3, *values.shape))
    numbers[0] = values
    (_, gains, bounds), table = numbers, table_of(graph)

    def sweep(first: int, stop: int, most: int, room: float = ROOM) -> int:
        return int(bound_components(first, stop, table, probability, numbers, room, most))

    def put(steps: Steps, wider: float) -> None:
        bound_profile(steps, gains, bounds, wider)

    given = graph, table, probability, values, sweep, put, (gains, bounds)
    directly = partial(bound_by_system, *given)
    for first, stop in pieces(graph, progress):
        in_turn(first, stop, sweep, directly)
    unproved = check_bounds(table, probability, numbers)
    if unproved or not keeps_small_numbers(1.0):
        return np.full_like(values, np.inf), np.full_like(values, np.inf)
    # upper bound by deviating, minus the lower bound of the profile
    gains += bounds
    gains *= 1.0 + 4.0 * UNIT
    return bounds, gains


TOLERANCE = 1e-15
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
    low, high = np.clip(values, 0.0, 1.0), np.clip(values, 0.0, 1.0)

    def sweep(first: int, stop: int, most: int) -> int:
        arrays = table, probability, tied, low[None], high[None]
        return int(sweep_ties(first, stop, *arrays, TOLERANCE, most))

    def directly(number: int) -> None:
        component = Component.of(number, graph, table, values)
        if len(component.states) * equilibrium.players <= MOST_UNKNOWNS:
            steps = Steps(component, probability, values)
            for sign, side in ((-1.0, low), (1.0, high)):
                put_ties(steps, tied, sign, side)

    in_turn(0, len(graph.components), sweep, directly)
    bounds = [
        _proved(equilibrium, table, tied, sign, side) for sign, side in ((-1.0, low), (1.0, high))
    ]
    mattering = int(np.count_nonzero(spread > ROUNDING))
    return Ties(
        positions,
        mattering,
        float(stakes.span) * float(spread.max()) if mattering else 0.0,
        tuple(stakes.paid(low[0]).tolist()),
        tuple(stakes.paid(high[0]).tolist()),
        float(stakes.error(max(bounds))),
    )


def _proved(
    equilibrium: Equilibrium,
    table: Table,
    tied: NDArray[np.bool_],
    sign: float,
    values: NDArray[np.float64],
) -> float:
    """The error of one end of the range at the start; infinite without a proof."""
    graph, probability = equilibrium.graph, equilibrium.policy.probability
    numbers = np.stack([values, np.zeros_like(values)])
    arrays, errors = (table, probability, tied, sign, numbers), numbers[1]

    def sweep(first: int, stop: int, most: int, room: float = ROOM) -> int:
        return int(bound_ties(first, stop, *arrays, room, most))

    def put(steps: Steps, wider: float) -> None:
        bound_end(steps, tied, sign, errors, wider)

    given = graph, table, probability, values, sweep, put, (errors,)
    in_turn(0, len(graph.components), sweep, partial(bound_by_system, *given))
    return float("inf") if check_ties(*arrays) else float(errors[0].max())
