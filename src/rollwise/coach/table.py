"""A game's table: the solved game, its policies, and its words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.answer.solve import solve
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import some_states
from rollwise.derive.changed import joined
from rollwise.game import Game
from rollwise.graph import THROW, StateGraph
from rollwise.words import Narrator


class Fall(NamedTuple):
    """One possible outcome of an action.

    Attributes
    ----------
    number : int
        Among the outcomes of its action, from 0.
    ways, of : int or float
        Ways that lead there, out of the number of equally likely ways.
    text : str
    """

    number: int
    ways: float
    of: float
    text: str


@dataclass(eq=False)
class Table:
    """A solved game and its words.

    A game too large for one graph has only the turns played so far. Each turn is solved when play
    reaches it.

    Attributes
    ----------
    solution : Solution
        On the graph in play.
    game : Game
        Narration and dice are those of its base game.
    answer : Solution or None
        Values of all positions, if the graph doesn't have all of them.
    """

    solution: Solution
    game: Game
    answer: Solution | None = None
    _begun: dict[tuple[int, ...], int] = field(default_factory=dict)  # where turns begin

    @classmethod
    def of(cls, answer: Solution, game: Game) -> Table:
        """The table at the start of a game."""
        if answer.is_small:
            return cls(answer.whole(), game)
        return cls(answer.near(np.array([answer.start]))[0], game, answer)

    @classmethod
    def lay(cls, game: Game, **options: Any) -> Table:
        """Solve a game.

        Raises
        ------
        RollwiseError
            As `rollwise.solve` does.
        """
        solution = solve(game, **options)
        return cls(solution, solution.game or game)

    def entered(self, state: int) -> int:
        """The number of a reached state, after making play from there possible.

        At the end of the graph, the turn of that position is solved now.
        """
        here = self.graph.view[state]
        if self.answer is None or here.labels != [THROW] or not here.actions[0].outcomes[0].is_over:
            return state
        position = here.fields[: len(self.answer.space.field_names)]
        if position in self._begun:
            return self._begun[position]
        # the new turn's graph is appended, so that earlier states keep their numbers
        n, old, new = self.graph.n_states, self.solution, self.answer.part(position)
        self._begun[position] = n
        self.solution = replace(
            old,
            space=joined(old.graph, new.graph),
            values=np.concatenate([old.values, new.values]),
            error_bounds=np.concatenate([old.error_bounds, new.error_bounds]),
            taken=None
            if old.taken is None and new.taken is None
            else np.concatenate([old.best_actions, old.graph.n_actions + new.best_actions]),
        )
        for name in ("policies", "narrator"):  # of the smaller graph
            self.__dict__.pop(name, None)
        return n

    @property
    def graph(self) -> StateGraph:
        """The graph in play."""
        return self.solution.graph

    @property
    def is_whole(self) -> bool:
        """Whether the graph covers the whole game."""
        return self.answer is None

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of the rules; of a large game, of the turns at the start."""
        if self.answer is None:
            return self.graph.content_hash
        start = self.answer.fields_of(np.array([self.answer.start]), throws=False)
        turn, _ = some_states(Rules(self.game), np.column_stack(list(start.values())))
        return turn.content_hash

    @cached_property
    def policies(self) -> Policies:
        """The available policies, by name."""
        return Policies(self.graph, self.game, self.solution)

    @cached_property
    def narrator(self) -> Narrator:
        """The narrator of play."""
        return Narrator(self.graph, self.game)

    def worth_at_start(self, seat: int) -> float:
        """The value of the game for a seat before it begins."""
        profile = self.solution.profile
        if profile is not None:
            return float(profile.as_values(profile.values[0, seat]))
        return self.solution.value if seat == 0 else -self.solution.value

    def actions(self, s: int) -> range:
        """The actions of a state, as indices into the graph's arrays."""
        return self.graph.view[s].action_range

    def action_at(self, s: int, text: str, *, in_menu: bool = False) -> int:
        """The action of a typed text (see `rollwise.graph.naming`).

        Parameters
        ----------
        in_menu : bool
            The choices stand in a menu before the player.

        Raises
        ------
        UsageError
            The text is no action of the state, or is ambiguous. The message lists the legal
            actions.
        """
        labels = self.graph.view[s].labels
        number, _, unit = text.strip().partition(" ")
        text = number if unit in self.game.action_unit else text
        index = self.graph.vocabulary.find_typed(labels, text, in_menu=in_menu)
        return self.actions(s)[index]

    def called(self, name: str) -> str:
        """The name of a choice in a menu: a mere number has its unit, ``2 dice``."""
        unit = self.game.action_unit
        return f"{name} {unit[name != '1']}" if unit and name.isdecimal() else name

    def outcomes(self, action: int) -> range:
        """The outcomes of an action, as indices into the graph's arrays."""
        return self.graph.view.action(action).outcome_range

    def falls(self, action: int) -> list[Fall]:
        """The possible outcomes of an action."""
        thrown = self.graph.view.action(action)
        return [
            Fall(number, ways, thrown.total, self.narrator.outcome_text(action, number))
            for number, ways in enumerate(thrown.weights)
        ]
