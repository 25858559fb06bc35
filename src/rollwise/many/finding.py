"""Search for an equilibrium, component by component: sweeps of best choices, then mixtures.

Strongly connected components are taken in reverse order, so that all successors of a component
have values. Within a component, sweeps of best choices settle nearly everywhere. If all cycles pass
through one state, a sweep is a map F of its n values to themselves, and Newton's step on F(x) = x
follows each sweep. Play from a state returns to this state after some number of seats, so n
chances are the derivative of all n values. If sweeps cycle, best choices depend on each other, and
`rollwise.many.component` searches for mixtures. No result of this module is trusted:
`rollwise.many.equilibrium` proves it, or reports it as unproved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.engine.condensed import solve_small
from rollwise.graph import StateGraph
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.many.component import MARGIN, Component, settle_component
from rollwise.many.table import ACYCLIC, look, table_of
from rollwise.numbers.randomness import check_seed

Floats = NDArray[np.float64]
MOST_SWEEPS, SWEEPS, TOLERANCE = 2_000, 25, 4e-16  # of a component, and of a call
NO_MARGIN = 2.0  # by which no action is better than another
PIECE, PIECE_IN_TIME = 300_000, 20_000  # states between two reports, or two looks at the clock


class Found(NamedTuple):
    """A profile, and the components without an equilibrium.

    Attributes
    ----------
    probability : (n_actions,) float64
        The policy of the mover in each state, the same for all seats.
    unsettled : list of int
        Components without an equilibrium found.
    timed_out : bool
        Whether the time limit ended the search in some of them.
    """

    probability: Floats
    unsettled: list[int]
    timed_out: bool = False


def find_profile(
    graph: StateGraph,
    progress: Callable[[int, int], None] | None = None,
    *,
    seed: int | None = None,
    forced: Mapping[int, Floats] | None = None,
    until: float | None = None,
) -> Found:
    """Search for a stationary equilibrium.

    The search begins with the first action everywhere, or with a random policy, and its values. Of
    actions with equal values for the mover, within 1e-13, sweeps keep the present one, which is at
    first the first of the rules.

    Parameters
    ----------
    seed : int, optional
        Of the random policy.
    forced : mapping, optional
        Fixed probabilities of the actions of some components.
    until : float, optional
        Deadline, on the clock of `time.monotonic`. In remaining components the choices stay
        unchanged, and only their values are computed.
    """
    search = _Search(graph, seed, until)
    held = sorted(forced or {})
    for begin, stop in pieces(graph, progress, PIECE if until is None else PIECE_IN_TIME):
        component = begin
        while component < stop:
            if search.is_late:
                search.evaluate(component, stop)
                break
            # sweeps stop before the next component with given chances
            end = next((c for c in held if component <= c < stop), stop)
            if end > component:
                component = search.sweep(component, end)
            # sweeps stopped early: best choices of this component depend on each other
            if component < end:
                search.settle(component)
                component += 1
            elif end < stop:
                assert forced is not None
                search.force(end, forced[end])
                component += 1
    return search.found()


class _Search:
    """A search in progress, with the values of the finished components."""

    def __init__(self, graph: StateGraph, seed: int | None, until: float | None) -> None:
        n = graph.n_states
        self.graph, self.until = graph, until
        self.table = table_of(graph)
        self.numbers = np.zeros((2, n, graph.players))
        self.values: Floats = self.numbers[0]
        self.values[:] = 1.0 / graph.players
        self.chosen = graph.action_indptr[:-1].astype(np.int64)
        self.mixed: list[tuple[NDArray[np.int64], Floats]] = []
        self.unsettled: list[int] = []
        self.timed_out = False
        if seed is not None:
            self._draw(np.random.default_rng(check_seed(seed)))

    def _draw(self, random: np.random.Generator) -> None:
        """Begin with a policy drawn at random: in some components more with late actions."""
        graph, components = self.graph, self.graph.components
        sizes = np.diff(graph.action_indptr)
        bias = np.repeat(random.random(len(components)), np.diff(components.indptr))
        bias_of_state = np.empty(graph.n_states)
        bias_of_state[components.order] = bias
        # exponent of a uniform random number: prefers early or late actions
        sharp = np.exp(4.0 * bias_of_state - 2.0)
        drawn = (random.random(graph.n_states) ** sharp * sizes).astype(np.int64)
        self.chosen += np.minimum(drawn, sizes - 1)
        self._fixed(0, len(components))

    @property
    def is_late(self) -> bool:
        return self.until is not None and time.monotonic() >= self.until

    def sweep(self, component: int, stop: int, margin: float = MARGIN) -> int:
        """Take better choices; the first component where these don't settle, or `stop`."""
        arrays = self.table, self.numbers, self.chosen
        swept = 0  # times, through the present component
        # after a call of some sweeps, further ones may be worth compiling
        while component < stop and swept < MOST_SWEEPS:
            reached = int(sweep_components(component, stop, *arrays, margin, TOLERANCE, SWEEPS))
            swept = SWEEPS + (swept if reached == component else 0)
            component = reached
        return component

    def _fixed(self, component: int, stop: int) -> None:
        """Compute the values of the present choices."""
        while component < stop:
            # a component that doesn't settle keeps its last values
            component = self.sweep(component, stop, NO_MARGIN) + 1

    def evaluate(self, component: int, stop: int) -> None:
        """Leave choices as they are, since time is over."""
        components = self.graph.components
        # components without a choice need no search, and count as settled
        choice = np.diff(self.graph.action_indptr) > 1
        places = slice(components.indptr[component], components.indptr[stop])
        sizes = np.diff(components.indptr[component : stop + 1])
        numbers = np.repeat(np.arange(component, stop), sizes)
        left = np.unique(numbers[choice[components.order[places]]])
        self.unsettled += left.tolist()
        self.timed_out = self.timed_out or len(left) > 0
        self._fixed(component, stop)

    def component(self, number: int) -> Component:
        """A component, with the values of the search."""
        return Component(self.graph, number, self.table, self.values, self.until)

    def settle(self, number: int) -> None:
        """Look for mixtures in a component."""
        at_hand = self.component(number)
        settled, chances = settle_component(at_hand, self.chosen)
        self.mixed.append((at_hand.actions, chances))
        if not settled:
            self.unsettled.append(number)
            self.timed_out = self.timed_out or self.is_late

    def force(self, number: int, chances: Floats) -> None:
        """Have a component's mixtures be as given."""
        at_hand = self.component(number)
        at_hand.evaluate(chances)
        self.mixed.append((at_hand.actions, chances))

    def found(self) -> Found:
        """The result of the search."""
        probability = np.zeros(self.graph.n_actions)
        probability[self.chosen] = 1.0
        for actions, chances in self.mixed:
            probability[actions] = chances
        return Found(probability, self.unsettled, self.timed_out)


def pieces(
    graph: StateGraph,
    progress: Callable[[int, int], None] | None = None,
    size: int = PIECE,
) -> Iterator[tuple[int, int]]:
    """Components from and to, some thousand states at a time; tells how far it has come."""
    indptr, component = graph.components.indptr, 0
    while component < len(graph.components):
        if progress is not None:
            progress(int(indptr[component]), graph.n_states)
        stop = int(np.searchsorted(indptr, indptr[component] + size))
        stop = min(max(stop, component + 1), len(graph.components))
        yield component, stop
        component = stop


@kernel
def sweep_components(component, stop, table, numbers, chosen, margin, tolerance, most_sweeps):
    """Sweep components until each is settled; stop at the first that isn't.

    Parameters
    ----------
    component, stop : int
        The first component, and the end of the range.
    table : rollwise.many.table.Table
    numbers : (2, n_states, n_seats) float64, changed
        The values of each state for the seats from the mover on; and chances that play returns
        from it to the feedback state of its component, after 0, 1, ... seats: 0 at first.
    chosen : (n_states,) int64, changed
        An action of each state. It changes for a gain of the mover above `margin`.
    tolerance : float
        The largest change of a value in the last sweep.

    Returns
    -------
    int
        The first component that isn't settled, or `stop`.
    """
    n_seats, action_indptr = numbers.shape[2], table.action_indptr
    found, best = np.empty((2, n_seats)), np.empty((2, n_seats))
    before, matrix = np.empty(n_seats), np.empty((n_seats, n_seats))
    for c in range(component, stop):
        feedback = table.feedback[c]
        # the second row, the chances of returning, is needed for Newton's step only
        m = 2 if feedback >= 0 else 1
        change, least, sweep = np.inf, np.inf, 0
        while change > tolerance and sweep < most_sweeps:
            sweep += 1
            # play that is at the feedback state has returned to it, after 0 seats
            if feedback >= 0:
                for k in range(n_seats):
                    before[k] = numbers[0, feedback, k]
                    numbers[1, feedback, k] = 0.0
                numbers[1, feedback, 0] = 1.0
            change = 0.0
            for place in range(table.ends[c], table.ends[c + 1]):
                s = index(table.order[place])
                now = chosen[s]
                # the present action goes first: another one must be better by the margin
                look(now, table, numbers, n_seats, best[:m])
                for a in range(action_indptr[s], action_indptr[s + ONE]):
                    if a != chosen[s]:
                        # the mover's value is enough to compare; a better action needs all values
                        look(a, table, numbers, 1, found[:1])
                        if found[0, 0] > best[0, 0] + margin:
                            look(a, table, numbers, n_seats, best[:m])
                            now = a
                chosen[s] = now
                # without a cycle one sweep is final, and `change` stays 0
                if feedback < ACYCLIC:
                    for k in range(n_seats):
                        change = max(change, abs(best[0, k] - numbers[0, s, k]))
                store(best, m, numbers, s)
            if feedback >= 0:
                # every cycle passes through the feedback state, so its change decides
                for k in range(n_seats):
                    change = max(change, abs(numbers[0, feedback, k] - before[k]))
                # Newton's step follows progress only; after a change of policy it might go astray
                if tolerance < change < least:
                    least = change
                    newton(before, numbers[:, feedback], matrix)
        if change > tolerance:
            return c
    return stop


@inner_kernel
def store(best, m, numbers, s):
    """Write the first m rows of numbers of a state."""
    for i in range(m):
        for k in range(best.shape[1]):
            numbers[i, s, k] = best[i, k]


@inner_kernel
def newton(before, after, matrix):
    """Replace the values of a feedback state by those at which a sweep would leave them.

    Parameters
    ----------
    before : (n_seats,) float64
        Its values before a sweep, from 0 to 1.
    after : (2, n_seats) float64, changed
        Its values after the sweep; and the chances of returning.
    matrix : (n_seats, n_seats) float64
        Workspace.
    """
    n = before.shape[0]
    step = after[0] - before
    # the slope of seat k in seat j is the chance that play returns after k - j seats
    for k in range(n):
        for j in range(n):
            matrix[k, j] = (1.0 if k == j else 0.0) - after[1, (k - j) % n]
    if solve_small(matrix, step):
        for k in range(n):
            after[0, k] = min(max(before[k] + step[k], 0.0), 1.0)  # in spite of rounding
