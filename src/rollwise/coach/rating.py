"""The losses of well-known policies in a game, as a scale for rating players.

A player's choices have a mean loss per game against optimal play (see `rollwise.coach.tally`). For
comparison, this module computes the exact losses of policies: rules of thumb, or random play. In
games of three or more players, whose equilibrium has no such losses, it computes shares of the
games.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rollwise.answer.certified import solve_and_certify
from rollwise.answer.evaluation import evaluate
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.errors import RollwiseError
from rollwise.many.seats import seen_from


def policy_losses(solution: Solution, others: Sequence[str] = ()) -> dict[str, float]:
    """Losses per game of the policies of a game, and of random play, against optimal play.

    Parameters
    ----------
    others : sequence of str, optional
        Other policies, as `rollwise.evaluate` takes them.

    Returns
    -------
    dict of float
        In units of value, the mean over the seats, the least first. Policies that fail or play
        for ever are left out. Empty in games of three or more players.
    """
    if solution.profile is not None:
        return {}
    game, start = solution.game, float(solution.values[0])
    losses = {}
    for typed in (*({} if game is None else game.policies()), *others, "random"):
        try:
            name = Policies.of(solution).find(typed).name
            if solution.graph.players == 2:
                against = evaluate(solution, typed, "optimal", starts=[0])
                losses[name] = -float(against.values[0] + against.values_second[0]) / 2
            else:
                worth = float(evaluate(solution, typed, starts=[0]).values[0])
                losses[name] = solution.graph.view.sign * (start - worth)
        except RollwiseError:
            continue
    return _ascending(losses)


def shares_against(solution: Solution, others: Sequence[str] = ()) -> dict[str, float]:
    """The certified share of a player of the equilibrium whose opponents all play one policy.

    Parameters
    ----------
    others : sequence of str, optional
        As in `policy_losses`.

    Returns
    -------
    dict of float
        By the policy, the mean over the seats of the chance to win, or of the payoff; the least
        first. Empty in games of fewer than three players.
    """
    if solution.profile is None:
        return {}
    game, graph, shares = solution.game, solution.graph, {}
    best, n = solution.profile.policy.probability, graph.players
    for typed in (*({} if game is None else game.policies()), *others, "random"):
        try:
            policy = Policies.of(solution, any_players=True).find(typed)
            seats = seen_from(graph, 0, [best, *[policy.probability] * (n - 1)])
            values = solve_and_certify(seats).found.values
        except RollwiseError:
            continue
        shares[policy.name] = float(np.mean(values[[k * graph.n_states for k in range(n)]]))
    return _ascending(shares)


def _ascending(losses: dict[str, float]) -> dict[str, float]:
    ending = {name: loss for name, loss in losses.items() if math.isfinite(loss)}
    return dict(sorted(ending.items(), key=lambda item: item[1]))
