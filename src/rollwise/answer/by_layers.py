"""Solving and proving layers one after the other, here or by workers in processes of their own.

The border of a layer consists of its next positions in later layers, with known values and error
bounds. The engine solves the layer, and the proof checks the bounds. If players can stay in a layer
for ever, endless play first gets its value (`rollwise.graph.endings`).

With workers (`Apart`) a layer waits for the layers that it may lead to: their progress is larger,
or has several numbers and none smaller. Independent layers are solved at the same time. If all
turns of a layer lead to later layers, its positions are independent. Such a layer is cut into
parts, and each part is a task. Any other layer is one task. A worker reads all states and the
answers of later layers from the folder. It writes the answers of its part there and returns counts
only. Every worker writes the same bytes for a part. Neither the death of a worker nor double work
on a part does harm. The main process alone writes the manifest.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import prove_settled, solve_settled
from rollwise.answer.layer_folder import (
    ABOUT,
    ARRAYS,
    LayerAnswers,
    LayerFacts,
    LayerFolder,
    Rows,
    map_rows,
    open_folder,
    write_rows,
)
from rollwise.builders import Progress, by_layer
from rollwise.builders.arrays import as_graph
from rollwise.builders.by_layer import Layers, known_layers
from rollwise.builders.turns import turn_of
from rollwise.engine.bounds import bounds_of, values_of
from rollwise.engine.certificates import certify
from rollwise.games import Sheet
from rollwise.graph import THROW, StateGraph, sign_of, title_of
from rollwise.graph.choices import look_ahead, taken
from rollwise.layers import Layer, has_no_cycle, in_solving_order
from rollwise.machine import memory_limits
from rollwise.machine.pipeline import Source, Stage, pipeline
from rollwise.methods.strategy_iteration import strategy_iteration
from rollwise.proofs.endless_play import settled, staying_places
from rollwise.proofs.layers import staying

if TYPE_CHECKING:
    from rollwise.builders.by_layer import Piece
    from rollwise.builders.rules import Rules
    from rollwise.cluster.pool import Pool

LARGE = 10_000_000  # positions
ORDERED = 20_000_000  # outcomes: a larger layer is ordered only if necessary
MOST_SWEEPS = 1000  # for a proof that every play leaves such a layer

MOST_AT_ONCE = 3  # pieces of layers, built and not yet proved

Floats = NDArray[np.float64]


class _Solved(NamedTuple):
    """A piece with values, not yet with bounds.

    Attributes
    ----------
    values : (n,) float64
        In reading order; for a graph the values of all its states.
    prove : callable
        Takes the values and the bounds of the border. It returns bounds of the values, or None
        without a proof.
    graph : StateGraph or None
        The piece as a graph, if players can stay in it for ever or it is too hard.
    """

    values: Floats
    prove: Callable[[Floats, Floats], Floats | None]
    graph: StateGraph | None = None


class ByLayer:
    """The pipeline of layers: building, solving, proving.

    Parameters
    ----------
    layers : Layers
    answers : LayerAnswers
    progress : callable, optional
    pieces : iterator, optional
        The layers, or parts of one; unless given, all unknown layers.
    """

    def __init__(
        self,
        layers: Layers,
        answers: LayerAnswers,
        progress: Progress | None,
        pieces: Iterator[Piece] | None = None,
    ) -> None:
        self._layers, self._answers, self._progress = layers, answers, progress
        if pieces is None:
            pieces = layers.last_first(answers.known, together=answers.has_all)
        self._pieces = pieces
        self.seconds = dict.fromkeys(("build", "solve", "certify"), 0.0)
        self._sign = float(sign_of(layers.rules.game.objective))
        self._to_prove: deque[_Solved] = deque()
        self._bench = Lock()  # pieces and graphs are built in the same place

    def run(self) -> None:
        """Solve and prove all layers.

        The values of a layer depend on the values of later layers, not on their bounds. The bounds
        follow on the second core, in the same order.
        """
        pipeline(
            Source(self._built(), first=1),
            [Stage(self._solve, first=0), Stage(self._prove, second=0)],
            most_at_once=held_at_once(self._layers),
        )

    def _built(self) -> Iterator[Piece]:
        while True:
            with self._bench, self._timed("build"):
                piece = next(self._pieces, None)
            if piece is None:
                return
            yield piece
            del piece  # before the next one is built

    def _solve(self, piece: Piece) -> None:
        """Find the values of a piece."""
        begin, end, answers = piece.begin, piece.end, self._answers
        with self._timed("solve"):
            answers.count(begin, self._facts(piece), piece.first_rows)
            border_values, n = self._sign * answers.values_of(piece.border), end - begin
            layer = self._ordered(piece, border_values)
            if layer is not piece.layer:
                piece.layer.blocks.clear()  # no longer read
            if layer is None:
                solved = self._settled(begin, end)
            else:
                solved = self._swept(layer, border_values, n)
            self._to_prove.append(solved)
            answers.values[answers.at(begin, end)] = solved.values[:n]
        report_up_to(self._progress, "solving", self._layers, end)

    def _prove(self, piece: Piece) -> None:
        """Find proved bounds of the values of a piece, and the actions."""
        begin, end, answers = piece.begin, piece.end, self._answers
        with self._timed("certify"):
            solved, n = self._to_prove.popleft(), end - begin
            border = answers.values_of(piece.border), answers.bounds_of(piece.border)
            bounds = solved.prove(*border)
            if bounds is None:
                solved = self._settled(begin, end)
                bounds = solved.prove(*border)
                assert bounds is not None
            at = answers.at(begin, end)
            answers.values[at], answers.error_bounds[at] = solved.values[:n], bounds[:n]
            answers.actions[at] = best_actions(
                self._layers.rules, piece, solved.values, bounds, *border, solved.graph
            )
            answers.prove(begin, end)
            del solved

    def _ordered(self, piece: Piece, border_values: Floats) -> Layer | None:
        """A layer in an order for solving; None if players can stay in it, or play on, for ever.

        A large layer keeps its order, if a few sweeps show that every play leaves it.
        """
        layer = piece.layer
        if np.isinf(border_values).any():  # no player can be sure to end the play there
            return None
        if has_no_cycle(layer):
            return layer
        if self._layers.rules.pool is not None:
            return None
        if layer.n_outcomes > ORDERED and not len(staying(layer, MOST_SWEEPS)):
            return layer
        layer = in_solving_order(layer)
        return None if len(staying_places(layer)) else layer

    def _swept(self, layer: Layer, border_values: Floats, n: int) -> _Solved:
        """The values of a layer in which play cannot stay for ever."""
        found = values_of(layer, border_values, self._is_free)
        values = self._sign * layer.in_reading_order(found)[:n]

        def prove(border_values: Floats, border_bounds: Floats) -> Floats | None:
            border = self._sign * border_values, border_bounds
            claimed = self._sign * layer.by_place(values)
            proved = bounds_of(layer, claimed, border, self._is_free)
            return None if proved is None else layer.in_reading_order(proved.bounds)

        return _Solved(values, prove)

    def _is_free(self) -> bool:
        """Whether no piece is being built on another core."""
        return not self._bench.locked()

    def _settled(self, begin: int, end: int) -> _Solved:
        """The values of a layer as a graph, if players can stay in it or it is too hard.

        Raises
        ------
        EndlessPlay
            The players can go round for ever, and the rules give no value to this.
        TooLittleMemory
        """
        layers, game, n = self._layers, self._layers.rules.game, end - begin
        memory_limits.require(
            bytes_of_graph(layers, n),
            f"a layer of {title_of(game.name, game.parameters)} with {n:,} positions, in which "
            "players can stay,",
        )
        with self._bench:
            graph, border = layers.graph_of(begin, end)
        border_values = self._answers.values_of(border)
        settling = settled(graph, border_values=border_values)
        if settling is None:
            values = strategy_iteration(graph, border_values=border_values).values

            def prove(values_there: Floats, bounds_there: Floats) -> Floats:
                proof = certify(
                    graph, values, border_values=values_there, border_bounds=bounds_there
                )
                return proof.bounds

            return _Solved(values, prove, graph)
        found = solve_settled(settling, border_values)

        def prove_worth(values_there: Floats, bounds_there: Floats) -> Floats:
            proof = prove_settled(settling, found, values_there, bounds_there)
            return settling.spread(proof.bounds, 0.0)

        return _Solved(settling.spread(found.values), prove_worth, graph)

    def _facts(self, piece: Piece) -> LayerFacts:
        """The counts of a piece."""
        layer, objective = piece.layer, self._layers.rules.game.objective
        is_won = objective == "win"
        plain = np.isin(layer.endings, (-1.0, 0.0, 1.0)).all() and not layer.tables.reward.any()
        return LayerFacts(
            layer.n_actions,
            layer.n_outcomes,
            has_draws=bool((layer.endings == 0.0).any()),
            has_stakes=is_won and not plain,
        )

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[stage] += time.perf_counter() - began


def best_actions(
    rules: Rules,
    piece: Piece,
    values: Floats,
    bounds: Floats,
    border_values: Floats,
    border_bounds: Floats,
    graph: StateGraph | None = None,
) -> NDArray[np.int32]:
    """The action of each position of a piece: (n,) int32; the throw, where a throw comes first.

    Parameters
    ----------
    values, bounds : (n,) float64
        In reading order; of all states of the graph, if it is given.
    graph : StateGraph, optional
        The piece as a graph, if it was solved as one.
    """
    n = piece.end - piece.begin
    if rules.has_throws:
        return np.full(n, THROW, np.int32)
    if graph is None:
        assert piece.arrays is not None
        graph = as_graph(rules, piece.arrays, piece.layer.n_border)
    ahead = look_ahead(graph, values, bounds, border_values, border_bounds)
    return graph.action_label[taken(graph, ahead)][:n]


def held_at_once(layers: Layers) -> int:
    """The number of pieces in memory: the next one isn't built while a large layer is solved."""
    largest = np.diff(layers.indptr).max()
    return 1 if largest > LARGE else 2 if largest > LARGE // 20 else MOST_AT_ONCE


def bytes_to_solve(layers: Layers) -> int:
    """The approximate, measured memory of all pieces at once, in bytes."""
    outcomes = layers.n_outcomes / layers.n_states  # of a position
    sizes = np.sort(np.diff(layers.indptr))[::-1]
    block = layers.block_of_turns(int(np.argmax(np.diff(layers.indptr))))
    if block:
        sizes = np.minimum(sizes, block)
    each = 16 * outcomes + 150
    if not layers.rules.has_throws:  # the best actions are found on a graph
        each += 30 * outcomes + 100
    return int(sizes[: held_at_once(layers)].sum() * each)


def bytes_of_graph(layers: Layers, n_positions: int) -> int:
    """The approximate, measured memory of some positions of a layer as a graph, in bytes."""
    outcomes = layers.n_outcomes / layers.n_states  # of a position
    rules = layers.rules
    if rules.pool is not None:
        turn = turn_of(rules.pool)
        outcomes += turn.n_throws + len(turn.target)
        return int(n_positions * (46 * outcomes + 50 * rules.turn_states + 500))
    states = 1 + (sum(1 for _ in rules.game.throws(rules.start)) if rules.has_throws else 0)
    return int(n_positions * (25 * outcomes + 500 * states))


def needed_at_once(layers: Layers) -> int:
    """The largest number of states with answers needed at once, for solving and for proving.

    Solving is at most a few layers ahead of proving.
    """
    assert layers.farthest is not None
    n = len(layers)
    most = 0
    # while layer i is solved, up to MOST_AT_ONCE later ones wait for their proof
    for i in range(n):
        last = int(layers.farthest[: min(i + MOST_AT_ONCE, n - 1) + 1].max())
        most = max(most, int(layers.indptr[last + 1] - layers.indptr[i]))
    return most


def report_done(
    progress: Progress | None, stage: str, layers: Layers, n_layers: int, n_states: int
) -> None:
    """Report the next layer, and the number of finished positions."""
    if progress is not None:
        n = len(layers)
        progress(
            f"{stage} layer {min(n_layers + 1, n)} of {n}, positions", n_states, layers.n_states
        )


def report_up_to(progress: Progress | None, stage: str, layers: Layers, end: int) -> None:
    """Report a layer as finished up to a state, and all later layers as finished."""
    begin, whole = layers.indptr, layers.n_states
    layer = int(np.searchsorted(begin, end)) - 1
    n_layers = len(layers) - layer - (0 if end == begin[layer + 1] else 1)
    n_states = whole - int(begin[layer + 1]) + end - int(begin[layer])
    report_done(progress, stage, layers, n_layers, n_states)


PARTS = 4  # of a layer, for each worker
LOOKED_AT = 64  # waiting layers, examined for one that is ready


class Part(NamedTuple):
    """Some unsolved states of one layer.

    Attributes
    ----------
    place : Path
        The folder.
    run : str
        The checksum of its states.
    sheet : Sheet
    parameters : dict
    layer, begin, end : int
    block : int
        The number of positions solved together while all their turns lead to later layers; 0 if
        some turns don't.
    """

    place: Path
    run: str
    sheet: Sheet
    parameters: dict[str, Any]
    layer: int
    begin: int
    end: int
    block: int


class Counted(NamedTuple):
    """The counts of a solved part.

    Attributes
    ----------
    end : int
        The end of its solved states. It lies before the end of the part if a turn there doesn't
        lead to later layers.
    facts : LayerFacts
    first_rows : dict of list of int
        States with actions for `action_text` to name (`rollwise.builders.arrays.first_rows`).
    seconds : dict of float
    """

    end: int
    facts: LayerFacts
    first_rows: dict[int, list[int]]
    seconds: dict[str, float]


@dataclass(eq=False)
class _Work:
    """A layer in progress: its parts, with the counts of each solved part."""

    parts: list[Part]
    found: list[Counted | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.found = [None] * len(self.parts)


class Apart:
    """Layers on their way to workers and back.

    Attributes
    ----------
    seconds : dict of float
        The time of all workers together.
    """

    def __init__(
        self,
        layers: Layers,
        folder: LayerFolder,
        pool: Pool,
        progress: Progress | None,
    ) -> None:
        self._layers, self._folder = layers, folder
        self._pool, self._progress = pool, progress
        self._sheet = Sheet.of(type(layers.rules.game))
        self.seconds: dict[str, float] = {}
        self._waiting: list[int] = []  # layers, the last one first
        self._begun: dict[int, _Work] = {}  # by their layers
        self._tasks = deque[tuple[_Work, int]]()  # ready, not begun
        self._doing: dict[Future[Counted], tuple[_Work, int]] = {}
        sizes = np.diff(layers.indptr)
        self._solved = int(sizes[list(folder.known)].sum())

    def run(self) -> None:
        """Solve and prove all layers by workers, the last ones first."""
        known = self._folder.known
        self._waiting = [i for i in reversed(range(len(self._layers))) if i not in known]
        while self._waiting or self._begun:
            # one task more than workers, so that none waits for this process
            while len(self._doing) <= self._pool.width and (task := self._next_task()):
                work, number = task
                future = self._pool.submit(solve_part, work.parts[number])
                self._doing[future] = task
            for future in self._pool.wait(list(self._doing)):
                work, number = self._doing.pop(future)
                work.found[number] = future.result()
                if None not in work.found:
                    self._go_on(work)

    def _next_task(self) -> tuple[_Work, int] | None:
        """A part that is ready, with the work on its layer; None if all must wait."""
        if not self._tasks:
            layer = self._ready()
            if layer is None:
                return None
            self._waiting.remove(layer)
            begin, end = self._layers.indptr[layer : layer + 2].tolist()
            block = self._layers.block_of_turns(layer)
            cuts = list(self._cuts(begin, end, block)) if block else [(begin, end)]
            self._begun[layer] = work = _Work(
                [self._part(layer, first, last, block) for first, last in cuts]
            )
            self._tasks.extend((work, number) for number in range(len(work.parts)))
        return self._tasks.popleft()

    def _ready(self) -> int | None:
        """The first layer independent of all unproved layers; None if there is none."""
        progress = self._layers.progress
        if progress.ndim == 1:
            return self._waiting[0] if self._waiting and not self._begun else None
        # play never lowers a number: a layer waits for all with no smaller number
        for index, layer in enumerate(self._waiting[:LOOKED_AT]):
            others = [*self._begun, *self._waiting[:index]]
            if not np.any(np.all(progress[others] >= progress[layer], axis=1)):
                return layer
        return None

    def _go_on(self, work: _Work) -> None:
        """Add the counts of a layer's parts; queue the unsolved rest, or record the proof."""
        layer, found = work.parts[0].layer, [part for part in work.found if part is not None]
        begin, end = self._layers.indptr[layer : layer + 2].tolist()
        row = begin
        # parts were solved as if all turns led to later layers; the first that stopped early
        # refutes it
        for part, counted in zip(work.parts, found, strict=True):
            self._folder.count(begin, counted.facts, counted.first_rows)
            for stage, spent in counted.seconds.items():
                self.seconds[stage] = self.seconds.get(stage, 0.0) + spent
            row = counted.end
            if row < part.end:  # a turn there doesn't lead to a later layer
                work.parts, work.found = [self._part(layer, row, end, 0)], [None]
                self._tasks.append((work, 0))
                return
        del self._begun[layer]
        self._folder.map_again()
        self._folder.prove(begin, end)
        self._solved += end - begin
        n_layers = len(self._layers) - len(self._waiting) - len(self._begun)
        report_done(self._progress, "solving", self._layers, n_layers, self._solved)

    def _cuts(self, begin: int, end: int, block: int) -> Iterator[tuple[int, int]]:
        """The begin and end of each part of a layer, in whole blocks."""
        cut = min(begin + by_layer.FIRST_BLOCK, end)
        blocks = -(-(end - cut) // block)
        # parts have whole blocks, about PARTS for each worker
        size = block * max(1, -(-blocks // (PARTS * self._pool.width)))
        while begin < end:
            stop = min(max(cut, begin) + size, end)
            yield begin, stop
            begin = stop

    def _part(self, layer: int, begin: int, end: int, block: int) -> Part:
        game = self._layers.rules.game
        return Part(
            self._folder.place.resolve(),
            self._folder.about["states_checksum"],
            self._sheet,
            dict(game.parameters),
            layer,
            begin,
            end,
            block,
        )


class PartAnswers(LayerAnswers):
    """The answers of later layers from the folder, and the new answers of a part.

    Attributes
    ----------
    found : LayerFacts
        The counts of the part.
    end : int
        The end of its proved states.
    """

    def __init__(self, layers: Layers, rows: Rows, layer: int, begin: int) -> None:
        super().__init__(layers.indptr, layers.start, rows)
        self.known = frozenset(range(len(layers))) - {layer}
        self._layer, self.end = layer, begin

    @property
    def found(self) -> LayerFacts:
        return self.counted.get(self._layer, LayerFacts())

    def prove(self, begin: int, end: int) -> None:
        """Record the end of the proved states."""
        self.end = end


_busy = threading.Lock()  # for kernels on two cores, and for the one explorer
_held: dict[tuple[Path, str], Layers] = {}  # the states of the last folder


def solve_part(part: Part) -> Counted:
    """Find the answers of a part, and write them into the folder."""
    with _busy:
        layers = _layers_of(part)
        rows = map_rows(part.place)
        answers = PartAnswers(layers, rows, part.layer, part.begin)
        pieces = layers.pieces(part.layer, part.begin, part.end, part.block)
        work = ByLayer(layers, answers, None, pieces)
        work.run()
        for name in ARRAYS:
            rows = getattr(answers, name)[part.begin : answers.end]
            write_rows(part.place, name, part.begin, rows)
        return Counted(answers.end, answers.found, dict(answers.first_rows), dict(work.seconds))


def _layers_of(part: Part) -> Layers:
    """The layers of the game of a part, cached by the worker."""
    key = part.place, part.run
    if key not in _held:
        _held.clear()
        game = part.sheet.kind(**part.parameters)
        folder = open_folder(part.place, game, to_write=True)
        about: Mapping[str, Any] = {name: folder.about[name] for name in ABOUT}
        _held[key] = known_layers(game, folder.states, folder.indptr, folder.progress, about)
    return _held[key]
