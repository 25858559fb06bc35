"""The positions of a game by layers, in memory or in a folder.

They replace the graph in the answer to a large game. For a question about some positions, a graph
of their turns is built. Play ends at other positions, with their known values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.layer_folder import ALL, START, LayerFacts
from rollwise.errors import UnknownState, spelled
from rollwise.game import Game
from rollwise.graph import THROW, title_of
from rollwise.graph.layout import field_words
from rollwise.graph.naming import Vocabulary
from rollwise.graph.typed import find_state, row_of

if TYPE_CHECKING:
    from rollwise.answer.certified import CertifiedResult
    from rollwise.graph import StateGraph

MOST_AGAIN = 8_000_000  # outcomes of a game solved again as one graph, in some seconds

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def _in_memory(rows: Ints) -> None:
    """The check of rows that no file holds."""


@dataclass(frozen=True, eq=False)
class LayeredStates:
    """The positions of a game, sorted by layers.

    Attributes
    ----------
    game : Game
    field_names : tuple of str
    states : (n_positions, n_fields) int32
        Sorted by layers, and within a layer by their fields.
    layers : (n_layers + 1,) int64
        Layer i is ``states[layers[i]:layers[i + 1]]``.
    progress : (n_layers,) or (n_layers, n_numbers) int64
        The progress of each layer. The layers are sorted by it, or by the sum of its numbers.
    actions : (n_positions,) int32
        The number of the first of the best actions.
    start : int
        The number of the start.
    n_actions, n_outcomes : int
        Of the whole game.
    has_draws, has_stakes : bool
        As those of `rollwise.graph.StateGraph`.
    keep : str
        The positions kept: ``all``, or ``start``, the start alone.
    n_found : int or None
        The number of all positions found, if these aren't all.
    first_rows : mapping
        States with actions for `action_text` to name (`rollwise.builders.arrays.first_rows`).
    require_rows : callable
        Checks rows from a folder against their checksums.
    throw_names : tuple
        Empty: positions come before their throws.
    """

    game: Game
    field_names: tuple[str, ...]
    action_names: Mapping[int, str]
    states: NDArray[np.int32]
    layers: Ints
    progress: Ints
    actions: NDArray[np.int32]
    start: int
    n_actions: int
    n_outcomes: int
    has_draws: bool
    has_stakes: bool
    keep: str = ALL
    n_found: int | None = None
    first_rows: Mapping[int, list[int]] = field(default_factory=dict)
    require_rows: Callable[[Ints], None] = _in_memory
    throw_names: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def of(
        cls, game: Game, facts: LayerFacts, first_rows: Mapping[int, list[int]], **given: Any
    ) -> LayeredStates:
        """The states with action names from the rules, and with the facts of all layers."""
        from rollwise.builders.arrays import action_names
        from rollwise.builders.rules import Rules

        draws = facts.has_draws or game.endless == "draw"
        draws = draws and not facts.has_stakes and game.objective == "win"
        rules, facts = Rules(game), replace(facts, has_draws=draws)
        return cls(
            game=game,
            field_names=rules.field_names,
            action_names=action_names(rules, first_rows),
            first_rows=first_rows,
            **vars(facts),
            **given,
        )

    @property
    def n_states(self) -> int:
        """The number of positions of the game, kept or not."""
        return len(self.states) if self.n_found is None else self.n_found

    @property
    def largest_layer(self) -> int | None:
        """The number of positions of the largest layer, if all positions are kept."""
        return int(np.diff(self.layers).max()) if self.keep == ALL else None

    @property
    def n_positions(self) -> int:
        """The number of kept positions."""
        return len(self.states)

    @property
    def positions(self) -> Ints:
        """The numbers of the kept positions."""
        return np.arange(len(self.states))

    @cached_property
    def is_small(self) -> bool:
        """Whether the whole game can be solved again as one graph in some seconds."""
        from rollwise.builders.limits import OUTCOMES_PER_STATE, most_states
        from rollwise.builders.rules import Rules

        rules = Rules(self.game)
        most = min(MOST_AGAIN, most_states(rules)) // (1 + rules.turn_states)
        most_outcomes = min(MOST_AGAIN, most * OUTCOMES_PER_STATE)
        return self.n_states <= most and self.n_outcomes <= most_outcomes

    @property
    def objective(self) -> str:
        return self.game.objective

    @property
    def players(self) -> int:
        return self.game.players

    @property
    def title(self) -> str:
        """The game and its parameters, as typed on the command line."""
        return title_of(self.game.name, self.game.parameters)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The names of the actions, and the action of a text."""
        every = sorted({*self.action_names, *np.unique(self.actions).tolist()})
        return Vocabulary(every, self.action_names)

    @cached_property
    def has_throws(self) -> bool:
        """Whether every position comes before a throw, and thus has no action."""
        return bool(np.all(self.actions == THROW))

    @cached_property
    def at_once(self) -> int:
        """The number of positions in a graph of at most some hundred thousand states."""
        from rollwise.builders.rules import Rules
        from rollwise.builders.some_states import positions_at_once

        return positions_at_once(Rules(self.game))

    def fields_of(self, states: Ints, throws: bool) -> dict[str, NDArray[np.int32]]:
        """The fields of some positions, by name."""
        self.require_rows(states)
        return dict(zip(self.field_names, self.states[states].T, strict=True))

    def find(self, state: Sequence[Any] | Mapping[str, Any]) -> int:
        """The number of a position, given by its fields in order or by name.

        Raises
        ------
        UnknownState
        """
        row = row_of(self.field_names, state, self.title)
        index = int(self.places_of(np.array([row]))[0])
        if index < 0 and self.keep == START:
            save = spelled(python="save=FOLDER", command_line="--save FOLDER")
            raise UnknownState(
                f"{self.title}: only the answer of the start was kept; {save} keeps all of them"
            )
        return (
            index
            if index >= 0
            else find_state(self.states, self.field_names, row, self.title, field_words(self.game))
        )

    def numbers_of(self, rows: NDArray[np.int32]) -> Ints:
        """The numbers of many positions, (n,) int64, given by their fields: (n, n_fields) int32.

        Raises
        ------
        UnknownState
        """
        numbers = self.places_of(rows)
        for i in np.flatnonzero(numbers < 0).tolist():
            numbers[i] = self.find(rows[i].tolist())
        return numbers

    def places_of(self, rows: NDArray[np.int32]) -> Ints:
        """The numbers of positions, by bisection in their layers; -1 for unknown positions.

        The rows that decide are checked against their checksums.
        """
        from rollwise.builders.layer_rules import LayersByProgress, progress_of
        from rollwise.builders.rules import Rules

        reached = progress_of(Rules(self.game), rows, self.progress[-1])
        layer = LayersByProgress(self.progress).find(reached)  # the last one, if there is none
        low, high = self.layers[layer], self.layers[layer + 1]
        probed = []
        # bisection of all rows at once, each within its layer
        while np.any(low < high):
            middle = (low + high) // 2
            probed.append(np.minimum(middle, len(self.states) - 1))
            after = _is_before(self.states[np.minimum(middle, len(self.states) - 1)], rows)
            after &= low < high
            low, high = np.where(after, middle + 1, low), np.where(after, high, middle)
        low = np.minimum(low, len(self.states) - 1)
        is_found = np.all(self.states[low] == rows, axis=1)
        self.require_rows(low)
        for middle in probed:  # the compared rows prove that a state is missing
            self.require_rows(middle[~is_found])
        return np.where(is_found, low, -1)

    def turns(
        self, numbers: Ints, values: Floats, error_bounds: Floats
    ) -> tuple[StateGraph, CertifiedResult]:
        """The turns of some positions, solved anew from the values of the next positions.

        The graph has these positions first. Play ends at the next positions, the last states.

        Parameters
        ----------
        numbers : (n,) int64
            Of the positions, each once.
        values, error_bounds : (n_positions,) float64
        """
        from rollwise.answer.certified import CertifiedResult, solve_and_certify
        from rollwise.builders.rules import Rules
        from rollwise.builders.some_states import some_states
        from rollwise.derive.changed import ROUNDED, with_ends

        self.require_rows(numbers)
        graph, rows = some_states(Rules(self.game), self.states[numbers])
        places = self.numbers_of(rows)
        border_values, off = values[places], np.nextafter(error_bounds[places] + ROUNDED, np.inf)
        found, proof, seconds = solve_and_certify(
            graph, border_values=border_values, border_bounds=off
        )
        values = np.concatenate([found.values, border_values])
        found = replace(found, values=values, lower=None, upper=None)
        proof = replace(proof, bounds=np.concatenate([proof.bounds, off]))
        graph = with_ends(graph, rows, border_values, self.has_stakes)
        return graph, CertifiedResult(found, proof, seconds)

    def staying(self, graph: StateGraph, best: NDArray[np.bool_], numbers: Ints) -> Ints:
        """The positions to which the best actions of a graph of turns lead in some layers.

        Parameters
        ----------
        graph : StateGraph
            From `turns`.
        best : (n_actions,) bool
        numbers : (n,) int64
            Positions of these layers.
        """
        owner = np.repeat(np.arange(graph.n_actions), np.diff(graph.outcome_indptr))
        ends = np.unique(graph.outcome_state[best[owner]])
        ends = ends[ends >= graph.n_states - graph.n_ends]
        found = np.unique(self.numbers_of(graph.states[ends, : len(self.field_names)]))
        layer, layers = (
            np.searchsorted(self.layers, some, side="right") for some in (found, numbers)
        )
        return found[np.isin(layer, layers)]


def _is_before(rows: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether each row is before another one in lexicographic order: (n,) bool."""
    before, equal = np.zeros(len(rows), np.bool_), np.ones(len(rows), np.bool_)
    # fields from the first to the last: the first difference decides
    for one, other in zip(rows.T, others.T, strict=True):
        before |= equal & (one < other)
        equal &= one == other
    return before
