"""Many written games together: quality of each player's choices, apart from the dice.

A player's score against the optimal player is the value of the start minus the mean cost of
the player's choices in a game. The dice, which decide most of a single game, have no effect on
it. It is an estimate, with a standard error over games. It covers play in the positions of
these games only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rollwise.coach.grades import grade_counts
from rollwise.coach.ledger import Ledger
from rollwise.coach.session import Session


@dataclass(frozen=True)
class Mistake:
    """A kind of mistake: one action where another is better.

    Attributes
    ----------
    action, best : str
    times : int
    cost : float
        Of all of them together, in units of value.
    worst_cost : float
    worst_at : str
        The position where it cost most, in words.
    line : int
        Where the worst one was written.
    """

    action: str
    best: str
    times: int
    cost: float
    worst_cost: float
    worst_at: str
    line: int


@dataclass(frozen=True)
class PlayerReview:
    """Summary of a player's games.

    Attributes
    ----------
    player : str
    games, finished : int
    decisions : int
        Moves with more than one action.
    grades : dict of int
        Numbers of doubtful, bad and very bad decisions.
    mistakes : tuple of Mistake
        The most frequent ones first.
    cost : float
        Of all choices, in units of value.
    result, luck, own_skill, others_skill : float
        Means over the games, for the player.
    start : float
        Mean value of the start for the player, over the seats taken.
    score : float
        Expected result of the player's choices against the optimal player.
    standard_error : float or None
        Of the score; None for a single game.
    """

    player: str
    games: int
    finished: int
    decisions: int
    grades: dict[str, int]
    mistakes: tuple[Mistake, ...]
    cost: float
    result: float
    luck: float
    own_skill: float
    others_skill: float
    start: float
    score: float
    standard_error: float | None

    @property
    def cost_per_decision(self) -> float:
        return self.cost / self.decisions if self.decisions else 0.0


def review(sessions: Sequence[Session]) -> list[PlayerReview]:
    """Review games of the same kind, a review for each player by name."""
    games: dict[str, list[tuple[Session, int, Ledger]]] = {}
    for session in sessions:
        for seat, name in enumerate(session.names):
            games.setdefault(name, []).append((session, seat, session.ledger(seat)))
    return [_player(name, played) for name, played in games.items()]


def _player(name: str, games: Sequence[tuple[Session, int, Ledger]]) -> PlayerReview:
    n = len(games)

    def mean(values: Sequence[float]) -> float:
        return math.fsum(values) / n

    scores = [ledger.start + ledger.skill[0] for _, _, ledger in games]
    score = mean(scores)
    error = None
    if n > 1:
        error = math.sqrt(math.fsum((x - score) ** 2 for x in scores) / (n - 1) / n)
    own = [entry for session, seat, _ in games for entry in session.accounts if entry.seat == seat]
    decisions = [entry for entry in own if entry.is_choice]
    return PlayerReview(
        name,
        n,
        sum(session.is_over for session, _, _ in games),
        len(decisions),
        grade_counts(games[0][0].table.solution, decisions),
        _mistakes(games),
        math.fsum(entry.cost for entry in own),
        mean([ledger.result for _, _, ledger in games]),
        mean([ledger.total_luck for _, _, ledger in games]),
        mean([ledger.skill[0] for _, _, ledger in games]),
        mean([ledger.skill[1] for _, _, ledger in games]),
        mean([ledger.start for _, _, ledger in games]),
        score,
        error,
    )


def _mistakes(games: Sequence[tuple[Session, int, Ledger]]) -> tuple[Mistake, ...]:
    mistakes: dict[tuple[str, str], Mistake] = {}
    for session, seat, _ in games:
        table = session.table
        for entry in session.accounts:
            if entry.seat != seat or not entry.is_mistake:
                continue
            view = table.graph.view
            action = view.action(entry.action).distinct_name
            best = view.action(entry.best).distinct_name
            before = mistakes.get((action, best))
            if before is None or entry.cost > before.worst_cost:
                worst = (entry.cost, table.position(entry.state), entry.line)
            else:
                worst = (before.worst_cost, before.worst_at, before.line)
            times, cost = (0, 0.0) if before is None else (before.times, before.cost)
            mistakes[action, best] = Mistake(action, best, times + 1, cost + entry.cost, *worst)
    return tuple(sorted(mistakes.values(), key=lambda m: (-m.times, -m.cost)))
