"""Tables for games that are too large for one graph, and for three players or more.

The first grows as play goes on. The second has the equilibrium, as play asks it, and the books of
every seat.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rollwise.answer.layered_solution import LayeredSolution
from rollwise.answer.references import Policies
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import some_states
from rollwise.coach.ledger import Account
from rollwise.coach.table import Table
from rollwise.derive.changed import joined
from rollwise.game import Game
from rollwise.graph import THROW

if TYPE_CHECKING:
    from rollwise.answer.answer import Answer
    from rollwise.answer.seats_solution import SeatsSolution


def table_of(answer: Answer, game: Game) -> Table:
    """The table to play a game at, of any size and number of players."""
    if isinstance(answer, LayeredSolution):
        return OpenTable.of(answer)
    if game.players > 2:
        return ManyTable(answer, game)  # type: ignore[arg-type]
    return Table(answer.part_where(None), game)


@dataclass(eq=False)
class OpenTable(Table):
    """The turns that were played so far, each solved as play comes to it.

    Attributes
    ----------
    answer : LayeredSolution
        What all positions are worth.
    fingerprint : str
        Of the rules, as they are at the start.
    """

    answer: LayeredSolution
    fingerprint: str = ""
    _known: dict[tuple[int, ...], int] = field(default_factory=dict)  # where turns begin

    @classmethod
    def of(cls, answer: LayeredSolution) -> OpenTable:
        """The table at the start of a game."""
        start = answer.states[answer.start].tolist()
        rules, _ = some_states(Rules(answer.game), answer.states[[answer.start]])
        return cls(answer.part(start), answer.game, answer, rules.content_hash)

    @property
    def is_whole(self) -> bool:
        return False

    def entered(self, state: int) -> int:
        """The state with its turn, which is solved now if that state is an end of the graph."""
        here = self.graph.view[state]
        if here.labels != [THROW] or not here.actions[0].outcomes[0].is_over:
            return state
        position = here.fields[: len(self.answer.field_names)]
        if position in self._known:
            return self._known[position]
        n, old = self.graph.n_states, self.solution
        self._known[position] = n
        new = self.answer.part(position)
        self.solution = replace(
            old,
            graph=joined(old.graph, new.graph),
            values=np.concatenate([old.values, new.values]),
            error_bounds=np.concatenate([old.error_bounds, new.error_bounds]),
            run=None,
        )
        for name in ("policies", "narrator"):  # of the smaller graph
            self.__dict__.pop(name, None)
        return n


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
        found, graph = self.solution.equilibrium, self.graph
        here = np.array([state])
        choices = self.solution.choices_in(here)
        place = action - graph.view[state].action_range.start
        worth = (
            found.values[state],
            found.action_worths[action],
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
