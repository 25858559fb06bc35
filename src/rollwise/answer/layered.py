"""Solving a game one layer at a time: for games whose whole graph is too large for memory.

A layer is a `StateGraph` like any other, with a border: the later layers that it
leads to, whose values and error bounds are known by then. So the methods and the
certificate of whole graphs solve and certify it. All states are held, with their answers, and
the graphs of a few layers.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.layer_files import write_layers
from rollwise.answer.packed import WORTHWHILE, Packed, can_be_packed
from rollwise.answer.rows import Cells, Columns, cells_of, frame_of
from rollwise.answer.turns import turn_values
from rollwise.answer.worth import Worth
from rollwise.builders.arrays import action_names, lotteries_of
from rollwise.builders.by_layer import Layer
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.graph import THROW, StateGraph, find_state, title_of, win_probability
from rollwise.graph.choices import are_best, costs, first_best, in_order
from rollwise.graph.lookahead import action_gaps
from rollwise.graph.vocabulary import Vocabulary
from rollwise.machine.pipeline import Source, Stage, pipeline
from rollwise.methods.strategy_iteration import Solver, strategy_iteration
from rollwise.numbers.printed import certified, chance
from rollwise.proofs.bounds import Certificate, certify, certify_ending
from rollwise.recursion.endless import settled
from rollwise.recursion.order import Recursion

if TYPE_CHECKING:
    import polars as pl

    from rollwise.answer.advice import Advice
    from rollwise.answer.solution import Solution
    from rollwise.builders.by_layer import Layer, Layers, Turns
    from rollwise.report import ReportPage

MOST_TURNS = 16  # that are remembered
MOST_AT_ONCE = 6  # layers that are built and not yet certified


@dataclass(frozen=True, eq=False, repr=False)
class LayeredSolution(Worth):
    """The certified values of a game that was solved by layers.

    Attributes
    ----------
    game : Game
    field_names : tuple of str
    states : (n_states, n_fields) int32
        Sorted by progress, and within a layer by their fields, if these fit 64 bits.
    layers : (n_layers + 1,) int64
        Layer i is ``states[layers[i]:layers[i + 1]]``.
    progress : (n_layers,) int64
        The progress of each.
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
        return find_state(self.states, self.field_names, state, self.title)

    def numbers_of(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """The numbers of many states, (n,) int64, given by their fields: (n, n_fields) int32.

        Raises
        ------
        UnknownState
        """
        keys, order = self._keys
        found = np.zeros(len(rows), np.int64)
        if keys is not None:
            least, scale = self._scale
            places = np.searchsorted(keys, (rows - least) @ scale)
            found = order[np.minimum(places, len(order) - 1)]
        missed = np.flatnonzero(np.any(self.states[found] != rows, axis=1))
        for i in missed.tolist():
            found[i] = self.find(rows[i].tolist())
        return found

    @cached_property
    def _scale(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The least number in each field, and what a step in it counts in a key of all fields."""
        least = self.states.min(axis=0).astype(np.int64)
        spans = [int(span) for span in self.states.max(axis=0) - least + 1]
        scale = [prod(spans[:i]) for i in range(len(spans) + 1)]
        return least, np.array(scale[:-1] if scale[-1] < 2**62 else [], np.int64)

    @cached_property
    def _keys(self) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
        """The keys of all states, ascending, and whose each is; None where they don't fit."""
        least, scale = self._scale
        if not len(scale):
            return None, scale
        keys = np.zeros(len(self.states), np.int64)
        for column, low, step in zip(self.states.T, least.tolist(), scale.tolist(), strict=True):
            keys += (column.astype(np.int64) - low) * step
        order = np.argsort(keys)
        return keys[order], order

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
        number = self.find(state)
        if number not in self._turns:
            if len(self._turns) >= MOST_TURNS:
                del self._turns[next(iter(self._turns))]
            self._turns[number] = self.parts(np.array([number]))
        return self._turns[number]

    @cached_property
    def _turns(self) -> dict[int, Solution]:
        """The turns that were asked for last, since play asks for each move by move."""
        return {}

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
            found = np.flatnonzero(rows_where(self.rows_of(slice(None)), where, self.vocabulary))
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

        page = ReportPage(self.title, report(self))
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
        return (
            f"<LayeredSolution of {self.title}: {worth} ({self.status}), "
            f"{len(self.states):,} states in {len(self.progress):,} layers>"
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
    progress: Callable[[str, int, int | None], None] | None = None,
) -> LayeredSolution:
    """Solve a game a layer at a time, and certify the answer.

    Parameters
    ----------
    game : Game
        With a method ``progress(s)``, which no outcome lowers.
    max_states : int, optional
        Stop with an error beyond this many states: 200 million by default.
    progress : callable, optional
        Called now and then as ``progress(stage, done, total or None)``.

    Raises
    ------
    UsageError
        The game doesn't measure its progress, or its rules can't be compiled.
    RulesError
        The rules break the contract of the language, or the progress falls.
    EndlessPlay
        The players can go round for ever; names the states.
    TooManyStates
    """
    from rollwise.builders.by_layer import find_layers

    began = time.perf_counter()
    layers = find_layers(game, max_states=max_states, progress=progress)
    found = time.perf_counter() - began
    if can_be_packed(layers.rules) and layers.n_outcomes > WORTHWHILE:
        return _solve_packed(game, layers, found, progress)
    work = _ByLayer(layers, progress)
    work.seconds["states"] = found
    # A layer's values wait for those of the layers behind it, but not for their bounds: these
    # follow on the second core, in the same order.
    pipeline(
        Source(work.built(), first=1),
        [Stage(work.solve, first=0), Stage(work.prove, second=0)],
        most_at_once=MOST_AT_ONCE,
    )
    return work.answer(game)


def _solve_packed(
    game: Game,
    layers: Layers,
    found: float,
    progress: Callable[[str, int, int | None], None] | None,
) -> LayeredSolution:
    """Solve a large game with throws by layers of packed arrays."""
    work = Packed(layers, progress)
    values, bounds = work.run()
    n = len(layers.states)
    return LayeredSolution(
        game=game,
        field_names=layers.rules.field_names,
        action_names=layers.rules.action_names,
        states=layers.states,
        layers=layers.indptr,
        progress=layers.progress,
        values=values,
        error_bounds=bounds,
        actions=np.full(n, THROW, np.int32),
        start=layers.start,
        n_actions=work.n_actions,
        n_outcomes=work.n_outcomes,
        has_draws=work.has_draws and not work.has_stakes,
        stakes=work.has_stakes,
        most_bytes=work.most_bytes,
        seconds={"states": found, **work.seconds},
    )


class _ByLayer:
    """Layers on their way from being built to being proved, and what is known of the game."""

    def __init__(
        self, layers: Layers, progress: Callable[[str, int, int | None], None] | None
    ) -> None:
        n = len(layers.states)
        self._layers, self._progress, self._n = layers, progress, n
        self._values, self._bounds = np.empty(n), np.empty(n)
        self._actions = np.empty(n, np.int32)
        self._no_bounds = np.zeros(n)
        self._to_prove: deque[Solved] = deque()
        self._n_actions = self._n_outcomes = self._most_bytes = 0
        self._has_draws = self._has_stakes = False
        self._names: dict[int, str] = {}
        self.seconds = dict.fromkeys(("states", "build", "solve", "certify"), 0.0)

    def built(self) -> Iterator[Layer | Turns]:
        """The layers, those that end every play first."""
        last_first = self._layers.last_first()
        while True:
            with self._timed("build"):
                layer = next(last_first, None)
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
            solved = solve_layer(graph, self._values[border])
            self._to_prove.append(solved)
            self._values[begin:end] = solved.values[: end - begin]  # the positions stand first
            self._most_bytes = max(self._most_bytes, graph.nbytes)  # before a proof adds arrays
            self._names |= graph.action_names
            self._n_actions += graph.n_actions
            self._n_outcomes += graph.n_outcomes
            self._has_draws |= graph.has_draws
            self._has_stakes |= graph.has_stakes
        self._report(begin)

    def _solve_turns(self, turns: Turns) -> None:
        """Find the values of positions whose turns lead to later layers."""
        arrays, begin, end = turns
        with self._timed("solve"):
            # bounds come behind, as those of other layers do
            found, _ = turn_values(self._layers.rules, arrays, self._values, self._no_bounds)
            self._values[begin:end] = found
            self._most_bytes = max(self._most_bytes, arrays.nbytes)
            self._names |= action_names(self._layers.rules, arrays)
            self._n_actions += len(arrays.action_label)
            self._n_outcomes += len(arrays.outcome_state)
            lotteries = lotteries_of(arrays)
            self._has_draws |= lotteries.has_draws()
            self._has_stakes |= (
                self._layers.rules.game.objective == "win" and lotteries.has_stakes()
            )
        self._report(begin)

    def _report(self, begin: int) -> None:
        if self._progress is not None:
            self._progress("solving layers", self._n - begin, self._n)

    def prove(self, layer: Layer | Turns) -> None:
        """Find the bounds and the best actions of a layer."""
        if not isinstance(layer, Layer):
            with self._timed("certify"):
                arrays, begin, end = layer
                rules = self._layers.rules
                _, self._bounds[begin:end] = turn_values(rules, arrays, self._values, self._bounds)
                self._actions[begin:end] = THROW
            return
        graph, begin, end, border = layer
        with self._timed("certify"):
            values, bounds = self._values[border], self._bounds[border]
            solved = self._to_prove.popleft()
            certificate = prove_layer(graph, solved, values, bounds)
            best = _first_best(graph, solved.values, values, certificate.bound)
            self._bounds[begin:end] = certificate.bounds[: end - begin]
            self._actions[begin:end] = best[: end - begin]

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[stage] += time.perf_counter() - began

    def answer(self, game: Game) -> LayeredSolution:
        """The answer, when all layers are proved."""
        layers = self._layers
        return LayeredSolution(
            game=game,
            field_names=layers.rules.field_names,
            action_names=self._names,
            states=layers.states,
            layers=layers.indptr,
            progress=layers.progress,
            values=self._values,
            error_bounds=self._bounds,
            actions=self._actions,
            start=layers.start,
            n_actions=self._n_actions,
            n_outcomes=self._n_outcomes,
            has_draws=self._has_draws and not self._has_stakes,
            stakes=self._has_stakes,
            most_bytes=self._most_bytes,
            seconds=self.seconds,
        )


def _first_best(
    graph: StateGraph,
    values: NDArray[np.float64],
    border_values: NDArray[np.float64],
    bound: float,
) -> NDArray[np.int32]:
    """The number of the action to take in each state."""
    cost = costs(graph, action_gaps(graph, values, border_values))
    return graph.action_label[first_best(graph, are_best(cost, bound))]
