"""A game's table: positions, dice and outcomes in words.

The graph names fields and actions. A game may say more, with the words of `Game`
(`describe`, `told`, `throw`, `fallen`); they are for people and never take part in
solving.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.words import Words
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.answer.solve import solve
from rollwise.coach.changes import as_other_sees, changes
from rollwise.derive.derived_game import base_actions
from rollwise.errors import UsageError
from rollwise.game import AGAIN, DRAW, END, LOSE, PASS, WIN, Game
from rollwise.graph import Outcome, StateGraph


class Fall(NamedTuple):
    """One thing that can come of an action.

    Attributes
    ----------
    number : int
        Among the outcomes of its action, from 0.
    ways, of : int or float
        So many of so many equally likely ways lead there.
    text : str
    """

    number: int
    ways: float
    of: float
    text: str


@dataclass(frozen=True, eq=False)
class Table:
    """A solved game and its words.

    Attributes
    ----------
    solution : Solution
    game : Game
        What happens is told, and dice are thrown, as in its base game.
    """

    solution: Solution
    game: Game

    @classmethod
    def lay(cls, game: Game, **options: Any) -> Table:
        """Solve a game.

        Raises
        ------
        RollwiseError
            As `rollwise.solve` does.
        """
        return cls(solve(game, **options), game)

    @property
    def graph(self) -> StateGraph:
        """The graph that is played on."""
        return self.solution.graph

    @cached_property
    def policies(self) -> Policies:
        """The policies that may play, by name."""
        return Policies(self.graph, self.game, self.solution)

    @property
    def rules(self) -> Game:
        """The rules that have words for what happens."""
        return self.game.base_game

    @property
    def _words(self) -> Words:
        return Words(self.rules)

    @cached_property
    def source(self) -> StateGraph:
        """The graph of these rules."""
        return self.game.base_graph(self.graph)

    @cached_property
    def _source_action(self) -> NDArray[np.int64]:
        """The action of `source` that each action stands for."""
        if self.source is self.graph:
            return np.arange(self.graph.n_actions)
        return base_actions(self.graph, self.source)

    def _state(self, action: int) -> Any:
        """The state of an action, as the rules know it."""
        source = self.source
        fields = source.states[source.action_state[self._source_action[action]]].tolist()
        return type(self.rules.start())(*fields)

    def position(self, s: int) -> str:
        """A position in words, as the mover sees it."""
        return Words(self.game).describe(self._state_type(*self.graph.states[s].tolist()))

    @cached_property
    def _state_type(self) -> Any:
        return type(self.game.start())

    def actions(self, s: int) -> range:
        """The actions of a state, as indices into the graph's arrays."""
        return self.graph.view[s].action_range

    def action_at(self, s: int, text: str, *, in_menu: bool = False) -> int:
        """The action that someone typed (see `rollwise.graph.vocabulary`).

        Parameters
        ----------
        in_menu : bool
            The choices stand in a menu before the player.

        Raises
        ------
        UsageError
            It is none of the state's, or could be several; says what may be done.
        """
        labels = self.graph.view[s].labels
        place = self.graph.vocabulary.find_typed(labels, text, in_menu=in_menu)
        return self.actions(s)[place]

    def outcomes(self, action: int) -> range:
        """The outcomes of an action, as indices into the graph's arrays."""
        return self.graph.view.action(action).outcome_range

    def falls(self, action: int) -> list[Fall]:
        """All that can come of an action."""
        thrown = self.graph.view.action(action)
        return [
            Fall(number, ways, thrown.total, self.outcome_text(action, number))
            for number, ways in enumerate(thrown.weights)
        ]

    def outcome_text(self, action: int, number: int) -> str:
        """What happened, in words."""
        graph = self.graph
        outcome = graph.view.action(action).outcome(number)
        s, t = outcome.action.state.index, outcome.target
        told = self._told(action, number)
        if outcome.ending is not None:
            then = {"win": "wins", "lose": "loses", "draw": "a draw"}.get(outcome.ending, "")
            return "; ".join(part for part in (told, then) if part) or "the end"
        if told:
            return told
        if not outcome.passes:
            return changes(graph, s, t) or "nothing changes"
        if self.source is not graph:  # the points of the other player stand elsewhere
            return "the turn passes"
        made = changes(graph, s, t, self._seen_by_other)
        return f"{made}; the turn passes" if made else "the turn passes"

    @cached_property
    def _seen_by_other(self) -> tuple[int, ...]:
        return as_other_sees(self.graph)

    def _told(self, action: int, number: int) -> str:
        thrown = self.source.view.action(self._source_action[action])
        outcome = thrown.outcome(number)
        here, follows = self._state(action), outcome.next_state
        after = here if follows is None else type(here)(*follows.fields)
        return self._words.told(here, thrown.label, _then(outcome), after)

    def dice(self, action: int) -> tuple[int, ...]:
        """The sides of the dice that an action throws, if the game says so."""
        return self._words.throw(self._state(action), int(self.graph.action_label[action]))

    def fall_of(self, action: int, faces: Sequence[int]) -> int:
        """The number of the outcome that these faces bring.

        Raises
        ------
        UsageError
            So many dice aren't thrown, or a die has no such face.
        """
        sides = self.dice(action)
        name = self.graph.view.action(action).name
        if len(faces) != len(sides):
            dice = "1 die" if len(sides) == 1 else f"{len(sides)} dice"
            raise UsageError(f"{name} throws {dice}, but {len(faces)} faces are given")
        for face, most in zip(faces, sides, strict=True):
            if not 1 <= face <= most:
                raise UsageError(f"a die shows {face}, but it has the faces 1 to {most}")
        label = int(self.graph.action_label[action])
        then, after = self._words.follows(self._state(action), label, faces)
        for outcome in self.source.view.action(self._source_action[action]).outcomes:
            follows = outcome.next_state
            same = follows is None or follows.fields == tuple(after)
            if _then(outcome) == then and same:
                return outcome.number
        raise UsageError(f"{name}: nothing comes of the faces {' '.join(map(str, faces))}")

    def draw(self, action: int, random: np.random.Generator) -> tuple[int, tuple[int, ...]]:
        """Let the dice fall: the number of the outcome, and the faces where the game has dice."""
        sides = self.dice(action)
        if sides:
            faces = tuple(int(random.integers(1, most + 1)) for most in sides)
            return self.fall_of(action, faces), faces
        chances = self.graph.view.action(action).chances
        return int(random.choice(len(chances), p=chances)), ()


def _then(outcome: Outcome) -> int:
    if outcome.ending is None:
        return PASS if outcome.passes else AGAIN
    return {"win": WIN, "lose": LOSE, "draw": DRAW, "end": END}[outcome.ending]
