"""Solving a game one layer at a time: for games whose whole graph is too large for memory.

A layer is a `StateGraph` like any other, with a border: the states of later layers that it
leads to, whose values and error bounds are known by then. So the methods and the
certificate of whole graphs solve and certify it. Held are the graphs of a few layers; and of all
states their fields, packed, and their answers, unless these lie in a folder or nobody wants them.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.between import entries_of, require_small
from rollwise.answer.found_states import RECORD, FoundStates, forget
from rollwise.answer.layer_answers import MOST_AT_ONCE, LayerAnswers, needed_at_once, report_up_to
from rollwise.answer.layer_files import write_layers
from rollwise.answer.layer_folder import (
    ALL,
    ENTRIES,
    MANIFEST,
    START,
    LayerFacts,
    LayerFolder,
    begin_folder,
    free_bytes,
    open_folder,
    require_begun_so,
    require_keep,
    with_entries_only,
    write_states,
)
from rollwise.answer.packed import WORTHWHILE, Packed, can_be_packed, held_at_once
from rollwise.answer.rows import Cells, Columns, cells_of, frame_of
from rollwise.answer.turns import turn_values
from rollwise.answer.worth import Worth
from rollwise.builders import limits
from rollwise.builders.arrays import action_names, lotteries_of
from rollwise.builders.by_layer import Layer
from rollwise.errors import TooManyStates, UnknownState, UsageError, spelled
from rollwise.faults import shown
from rollwise.game import Game
from rollwise.graph import (
    THROW,
    StateGraph,
    find_state,
    row_of,
    title_of,
    win_probability,
)
from rollwise.graph.choices import are_best, costs, first_best, in_order
from rollwise.graph.lookahead import action_gaps
from rollwise.graph.vocabulary import Vocabulary
from rollwise.machine import memory_limits
from rollwise.machine.pipeline import Source, Stage, pipeline
from rollwise.methods.strategy_iteration import Solver, strategy_iteration
from rollwise.numbers.printed import certified, chance, how_many
from rollwise.proofs.bounds import Certificate, certify, certify_ending
from rollwise.recursion.endless import settled
from rollwise.recursion.order import Recursion

if TYPE_CHECKING:
    import polars as pl

    from rollwise.answer.advice import Advice
    from rollwise.answer.solution import Solution
    from rollwise.builders.by_layer import Layer, Layers, Turns
    from rollwise.cluster.pool import Pool
    from rollwise.report import ReportPage

MOST_TURNS = 16  # that are remembered
ABOUT = ("start", "n_outcomes", "n_roots", "merging", "extremes")  # of layers, in a folder
KEY_BYTES = 8  # of a state whose answer isn't kept
ROWS_AT_ONCE = 1 << 22  # of the table, where some of them are looked for


@dataclass(frozen=True, eq=False, repr=False)
class LayeredSolution(Worth):
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
        Which states it has: ``all``; ``entries``, those that are entered from another layer; or
        ``start``, the start alone.
    n_found : int or None
        How many states were found, if these aren't all.
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
        if found < 0 and self.keep != ALL:
            raise UnknownState(
                f"{self.title}: this state isn't among those that are entered from another layer, "
                "which alone were kept; advise() and part() solve it again"
            )
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

    def require_progress(self, rows: NDArray[np.int32]) -> None:
        """Make sure that states have a progress that some state of the game has.

        Raises
        ------
        UnknownState
        """
        from rollwise.builders.progress import LayersByProgress
        from rollwise.builders.rules import Rules

        rules, known = Rules(self.game), LayersByProgress(self.progress)
        for row in rows.tolist():
            state = rules.layout.state(row)
            reached = np.array([rules.progress(state)], np.int64)
            if known.find(reached)[0] < 0:
                raise UnknownState(
                    f"{self.title}: no play comes to the state {rules.state_text(state)}"
                )

    def places_of(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """The numbers of states, by bisection in their layers; -1 for those that aren't found."""
        from rollwise.builders.progress import LayersByProgress, progress_of
        from rollwise.builders.rules import Rules

        reached = progress_of(Rules(self.game), rows, self.progress[-1])
        layer = LayersByProgress(self.progress).find(reached)  # the last one, if there is none
        low, high = self.layers[layer], self.layers[layer + 1]
        while np.any(low < high):
            middle = (low + high) // 2
            after = _is_before(self.states[np.minimum(middle, len(self.states) - 1)], rows)
            after &= low < high
            low, high = np.where(after, middle + 1, low), np.where(after, high, middle)
        low = np.minimum(low, len(self.states) - 1)
        return np.where(np.all(self.states[low] == rows, axis=1), low, -1)

    def part(self, state: Sequence[int] | Mapping[str, int]) -> Solution:
        """The answer in one state and its turn; play ends where it leads to.

        Parameters
        ----------
        state : a state of the game, its fields in order, or a mapping by name

        Returns
        -------
        Solution
            Certified. Next states are ends of play that are worth their values. Where only entries
            are kept, the states between these and the state are solved again, and are in it too.

        Raises
        ------
        UnknownState
        """
        row = tuple(row_of(self.field_names, state, self.title))
        if self.keep == START:
            raise self._only_start()
        if row not in self._turns:
            if self.keep == ALL:
                found = self.parts(np.array([self.find(row)]))
            else:
                from rollwise.answer.between import solved_again

                found = solved_again(self, row)
            if len(self._turns) >= MOST_TURNS:
                del self._turns[next(iter(self._turns))]
            self._turns[row] = found
        return self._turns[row]

    @cached_property
    def _turns(self) -> dict[tuple[int, ...], Solution]:
        """The turns that were asked for last, since play asks for each move by move."""
        return {}

    def whole(
        self, progress: Callable[[str, int, int | None], None] | None = None
    ) -> LayeredSolution:
        """The answer in all states: solved again, if only some were kept."""
        if self.keep == ALL:
            return self
        return solve_by_layers(self.game, progress=progress)

    def parts(self, numbers: NDArray[np.int64]) -> Solution:
        """The answer in some states and their turns, as `part` gives it in one.

        Parameters
        ----------
        numbers : (n,) int64
            Of the states, each once. They are the first states of the answer, in this order.
        """
        from rollwise.answer.solution import Solution
        from rollwise.builders.rules import Rules
        from rollwise.builders.some_states import some_states
        from rollwise.derive.ended import ROUNDED, with_ends

        graph, rows = some_states(Rules(self.game), self.states[numbers])
        next_states = self.numbers_of(rows)
        ended = with_ends(graph, rows, self.values[next_states], self.stakes)
        found = Solution.of_graph(ended, self.game)
        off = self.error_bounds[next_states].max(initial=0.0) + ROUNDED
        return replace(found, error_bounds=np.nextafter(found.error_bounds + off, np.inf))

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
            It chooses none, or more than a graph has room for.
        """
        from rollwise.answer.filters import said_of
        from rollwise.builders.rules import Rules
        from rollwise.builders.some_states import positions_at_once

        if self.keep != ALL:
            return self.whole().part_where(where)
        chosen = self.states_where(where and said_of(where, self.field_names))
        most = positions_at_once(Rules(self.game))
        if not 0 < len(chosen) <= most:
            raise UsageError(
                f"{self.title} is too large for one graph: choose at most {most:,} of its "
                f"positions by their fields ({', '.join(self.field_names)}), as in --where "
                f'"{self.field_names[0]} == {self.states[-1, 0]}"; now there are {len(chosen):,}'
            )
        return self.parts(chosen)

    def states_where(self, where: str | None = None) -> NDArray[np.int64]:
        """The numbers of the states that have a row in `table`, in the order of their fields."""
        from rollwise.answer.filters import rows_where

        found = np.arange(len(self.states))
        if where is not None:
            parts = []
            for begin in range(0, len(found), ROWS_AT_ONCE):
                rows = self.rows_of(slice(begin, begin + ROWS_AT_ONCE))
                parts.append(begin + np.flatnonzero(rows_where(rows, where, self.vocabulary)))
            found = np.concatenate(parts)
        return found[in_order(self.states[found])]

    def rows_of(self, states: NDArray[np.int64] | slice) -> pl.DataFrame:
        """The rows of some states in the `table`."""
        return frame_of(*self._columns(states), self.vocabulary)

    def cells_of(self, states: NDArray[np.int64]) -> Cells:
        """What `rows_of` says, as lists."""
        return cells_of(*self._columns(states), self.vocabulary)

    def _columns(self, states: NDArray[np.int64] | slice) -> tuple[Columns, int]:
        """The columns of some rows, and how many rows they have."""
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

        frame = self.rows_of(part)
        if where is None:
            return frame
        return frame.filter(rows_where(frame, where, self.vocabulary))

    def report(self, path: str | Path | None = None) -> ReportPage:
        """One page for people, as `Solution.report`; what takes the whole game is estimated."""
        from rollwise.report import ReportPage, report

        page = ReportPage(self.title, report(self.whole()))
        if path is not None:
            page.save(path)
        return page

    def write_table(self, folder: str | Path) -> None:
        """Write the strategy as Parquet, a file a layer, which `polars.scan_parquet` reads as one.

        See `rollwise.answer.layer_files.write_layers`; `rollwise.read_layers` reads it.
        """
        digest = hashlib.blake2b(self.title.encode(), digest_size=16)
        for array in (self.states, self.layers, self.actions, self.values, self.error_bounds):
            digest.update(np.ascontiguousarray(array).view(np.uint8).reshape(-1).data)
        about = {
            "game": self.game.name,
            "parameters": dict(self.game.parameters),
            "run": digest.hexdigest(),
        }
        parts = (slice(*map(int, self.layers[i : i + 2])) for i in range(len(self.progress)))
        frames = (self.table(part=part) for part in parts)
        write_layers(Path(folder), frames, len(self.progress), about)

    def __repr__(self) -> str:
        worth = (certified if self.is_score else chance)(self.value, self.error_bound)
        kept = "" if self.keep == ALL else f", {len(self.states):,} of them kept"
        return (
            f"<LayeredSolution of {self.title}: {worth} ({self.status}), "
            f"{self.n_states:,} states in {len(self.progress):,} layers{kept}>"
        )


class Solved(NamedTuple):
    """A layer that has its values, and not yet their bounds.

    Attributes
    ----------
    values : (n_states,) float64
    arranged : Recursion
        The layer in solving order.
    every_play_ends : bool
    """

    values: NDArray[np.float64]
    arranged: Recursion
    every_play_ends: bool


def solve_layer(graph: StateGraph, border_values: NDArray[np.float64]) -> Solved:
    """The values of a layer, from those on its border."""
    arranged = Recursion.of_values(graph)
    settling = settled(graph, arranged)
    if settling is None:
        return Solved(Solver(graph, arranged, border_values).run().values, arranged, True)
    found = strategy_iteration(settling.graph, border_values=border_values)
    return Solved(settling.spread(found.values), arranged, False)


def prove_layer(
    graph: StateGraph,
    solved: Solved,
    border_values: NDArray[np.float64],
    border_bounds: NDArray[np.float64],
) -> Certificate:
    """The error bounds of a layer, from those on its border."""
    if solved.every_play_ends:
        return certify_ending(graph, solved.arranged, solved.values, border_values, border_bounds)
    return certify(
        graph,
        solved.values,
        border_values=border_values,
        border_bounds=border_bounds,
        arranged=solved.arranged,
    )


def solve_by_layers(
    game: Game,
    *,
    max_states: int | None = None,
    save: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[str, int, int | None], None] | None = None,
    pool: Pool | None = None,
    keep: str = ALL,
) -> LayeredSolution:
    """Solve a game a layer at a time, and certify the answer.

    Parameters
    ----------
    game : Game
        With a method ``progress(s)``, of which no outcome lowers a number.
    max_states : int, optional
        Stop with an error beyond this many states. By default they are as many as there is room
        for, in memory or on the disk of the folder.
    save : path, optional
        A folder, in which each layer is kept as soon as it is proved. `open_layers` reads it.
    resume : bool
        Whether to go on with what is in the folder. A layer that is damaged is solved anew.
    progress : callable, optional
        Called now and then as ``progress(stage, done, total or None)``.
    pool : Pool, optional
        Whose workers solve the layers. They all see the folder, by the same name.
    keep : {"all", "entries", "start"}
        Which states the answer has in the end: all, or the start and those that are entered from
        another layer. What lies between is solved again when `LayeredSolution.part` or `advise`
        asks for it. Or the start alone, which takes the least memory, and no folder: then only
        what play from the start comes to is solved.

    Raises
    ------
    UsageError
        The game doesn't measure its progress, or its rules can't be compiled. Workers, and no
        folder that they share. A folder, for the start alone. Entries, and a layer has too much
        between them.
    ClusterError
        The workers are gone. What they proved is kept.
    RulesError
        The rules break the contract of the language, or the progress falls.
    EndlessPlay
        The players can go round for ever; names the states.
    TooManyStates
    """
    _check_choices(save, pool, keep)
    began = time.perf_counter()
    place = None if save is None else Path(save)
    folder = _opened(game, place, resume, keep, progress)
    if folder is not None and folder.has_entries_only:
        return open_layers(folder.place, game)
    layers, answers = _begun(game, place, folder, max_states, progress, keep)
    seconds = {"states": time.perf_counter() - began}
    is_packed = are_packed(layers)
    memory_limits.require(
        _bytes_to_solve(layers, is_packed, keep, in_folder=answers.folder is not None),
        f"solving {title_of(game.name, game.parameters)}",
    )
    if pool is not None:
        from rollwise.answer.layers_apart import Apart

        work: Apart | Packed | ByLayer = Apart(layers, answers, pool, progress, is_packed=is_packed)
    elif is_packed:
        work = Packed(layers, answers, progress)
    else:
        work = ByLayer(layers, answers, progress)
    try:
        work.run()
    finally:
        answers.close()
    return _kept(game, layers, answers, keep, seconds | work.seconds)


def _check_choices(save: str | Path | None, pool: Pool | None, keep: str) -> None:
    """Refuse what doesn't go together.

    Raises
    ------
    UsageError
    """
    if pool is not None and save is None:
        raise UsageError("workers share a folder; say which, to `save` the layers in")
    if keep not in (ALL, ENTRIES, START):
        raise UsageError(f"what is kept is {ALL}, {ENTRIES} or {START}, not {shown(keep)}")
    if keep == START and save is not None:
        raise UsageError("a folder holds more than the answer of the start; keep all or entries")


def _kept(
    game: Game, layers: Layers, answers: LayerAnswers, keep: str, seconds: Mapping[str, float]
) -> LayeredSolution:
    """The answer in the states that are to be kept, when all layers are proved."""
    if keep == START:
        return _start_of(game, layers, answers, seconds)
    found = _answer(game, layers, answers, seconds)
    if keep == ALL:
        return found
    if answers.folder is None:
        assert layers.entered is not None
        return entries_of(found, layers.entered)
    with_entries_only(answers.folder)
    return replace(open_layers(answers.folder.place, game), seconds=found.seconds)


def are_packed(layers: Layers) -> bool:
    """Whether layers are solved as packed arrays, and not as graphs."""
    return can_be_packed(layers.rules) and layers.n_outcomes > WORTHWHILE


def _opened(
    game: Game,
    place: Path | None,
    resume: bool,
    keep: str,
    progress: Callable[[str, int, int | None], None] | None,
) -> LayerFolder | None:
    """The folder of a run that was stopped; None where there is nothing to go on with.

    Raises
    ------
    UsageError
        There is an answer in the folder, or a part of one, and nobody said to go on with it, or
        it keeps something else.
    """
    if place is None:
        return None
    more = spelled(python="resume=True", command_line="--resume")
    if not (place / MANIFEST).exists():
        if (place / RECORD).exists() and not resume:
            raise UsageError(
                f"{place} holds states that a run found before it was stopped; {more} goes on with "
                "them, or choose another folder"
            )
        require_begun_so(place, game, keep)
        return None
    if progress is not None:
        progress("comparing checksums", 0, None)
    folder = open_folder(place, game, to_write=True)
    if not resume:
        raise UsageError(
            f"{place} holds {len(folder.proved):,} of {len(folder.progress):,} layers of "
            f"{title_of(game.name, game.parameters)} already; {more} goes on with them, or "
            "choose another folder"
        )
    require_keep(place, folder.keep_what, keep)
    forget(place)  # what a run may have left that was stopped
    damaged = folder.drop_damaged()
    if folder.has_entries_only:  # what lies between isn't there to solve a layer anew
        return None if damaged else with_entries_only(folder)
    if keep == ENTRIES:
        folder.entered()  # which are needed in the end
    return folder


def _begun(
    game: Game,
    place: Path | None,
    folder: LayerFolder | None,
    max_states: int | None,
    progress: Callable[[str, int, int | None], None] | None,
    keep: str,
) -> tuple[Layers, LayerAnswers]:
    """The layers of a game, and what is known of them: of a run that was stopped, what it proved.

    Raises
    ------
    UsageError
    """
    from rollwise.builders.by_layer import find_layers, known_layers

    if folder is not None:
        about = {name: folder.about[name] for name in ABOUT}
        layers = known_layers(game, folder.states, folder.indptr, folder.progress, **about)
        return layers, LayerAnswers(layers, folder)

    most = max_states or _most_states(game, place, keep)

    def find(rows: FoundStates | None = None) -> Layers:
        try:
            found = find_layers(
                game,
                max_states=most,
                progress=progress,
                entered=keep == ENTRIES,
                only_start=keep == START,
                rows=rows,
                journal=rows,
            )
        except TooManyStates as error:
            if place is None or max_states is not None or most == limits.MOST_NUMBERED:
                raise
            raise TooManyStates(
                f"{place}: its disk has room for the answer in {how_many(most, 'state')}, and "
                f"{title_of(game.name, game.parameters)} has more; make room there, or choose a "
                "folder on another disk"
            ) from error
        if keep == ENTRIES:
            require_small(found)
        return found

    if place is None:
        layers = find()
        return layers, LayerAnswers(layers, only_start=keep == START)
    layers, states_checksum = write_states(place, game, keep, find)
    facts = {name: getattr(layers, name) for name in ABOUT if name != "extremes"}
    facts |= {"extremes": layers.extremes.tolist(), "states_checksum": states_checksum}
    made = begin_folder(place, game, layers.indptr, layers.progress, facts, layers.entered)
    layers = replace(layers, rows=made.known_rows())
    return layers, LayerAnswers(layers, made)


def _most_states(game: Game, place: Path | None, keep: str) -> int:
    """How many states a game may have, if nobody says: as many as there is room for."""
    from rollwise.builders.rules import Rules

    if keep == START:
        return limits.most_by_layer(KEY_BYTES)
    each = limits.ANSWER_BYTES + 4 * len(Rules(game).field_names)
    return limits.most_by_layer(each, None if place is None else free_bytes(place))


def _bytes_to_solve(
    layers: Layers, is_packed: bool, keep: str = ALL, *, in_folder: bool = False
) -> int:
    """About how much memory layers take while they are solved, besides their packed states."""
    # as was measured: of an outcome, of a state besides, and how many layers there are at once
    outcome, state, held = (12, 60, held_at_once(layers)) if is_packed else (60, 270, MOST_AT_ONCE)
    largest = int(np.sort(np.diff(layers.indptr))[-held:].sum())
    needed = int(largest * (outcome * layers.n_outcomes / layers.n_states + state))
    if keep == START:
        return needed + limits.ANSWER_BYTES * needed_at_once(layers)
    if in_folder:  # whose files are mapped
        return needed
    fields = 4 * len(layers.rules.field_names)
    return needed + (limits.ANSWER_BYTES + fields) * layers.n_states


def _answer(
    game: Game, layers: Layers, answers: LayerAnswers, seconds: Mapping[str, float]
) -> LayeredSolution:
    """The answer, when all layers are proved."""
    return LayeredSolution(
        game=game,
        field_names=layers.rules.field_names,
        action_names={**layers.rules.action_names, **answers.names},
        states=layers.states,
        layers=layers.indptr,
        progress=layers.progress,
        values=answers.values,
        error_bounds=answers.error_bounds,
        actions=answers.actions,
        start=layers.start,
        seconds=seconds,
        **_of_facts(answers.facts),
    )


def _start_of(
    game: Game, layers: Layers, answers: LayerAnswers, seconds: Mapping[str, float]
) -> LayeredSolution:
    """The answer of the start, when all layers are proved."""
    assert answers.at_start is not None
    value, bound, action = answers.at_start
    return LayeredSolution(
        game=game,
        field_names=layers.rules.field_names,
        action_names={**layers.rules.action_names, **answers.names},
        states=layers.rows.part(layers.start, layers.start + 1).copy(),
        layers=np.searchsorted([layers.start], layers.indptr),
        progress=layers.progress,
        values=np.array([value]),
        error_bounds=np.array([bound]),
        actions=np.array([action], np.int32),
        start=0,
        seconds=seconds,
        keep=START,
        n_found=layers.n_states,
        **_of_facts(answers.facts),
    )


def _of_facts(facts: LayerFacts) -> dict[str, Any]:
    """What a solution says of its layers together."""
    return {
        "n_actions": facts.n_actions,
        "n_outcomes": facts.n_outcomes,
        "has_draws": facts.has_draws and not facts.has_stakes,
        "stakes": facts.has_stakes,
        "most_bytes": facts.most_bytes,
    }


def open_layers(folder: str | Path, game: Game) -> LayeredSolution:
    """The answer in a folder that `solve_by_layers` saved, read where it lies.

    Raises
    ------
    SolutionFileError
        It holds no answer, or that of another game, or one that isn't whole yet.
    """
    from rollwise.builders.rules import Rules

    began = time.perf_counter()
    found = open_folder(Path(folder), game)
    found.require_whole()
    rules = Rules(game)
    return LayeredSolution(
        game=game,
        field_names=rules.field_names,
        action_names={**rules.action_names, **found.names},
        states=found.states,
        layers=found.indptr,
        progress=found.progress,
        values=found.values,
        error_bounds=found.error_bounds,
        actions=found.actions,
        start=found.about["start"],
        keep=ENTRIES if found.has_entries_only else ALL,
        n_found=found.about.get("n_found"),
        seconds={"read": time.perf_counter() - began},
        **_of_facts(found.facts),
    )


class ByLayer:
    """Layers on their way from being built to being proved.

    Parameters
    ----------
    layers : Layers
    answers : LayerAnswers
    progress : callable, optional
    pieces : iterator, optional
        The layers, or parts of one; else all that aren't known.
    """

    def __init__(
        self,
        layers: Layers,
        answers: LayerAnswers,
        progress: Callable[[str, int, int | None], None] | None,
        pieces: Iterator[Layer | Turns] | None = None,
    ) -> None:
        self._layers, self._answers, self._progress = layers, answers, progress
        self._pieces = layers.last_first(answers.known) if pieces is None else pieces
        self._to_prove: deque[Solved] = deque()
        self.seconds = dict.fromkeys(("build", "solve", "certify"), 0.0)

    def run(self) -> None:
        """Solve and prove all layers.

        A layer's values wait for those of the layers behind it, but not for their bounds: these
        follow on the second core, in the same order.
        """
        pipeline(
            Source(self.built(), first=1),
            [Stage(self.solve, first=0), Stage(self.prove, second=0)],
            most_at_once=MOST_AT_ONCE,
        )

    def built(self) -> Iterator[Layer | Turns]:
        """The layers, those that end every play first."""
        while True:
            with self._timed("build"):
                layer = next(self._pieces, None)
            if layer is None:
                return
            yield layer

    def solve(self, layer: Layer | Turns) -> None:
        """Find the values of a layer."""
        if not isinstance(layer, Layer):
            self._solve_turns(layer)
            return
        graph, begin, end, border = layer
        with self._timed("solve"):
            solved = solve_layer(graph, self._answers.values_of(border))
            self._to_prove.append(solved)
            # the positions stand first
            self._answers.values[self._answers.at(begin, end)] = solved.values[: end - begin]
            facts = LayerFacts(
                graph.n_actions,
                graph.n_outcomes,
                graph.nbytes,  # before a proof adds arrays
                has_draws=graph.has_draws,
                has_stakes=graph.has_stakes,
            )
            self._answers.count(begin, facts, graph.action_names)
        report_up_to(self._progress, "solving", self._layers, end)

    def _solve_turns(self, turns: Turns) -> None:
        """Find the values of positions whose turns lead to later layers."""
        arrays, begin, end, border = turns
        with self._timed("solve"):
            rules, values = self._layers.rules, self._answers.values_of(border)
            # bounds come behind, as those of other layers do
            found, _ = turn_values(rules, arrays, values, np.zeros(len(border)))
            self._answers.values[self._answers.at(begin, end)] = found
            lotteries = lotteries_of(arrays)
            facts = LayerFacts(
                len(arrays.action_label),
                len(arrays.outcome_state),
                arrays.nbytes,
                has_draws=lotteries.has_draws(),
                has_stakes=rules.game.objective == "win" and lotteries.has_stakes(),
            )
            self._answers.count(begin, facts, action_names(rules, arrays))
        report_up_to(self._progress, "solving", self._layers, end)

    def prove(self, layer: Layer | Turns) -> None:
        """Find the bounds and the best actions of a layer."""
        with self._timed("certify"):
            begin, end, border = layer.begin, layer.end, layer.border
            answers, at = self._answers, self._answers.at(layer.begin, layer.end)
            values, bounds = answers.values_of(border), answers.bounds_of(border)
            if not isinstance(layer, Layer):
                rules = self._layers.rules
                _, answers.error_bounds[at] = turn_values(rules, layer.arrays, values, bounds)
                answers.actions[at] = THROW
            else:
                solved = self._to_prove.popleft()
                certificate = prove_layer(layer.graph, solved, values, bounds)
                best = _first_best(layer.graph, solved.values, values, certificate.bound)
                answers.error_bounds[at] = certificate.bounds[: end - begin]
                answers.actions[at] = best[: end - begin]
            answers.prove(begin, end)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[stage] += time.perf_counter() - began


def _is_before(rows: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which rows stand before others in the order of their numbers: (n,) bool."""
    before, equal = np.zeros(len(rows), np.bool_), np.ones(len(rows), np.bool_)
    for one, other in zip(rows.T, others.T, strict=True):
        before |= equal & (one < other)
        equal &= one == other
    return before


def _first_best(
    graph: StateGraph,
    values: NDArray[np.float64],
    border_values: NDArray[np.float64],
    bound: float,
) -> NDArray[np.int32]:
    """The number of the action to take in each state."""
    cost = costs(graph, action_gaps(graph, values, border_values))
    return graph.action_label[first_best(graph, are_best(cost, bound))]
