"""Layers solved by workers in processes of their own, with a shared folder.

A layer waits for the layers that it may lead to: their progress is larger, or has several numbers
and none smaller. Independent layers are solved at the same time. If all turns of a layer lead to
later layers, its positions are independent. Such a layer is cut into parts, and each part is a
task. Any other layer is one task.
A worker reads all states and the answers of later layers from the folder. It writes the answers of
its part there and returns counts only. Every worker writes the same bytes for a part. Neither the
death of a worker nor double work on a part does harm. The main process alone writes the manifest.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rollwise.answer.by_layers import ByLayer, report_done
from rollwise.answer.layer_answers import LayerAnswers, LayerFacts, Rows
from rollwise.answer.layer_folder import ABOUT, ARRAYS, LayerFolder, map_rows, write_rows
from rollwise.builders import by_layer
from rollwise.builders.by_layer import Layers, known_layers
from rollwise.games import Sheet

if TYPE_CHECKING:
    from rollwise.cluster.pool import Pool

PARTS = 4  # of a layer, for each worker
LOOKED_AT = 64  # waiting layers, examined for one that is ready
Progress = Callable[[str, int, "int | None"], None]


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
    from rollwise.answer.layer_folder import open_folder

    key = part.place, part.run
    if key not in _held:
        _held.clear()
        game = part.sheet.kind(**part.parameters)
        folder = open_folder(part.place, game, to_write=True)
        about: Mapping[str, Any] = {name: folder.about[name] for name in ABOUT}
        _held[key] = known_layers(game, folder.states, folder.indptr, folder.progress, **about)
    return _held[key]
