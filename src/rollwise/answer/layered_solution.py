"""The answer of a game that was solved by layers, in memory or in a folder where it lies."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.answer import Answer
from rollwise.answer.layer_folder import ALL, START, LayerFacts, open_folder
from rollwise.answer.rows import Cells, Columns, cells_of, frame_of
from rollwise.errors import UnknownState, UsageError, spelled
from rollwise.game import Game
from rollwise.graph import THROW, find_state, row_of, title_of, win_probability
from rollwise.graph.choices import in_order
from rollwise.graph.naming import Vocabulary
from rollwise.hooks import HOOKS
from rollwise.numbers.printed import certified, chance

if TYPE_CHECKING:
    import polars as pl

    from rollwise.answer.advice import Advice
    from rollwise.answer.solution import Solution
    from rollwise.graph import StateGraph
    from rollwise.machine.atomic_files import HtmlPage

MOST_TURNS = 16  # that are remembered
ROWS_AT_ONCE = 1 << 22  # of the table, where some of them are looked for


def _in_memory(rows: NDArray[np.int64] | slice) -> None:
    """Rows in memory are as they were written."""


@dataclass(frozen=True, eq=False, repr=False)
class LayeredSolution(Answer):
    """The certified values of a game that was solved by layers.

    Attributes
    ----------
    game : Game
    field_names : tuple of str
    states : (n_states, n_fields) int32
        Sorted by layers, and within a layer by their fields.
    layers : (n_layers + 1,) int64
        Layer i is ``states[layers[i]:layers[i + 1]]``.
    progress : (n_layers,) or (n_layers, n_numbers) int64
        The progress of each: the layers are sorted by it, or by the sum of its numbers.
    values, error_bounds : (n_states,) float64
        As in `rollwise.answer.solution.Solution`.
    actions : (n_states,) int32
        The number of the first of the best actions.
    start : int
        The number of the start.
    n_actions, n_outcomes : int
        Of the whole game.
    has_draws, stakes : bool
        As `has_draws` and `has_stakes` in `rollwise.graph.StateGraph`.
    most_bytes : int
        Held at once by the graph of a layer, at most.
    kept_from : str or None
        When it was found, if it was kept since.
    keep : str
        Which states it has: ``all``, or ``start``, the start alone.
    n_found : int or None
        How many states were found, if these aren't all.
    first_rows : mapping
        Where actions come up that `action_text` may name (`rollwise.builders.arrays.first_rows`).
    require_rows : callable
        Makes sure that some rows are what was written, where they lie in a folder.
    seconds : dict of float
        Time spent to find the ``states``, and to ``build``, ``solve`` and
        ``certify`` the layers; a layer is certified while the next is solved.
    """

    game: Game
    field_names: tuple[str, ...]
    action_names: Mapping[int, str]
    states: NDArray[np.int32]
    layers: NDArray[np.int64]
    progress: NDArray[np.int64]
    values: NDArray[np.float64]
    error_bounds: NDArray[np.float64]
    actions: NDArray[np.int32]
    start: int
    n_actions: int
    n_outcomes: int
    has_draws: bool
    stakes: bool
    most_bytes: int
    seconds: Mapping[str, float]
    kept_from: str | None = None
    keep: str = ALL
    n_found: int | None = None
    first_rows: Mapping[int, list[int]] = field(default_factory=dict)
    require_rows: Callable[[NDArray[np.int64] | slice], None] = _in_memory

    is_whole = False

    @property
    def subject(self) -> Game:
        return self.game

    @property
    def n_states(self) -> int:
        """How many states the game has, kept or not."""
        return len(self.states) if self.n_found is None else self.n_found

    @property
    def objective(self) -> str:
        return self.game.objective

    @property
    def has_stakes(self) -> bool:
        return self.stakes

    @property
    def status(self) -> str:
        """``certified``, or ``not certified`` where no bound could be proved."""
        return "certified" if np.isfinite(self.error_bound) else "not certified"

    @property
    def title(self) -> str:
        """The game and its parameters, as typed on the command line."""
        return title_of(self.game.name, self.game.parameters)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What the actions are called, and which one a text means."""
        every = sorted({*self.action_names, *np.unique(self.actions).tolist()})
        return Vocabulary(every, self.action_names)

    def find(self, state: Sequence[int] | Mapping[str, int]) -> int:
        """The number of a state, given by its fields in order or by name.

        Raises
        ------
        UnknownState
        """
        row = row_of(self.field_names, state, self.title)
        found = int(self.places_of(np.array([row]))[0])
        if found < 0 and self.keep == START:
            raise self._only_start()
        return found if found >= 0 else find_state(self.states, self.field_names, row, self.title)

    def _only_start(self) -> UnknownState:
        save = spelled(python="save=FOLDER", command_line="--save FOLDER")
        return UnknownState(
            f"{self.title}: only the answer of the start was kept; {save} keeps all of them"
        )

    def numbers_of(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """The numbers of many states, (n,) int64, given by their fields: (n, n_fields) int32.

        Raises
        ------
        UnknownState
        """
        found = self.places_of(rows)
        for i in np.flatnonzero(found < 0).tolist():
            found[i] = self.find(rows[i].tolist())
        return found

    def places_of(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """The numbers of states, by bisection in their layers; -1 for those that aren't found."""
        from rollwise.builders.layer_rows import LayersByProgress, progress_of
        from rollwise.builders.rules import Rules

        reached = progress_of(Rules(self.game), rows, self.progress[-1])
        layer = LayersByProgress(self.progress).find(reached)  # the last one, if there is none
        low, high = self.layers[layer], self.layers[layer + 1]
        probed = []
        while np.any(low < high):
            middle = (low + high) // 2
            probed.append(np.minimum(middle, len(self.states) - 1))
            after = _is_before(self.states[np.minimum(middle, len(self.states) - 1)], rows)
            after &= low < high
            low, high = np.where(after, middle + 1, low), np.where(after, high, middle)
        low = np.minimum(low, len(self.states) - 1)
        is_found = np.all(self.states[low] == rows, axis=1)
        self.require_rows(low)
        for middle in probed:  # a state isn't there if they say so that were compared with it
            self.require_rows(middle[~is_found])
        return np.where(is_found, low, -1)

    def part(self, state: Sequence[int] | Mapping[str, int]) -> Solution:
        """The answer in one state and its turn; play ends where it leads to.

        Parameters
        ----------
        state : a state of the game, its fields in order, or a mapping by name

        Returns
        -------
        Solution
            Certified. Next states are ends of play that are worth their values.

        Raises
        ------
        UnknownState
        """
        row = tuple(row_of(self.field_names, state, self.title))
        if self.keep == START:
            raise self._only_start()
        if row not in self._turns:
            found = self.parts(np.array([self.find(row)]))
            if len(self._turns) >= MOST_TURNS:
                del self._turns[next(iter(self._turns))]
            self._turns[row] = found
        return self._turns[row]

    @cached_property
    def _turns(self) -> dict[tuple[int, ...], Solution]:
        """The turns that were asked for last, since play asks for each move by move."""
        return {}

    def parts(self, numbers: NDArray[np.int64]) -> Solution:
        """The answer in some states and their turns, as `part` gives it in one.

        Parameters
        ----------
        numbers : (n,) int64
            Of the states, each once. They are the first states of the answer, in this order.
        """
        from rollwise.builders.rules import Rules
        from rollwise.builders.some_states import some_states

        self.require_rows(numbers)
        graph, rows = some_states(Rules(self.game), self.states[numbers])
        next_states = self.numbers_of(rows)
        return self._ended(graph, rows, next_states)

    def _ended(
        self, graph: StateGraph, rows: NDArray[np.int32], places: NDArray[np.int64]
    ) -> Solution:
        """The answer of a graph whose border is known, as one in which play ends there.

        Parameters
        ----------
        rows : (n_border, n_fields) int32
            The fields of the border.
        places : (n_border,) int64
            Its numbers among the states of this answer.
        """
        from rollwise.answer.certified import solve_and_certify
        from rollwise.answer.solution import Solution
        from rollwise.derive.changed import ROUNDED, with_ends

        values = self.values[places]
        off = np.nextafter(self.error_bounds[places] + ROUNDED, np.inf)
        found, certificate, seconds = solve_and_certify(
            graph, border_values=values, border_bounds=off
        )
        return Solution(
            with_ends(graph, rows, values, self.stakes),
            self.game,
            found.method,
            np.concatenate([found.values, values]),
            np.concatenate([certificate.bounds, off]),
            sweeps=found.sweeps,
            converged=found.converged,
            seconds={"solve": found.seconds, "certify": seconds},
        )

    def advise(
        self,
        state: Sequence[int] | Mapping[str, int],
        throw: int | Sequence[int] | None = None,
        rolls_left: int | None = None,
    ) -> Advice:
        """What a state is worth and what each action costs there: as `Solution.advise`."""
        part = self.part(state)
        named = dict(zip(self.field_names, part.graph.states[0].tolist(), strict=False))
        return part.advise(named, throw, rolls_left)

    def part_where(self, where: str | None) -> Solution:
        """The answer in the positions that a condition chooses, as `parts` gives it.

        Only what the condition says of the fields of a position chooses: ``filled == 7 and
        throw.0 == 2`` chooses all that have `filled` 7.

        Raises
        ------
        ExpressionError
            The condition can't be understood.
        UsageError
            It chooses none, or more than a graph has room for; or only the start is kept.
        """
        from rollwise.answer.filters import said_of
        from rollwise.builders.rules import Rules
        from rollwise.builders.some_states import positions_at_once

        if self.keep != ALL:
            raise UsageError(
                f"{self.title}: only the start was kept; in_all_states() solves the others again"
            )
        chosen = self.states_where(where and said_of(where, self.field_names))
        most = positions_at_once(Rules(self.game))
        if not 0 < len(chosen) <= most:
            raise UsageError(
                f"{self.title} is too large for one graph: choose at most {most:,} of its "
                f"positions by their fields ({', '.join(self.field_names)}), as in --where "
                f'"{self.field_names[0]} == {self.states[-1, 0]}"; now there are {len(chosen):,}'
            )
        return self.parts(chosen)

    def states_where(self, where: str | None = None, *, throws: bool = False) -> NDArray[np.int64]:
        """The numbers of the states that have a row in `table`, in the order of their fields."""
        from rollwise.answer.filters import rows_where

        if throws:
            raise UsageError(f"{self.title}: part_where() gives the rows after throws")
        found = np.arange(len(self.states))
        if where is not None:
            parts = []
            for begin in range(0, len(found), ROWS_AT_ONCE):
                rows = frame_of(*self._columns(slice(begin, begin + ROWS_AT_ONCE)), self.vocabulary)
                parts.append(begin + np.flatnonzero(rows_where(rows, where, self.vocabulary)))
            found = np.concatenate(parts)
        return found[in_order(self.states[found])]

    def rows_of(
        self, states: NDArray[np.int64], *, throws: bool = False, each_action: bool = False
    ) -> pl.DataFrame:
        if each_action:
            return self.parts(states).rows_of(np.arange(len(states)), each_action=True)
        return frame_of(*self._columns(states), self.vocabulary)

    def cells_of(
        self, states: NDArray[np.int64], *, throws: bool = False, each_action: bool = False
    ) -> Cells:
        if each_action:
            return self.parts(states).cells_of(np.arange(len(states)), each_action=True)
        return cells_of(*self._columns(states), self.vocabulary)

    def _columns(self, states: NDArray[np.int64] | slice) -> tuple[Columns, int]:
        """The columns of some rows, and how many rows they have."""
        self.require_rows(states)
        values = self.values[states]
        columns = {
            **{name: self.states[states, i] for i, name in enumerate(self.field_names)},
            "action": None if np.all(self.actions == THROW) else self.actions[states],
            "value": values,
            "win_probability": None if self.is_score else win_probability(values),
            "error_bound": self.error_bounds[states],
        }
        return columns, len(values)

    def table(self, where: str | None = None, *, part: slice = slice(None)) -> pl.DataFrame:
        """The strategy, a row for each state, in the order of the layers.

        Parameters
        ----------
        where : str, optional
            A condition in the names of the columns.
        part : slice
            Of the states.

        Returns
        -------
        polars.DataFrame
            A column for each field, then ``action`` (null in a game with throws, whose values
            are those before a throw), ``value``, ``win_probability`` (null for a score) and
            ``error_bound``.
        """
        from rollwise.answer.filters import rows_where

        frame = frame_of(*self._columns(part), self.vocabulary)
        if where is None:
            return frame
        return frame.filter(rows_where(frame, where, self.vocabulary))

    def report(self, path: str | Path | None = None) -> HtmlPage:
        """One page for people, as `Solution.report`; what takes the whole game is estimated."""
        written: HtmlPage = HOOKS.report(self, path)
        return written

    def __repr__(self) -> str:
        worth = (certified if self.is_score else chance)(self.value, self.error_bound)
        kept = "" if self.keep == ALL else f", {len(self.states):,} of them kept"
        return (
            f"<LayeredSolution of {self.title}: {worth} ({self.status}), "
            f"{self.n_states:,} states in {len(self.progress):,} layers{kept}>"
        )


def open_layers(folder: str | Path, game: Game) -> LayeredSolution:
    """The answer in a folder that `solve_by_layers` saved, read where it lies.

    Raises
    ------
    SolutionFileError
        It holds no answer, or that of another game, or one that isn't whole yet.
    """
    from rollwise.builders.arrays import action_names
    from rollwise.builders.rules import Rules

    began = time.perf_counter()
    found = open_folder(Path(folder), game)
    found.require_whole()
    rules = Rules(game)
    found.require_rows(np.array([found.about["start"]]))
    return LayeredSolution(
        game=game,
        field_names=rules.field_names,
        action_names=action_names(rules, found.first_rows),
        states=found.states,
        layers=found.indptr,
        progress=found.progress,
        values=found.values,
        error_bounds=found.error_bounds,
        actions=found.actions,
        start=found.about["start"],
        first_rows=found.first_rows,
        require_rows=found.require_rows,
        seconds={"read": time.perf_counter() - began},
        **of_facts(found.facts),
    )


def of_facts(facts: LayerFacts) -> dict[str, Any]:
    """What a solution says of its layers together."""
    return {
        "n_actions": facts.n_actions,
        "n_outcomes": facts.n_outcomes,
        "has_draws": facts.has_draws and not facts.has_stakes,
        "stakes": facts.has_stakes,
        "most_bytes": facts.most_bytes,
    }


def _is_before(rows: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which rows stand before others in the order of their numbers: (n,) bool."""
    before, equal = np.zeros(len(rows), np.bool_), np.ones(len(rows), np.bool_)
    for one, other in zip(rows.T, others.T, strict=True):
        before |= equal & (one < other)
        equal &= one == other
    return before
