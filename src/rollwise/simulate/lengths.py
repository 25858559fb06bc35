"""Exact lengths of games between policies.

The expected number of moves is the score of a solitaire game with one point for every move;
the throw before a choice is no move. The expected number of turns is the score with the
probability of passing as the points of a move. The solver and the certificate therefore
apply to lengths too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rollwise.answer.certified import solve_and_certify
from rollwise.derive.seats import take_seats
from rollwise.graph import StateGraph
from rollwise.graph.choices import fold_outcomes, is_throw
from rollwise.graph.policies import Policy


class Certified(NamedTuple):
    """A value and how far it can be off."""

    value: float
    bound: float


def expected_lengths(
    graph: StateGraph, policy: Policy, against: Policy | None = None
) -> list[tuple[Certified, Certified]]:
    """Expected turns and moves of a game from the start, by the policy that moves first.

    Parameters
    ----------
    graph : StateGraph
    policy : Policy
    against : Policy, optional
        The opponent's policy, by default the same one.

    Returns
    -------
    list of (turns, moves)
        One pair, or two with an opponent: the policy moves first, the opponent does.

    Raises
    ------
    EndlessPlay
        The policies can go round for ever.
    """
    policies = [policy] if against is None else [policy, against]
    played = take_seats(graph, policies, [0]).graph
    total = fold_outcomes(played, np.add, played.outcome_weight)
    passing = np.where(played.outcome_passes, played.outcome_weight, 0)
    passing = fold_outcomes(played, np.add, passing)
    moves = played.with_arrays(
        players=1,
        objective="maximize",
        action_reward=(~is_throw(played)).astype(np.float64),
        outcome_passes=np.zeros(played.n_outcomes, np.bool_),
        outcome_payoff=np.zeros(played.n_outcomes),
    )
    turns = moves.with_arrays(action_reward=passing / total)
    lengths = []
    for counted in (turns, moves):
        counts, certificate, _ = solve_and_certify(counted)
        lengths.append((counts.values, certificate.bounds))
    # The chance to pass is rounded once a move; the first turn passes nowhere.
    rounding = 2.0**-52 * np.abs(lengths[1][0])
    return [
        (
            Certified(
                1 + float(lengths[0][0][s]), float(lengths[0][1][s] + rounding[s]) + 2.0**-52
            ),
            Certified(float(lengths[1][0][s]), float(lengths[1][1][s])),
        )
        for s in range(played.n_roots)
    ]
