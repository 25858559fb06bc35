"""Conditions on events during play: plays that come to some position.

The graph is doubled. Play moves from the first copy of the states to the second when the event
happens, and this move adds a number of points larger than any difference of totals. So the
distribution of the total tells plays with the event from the others, and a conditional probability
is a quotient of certified sums (`Distribution.given`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.chain import Chain
from rollwise.analysis.distributions import Distribution, counted_play, distribution
from rollwise.answer.filters import rows_where
from rollwise.answer.rows import frame_of
from rollwise.derive.by_score import points_to_come
from rollwise.derive.changed import copied
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import summed
from rollwise.graph.policies import Policy

SEAT = "seat"  # the column of the player to move, in conditions on games of two


class Followed(NamedTuple):
    """A game of one player that a policy plays, with the player to move in each state.

    Attributes
    ----------
    graph : StateGraph
    policy : Policy
    rows : (n_states, n_columns) int
        The fields of each state, with its throw, and in a game of two with the seat, from 1.
    columns : tuple of str
    """

    graph: StateGraph
    policy: Policy
    rows: NDArray[np.int64]
    columns: tuple[str, ...]


def followed(graph: StateGraph, policy: Policy) -> Followed:
    """A game played by a policy, as a game of one player.

    In a game of two, both follow the policy, and the result is the one of the first player.
    """
    if graph.players == 1:
        return Followed(graph, policy, graph.rows.astype(np.int64), graph.columns)
    if graph.action_reward.any():
        raise UsageError(
            f"{graph.title}: the distribution for two players is of a result at the end, and these "
            "rules have rewards before it; write the difference of the points as payoff(x) there"
        )
    chain = Chain.of(graph, policy)
    aim = {"objective": graph.objective, "endless": graph.endless}
    alone = summed(chain.graph, endings=chain.payoff, **aim)
    rows = np.column_stack([graph.rows[chain.number], chain.seat + 1])
    return Followed(
        alone, Policy(policy.name, np.ones(alone.n_actions)), rows, (*graph.columns, SEAT)
    )


def distribution_given(
    play: Followed, event: str, *, state: int = 0, count: str | None = None
) -> tuple[Distribution, float]:
    """The distribution of the total among plays that come to some position, and their share.

    Parameters
    ----------
    play : Followed
    event : str
        A condition on the columns, as in `rollwise.Solution.table`: ``turn >= 20``.
    state, count
        As in `rollwise.analysis.distributions.distribution`.

    Raises
    ------
    ExpressionError
    UsageError
        As `distribution`, or no play comes to such a position.
    """
    columns = dict(zip(play.columns, play.rows.T, strict=True))
    frame = frame_of(columns, len(play.rows), play.graph.vocabulary)
    happens = rows_where(frame, event)
    graph, policy, points = counted_play(play.graph, play.policy, count, start=state)
    low, high = points_to_come(graph, points)
    # larger than the difference of any two totals
    lift = int(high[state] - low[state]) + 1
    # the second copy is for play after the event
    leads = [happens[graph.outcome_state].astype(np.int64), np.ones(graph.n_outcomes, np.int64)]
    doubled, n = copied(graph.flat, leads), graph.n_states
    enters = doubled.outcome_state[: len(points)] >= n
    # the move from the first copy to the second adds `lift`
    both = np.concatenate([points + lift * enters, points])
    twice = Policy(policy.name, np.tile(policy.probability, 2))
    begun = bool(happens[state])
    found = distribution(doubled, twice, state=state + n * begun, points=both)
    found = found.trimmed()
    least = int(low[state]) + lift * (not begun)
    among, share = found.given(lambda total: total >= least)
    return among.shifted(-lift * (not begun)), share
