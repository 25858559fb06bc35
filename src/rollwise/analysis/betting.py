"""Betting on a contest: fair odds and stakes, doubles, and the edge over an opponent.

Fair odds follow from each player's share of the prize at a moment (`fair_stakes`).

A double is for two players with a stake of one unit each, by the rules of the doubling cube
(`rollwise.derive.cube`): before a turn a player may double, and the opponent takes, or passes and
loses the stake. Each player has one turn. Let E be the second player's equity before that turn. A
double is worth min(1, 2 E), and E' = max(E, min(1, 2 E)) is the equity of a player who may double.
The second player may double whether the cube lies in the middle or came to him. So the first
player plays for -E' with or without a double, and a double counts twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.contest import Contest, ContestSolution, Situation, solve_contest
from rollwise.errors import UsageError
from rollwise.graph.policies import Policy

Reals = NDArray[np.float64]


class Stake(NamedTuple):
    """Fair odds and a fair stake for a player at a moment.

    Attributes
    ----------
    player : int
        From 1.
    probability : float
        His share of the prize.
    odds_against : float
        Fair payment for each unit bet on him; infinite where he can't win.
    stake : float
        His fair part of a pot.
    """

    player: int
    probability: float
    odds_against: float
    stake: float


def fair_stakes(shares: Reals, pot: float = 1.0) -> list[Stake]:
    """Fair odds and stakes from the shares of `ContestSolution.moment`."""
    return [
        Stake(
            player + 1,
            float(share),
            float((1 - share) / share) if share > 0 else float("inf"),
            float(share * pot),
        )
        for player, share in enumerate(shares)
    ]


class DoubleAdvice(NamedTuple):
    """Advice about the cube before a turn, in units of the stake before the offer.

    Attributes
    ----------
    no_offer, accepted, declined : float
        The mover's equity without an offer, after acceptance, and after refusal
        (1: he wins the stake).
    offer, accept : bool
        Whether an offer, and its acceptance, are best.
    value : float
        The mover's equity with best play of both.
    error_bound : float
    """

    no_offer: float
    accepted: float
    declined: float
    offer: bool
    accept: bool
    value: float
    error_bound: float


def advise_double(solution: ContestSolution, finished: Sequence[int] = ()) -> DoubleAdvice:
    """Whether to double before a turn of a contest of two, and whether to accept.

    Parameters
    ----------
    finished : sequence of int
        The first player's final score, once there is one.

    Raises
    ------
    UsageError
        The contest has more players, or no such score.
    """
    players = solution.contest.players
    if players != 2:
        raise UsageError(f"a double is between two players, and the contest has {players}")
    if finished:
        (equity,), bound = _second_equities(solution, [solution.situation(finished)])
    else:
        scores = [Situation(1, best, 1) for best in range(len(solution.scored.scores))]
        seconds, bound = _second_equities(solution, scores)
        doubled = np.maximum(seconds, np.minimum(1.0, 2 * seconds))
        aim = solution.aims.solve(-doubled, np.full(len(doubled), 2 * bound))
        equity, bound = aim.values[0], float(aim.error_bounds[0])
    accepted, margin = 2 * float(equity), 4 * bound
    best = max(float(equity), min(1.0, accepted))
    offer, accept = best > equity + margin, accepted <= 1.0 + margin
    return DoubleAdvice(float(equity), accepted, 1.0, bool(offer), bool(accept), best, 2 * bound)


def _second_equities(
    solution: ContestSolution, situations: Sequence[Situation]
) -> tuple[Reals, float]:
    """The second player's equity in these situations without a cube, and their error bound."""
    shares = np.array([solution.chances[situation][1] for situation in situations])
    bound = 2 * max(solution.error_bounds[situation] for situation in situations)
    return 2 * shares - 1, bound + 2.0**-52


class Edge(NamedTuple):
    """Expected winnings of a player per unit of stake, against a given policy.

    Attributes
    ----------
    going_first, going_second : float
        Equity: 1 for a sure win, -1 for a sure loss.
    fair_first, fair_second : float
        The same for two best players.
    error_bound : float
    """

    going_first: float
    going_second: float
    fair_first: float
    fair_second: float
    error_bound: float


def edge_against(contest: Contest, policy: Policy) -> Edge:
    """The edge of best play against a policy of the game, going first and second.

    Parameters
    ----------
    contest : Contest
        Of two players.
    policy : Policy
        The opponent's, on the game's graph and blind to the score.
    """
    if contest.players != 2:
        raise UsageError(f"an edge is between two players, and the contest has {contest.players}")
    first = solve_contest(contest, {1: policy})
    second = solve_contest(contest, {0: policy})
    fair = solve_contest(contest)
    bound = 2 * max(first.error_bound, second.error_bound, fair.error_bound)
    return Edge(
        float(2 * first.probabilities[0] - 1),
        float(2 * second.probabilities[1] - 1),
        float(2 * fair.probabilities[0] - 1),
        float(2 * fair.probabilities[1] - 1),
        bound,
    )
