"""Many written games together: the quality of each player's choices, and a drill of the mistakes.

A player's score against the optimal player is the value of the start minus the mean cost of
the player's choices in a game. The dice, which decide most of a single game, have no effect on
it. It is an estimate, with a standard error over games. It covers play in the positions of
these games only. Unfinished games have no score; their choices are counted.

A drill asks the positions of the mistakes again until they are answered correctly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

import numpy as np

from rollwise.coach.ledger import Change, Cost, Grades, Ledger, Level, grade_counts
from rollwise.coach.session import Session
from rollwise.coach.table import Table
from rollwise.numbers.meanings import Record, about


class RepeatedMistake(Record, frozen=True):
    """A mistake of a player, with the number of its repetitions."""

    action: str
    best: str
    times: int
    cost: Annotated[Cost, about("in all")]
    worst_cost: Cost
    worst_at: Annotated[str, about("the position")]
    line: Annotated[int, about("of the file of games")]


class ReviewedPlayer(Record, frozen=True):
    """The games of a player."""

    player: str
    games: int
    finished: int
    decisions: Annotated[int, about("moves with more than one action")]
    grades: Grades
    mistakes: Annotated[list[RepeatedMistake], about("the most frequent first")]
    cost: Annotated[Cost, about("in all")]
    result: Annotated[Level | None, about("of a finished game, on average")]
    luck: Annotated[Change | None, about("in a finished game")]
    own_skill: Annotated[Change | None, about("in a finished game")]
    others_skill: Annotated[Change | None, about("in a finished game")]
    start: Annotated[Level | None, about("on average over the seats taken in finished games")]
    score: Annotated[
        Level | None, about("expected result against the optimal player, from finished games")
    ]
    standard_error: Annotated[
        float | None, about("of the score; null: one finished game, equal scores, or infinite")
    ]
    cost_per_decision: Cost


def review(sessions: Sequence[Session]) -> list[ReviewedPlayer]:
    """Review games of the same kind, a review for each player by name."""
    games: dict[str, list[tuple[Session, int, Ledger]]] = {}
    for session in sessions:
        for seat, name in enumerate(session.names):
            games.setdefault(name, []).append((session, seat, session.ledger(seat)))
    return [_player(name, played) for name, played in games.items()]


def _player(name: str, games: Sequence[tuple[Session, int, Ledger]]) -> ReviewedPlayer:
    # the costs of an unfinished game are those of its first part only
    ledgers = [ledger for session, _, ledger in games if session.is_over]
    n = len(ledgers)

    def mean(values: Iterable[float]) -> float | None:
        return math.fsum(values) / n if n else None

    scores = [ledger.start + ledger.skill[0] for ledger in ledgers]
    score, error = mean(scores), None
    if score is not None and math.isfinite(score) and min(scores) < max(scores):
        error = math.sqrt(math.fsum((x - score) ** 2 for x in scores) / (n - 1) / n)
    own = [entry for session, seat, _ in games for entry in session.accounts if entry.seat == seat]
    decisions = [entry for entry in own if entry.is_choice]
    cost = math.fsum(entry.cost for entry in own)
    return ReviewedPlayer(
        name,
        len(games),
        n,
        len(decisions),
        grade_counts(games[0][0].table.solution, decisions),
        _mistakes(games),
        cost,
        mean(ledger.result for ledger in ledgers),
        mean(ledger.total_luck for ledger in ledgers),
        mean(ledger.skill[0] for ledger in ledgers),
        mean(ledger.skill[1] for ledger in ledgers),
        mean(ledger.start for ledger in ledgers),
        score,
        error,
        cost / len(decisions) if decisions else 0.0,
    )


def _mistakes(games: Sequence[tuple[Session, int, Ledger]]) -> list[RepeatedMistake]:
    mistakes: dict[tuple[str, str], RepeatedMistake] = {}
    for session, seat, _ in games:
        table = session.table
        for entry in session.accounts:
            if entry.seat != seat or not entry.is_mistake:
                continue
            view = table.graph.view
            action = view.action(entry.action).distinct_name
            best = view.action(entry.best).distinct_name
            before = mistakes.get((action, best))
            # a kind of mistake shows the place where it cost the most
            if before is None or entry.cost > before.worst_cost:
                worst = (entry.cost, table.narrator.position(entry.state), entry.line)
            else:
                worst = (before.worst_cost, before.worst_at, before.line)
            times, cost = (0, 0.0) if before is None else (before.times, before.cost)
            mistakes[action, best] = RepeatedMistake(
                action, best, times + 1, cost + entry.cost, *worst
            )
    return sorted(mistakes.values(), key=lambda m: (-m.times, -m.cost))


class Question(NamedTuple):
    """A position with mistakes.

    Attributes
    ----------
    state : int
    action : int
        The worst action taken there.
    cost : float
        Its cost, in units of value.
    times : int
        Number of mistakes made there.
    """

    state: int
    action: int
    cost: float
    times: int


def questions(sessions: Iterable[Session], players: Sequence[str] = ()) -> list[Question]:
    """The positions of players' mistakes, in descending order of the total loss.

    Parameters
    ----------
    players : sequence of str, optional
        Players whose mistakes count, by default all.
    """
    mistakes: dict[int, list[tuple[float, int]]] = {}
    for session in sessions:
        for entry in session.accounts:
            if entry.is_mistake and (not players or session.names[entry.seat] in players):
                mistakes.setdefault(entry.state, []).append((entry.cost, entry.action))
    asked = sorted(mistakes.items(), key=lambda item: -sum(cost for cost, _ in item[1]))
    return [Question(state, max(made)[1], max(made)[0], len(made)) for state, made in asked]


class Drill:
    """Asks one position after the other. A wrongly answered one comes again at the end.

    Attributes
    ----------
    waiting : list of Question
        Questions without a correct answer so far; the first one is asked.
    right, wrong : int
        Answers so far.
    """

    def __init__(self, table: Table, asked: Sequence[Question]) -> None:
        self.table = table
        self.waiting = list(asked)
        self.right = self.wrong = 0

    @property
    def is_over(self) -> bool:
        """Whether all are answered rightly."""
        return not self.waiting

    def answer(self, action: int) -> float:
        """Take an action in the current position.

        Returns
        -------
        float
            Its cost against the best, in units of value; 0 if no action is better beyond
            the certified error.
        """
        question = self.waiting.pop(0)
        choices = self.table.solution.choices_in(np.array([question.state]))
        rank = action - self.table.actions(question.state).start
        if choices.is_best[rank]:
            self.right += 1
            return 0.0
        self.wrong += 1
        self.waiting.append(question)
        return float(choices.regret[rank])

    def best(self, state: int) -> str:
        """The best action of a state, by name."""
        best = int(self.table.solution.best_actions_in(np.array([state]))[0])
        return self.table.graph.view.action(best).distinct_name
