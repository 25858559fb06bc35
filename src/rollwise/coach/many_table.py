"""A table for three or more: the equilibrium, as play asks it, and the books of every seat."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rollwise.coach.ledger import Account
from rollwise.coach.table import Table
from rollwise.many.mover_view import MoverView
from rollwise.many.table import Players


@dataclass(frozen=True)
class SeatsAccount(Account):
    """A move in the books of three or more players.

    Attributes
    ----------
    seen : tuple
        What the game was worth to each seat: before the choice, after it, and after the dice.
    """

    seen: tuple[tuple[float, float, float], ...] = ()

    def seen_by(self, seat: int) -> tuple[float, float, float]:
        return self.seen[seat]


@dataclass(eq=False)
class ManyTable(Table):
    """The table of a game for three or more."""

    solution: MoverView

    @property
    def is_whole(self) -> bool:
        return False

    @cached_property
    def policies(self) -> Players:
        return self.solution.found.table

    def worth_at_start(self, seat: int) -> float:
        return float(self.solution.as_values(self.solution.found.values[0, seat]))

    def account(self, number: int, seat: int, *move: int, **about: Any) -> SeatsAccount:
        state, action, outcome = move
        found, graph = self.solution.found, self.graph
        here = np.array([state])
        choices = self.solution.choices_in(here)
        place = action - graph.view[state].action_range.start
        worth = (
            found.values[state],
            np.array(found.advise(state)[place].values),
            found.after(graph.view.action(action).outcome(outcome)),
        )
        seen = np.array(
            [np.roll(self.solution.as_values(shares), seat) for shares in worth]
        ).T.tolist()
        before, chosen, after = seen[0]
        return SeatsAccount(
            number,
            seat,
            state,
            action,
            outcome,
            about["faces"],
            about["line"],
            before,
            chosen,
            after,
            float(choices.regret[place]) if graph.view[state].is_choice else 0.0,
            graph.view[state].is_choice,
            not bool(choices.is_best[place]),
            int(self.solution.best_actions_in(here)[0]),
            tuple(map(tuple, seen)),
        )
