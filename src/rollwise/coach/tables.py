"""Tables for games of three players or more: the equilibrium, and the books of every seat."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.coach.ledger import Account
from rollwise.coach.table import Table
from rollwise.game import Game

if TYPE_CHECKING:
    from rollwise.answer.seats_solution import SeatsSolution


def table_of(answer: Solution, game: Game) -> Table:
    """The table to play a game at, of any size and number of players."""
    return (ManyTable if game.players > 2 else Table).of(answer, game)


@dataclass(frozen=True)
class SeatsAccount(Account):
    """The account of a move of three or more players.

    Attributes
    ----------
    seen : tuple
        Value of the game for each seat: before the choice, after it, and after the dice.
    """

    seen: tuple[tuple[float, float, float], ...] = ()

    def seen_by(self, seat: int) -> tuple[float, float, float]:
        return self.seen[seat]


@dataclass(eq=False)
class ManyTable(Table):
    """The table of a game for three or more."""

    solution: SeatsSolution

    @property
    def is_whole(self) -> bool:
        return False

    @cached_property
    def policies(self) -> Policies:
        return Policies.of(self.solution, any_players=True)

    def worth_at_start(self, seat: int) -> float:
        return float(self.solution.as_values(self.solution.equilibrium.values[0, seat]))

    def account(self, number: int, seat: int, *move: int, **about: Any) -> SeatsAccount:
        state, action, outcome = move
        solved, graph = self.solution.equilibrium, self.graph
        here = np.array([state])
        choices = self.solution.choices_in(here)
        rank = action - graph.view[state].action_range.start
        worth = (
            solved.values[state],
            solved.action_worths[action],
            solved.after(graph.view.action(action).outcome(outcome)),
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
            float(choices.regret[rank]) if graph.view[state].is_choice else 0.0,
            graph.view[state].is_choice,
            not bool(choices.is_best[rank]),
            int(self.solution.best_actions_in(here)[0]),
            tuple(map(tuple, seen)),
        )
