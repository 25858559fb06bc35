"""A series of games added up: wins and scores, and what the choices lost against optimal play.

Wins and scores hold the luck of the dice. What the choices lost doesn't: it is what each took from
the value of its position, if all is played right afterwards (see `rollwise.coach.ledger`). So a few
games say more of it than of wins.
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
        stakes what the player gained.
    start : float
        What the games were worth to the player before they began, with optimal play of all: the
        mean over the games, in units of value.
    loss : Estimate
        What the player's choices lost in a game, in units of value.
    luck : float
        What the dice did to the player in a game, in units of value.
    scores : list of float
        The final points of each game, where `score` has a mean of them.
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
        """How many games it takes until results alone tell such play from optimal play.

        So many that the loss is 1.96 standard errors of the mean result (95 % confidence). Results
        vary as those of games that are won as often, or as the scores that were made. It is
        infinite where nothing was lost, and nan where the scores don't tell how they vary.
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
