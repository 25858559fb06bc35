"""Looking for an equilibrium, component by component: sweeps of best choices, then mixtures.

Strongly connected components are taken last ones first, so that what follows one is known.
Within it, sweeps of best choices settle nearly everywhere. Where they go round for ever, best
choices depend on each other, and `rollwise.many.mixing` looks for mixtures. Nothing here is
trusted: what was found is proved, or not, by `rollwise.many.equilibrium`.
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
from rollwise.many.seats import tables_of
from rollwise.numbers.randomness import check_seed

Floats = NDArray[np.float64]
MOST_SWEEPS, TOLERANCE = 2_000, 4e-16
NO_MARGIN = 2.0  # by which no action is better than another
PIECE, PIECE_IN_TIME = 300_000, 20_000  # states between two reports, or two looks at the clock


class Found(NamedTuple):
    """A profile, and where it may be none.

    Attributes
    ----------
    values : (n_states, players) float64
    probability : (n_actions,) float64
        What the mover does in each state, whoever it is.
    unsettled : list of int
        Components in which no equilibrium was found.
    timed_out : bool
        Whether time ended the search in some of them.
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
    """Look for a stationary equilibrium.

    The search begins with the first action everywhere, or with a policy that is drawn at random,
    and what that is worth. Where actions are equally good to the mover, within 1e-13, sweeps keep
    the first one of the rules that they came to.

    Parameters
    ----------
    seed : int, optional
        Of the policy that is drawn.
    forced : mapping, optional
        Of some components the chances of their actions: they are kept to.
    until : float, optional
        When to stop, as `time.monotonic` tells it. In what is left then the choices stay as they
        are, and only their worth is found.
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
    """A search under way: what is known of the components that were looked at."""

    def __init__(self, graph: StateGraph, seed: int | None, until: float | None) -> None:
        n = graph.n_states
        self.graph, self.until = graph, until
        self.tables = tables_of(graph)
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
        place = np.empty(graph.n_states)
        place[components.order] = bias
        sharp = np.exp(4.0 * place - 2.0)  # of a power of an even number: early or late ones
        drawn = (random.random(graph.n_states) ** sharp * sizes).astype(np.int64)
        self.chosen += np.minimum(drawn, sizes - 1)
        self._fixed(0, len(components))

    @property
    def is_late(self) -> bool:
        return self.until is not None and time.monotonic() >= self.until

    def _sweep(self, component: int, stop: int, margin: float, sweeps: int) -> int:
        graph, components = self.graph, self.graph.components
        return int(
            sweep_components(
                *(component, stop, components.order, components.indptr),
                *(graph.action_indptr, graph.outcome_indptr, graph.outcome_state),
                *(self.tables, self.values, self.chosen, margin, TOLERANCE, sweeps),
            )
        )

    def sweep(self, component: int, stop: int) -> int:
        """Sweep best choices; the first component that they don't settle in, or `stop`."""
        return self._sweep(component, stop, MARGIN, MOST_SWEEPS)

    def _fixed(self, component: int, stop: int) -> None:
        """Find what the choices are worth, as they are."""
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
        """A component, whose values are those of the search."""
        first, last = self.graph.components.indptr[number : number + 2].tolist()
        return Component(self.graph, first, last, self.tables, self.values, self.until)

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
        """What the search came to."""
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
