"""A drill: the positions of players' mistakes, asked again until answered correctly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from rollwise.coach.session import Session
from rollwise.coach.table import Table


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
