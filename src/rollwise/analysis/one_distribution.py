"""The distribution of what a play collects, from one state.

`rollwise.analysis.distributions` finds it from every state. Here only states are
looked at that the policy comes to. A row of probabilities is dropped as soon as it
has been read for the last time. Where rows would be long, such as of games for millions of
points, and no play comes back to a state, only the numbers are kept that can come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.distributions import (
    MOST_SWEEPS,
    Distribution,
    counted_points,
    most_places,
    played,
)
from rollwise.answer.references import AnyPolicy, Policies, Subject
from rollwise.derive.by_score import Ints, ended, require_bounded
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import actions_of, outcomes_of, spans
from rollwise.graph.policies import Policy, reached_by
from rollwise.kernels import by_score as kernels
from rollwise.proofs.endless_play import require_ending

BATCH = 4_000_000  # probabilities that are worked out before rows are dropped
LONG = 20_000_000  # places of all rows together, from which on only numbers that can come are kept


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
        The game has no points, or they aren't whole, or have no bound; or more probabilities
        are needed at a time than there is room for.
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
    if int(width.sum()) > LONG and play.is_acyclic:
        return _of_few_numbers(graph, play)
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
    def is_acyclic(self) -> bool:
        """Whether play comes back to no state."""
        source = np.repeat(np.arange(len(self.states)), self._sizes)
        return len(self.indptr) == len(self.states) + 1 and not (self.outcome_state == source).any()

    @property
    def _sizes(self) -> Ints:
        """How many outcomes each state has: (n,) int64."""
        return np.asarray(np.diff(self.outcome_indptr[self.action_indptr]))

    @property
    def last_use(self) -> Ints:
        """The last place from which each state is read: (n,) int64."""
        n = len(self.states)
        source = np.repeat(np.arange(n), self._sizes)
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
        _require_room(graph, total)
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


def _require_room(graph: StateGraph, total: int) -> None:
    """Make sure that so many probabilities fit."""
    most = most_places()
    if total > most:
        raise UsageError(
            f"{graph.title}: the distribution needs {total:,} probabilities at a time, and there "
            f"is room for {most:,}; count the points in larger units, or take smaller parameters"
        )


def _of_few_numbers(graph: StateGraph, play: _Play) -> Distribution:
    """The distribution at the start, of the numbers that can come; no play comes back to a state.

    Each state has its numbers, ascending, and their probabilities. Its rounding is counted as in
    `rollwise.kernels.by_score.distribute`.
    """
    last_use = play.last_use
    dropped_at = np.argsort(last_use, kind="stable")
    rows: dict[int, tuple[Ints, NDArray[np.float64]]] = {-1: (np.zeros(1, np.int64), np.ones(1))}
    rounding = np.zeros(len(play.states) + 1)  # the last one is of the end
    held = gone = 0
    for s in range(play.start + 1):
        values, chances = [], []
        for a in range(int(play.action_indptr[s]), int(play.action_indptr[s + 1])):
            part = slice(int(play.outcome_indptr[a]), int(play.outcome_indptr[a + 1]))
            weights = play.weight[part]
            shares = play.chance[a] * (weights / weights.sum())
            for t, share in zip(play.outcome_state[part].tolist(), shares.tolist(), strict=True):
                values.append(rows[t][0] + play.points[a])
                chances.append(rows[t][1] * share)
                rounding[s] = max(rounding[s], rounding[t])
        rounding[s] += 2.0 * len(values) + 6.0
        known, place = np.unique(np.concatenate(values), return_inverse=True)
        rows[s] = known, np.asarray(np.bincount(place, np.concatenate(chances)), np.float64)
        held += len(known)
        _require_room(graph, 2 * held)
        while last_use[dropped_at[gone]] <= s:  # the start is read after all others
            held -= len(rows.pop(int(dropped_at[gone]), ((),))[0])
            gone += 1
    known, row = rows[play.start]
    relative = float(rounding[play.start]) * kernels.UNIT * 1.01
    return Distribution(known, row, relative * float(row.max()))


def _batches(indptr: Ints, width: Ints) -> list[tuple[int, int]]:
    """Components first to below stop, with some `BATCH` of probabilities each."""
    ends = np.cumsum(np.add.reduceat(width, indptr[:-1]))
    stops = np.searchsorted(ends, np.arange(BATCH, int(ends[-1]) + BATCH, BATCH)) + 1
    stops = np.unique(np.minimum(stops, len(indptr) - 1)).tolist()
    return list(zip([0, *stops[:-1]], stops, strict=True))


def _starts(counts: NDArray[Any]) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
