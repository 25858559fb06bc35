"""A game's graph one layer at a time, for games whose rules measure their progress."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import limits
from rollwise.builders.arrays import Arrays, as_graph
from rollwise.builders.building import COMPILING
from rollwise.builders.compiled.compiling import (
    CompiledRules,
    compiled_question,
    compiled_rules,
)
from rollwise.builders.compiled.explorer import Explorer
from rollwise.builders.compiled.reasons import NotCompilable
from rollwise.builders.compiled.spot_check import compare, sample
from rollwise.builders.entries import Entries
from rollwise.builders.progress import behind, numbered
from rollwise.builders.rules import Rules, Situation
from rollwise.errors import RulesError, UsageError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.kernels.intervals import Block
from rollwise.kernels.layers import number_in_layer, pack_rows, sort_by_layer, unpack_rows
from rollwise.kernels.state_tables import box_of
from rollwise.machine import large_pages
from rollwise.machine.switches import jit_disabled

ROOM = 1 << 16  # rows, for states that rules ask for and that are known already
FIRST_BLOCK, OUTCOMES_AT_ONCE = 16, 2_000_000  # of positions whose turns are solved together


class Layer(NamedTuple):
    """A part of a game that play enters, and then leaves for good.

    Attributes
    ----------
    graph : StateGraph
    begin, end : int
        Its states, among those of the game.
    border : (graph.n_border,) int32
        What it leads to, among the states of the game: all in later layers.
    """

    graph: StateGraph
    begin: int
    end: int
    border: NDArray[np.int32]


class PackedLayer(NamedTuple):
    """A layer of a game with throws, in as few bytes as there are.

    Attributes
    ----------
    begin, end : int
        Its positions, among those of the game.
    blocks : list of (int, Block)
        Each with its first position. Positions are numbered from the first one of the layer.
    arrays : Arrays
        The lotteries and lists of throws of all blocks, without positions.
    """

    begin: int
    end: int
    blocks: list[tuple[int, Block]]
    arrays: Arrays


class Turns(NamedTuple):
    """Positions of a layer whose turns lead to later layers only.

    Attributes
    ----------
    arrays : Arrays
        What the rules say of them; next states are numbers in the game.
    begin, end : int
        These positions, among those of the game.
    """

    arrays: Arrays
    begin: int
    end: int


@dataclass(frozen=True, eq=False)
class Layers:
    """The states of a game, sorted by layers, each of which leads to itself and later ones.

    Attributes
    ----------
    states : (n_states, n_fields) int32
    indptr : (n_layers + 1,) int64
        Layer i is ``states[indptr[i]:indptr[i + 1]]``.
    progress : (n_layers,) or (n_layers, n_numbers) int64
    start : int
        The number of the start.
    n_outcomes : int
        Of all states together.
    in_order : bool
        Whether the states of each layer are in the order of their fields.
    entered : (n_entered,) int64, optional
        The start, and the states to which other layers lead, if these were asked for.
    """

    rules: Rules
    states: NDArray[np.int32]
    indptr: NDArray[np.int64]
    progress: NDArray[np.int64]
    start: int
    n_outcomes: int
    in_order: bool
    explorer: Explorer
    entered: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.progress)

    @property
    def n_roots(self) -> int:
        """How many states play may begin with."""
        return self.explorer.n_roots

    def packed_last_first(self, but: Container[int] = ()) -> Iterator[PackedLayer]:
        """The layers of a game with throws as blocks of packed arrays, the last ones first.

        Parameters
        ----------
        but : container of int
            Which layers are left out.

        Raises
        ------
        RulesError, RulesDiffer
            See `last_first`.
        """
        chosen = self._chosen
        for i in self._numbers(but):
            begin, end = int(self.indptr[i]), int(self.indptr[i + 1])
            self.explorer.begin_at(begin)
            blocks, place, size = [], begin, FIRST_BLOCK
            while place < end:
                stop = min(place + size, end)
                self._run(stop)
                arrays = self.explorer.arrays()
                here = chosen[(place <= chosen) & (chosen < stop)] - place
                compare(self.rules, arrays, self.states, here)
                after = arrays.outcome_state
                self._require_later(i, arrays, after)
                blocks.append((place - begin, packed(arrays, begin)))
                self.explorer.forget()
                each = len(after) / (stop - place)
                place, size = stop, max(int(OUTCOMES_AT_ONCE / each), 1)
            yield PackedLayer(begin, end, blocks, self.explorer.arrays())

    def last_first(self, but: Container[int] = ()) -> Iterator[Layer | Turns]:
        """The graphs of the layers, those that end every play first.

        Where all throws of a layer lead on to later ones, it comes as turns, block by block.

        Parameters
        ----------
        but : container of int
            Which layers are left out.

        Raises
        ------
        RulesError
            An outcome lowers the progress.
        RulesDiffer
            Compiled rules do something else than Python's.
        """
        for i in self._numbers(but):
            yield from self.pieces(i, *self.indptr[i : i + 2].tolist())

    def pieces(
        self, layer: int, begin: int, end: int, block: int | None = None
    ) -> Iterator[Layer | Turns]:
        """A layer from one of its states on: as `last_first` gives it.

        Parameters
        ----------
        block : int, optional
            How many positions come as turns together, if only turns are asked for. 0: none do, and
            all are one graph.
        """
        least = int(self.indptr[layer])
        if self.rules.has_throws and block != 0:
            for turns in self._turns(layer, begin, end, block):
                begin = turns.end
                yield turns
        if begin == end or block:
            return
        arrays = self._expanded(begin, end)
        border = np.empty(len(arrays.outcome_state), np.int32)
        n_border, back = number_in_layer(
            arrays.outcome_state, least, begin, end, self._number, border
        )
        if back >= 0:
            raise self._falls(arrays, back, int(arrays.outcome_state[back]))
        self._require_behind(layer, arrays, border[:n_border], end - begin)
        graph = as_graph(self.rules, arrays, n_border)
        yield Layer(graph, begin, end, border[:n_border])

    def block_of_turns(self, layer: int) -> int:
        """How many positions of a layer come as turns together: 0 where its first ones don't."""
        begin, end = self.indptr[layer : layer + 2].tolist()
        stop = min(begin + FIRST_BLOCK, end)
        found = self._turns(layer, begin, stop, None) if self.rules.has_throws else iter(())
        return next((_at_once(turns) for turns in found), 0)

    @cached_property
    def _number(self) -> NDArray[np.int32]:
        """The workspace of `number_in_layer`."""
        return np.full(len(self.states), -1, np.int32)

    @cached_property
    def _chosen(self) -> NDArray[np.int64]:
        """The states in which compiled rules are compared with Python's."""
        return sample(self.states)

    def _numbers(self, but: Container[int]) -> list[int]:
        """The numbers of the layers, the last one first."""
        return [i for i in range(len(self) - 1, -1, -1) if i not in but]

    def _run(self, stop: int) -> None:
        """Expand states up to a number. What they lead to was found before."""
        self.explorer.run(stop)
        n = len(self.states)
        if self.explorer.n_states > n:
            state = self.rules.layout.state(self.explorer.graph.states[n].tolist())
            raise RulesError(
                f"{self.rules.game.name}: its rules come to {self.rules.state_text(state)}, which "
                "isn't among the states that were found; were they changed since?"
            )

    def _expanded(self, begin: int, end: int) -> Arrays:
        """What the rules say of some states, compared with Python's in those that are chosen."""
        self.explorer.begin_at(begin)
        self._run(end)
        arrays = self.explorer.arrays().copied()  # of memory that the next ones will use
        chosen = self._chosen
        here = chosen[(begin <= chosen) & (chosen < end)] - begin
        compare(self.rules, arrays, self.states, here)
        return arrays

    def _turns(self, layer: int, begin: int, end: int, block: int | None) -> Iterator[Turns]:
        """Positions of a layer block by block, as far as all their turns lead to later layers."""
        first, later = self.indptr[layer : layer + 2].tolist()
        while begin < end:
            size = FIRST_BLOCK if begin == first or block is None else block
            stop = min(begin + size, end)
            arrays = self._expanded(begin, stop)
            after = arrays.outcome_state[arrays.outcome_state >= 0]
            if np.any(after < later):
                return
            self._require_later(layer, arrays, arrays.outcome_state)
            yield (turns := Turns(arrays, begin, stop))
            block = block or _at_once(turns)
            begin = stop

    def not_behind(self, begin: int, end: int) -> Iterator[slice]:
        """The states after those of a layer, up to some number, to which it can't lead."""
        layer = int(np.searchsorted(self.indptr, begin, side="right")) - 1
        last = int(np.searchsorted(self.indptr, end)) - 1
        is_behind = behind(self.progress, layer)
        for i in range(layer + 1, last + 1):
            if not is_behind[i]:
                yield slice(int(self.indptr[i]), min(int(self.indptr[i + 1]), end))

    def _require_later(self, layer: int, arrays: Arrays, after: NDArray[np.int32]) -> None:
        """Make sure that outcomes lead nowhere but to a layer and those behind it.

        Raises
        ------
        RulesError
        """
        begin, end = self.indptr[layer : layer + 2].tolist()
        back = np.flatnonzero((after >= 0) & (after < begin))
        if not len(back) and self.progress.ndim > 1:
            leaving = np.flatnonzero(after >= end)
            back = leaving[self._falls_to(layer, after[leaving])]
        if len(back):
            raise self._falls(arrays, int(back[0]), int(after[back[0]]))

    def _require_behind(
        self, layer: int, arrays: Arrays, border: NDArray[np.int32], first: int
    ) -> None:
        """The same of a border, which outcomes number from `first` on."""
        if self.progress.ndim > 1:
            falls = np.flatnonzero(self._falls_to(layer, border))
            if len(falls):
                outcome = int(np.argmax(arrays.outcome_state == first + falls[0]))
                raise self._falls(arrays, outcome, int(border[falls[0]]))

    def _falls_to(self, layer: int, states: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether a number of the progress of a layer is lower in some states: (n,) bool."""
        may_follow = behind(self.progress, layer)
        may_follow[layer] = True
        return ~may_follow[np.searchsorted(self.indptr, states, side="right") - 1]

    def _falls(self, arrays: Arrays, outcome: int, target: int) -> RulesError:
        a = int(np.searchsorted(arrays.outcome_indptr, outcome, side="right")) - 1
        s = int(np.searchsorted(arrays.action_indptr, a, side="right")) - 1
        of, throws, game = self.rules.layout.state, arrays.throws, self.rules.game
        label = int(arrays.action_label[a])
        if throws is not None:  # s is a situation
            s = int(np.searchsorted(throws.situation_indptr, s, side="right")) - 1
        state = of(arrays.states[s].tolist())
        after = of(self.states[target].tolist())
        return RulesError(
            f"{game.name}: progress() falls from {game.progress(state)} to "
            f"{game.progress(after)} in the state "
            f"{self.rules.where(Situation(state), label)}; {self.rules.no_outcome_lowers}"
        )


def _at_once(turns: Turns) -> int:
    """How many positions that are like these are held at once."""
    each = len(turns.arrays.outcome_state) / (turns.end - turns.begin)
    return max(int(OUTCOMES_AT_ONCE / each), 1)


def _in_layers(
    found: NDArray[np.int32],
    layer: NDArray[np.int64],
    n_layers: int,
    marked: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int64], bool, NDArray[np.int64] | None]:
    """States in the order of their layers, with room for more, and where each layer begins.

    Within a layer they are in the order of their fields, if these fit one number: so states that
    are alike are near each other in memory, and so are those that they lead to. Whether they do
    is the third thing that is given. The fourth are the new numbers of those that are marked.
    """
    n, n_fields = found.shape
    indptr = np.empty(n_layers + 1, np.int64)
    states = large_pages.empty((n + ROOM, n_fields), np.int32)
    box = box_of(found)
    bits = [int(span).bit_length() for span in (*(box[1] - box[0]), n_layers - 1)]
    if sum(bits) > 64:
        sort_by_layer(found, layer, indptr, states)
        if marked is None:
            return states, indptr, False, None
        is_marked = np.zeros(n, np.bool_)
        is_marked[marked] = True
        return states, indptr, False, np.flatnonzero(is_marked[np.argsort(layer, kind="stable")])
    lower = np.array([sum(bits[k + 1 : -1]) for k in range(n_fields)], np.uint64)
    shift = np.append(lower, np.uint64(sum(bits[:-1])))
    mask = np.array([(1 << width) - 1 for width in bits[:-1]], np.uint64)
    keys = large_pages.empty(n, np.uint64)
    pack_rows(found, layer, box[0], shift, keys)
    wanted = None if marked is None else np.sort(keys[marked])
    keys.sort()
    unpack_rows(keys, box[0], shift, mask, indptr, states)
    return states, indptr, True, None if wanted is None else np.searchsorted(keys, wanted)


def packed(arrays: Arrays, origin: int) -> Block:
    """What the rules say of some positions with throws, in as few bytes as there are.

    Next states are numbered from the position `origin` on.
    """
    assert arrays.throws is not None
    situation = arrays.throws.situation_indptr[:-1]
    action = arrays.action_indptr[situation]
    first = np.array([situation, action, arrays.outcome_indptr[action]], np.int32)
    after = arrays.outcome_state
    return Block(
        first,
        _narrow(arrays.throws.of_state),
        _narrow(np.diff(arrays.action_indptr)),
        _narrow(arrays.action_lottery),
        np.where(after < 0, after, after - np.int32(origin)),
    )


def _narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers from 0 in one byte or two, where they fit: else as int32."""
    most = int(numbers.max(initial=0))
    return numbers.astype(np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.int32)


def find_layers(
    game: Game,
    *,
    max_states: int | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
    entered: bool = False,
) -> Layers:
    """Find the states of a game, and sort them by progress.

    Parameters
    ----------
    entered : bool
        Find out as well which states are entered from another layer.

    Raises
    ------
    UsageError
        The game doesn't measure its progress, or its rules can't be compiled.
    RulesError, TooManyStates
    """
    rules, compiled = _compiled(game, progress)
    most = max_states or limits.MAX_STATES_BY_LAYER
    try:
        roots = rules.few_roots(limits.SMALL)
        if roots is None:
            roots = compiled.roots(rules, most)
    except NotCompilable as error:
        raise _no_layers(game, error) from None
    explorer = Explorer(rules, compiled, rules.roots(most) if roots is None else roots, most)
    del roots
    more, n_outcomes = True, 0
    entries = Entries(rules, explorer.n_roots) if entered else None
    while more:
        if progress is not None:
            progress("finding states", explorer.place, explorer.n_states)
        more = explorer.run()
        n_outcomes += explorer.n_outcomes
        if entries is not None:
            entries.look(explorer)
        explorer.forget()
    n = explorer.n_states
    found = explorer.graph.states[:n]
    layer, known = numbered(rules, found)
    start = found[0].copy()
    marked = None if entries is None else np.flatnonzero(entries.marks[:n])
    states, indptr, in_order, numbers = _in_layers(found, layer, len(known), marked)
    kept = np.flatnonzero(np.diff(indptr))
    del found, layer, entries
    explorer.renumber(states)
    large_pages.release()  # of tables and arrays that had to grow
    explorer.counts["place"] = n
    hits = np.flatnonzero(states[:n, 0] == start[0])
    for column, field in zip(states[:n].T, start, strict=True):
        hits = hits[column[hits] == field]
    return Layers(
        rules,
        states[:n],
        np.concatenate([indptr[kept], [n]]),
        known[kept],
        int(hits[0]),
        n_outcomes,
        in_order,
        explorer,
        numbers,
    )


def known_layers(
    game: Game,
    states: NDArray[np.int32],
    indptr: NDArray[np.int64],
    progress: NDArray[np.int64],
    *,
    start: int,
    n_outcomes: int,
    in_order: bool,
    n_roots: int,
) -> Layers:
    """Layers that `find_layers` found before, from `n_roots` roots: see `Layers`.

    Raises
    ------
    UsageError
        The rules can't be compiled.
    """
    rules, compiled = _compiled(game, None)
    n, n_fields = states.shape
    explorer = Explorer(rules, compiled, states, max(n, limits.MAX_STATES_BY_LAYER))
    explorer.n_roots = n_roots
    rows = large_pages.empty((n + ROOM, n_fields), np.int32)
    rows[:n] = states
    explorer.renumber(rows)
    large_pages.release()
    explorer.counts["place"] = n
    return Layers(rules, rows[:n], indptr, progress, start, n_outcomes, in_order, explorer)


def _compiled(
    game: Game, progress: Callable[[str, int, int | None], None] | None
) -> tuple[Rules, CompiledRules]:
    """The rules of a game that measures its progress, and what was compiled of them."""
    rules = Rules(game)
    if not rules.has_progress:
        raise UsageError(
            f"{game.name} doesn't say how far it has gone; give it a method progress(s), a whole "
            "number that no outcome lowers, or a tuple of such numbers, to solve it by layers"
        )
    if jit_disabled():
        raise UsageError(
            f"{game.name}: layers need compiled rules, and NUMBA_DISABLE_JIT says to compile none"
        )
    if progress is not None:
        progress(COMPILING, 0, None)
    try:
        compiled = compiled_rules(rules)
        parts = rules.progress_size is not None
        compiled_question(rules, type(game).progress, parts=parts)  # before states are looked for
    except NotCompilable as error:
        raise _no_layers(game, error) from None
    return rules, compiled


def _no_layers(game: Game, error: NotCompilable) -> UsageError:
    return UsageError(f"{game.name}: rules that can't be compiled have no layers: {error}")
