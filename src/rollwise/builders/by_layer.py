"""A game's graph layer by layer, for games with a measure of progress."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import limits
from rollwise.builders.arrays import Arrays, as_graph, first_rows
from rollwise.builders.building import COMPILING, Progress
from rollwise.builders.compiled.cache_key import NotCompilable
from rollwise.builders.compiled.compiling import compiled_roots, compiled_rules
from rollwise.builders.compiled.explorer import Explorer
from rollwise.builders.compiled.spot_check import compare, compare_answers, sample_with
from rollwise.builders.known_rows import KnownRows, PackedRows, PlainRows
from rollwise.builders.layer_rules import (
    Expanded,
    LayersByProgress,
    Reached,
    Workbench,
    block_from,
    falls,
    layer_of,
)
from rollwise.builders.layer_walk import LARGE, SMALL, Journal, Walk
from rollwise.builders.rules import Rules
from rollwise.errors import TooLittleMemory, UsageError, spelled
from rollwise.game import Game
from rollwise.graph import StateGraph, title_of
from rollwise.layers import Layer
from rollwise.machine import memory_limits
from rollwise.machine.pipeline import on_both_cores
from rollwise.machine.switches import jit_disabled
from rollwise.numbers.printed import how_many

OUTCOMES_COMPARED = 100  # of a chosen state, about
FIRST_BLOCK = 16  # positions
OUTCOMES_OF_BLOCK, MOST_BLOCKS = 250_000, 64  # of a layer: the blocks use the same memory in turn
OUTCOMES_OF_PIECE = 2_000_000  # of positions that are solved apart from others of their layer
BORDER_AT_ONCE = 1 << 22  # border states that are looked up together


class Piece(NamedTuple):
    """A layer, consecutive layers, or positions of one with later layers as their only targets.

    Attributes
    ----------
    layer : rollwise.layers.Layer
    begin, end : int
        The range of its positions, among those of the game.
    border : (layer.n_border,) int32
        The positions of its border, as numbers in the game: all in later layers, or from `end` on.
    arrays : Arrays or None
        The arrays of the positions, in reading order. Present on request, and if
        positions have no throws.
    first_rows : dict
        See `rollwise.builders.arrays.first_rows`.
    """

    layer: Layer
    begin: int
    end: int
    border: NDArray[np.int32]
    arrays: Arrays | None
    first_rows: dict[int, list[int]]


@dataclass(frozen=True, eq=False)
class Layers:
    """The states of a game, sorted by layers. Each layer leads to itself and to later layers.

    Attributes
    ----------
    rules : Rules
    rows : KnownRows
        The states: in each layer in the order of their fields.
    indptr : (n_layers + 1,) int64
        Layer i has the states from ``indptr[i]`` to ``indptr[i + 1]``.
    progress : (n_layers,) or (n_layers, n_numbers) int64
    start : int
        The number of the start.
    n_outcomes : int
        The total over all states.
    n_roots : int
        The number of possible first states of play.
    merging : bool
        Whether equal outcomes are merged.
    extremes : (2 * n_fields,) int64
        The first states with the smallest and the largest value of each field.
    farthest : (n_layers,) int64, optional
        The last layer reached from each layer, if known.
    kept : dict of list of Expanded
        The rules of some layers, by their numbers, until they are asked for.
    """

    rules: Rules
    rows: KnownRows
    indptr: NDArray[np.int64]
    progress: NDArray[np.int64]
    start: int
    n_outcomes: int
    n_roots: int
    merging: bool
    extremes: NDArray[np.int64]
    farthest: NDArray[np.int64] | None = None
    kept: dict[int, list[Expanded]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.progress)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return int(self.indptr[-1])

    @property
    def states(self) -> NDArray[np.int32]:
        """All states: (n_states, n_fields)."""
        return self.rows.all()

    def state(self, number: int) -> Any:
        """A state by its number."""
        return self.rules.layout.state(self.rows.part(number, number + 1)[0].tolist())

    def last_first(
        self, but: Container[int] = (), *, keep_arrays: bool = False, together: bool = False
    ) -> Iterator[Piece]:
        """The layers of the game, terminal layers first.

        If all positions of a large layer lead to later layers, it comes in several pieces.

        Parameters
        ----------
        but : container of int
            The layers to leave out.
        keep_arrays : bool
            Whether pieces have their `arrays`.
        together : bool
            Whether consecutive small layers come as one piece.

        Raises
        ------
        RulesError
            The rules reach unknown states.
        RulesDiffer
            Compiled rules and Python's rules disagree.
        """
        last = len(self) - 1
        while last >= 0:
            first = last
            if last not in but:
                # Earlier layers join the piece while all of it is small.
                while together and first > 0 and first - 1 not in but:
                    if not self._is_small(int(self.indptr[last + 1] - self.indptr[first - 1])):
                        break
                    first -= 1
                yield from self._from_to(first, last, keep_arrays)
            last = first - 1

    def _from_to(self, first: int, last: int, keep_arrays: bool) -> Iterator[Piece]:
        """A layer, or consecutive layers as one piece."""
        begin, end = int(self.indptr[first]), int(self.indptr[last + 1])
        if first == last:
            yield from self.pieces(first, begin, end, keep_arrays=keep_arrays)
            return
        for layer in range(first, last + 1):
            self._compare(layer, *self.indptr[layer : layer + 2].tolist())
        yield self._at_once(self._benches[0], first, begin, end, keep_arrays)

    def pieces(
        self,
        layer: int,
        begin: int,
        end: int,
        block: int | None = None,
        *,
        keep_arrays: bool = False,
    ) -> Iterator[Piece]:
        """A layer from one of its positions on, in the form of `last_first`.

        Parameters
        ----------
        block : int, optional
            The number of positions of a piece. Given this, only positions that lead to later
            layers are produced. 0: all positions come in one piece.
        """
        self._compare(layer, begin, end)
        if [begin, end] == self.indptr[layer : layer + 2].tolist() and not keep_arrays:
            # Rules kept since the search for states needn't be expanded again.
            for expanded in self.kept.pop(layer, ()):
                stop = begin + expanded.layer.n
                yield self._piece(self._benches[0], layer, begin, stop, expanded.unpacked())
                begin = stop
        if block is None and self._is_small(end - begin):
            block = 0
        if block != 0:
            for piece in self._turns(layer, begin, end, block, keep_arrays):
                begin = piece.end
                yield piece
        if begin != end and not block:
            yield self._whole(layer, begin, end, keep_arrays)

    def graph_of(self, begin: int, end: int) -> tuple[StateGraph, NDArray[np.int32]]:
        """Consecutive positions as a graph, and the positions of its border."""
        layer = int(np.searchsorted(self.indptr, begin, side="right")) - 1
        bench, n = self._benches[0], end - begin
        explorer = self._begun(bench, begin, end)
        explorer.run(n)
        arrays = explorer.arrays().copied()._replace(n_roots=self.n_roots)
        rows = explorer.graph.states[n : explorer.n_states]
        del explorer
        _end(bench, n)
        border = self._border(bench, layer, rows, begin, end)
        return as_graph(self.rules, arrays, len(border)), border

    def _is_small(self, n: int) -> bool:
        """Whether `n` positions have few outcomes, by the mean of the game."""
        return n * self.n_outcomes <= SMALL * self.n_states

    def _whole(self, layer: int, begin: int, end: int, keep_arrays: bool) -> Piece:
        """Positions of a layer block by block, each block in the smallest types."""
        n = end - begin
        if keep_arrays or not self.rules.has_throws or self._is_small(n):
            return self._at_once(self._benches[0], layer, begin, end, keep_arrays)
        if n > LARGE:
            memory_limits.map_large_arrays()
        bench = self._benches[0]
        explorer = self._begun(bench, begin, end)
        blocks, begin_of_block, size, first = [], 0, FIRST_BLOCK, dict[int, list[int]]()
        while begin_of_block < n:
            stop = min(begin_of_block + size, n)
            explorer.run(stop)
            arrays = explorer.arrays()
            blocks.append((begin_of_block, block_from(arrays)))
            first = {**first_rows(self.rules, arrays), **first}
            explorer.forget()
            # The next block has as many positions as fit, by the outcomes of this one.
            each = len(arrays.outcome_state) / (stop - begin_of_block)
            begin_of_block, size = stop, max(int(OUTCOMES_OF_BLOCK / each), n // MOST_BLOCKS, 1)
        arrays = explorer.arrays().copied()
        # The border states have numbers behind the positions.
        rows = explorer.graph.states[n : explorer.n_states]
        del explorer
        _end(bench, n)
        border = self._border(bench, layer, rows, begin, end)
        del rows
        _end(bench, n)  # free the memory of the states
        packed = layer_of(self.rules, arrays, blocks, n, len(border))
        return Piece(packed, begin, end, border, None, first)

    def _at_once(
        self, bench: Workbench, layer: int, begin: int, end: int, keep_arrays: bool
    ) -> Piece:
        """Consecutive positions as one block; `layer` is that of the first one."""
        n = end - begin
        explorer = self._begun(bench, begin, end)
        expanded = bench.expanded(explorer, n, keep_arrays=keep_arrays)
        del explorer
        _end(bench, n)
        return self._piece(bench, layer, begin, end, expanded)

    def _piece(
        self, bench: Workbench, layer: int, begin: int, end: int, expanded: Expanded
    ) -> Piece:
        """Expanded positions, with the numbers of their border."""
        border = self._border(bench, layer, expanded.targets, begin, end)
        return Piece(expanded.layer, begin, end, border, expanded.arrays, expanded.first_rows)

    def block_of_turns(self, layer: int) -> int:
        """The number of positions of a piece in a layer; 0 if the first do not lead on."""
        begin, end = self.indptr[layer : layer + 2].tolist()
        stop = min(begin + FIRST_BLOCK, end)
        turns = self._turns(layer, begin, stop, None, keep_arrays=False)
        return next((_at_once(piece) for piece in turns), 0)

    @cached_property
    def _chosen(self) -> NDArray[np.int64]:
        """The states for the comparison of compiled rules with Python's rules."""
        return sample_with(self.n_states, self.extremes)

    @cached_property
    def _by_progress(self) -> LayersByProgress:
        return LayersByProgress(self.progress)

    @cached_property
    def _benches(self) -> tuple[Workbench, Workbench]:
        """A workbench for each of two cores."""
        first, second = (Workbench(self.rules, limits.MOST_NUMBERED) for _ in range(2))
        return first, second

    def _begun(self, bench: Workbench, begin: int, end: int) -> Explorer:
        """An explorer with some states as roots."""
        return bench.begun(self.rows.part(begin, end), merging=self.merging)

    def _border(
        self, bench: Workbench, layer: int, rows: NDArray[np.int32], begin: int, end: int
    ) -> NDArray[np.int32]:
        """The numbers of the border of some states; `layer` is that of the first one."""
        ends = slice(layer, int(np.searchsorted(self.indptr, end)))
        # No outcome lowers the progress, so no border state has less than these layers.
        least = np.atleast_1d(self.progress[ends].min(axis=0))
        border = np.empty(len(rows), np.int32)
        for first in range(0, len(rows), BORDER_AT_ONCE):
            some = rows[first : first + BORDER_AT_ONCE]
            reached = bench.reached.of(some)
            if np.any(reached < least):
                raise falls(self.rules, self.rows.part(begin, end), bench.reached)
            layers = self._by_progress.find(reached)
            order = np.argsort(layers, kind="stable")  # keeps rows of one layer close in memory
            numbers = border[first : first + len(some)]
            numbers[order] = self.rows.find(some[order], layers[order])
            unknown = np.flatnonzero(numbers < 0)
            if len(unknown):
                state = self.rules.layout.state(some[unknown[0]].tolist())
                raise self.rules.fault(
                    f"its rules come to {self.rules.state_text(state)}, "
                    "which isn't among the states that were found; were they changed since?"
                )
        return border

    def _compare(self, layer: int, begin: int, end: int) -> None:
        """Compare compiled rules with Python's rules in the chosen states among some states.

        Raises
        ------
        RulesDiffer
        """
        chosen = self._chosen
        here = chosen[(begin <= chosen) & (chosen < end)]
        if not len(here):
            return
        rows = np.concatenate([self.rows.part(s, s + 1) for s in here.tolist()])
        bench = self._benches[0]
        explorer = bench.begun(rows, merging=self.merging)
        explorer.run(len(rows))
        arrays, known = explorer.arrays(), explorer.graph.states[: explorer.n_states]
        for k in range(len(rows)):
            compare(self.rules, arrays, known, np.array([k]), OUTCOMES_COMPARED)
        reached = np.atleast_1d(self.progress[layer])
        for part, number in enumerate(reached.tolist()):
            part_shown = None if self.progress.ndim == 1 else part
            function, answers = type(self.rules.game).progress, np.full(len(rows), number)
            compare_answers(self.rules, function, rows, answers, part_shown)

    def _turns(
        self, layer: int, begin: int, end: int, block: int | None, keep_arrays: bool
    ) -> Iterator[Piece]:
        """Positions of a layer piece by piece, as long as all lead to later layers."""
        first, later = self.indptr[layer : layer + 2].tolist()
        while begin < end:
            if begin == first or block is None:
                ends = [min(begin + FIRST_BLOCK, end)]
            else:  # half a block for each core
                half = max(block // 2, 1)
                ends = [*range(begin + half, end, half), end][:2]
            parts = zip(self._benches, [begin, *ends], ends, strict=False)
            found = on_both_cores(
                lambda part: self._at_once(part[0], layer, part[1], part[2], keep_arrays), parts
            )
            for piece in found:
                # A position leads to its own layer: the caller takes the rest as a whole.
                if not piece.layer.is_left_at_once or np.any(piece.border < later):
                    return
                yield piece
                block, begin = block or _at_once(piece), piece.end


def _end(bench: Workbench, n: int) -> None:
    """Free the workspace if `n` states are many."""
    if n > LARGE:
        bench.put_away()


def _at_once(piece: Piece) -> int:
    """The number of positions, of the size of those in a piece, to hold at once."""
    return max(int(OUTCOMES_OF_PIECE * piece.layer.n / max(piece.layer.n_outcomes, 1)), 1)


def find_layers(
    game: Game,
    *,
    max_states: int | None = None,
    progress: Progress | None = None,
    only_start: bool = False,
    rows: Journal | None = None,
    expand_once: bool = True,
) -> Layers:
    """Find the states of a game, layer by layer.

    Parameters
    ----------
    only_start : bool
        Play begins only with the start, and with no other root.
    rows : Journal, optional
        The storage of the states, which records the search, to continue it after a stop; by default
        they are in memory.
    expand_once : bool
        Whether `kept` holds rules of layers, as long as there is room.

    Raises
    ------
    UsageError
        The game does not measure its progress, or its rules cannot be compiled.
    RulesError
        An outcome lowers the progress, or the rules break the contract of the language.
    TooManyStates
    TooLittleMemory
        Memory ran out during the search.
    """
    rules = _compiled(game, progress)
    most = max_states or limits.most_by_layer(limits.ANSWER_BYTES + 4 * len(rules.field_names))
    try:
        roots = None if only_start else rules.few_roots(limits.SMALL)
        if only_start:
            roots = rules.start_row
        elif roots is None:
            roots = compiled_roots(rules, most)
    except NotCompilable as error:
        raise UsageError(_no_layers(game, error)) from None
    kept: KnownRows = PackedRows(len(rules.field_names)) if rows is None else rows
    roots = rules.roots(most) if roots is None else roots
    walk = Walk(rules, roots, most, kept, limits.bytes_to_keep() if expand_once else 0)
    del roots
    if rows is not None and rows.record is not None:
        walk.go_on(rows.record)
    try:
        walk.run(progress, None if rows is None else rows.note)
    except MemoryError as error:
        raise _no_memory(rules, walk, in_folder=rows is not None) from error
    number = {key: i for i, key in enumerate(walk.progress)}
    reached = np.array(walk.progress, np.int64)
    return Layers(
        rules,
        kept,
        np.array([0, *walk.ends], np.int64),
        reached[:, 0] if rules.progress_size is None else reached,
        walk.start,
        walk.n_outcomes,
        walk.n_roots,
        walk.merging,
        walk.extremes,
        np.array([number[key] for key in walk.farthest]),
        walk.kept,
    )


def known_layers(
    game: Game,
    states: NDArray[np.int32],
    indptr: NDArray[np.int64],
    progress: NDArray[np.int64],
    about: Mapping[str, Any],
) -> Layers:
    """Layers found earlier by `find_layers`.

    Parameters
    ----------
    about : mapping
        The other attributes of `Layers`.

    Raises
    ------
    UsageError
        The rules cannot be compiled.
    """
    others = {**about, "extremes": np.array(about["extremes"], np.int64)}
    return Layers(_compiled(game, None), PlainRows(states, indptr), indptr, progress, **others)


def _compiled(game: Game, progress: Progress | None) -> Rules:
    """The compiled rules of a game with a measure of progress."""
    rules = Rules(game)
    if fault := layers_fault(rules, progress):
        raise UsageError(fault)
    return rules


def layers_fault(rules: Rules, progress: Progress | None = None) -> str:
    """The reason why rules have no layers, with a remedy; empty if they have. Compiles them."""
    game = rules.game
    if not rules.has_progress:
        return (
            f"{game.name} doesn't say how far it has gone; give it a method progress(s), a whole "
            "number that no outcome lowers, or a tuple of such numbers, to solve it by layers"
        )
    if jit_disabled():
        return (
            f"{game.name}: layers need compiled rules, and NUMBA_DISABLE_JIT says to compile none"
        )
    if progress is not None:
        progress(COMPILING, 0, None)
    try:
        compiled_rules(rules)
        Reached(rules)  # fails early, before the search for states
    except NotCompilable as error:
        return _no_layers(game, error)
    return ""


def _no_memory(rules: Rules, walk: Walk, *, in_folder: bool) -> TooLittleMemory:
    n, layers = (walk.ends or [0])[-1], how_many(len(walk.ends), "layer")
    folder = spelled(python="save=FOLDER", command_line="--save FOLDER")
    on_disk = "" if in_folder else f"{folder} keeps these on the disk; "
    return TooLittleMemory(
        f"{title_of(rules.game.name, rules.game.parameters)}: there was no more memory when "
        f"{how_many(n, 'position')} in {layers} had been found, and more to come; {on_disk}"
        "smaller parameters or more memory (--memory, ulimit) help"
    )


def _no_layers(game: Game, error: NotCompilable) -> str:
    return f"{game.name}: rules that can't be compiled have no layers: {error}"
