"""How long games between policies take, exactly.

The expected number of moves is the score of a solitaire game in which every move is
worth a point; the throw before a choice is no move. The expected number of turns is the
score of one in which a move is worth its chance to pass. So the solver and the certificate
serve for lengths too.
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
    """Expected turns and moves of a game from the start, by who moves first.

    Parameters
    ----------
    graph : StateGraph
    policy : Policy
    against : Policy, optional
        What the opponent plays; the same policy unless given.

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
    found = []
    for counted in (turns, moves):
        counts, certificate, _ = solve_and_certify(counted)
        found.append((counts.values, certificate.bounds))
    # The chance to pass is rounded once a move; the first turn passes nowhere.
    rounding = 2.0**-52 * np.abs(found[1][0])
    return [
        (
            Certified(1 + float(found[0][0][s]), float(found[0][1][s] + rounding[s]) + 2.0**-52),
            Certified(float(found[1][0][s]), float(found[1][1][s])),
        )
        for s in range(played.n_roots)
    ]
