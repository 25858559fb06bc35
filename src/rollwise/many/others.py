"""Other equilibria: from other starts, and by supports.

A game may have several equilibria. Two methods search for further ones:

- *Starts.* The search begins with a random policy and its values: each
  component has its own bias towards early or late actions.
- *Supports.* If two or three decisions of a component are opposed, all their supports are
  tried: each takes the first action, the second, or both. The decisions are the mixed ones, and
  the first ones where an equilibrium from another start differs. Successors of the component keep
  their values in the known equilibrium.

Every result is proved as the first one is. An empty result proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import Progress
from rollwise.errors import UsageError
from rollwise.many.component import SAME, Component, equilibria_by_support
from rollwise.many.finding import find_profile
from rollwise.many.seats import Stakes, table_of
from rollwise.numbers.randomness import check_seed

if TYPE_CHECKING:
    from rollwise.many.equilibrium import Equilibrium

Floats = NDArray[np.float64]
MOST_OPPOSED = 3  # largest number of decisions with all supports tried
MOST_COMPONENTS = 20
MOST_GAIN = 1e-9  # largest deviation gain of an equilibrium
DISTANCE = 1e-10  # of values that differ, besides their errors


@dataclass(frozen=True, eq=False)
class Other:
    """Another equilibrium.

    Attributes
    ----------
    found : Equilibrium
    differing : int
        Number of positions where some seat has another value, beyond the errors.
    first : int
        One of them, in the component that is solved first.
    """

    found: Equilibrium
    differing: int
    first: int


@dataclass(frozen=True, eq=False)
class OtherEquilibria:
    """The result of a search for other equilibria.

    Attributes
    ----------
    starts, seed : int
    unsettled : int
        Starts without an equilibrium found.
    components : int
        Number of components with all supports tried.
    others : tuple of Other
        All differ from the first one, and from each other.
    """

    starts: int
    seed: int
    unsettled: int
    components: int
    others: tuple[Other, ...]


def find_others(
    equilibrium: Equilibrium,
    starts: int,
    *,
    seed: int = 1,
    progress: Progress | None = None,
) -> OtherEquilibria:
    """Search for equilibria besides a known one; see `Equilibrium.others`."""
    if starts < 1:
        raise UsageError(f"starts is {starts}; it must be at least 1")
    check_seed(seed)
    graph = equilibrium.graph
    others: list[Other] = []
    unsettled = 0
    for start in range(starts):
        if progress is not None:
            progress("other starts", start, starts)
        unsettled += not _keep(equilibrium, others, seed=seed + start)
    tried = 0
    for component, pairs in _opposed(equilibrium, others):
        if tried == MOST_COMPONENTS:
            break
        tried += 1
        values = Stakes.of(graph).units(equilibrium.values).copy()
        first, last = graph.components.indptr[component : component + 2].tolist()
        at_hand = Component(graph, first, last, table_of(graph), values)
        here = equilibrium.policy.probability[at_hand.actions]
        places = {int(a): k for k, a in enumerate(at_hand.actions)}
        inside = [(places[one], places[two]) for one, two in pairs]
        for chances in equilibria_by_support(at_hand, here, inside):
            if np.abs(chances - here).max() > SAME:
                _keep(equilibrium, others, forced={component: chances})
    return OtherEquilibria(starts, seed, unsettled, tried, tuple(others))


def _keep(equilibrium: Equilibrium, others: list[Other], **how: object) -> bool:
    """Search once more, and add a new equilibrium; whether one was found."""
    profile = find_profile(equilibrium.graph, **how)  # type: ignore[arg-type]
    if profile.unsettled:
        return False
    other = equilibrium.with_profile(profile)
    if other.deviation_gain > MOST_GAIN * Stakes.of(equilibrium.graph).span:
        return False
    differs = _differ(equilibrium, other)
    if differs.any() and all(_differ(kept.found, other).any() for kept in others):
        where = np.flatnonzero(differs)
        first = where[np.argmin(equilibrium.graph.components.position[where])]
        others.append(Other(other, len(where), int(first)))
    return True


def _differ(one: Equilibrium, two: Equilibrium) -> NDArray[np.bool_]:
    """The states in which some seat has another value."""
    room = one.error_bounds + two.error_bounds + DISTANCE * Stakes.of(one.graph).span
    return np.asarray((np.abs(one.values - two.values) > room).any(axis=1))


def _opposed(
    equilibrium: Equilibrium, others: list[Other]
) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Components with few opposed decisions, and two actions of each."""
    seen = set()
    components = equilibrium.graph.components
    places = [(int(components.position[other.first]), other.found) for other in list(others)]
    places += [(int(components.position[state]), equilibrium) for state in equilibrium.mixing]
    for index, other in places:
        component = int(np.searchsorted(components.indptr, index, side="right")) - 1
        if component in seen:
            continue
        seen.add(component)
        pairs = _decisions(equilibrium, other, component)
        if 0 < len(pairs) <= MOST_OPPOSED:
            yield component, pairs


def _decisions(
    equilibrium: Equilibrium, other: Equilibrium, component: int
) -> list[tuple[int, int]]:
    """The decisions of a component that mix in either profile, or differ: two actions of each."""
    graph, pairs = equilibrium.graph, []
    first, last = graph.components.indptr[component : component + 2].tolist()
    for state in graph.components.order[first:last].tolist():
        actions = np.arange(graph.action_indptr[state], graph.action_indptr[state + 1])
        taken = (equilibrium.policy.probability[actions] > 0) | (
            other.policy.probability[actions] > 0
        )
        if np.count_nonzero(taken) == 2:
            one, two = actions[taken].tolist()
            pairs.append((one, two))
        elif np.count_nonzero(taken) > 2:
            return []
    return pairs
