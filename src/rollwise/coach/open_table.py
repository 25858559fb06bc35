"""A table for a game that is too large for one graph: it grows as play goes on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rollwise.answer.layered_solution import LayeredSolution
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import some_states
from rollwise.coach.table import Table
from rollwise.derive.changed import joined
from rollwise.game import Game
from rollwise.graph import THROW

if TYPE_CHECKING:
    from rollwise.answer.answer import Answer


def table_of(answer: Answer, game: Game) -> Table:
    """The table to play a game at, of any size and number of players."""
    if isinstance(answer, LayeredSolution):
        return OpenTable.of(answer)
    if game.players > 2:
        from rollwise.coach.many_table import ManyTable

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
