"""A table for three or more: the equilibrium, as play asks it, and the books of every seat."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.solution import Choices
from rollwise.coach.ledger import Account
from rollwise.coach.table import Table
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.view import worth_name
from rollwise.many.equilibrium import Equilibrium
from rollwise.many.mover_view import MoverView
from rollwise.many.players import Players

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MoversView:
    """As much of a `rollwise.Solution` as play asks for, of an equilibrium.

    Values are the mover's, if all go on by the equilibrium: from -1 to 1, or expected payoffs.
    """

    found: Equilibrium

    @property
    def has_stakes(self) -> bool:
        return bool(self.found.payoffs)

    @property
    def is_score(self) -> bool:
        return self.has_stakes

    @property
    def worth_name(self) -> str:
        return worth_name("win", self.has_stakes)

    def as_values(self, worth: Any) -> Any:
        """Chances to win as values, from -1 to 1; payoffs as they are."""
        return worth if self.has_stakes else 2.0 * worth - 1.0

    @property
    def graph(self) -> StateGraph:
        return self.found.graph

    @property
    def error_bound(self) -> float:
        return self.found.error_bound * (1.0 if self.has_stakes else 2.0)

    @property
    def values(self) -> Floats:
        found: Floats = self.as_values(self.found.values[:, 0])
        return found

    @property
    def value(self) -> float:
        return float(self.as_values(self.found.values[0, 0]))

    def choices_in(self, states: NDArray[np.int64]) -> Choices:
        """See `rollwise.Solution.choices_in`."""
        return self._to_movers.choices_in(states)

    @cached_property
    def _to_movers(self) -> MoverView:
        return MoverView.of(self.found)

    def best_actions_in(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """What the equilibrium does; where it mixes, the likeliest action."""
        view, chance = self.graph.view, self.found.policy.probability
        ranges = [view[s].action_range for s in states.tolist()]
        return np.array([actions[int(np.argmax(chance[actions]))] for actions in ranges], np.int64)


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

    solution: MoversView  # type: ignore[assignment]

    @classmethod
    def of(cls, found: Equilibrium, game: Game) -> ManyTable:
        return cls(MoversView(found), game)

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
