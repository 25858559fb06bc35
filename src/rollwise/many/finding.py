"""Search for an equilibrium, component by component: sweeps of best choices, then mixtures.

Strongly connected components are taken in reverse order, so that all successors of a component
have values. Within a component, sweeps of best choices settle nearly everywhere. If they cycle,
best choices depend on each other, and `rollwise.many.mixing` searches for mixtures. No result of
this module is trusted: `rollwise.many.equilibrium` proves it, or reports it as unproved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph
from rollwise.kernels.many import sweep_components
from rollwise.many.component import MARGIN, Component
from rollwise.many.mixing import settle_component
from rollwise.many.seats import table_of
from rollwise.numbers.randomness import check_seed

Floats = NDArray[np.float64]
MOST_SWEEPS, TOLERANCE = 2_000, 4e-16
NO_MARGIN = 2.0  # by which no action is better than another
PIECE, PIECE_IN_TIME = 300_000, 20_000  # states between two reports, or two looks at the clock


class Found(NamedTuple):
    """A profile, and the components without an equilibrium.

    Attributes
    ----------
    values : (n_states, players) float64
    probability : (n_actions,) float64
        The policy of the mover in each state, the same for all seats.
    unsettled : list of int
        Components without an equilibrium found.
    timed_out : bool
        Whether the time limit ended the search in some of them.
    """

    values: Floats
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
            end = next((c for c in held if component <= c < stop), stop)
            if end > component:
                component = search.sweep(component, end)
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
        self.values = np.full((n, graph.players), 1.0 / graph.players)
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

    def _sweep(self, component: int, stop: int, margin: float, sweeps: int) -> int:
        arrays = self.table, self.values[None], self.chosen
        return int(sweep_components(component, stop, *arrays, margin, TOLERANCE, sweeps))

    def sweep(self, component: int, stop: int) -> int:
        """Sweep best choices; the first component where they don't settle, or `stop`."""
        return self._sweep(component, stop, MARGIN, MOST_SWEEPS)

    def _fixed(self, component: int, stop: int) -> None:
        """Compute the values of the present choices."""
        while component < stop:
            component = self._sweep(component, stop, NO_MARGIN, MOST_SWEEPS) + 1

    def evaluate(self, component: int, stop: int) -> None:
        """Leave choices as they are, since time is over."""
        components = self.graph.components
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
        first, last = self.graph.components.indptr[number : number + 2].tolist()
        return Component(self.graph, first, last, self.table, self.values, self.until)

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
        return Found(self.values, probability, self.unsettled, self.timed_out)


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
