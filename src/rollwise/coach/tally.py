"""Totals of a series of games: wins and scores, and the losses of the choices.

Wins and scores include the luck of the dice. The loss of a choice doesn't: it is the decrease in
the value of the position, assuming optimal play afterwards (see `rollwise.coach.ledger`). A few
games therefore estimate the loss better than the win rate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rollwise.coach.session import Session
from rollwise.errors import UsageError
from rollwise.graph import win_probability
from rollwise.simulate.results import Estimate

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
    costs = [
        math.fsum(entry.cost for entry in session.accounts if entry.seat == seat)
        for session, seat in played
    ]
    return Tally(
        player,
        n,
        None if table.solution.is_score else _win_rate(results),
        _mean(scores) if table.narrator.source.view.is_score else None,
        math.fsum(ledger.start for ledger in ledgers) / n,
        _mean(costs),
        math.fsum(ledger.total_luck for ledger in ledgers) / n,
        scores if table.narrator.source.view.is_score else [],
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
