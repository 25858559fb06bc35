"""Totals of a series of games: wins, scores and losses of the choices, with scales for them.

Wins and scores include the luck of the dice. The loss of a choice doesn't: it is the decrease in
the value of the position, assuming optimal play afterwards (see `rollwise.coach.ledger`). A few
games therefore estimate the loss better than the win rate.

For comparison, `policy_losses` computes the exact losses of policies: rules of thumb, or random
play. In games of three or more players, whose equilibrium has no such losses, `shares_against`
computes shares of the games.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rollwise.analysis.distributions import distribution
from rollwise.answer.evaluation import evaluate, from_each_seat
from rollwise.answer.references import AnyPolicy, Policies
from rollwise.answer.solution import Solution
from rollwise.coach.session import Session
from rollwise.errors import RollwiseError, UsageError
from rollwise.graph import win_probability
from rollwise.graph.policies import Policy, ties_in_play
from rollwise.simulate.match import Estimate

Z = 1.96  # standard errors, on both sides: 95 %


@dataclass(frozen=True)
class Tally:
    """Finished games of a player.

    Attributes
    ----------
    player : str
    games : int
    win_rate : Estimate or None
        With its wins and draws, a draw being half a win; None in a game for points.
    score : Estimate or None
        The player's final points, in a game for points or a contest at one; in a game for
        stakes the player's gain.
    start : float
        Value of the games for the player before they began, with optimal play of all: the
        mean over the games, in units of value.
    loss : Estimate
        Loss per game of the player's choices, in units of value.
    luck : float
        Luck of the player per game, in units of value.
    scores : list of float
        The final points of each game, if `score` is their mean.
    """

    player: str
    games: int
    win_rate: Estimate | None
    score: Estimate | None
    start: float
    loss: Estimate
    luck: float
    scores: Sequence[float] = ()

    @property
    def games_to_tell(self) -> float:
        """Number of games after which results alone distinguish such play from optimal play.

        The loss is then 1.96 standard errors of the mean result (95 % confidence). The variance of
        results is that of games with the same win rate, or of the scores made. It is
        infinite without a loss, and nan if the scores don't give a variance.
        """
        if self.loss.mean <= 0:
            return math.inf
        if self.win_rate is not None:
            chance = win_probability(self.start - self.loss.mean)
            # the result has the variance 4 p (1 - p), and the loss has to be Z standard errors
            return float(4 * chance * (1 - chance) * (Z / self.loss.mean) ** 2)
        if self.score is None:
            return math.nan
        variance = self.games * self.score.standard_error**2
        return variance * (Z / self.loss.mean) ** 2


def tally(sessions: Sequence[Session], player: str) -> Tally:
    """Add up the finished games of a player.

    Raises
    ------
    UsageError
        There is none.
    """
    played = [(s, s.names.index(player)) for s in sessions if s.is_over and player in s.names]
    if not played:
        raise UsageError(f"{player} has finished no game")
    ledgers = [session.ledger(seat) for session, seat in played]
    n, table = len(played), played[0][0].table
    results = [ledger.result for ledger in ledgers]
    scores = results
    if not table.solution.has_stakes:
        scores = [session.score(seat) for session, seat in played]
    # points come by actions, or are the result; payoffs within a contest or a chase are neither
    has_points = table.solution.has_stakes or table.narrator.source.objective != "win"
    costs = [
        math.fsum(entry.cost for entry in session.accounts if entry.seat == seat)
        for session, seat in played
    ]
    return Tally(
        player,
        n,
        None if table.solution.is_score else _win_rate(results),
        _mean(scores) if has_points else None,
        math.fsum(ledger.start for ledger in ledgers) / n,
        _mean(costs),
        math.fsum(ledger.total_luck for ledger in ledgers) / n,
        scores if has_points else [],
    )


def _win_rate(results: Sequence[float]) -> Estimate:
    rate = _mean([win_probability(result) for result in results])
    if not {-1.0, 0.0, 1.0}.issuperset(results):  # shares of a win, among three or more
        return rate
    wins, draws = results.count(1.0), results.count(0.0)
    return Estimate(rate.mean, rate.standard_error, rate.games, wins=wins, draws=draws)


def _mean(values: Sequence[float]) -> Estimate:
    """The mean, and its standard error: nan where the values don't tell how they differ."""
    n = len(values)
    mean = math.fsum(values) / n
    spread = math.fsum((value - mean) ** 2 for value in values)
    alike = min(values) == max(values)
    return Estimate(mean, math.nan if alike else math.sqrt(spread / (n - 1) / n), n)


def policy_losses(solution: Solution, others: Sequence[AnyPolicy] = ()) -> dict[str, float]:
    """Losses per game of the policies of a game, and of random play, against optimal play.

    Parameters
    ----------
    others : sequence of str, callable or Policy, optional
        Other policies, as `rollwise.evaluate` takes them.

    Returns
    -------
    dict of float
        In units of value, the mean over the seats, the least first. Policies that fail or play
        for ever are left out. Empty in games of three or more players.
    """
    if solution.profile is not None:
        return {}
    graph, start = solution.graph, float(solution.values[0])

    def loss(policy: Policy) -> float:
        if graph.players == 2:
            against = evaluate(solution, policy, "optimal", starts=[0])
            return -float(against.values[0] + against.values_second[0]) / 2
        worth = float(evaluate(solution, policy, starts=[0]).values[0])
        return graph.view.sign * (start - worth)

    return _by_policy(solution, others, loss)


def losses_rest_on_ties(solution: Solution, others: Sequence[AnyPolicy] = ()) -> bool:
    """Whether some `policy_losses` depend on the optimal opponent's choice among equal actions.

    The loss of a game for one player doesn't: its value is the same for all optimal policies.
    """
    graph = solution.graph
    if solution.profile is not None or graph.players != 2:
        return False
    policies = _found(solution, others).values()
    return any(ties_in_play(graph, solution.policy, policy) is not None for policy in policies)


def shares_against(solution: Solution, others: Sequence[AnyPolicy] = ()) -> dict[str, float]:
    """The certified share of a player of the equilibrium whose opponents all play one policy.

    Parameters
    ----------
    others : sequence of str, callable or Policy, optional
        As in `policy_losses`.

    Returns
    -------
    dict of float
        By the policy, the mean over the seats of the chance to win, or of the payoff; the least
        first. Empty in games of fewer than three players.
    """
    if solution.profile is None:
        return {}
    graph, n = solution.graph, solution.graph.players
    best = solution.profile.policy.probability

    def share(policy: Policy) -> float:
        return float(np.mean(from_each_seat(graph, [best, *[policy.probability] * (n - 1)])[0]))

    return _by_policy(solution, others, share)


def _by_policy(
    solution: Solution, others: Sequence[AnyPolicy], worth: Callable[[Policy], float]
) -> dict[str, float]:
    """A number of each policy by its name, the least first; without policies that fail."""
    found = {}
    for name, policy in _found(solution, others).items():
        with suppress(RollwiseError):
            found[name] = worth(policy)
    ending = {name: number for name, number in found.items() if math.isfinite(number)}
    return dict(sorted(ending.items(), key=lambda item: item[1]))


def _found(solution: Solution, others: Sequence[AnyPolicy]) -> dict[str, Policy]:
    """The policies of a game, others, and random play, by their names; without those that fail."""
    own = () if solution.game is None else solution.game.policies()
    policies, found = Policies.of(solution, any_players=True), {}
    for typed in (*own, *others, "random"):
        with suppress(RollwiseError):
            policy = policies.find(typed)
            found[policy.name] = policy
    return found


MOST_BINS = 15
MOST_OUTCOMES = 500_000  # larger games have no bins
RARE = 1e-4  # less likely scores share a bin


class Bin(NamedTuple):
    """A range of scores.

    Attributes
    ----------
    text : str
        ``7``, or ``100 to 119``.
    low, high : float
        The least and the greatest of the scores.
    chance : float
        Probability of a score in the range, with optimal play.
    """

    text: str
    low: float
    high: float
    chance: float


def score_bins(solution: Solution) -> list[Bin]:
    """The exact distribution of the final scores of optimal play.

    Returns
    -------
    list of Bin
        Ascending. Empty in a game that isn't a solitaire game for points, and if the distribution
        can't be computed quickly.
    """
    graph = solution.graph
    if graph.players != 1 or graph.objective == "win" or graph.n_outcomes > MOST_OUTCOMES:
        return []
    try:
        exact = distribution(graph, solution.policy)
    except RollwiseError:
        return []
    likely = exact.values[exact.probabilities > RARE]
    width = int((likely.max() - likely.min()) // MOST_BINS + 1)
    # few scores have a bin each; many have bins of equal width
    edges = likely if width == 1 else np.arange(likely.min(), likely.max() + 1, width)
    bin_of_score = np.clip(
        np.searchsorted(edges, exact.values, side="right") - 1, 0, len(edges) - 1
    )
    bins = []
    for number in range(len(edges)):
        inside = bin_of_score == number
        if not inside.any():
            continue
        low, high = exact.values[inside].min().item(), exact.values[inside].max().item()
        text = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        bins.append(Bin(text, low, high, float(exact.probabilities[inside].sum())))
    return bins


def counted(bins: Sequence[Bin], scores: Sequence[float]) -> list[int]:
    """How many scores fall into each bin."""
    return [sum(one.low <= score <= one.high for score in scores) for one in bins]
