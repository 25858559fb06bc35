"""The distribution of what a play collects, from one state.

`rollwise.analysis.distributions` finds it from every state. Here only states are
looked at that the policy comes to. A row of probabilities is dropped as soon as it
has been read for the last time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.distributions import (
    MOST_PLACES,
    MOST_SWEEPS,
    Distribution,
    counted_points,
    played,
)
from rollwise.answer.references import AnyPolicy, Policies, Subject
from rollwise.derive.by_score import Ints, ended, require_bounded
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import actions_of, outcomes_of, spans
from rollwise.graph.policies import Policy, reached_by
from rollwise.kernels import by_score as kernels
from rollwise.recursion.endless import require_ending

BATCH = 4_000_000  # probabilities that are worked out before rows are dropped


def distribution(
    game: Subject,
    policy: AnyPolicy = "optimal",
    *,
    state: int = 0,
    count: str | None = None,
    points: Ints | None = None,
) -> Distribution:
    """How what a play collects from a state is distributed.

    Parameters
    ----------
    game, policy, count, points
        As in `rollwise.analysis.distributions.distributions`.
    state : int
        Where play begins.

    Raises
    ------
    UsageError, RulesError
        The game has no points, or they aren't whole, or have no bound; or more than
        400 million probabilities are needed at a time.
    """
    policies = Policies.of(game)
    graph, plan = policies.graph, policies.find(policy)
    if points is None:
        graph, plan = played(graph, plan)
    counted = counted_points(graph, count, points)
    require_ending(graph)
    require_bounded(graph, counted, f"times of {count!r}" if count else "points")
    play = _Play.of(graph, plan, counted, state)
    n = len(play.states)
    low, high = np.empty(n, np.int64), np.empty(n, np.int64)
    kernels.points_to_come(*play.frame, play.points, low, high)
    width = high - low + 1
    row, rounding, last = _last_row(graph, play, low, width)
    absolute = 0.0
    if last > 0.0:
        # What the sweeps left undone at each step, times the steps that are left.
        steps = np.zeros(n)
        kernels.steps_left(*play.frame, play.weight, play.chance, steps, MOST_SWEEPS)
        absolute = 1.01 * last * float(steps[play.start])
    relative = float(rounding[play.start]) * kernels.UNIT * 1.01
    values = np.arange(len(row), dtype=np.int64) + low[play.start]
    return Distribution(values, row, relative * float(row.max()) + absolute)


@dataclass(frozen=True, eq=False)
class _Play:
    """The states that play comes to, in solving order, and what the policy does there.

    Attributes
    ----------
    states : (n,) int64
        Their numbers in the graph; here they are numbered by their place.
    indptr : (n_components + 1,) int64
        Where the components begin.
    start : int
    """

    states: Ints
    indptr: Ints
    start: int
    action_indptr: Ints
    outcome_indptr: Ints
    outcome_state: NDArray[np.int32]
    weight: NDArray[Any]
    points: Ints
    chance: NDArray[np.float64]

    @property
    def frame(self) -> tuple[Ints, Ints, Ints, Ints, NDArray[np.int32]]:
        """What kernels walk along."""
        order = np.arange(len(self.states))
        return order, self.indptr, self.action_indptr, self.outcome_indptr, self.outcome_state

    @classmethod
    def of(cls, graph: StateGraph, policy: Policy, points: Ints, start: int) -> _Play:
        reached = reached_by(graph, policy, start)
        components = graph.components
        inside = reached[components.order]
        states = components.order[inside].astype(np.int64)
        sizes = np.add.reduceat(inside.astype(np.int64), components.indptr[:-1])
        number = np.full(graph.n_states, -1, np.int64)
        number[states] = np.arange(len(states))
        actions, _ = actions_of(graph, states)
        actions = actions[policy.probability[actions] > 0]
        outcomes, sizes_of_actions = outcomes_of(graph, actions)
        after = ended(graph)[outcomes]
        counts = np.bincount(number[graph.action_state[actions]], minlength=len(states))
        return cls(
            states,
            _starts(sizes[sizes > 0]),
            int(number[start]),
            _starts(counts),
            _starts(sizes_of_actions),
            np.where(after >= 0, number[after], -1).astype(np.int32),
            graph.outcome_weight[outcomes],
            points[actions],
            policy.probability[actions],
        )

    @property
    def last_use(self) -> Ints:
        """The last place from which each state is read: (n,) int64."""
        n = len(self.states)
        source = np.repeat(np.arange(n), np.diff(self.outcome_indptr[self.action_indptr]))
        inside = self.outcome_state >= 0
        last = np.zeros(n, np.int64)
        np.maximum.at(last, self.outcome_state[inside], source[inside])
        last[self.start] = n
        return last


def _last_row(
    graph: StateGraph, play: _Play, low: Ints, width: Ints
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """The row of the start, the rounding of all, and what sweeps left undone."""
    n, last_use = len(play.states), play.last_use
    place, rounding = np.zeros(n, np.int64), np.zeros(n)
    kept = np.empty(0, np.int64)  # states whose rows are still read
    probability = np.empty(0)
    order, indptr = np.arange(n), play.indptr
    worst = 0.0
    for first, stop in _batches(indptr, width):
        begin, end = int(indptr[first]), int(indptr[stop])
        kept, old = kept[last_use[kept] >= begin], probability
        held = np.concatenate([kept, np.arange(begin, end)])
        total = int(width[held].sum())
        if total > MOST_PLACES:
            raise UsageError(
                f"{graph.title}: the distribution needs {total:,} probabilities at a time, more "
                f"than {MOST_PLACES:,}"
            )
        probability = np.zeros(total)
        taken = spans(place[kept], width[kept])
        probability[: len(taken)] = old[taken]
        place[held] = np.cumsum(width[held]) - width[held]
        change = kernels.distribute(
            order,
            indptr[first : stop + 1],
            play.action_indptr,
            play.outcome_indptr,
            play.outcome_state,
            play.weight,
            play.points,
            play.chance,
            low,
            width,
            place,
            probability,
            rounding,
            MOST_SWEEPS,
        )
        worst, kept = max(worst, change), held
    at = place[play.start]
    return probability[at : at + width[play.start]].copy(), rounding, worst


def _batches(indptr: Ints, width: Ints) -> list[tuple[int, int]]:
    """Components first to below stop, with some `BATCH` of probabilities each."""
    ends = np.cumsum(np.add.reduceat(width, indptr[:-1]))
    stops = np.searchsorted(ends, np.arange(BATCH, int(ends[-1]) + BATCH, BATCH)) + 1
    stops = np.unique(np.minimum(stops, len(indptr) - 1)).tolist()
    return list(zip([0, *stops[:-1]], stops, strict=True))


def _starts(counts: NDArray[Any]) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
