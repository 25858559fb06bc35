"""Games by layers: the progress of states, and their rules as the blocks of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import limits
from rollwise.builders.arrays import Arrays, first_rows, lotteries_of, whole
from rollwise.builders.compiled.compiling import Question
from rollwise.builders.compiled.explorer import Explorer
from rollwise.builders.compiled.spot_check import compare_answers
from rollwise.builders.known_rows import Numbers, Rows, places_in
from rollwise.builders.rules import Rules, Situation, as_progress
from rollwise.errors import RollwiseError, RulesError
from rollwise.graph import sign_of
from rollwise.layers import Block, Layer, Pool, block_of
from rollwise.layers.layer import NO_POOL, smallest_kind
from rollwise.layers.order import endings_of, tables_of

FEW = 20  # too few states for compiled rules


class Reached:
    """Computes the progress of states by compiled rules.

    Attributes
    ----------
    question : Question

    Raises
    ------
    NotCompilable
    """

    def __init__(self, rules: Rules) -> None:
        size = rules.progress_size
        self._rules, self._parts = rules, [None] if size is None else list(range(size))
        self.question = Question(rules, type(rules.game).progress, parts=size is not None)

    def of(self, rows: NDArray[np.int32]) -> Numbers:
        """The progress of states: (n, n_numbers) int64.

        Parameters
        ----------
        rows : (n, n_fields) int32

        Raises
        ------
        RulesError
        """
        codes = np.empty((len(rows), len(self._parts)), np.int64)
        for column, part in enumerate(self._parts):
            codes[:, column], failed = self.question.answers(rows, part)
            if failed >= 0:
                raise self._rules.progress_fails(rows[failed].tolist())
        return codes


class LayersByProgress:
    """Finds layers by their progress.

    Parameters
    ----------
    progress : (n_layers,) or (n_layers, n_numbers) int64
        Without duplicates.
    """

    def __init__(self, progress: Numbers) -> None:
        rows = progress.reshape(len(progress), -1)
        self._layers = np.lexsort(rows.T[::-1])
        self._sorted = rows[self._layers]

    def find(self, reached: Numbers) -> Numbers:
        """The layers with given progress; -1 if there is none.

        Parameters
        ----------
        reached : (n,) or (n, n_numbers) int64
        """
        index = places_in(self._sorted, reached.reshape(-1, self._sorted.shape[1]))
        return np.where(index < 0, -1, self._layers[index])


def progress_of(rules: Rules, rows: NDArray[np.int32], otherwise: Numbers) -> Numbers:
    """The results of `progress` for rows, some of which may be no states.

    Parameters
    ----------
    rows : (n, n_fields) int32
    otherwise : (n_numbers,) int64, or one number
        The result if it fails.

    Returns
    -------
    (n, n_numbers) or (n,) int64
    """
    progress = np.repeat(otherwise[None], len(rows), axis=0)
    if len(rows) > FEW:
        with suppress(RulesError):
            return Reached(rules).of(rows).reshape(progress.shape)
    for i, row in enumerate(rows.tolist()):
        with suppress(RollwiseError):
            progress[i] = rules.progress(rules.layout.state(row))
    return progress


class Workbench:
    """An explorer and a question for the progress of states, for one thread at a time.

    Parameters
    ----------
    rules : Rules
    most : int
        The largest number of states to number together.

    Attributes
    ----------
    last : Explorer or None
        The last explorer used, unless it was released.
    """

    def __init__(self, rules: Rules, most: int) -> None:
        self._rules, self._most = rules, most
        self.last: Explorer | None = None

    @cached_property
    def reached(self) -> Reached:
        """Computes the progress of states."""
        return Reached(self._rules)

    def begun(self, rows: Rows, *, merging: bool, known: int = 0, looked_at: int = 0) -> Explorer:
        """An explorer that begins at some states, in the memory of the last one.

        Parameters
        ----------
        rows : (n, n_fields) int32
        merging : bool
            Whether equal outcomes are merged.
        known, looked_at : int
            See `Explorer.restart`.
        """
        if self.last is None:
            self.last = Explorer(self._rules, rows[:1], self._most, layer_by_layer=True)
        self.last.counts["merging"] = merging
        self.last.restart(rows, known=known, looked_at=looked_at)
        return self.last

    def expanded(self, begun: Explorer, n: int, *, keep_arrays: bool = False) -> Expanded:
        """The rules of the first `n` states of a restarted explorer.

        Parameters
        ----------
        keep_arrays : bool
            Whether the result has `arrays` of games with throws, too.
        """
        begun.run(n)
        arrays = begun.arrays()
        targets = begun.graph.states[n : begun.n_states]
        layer = layer_of(self._rules, arrays, [(0, block_from(arrays))], n, len(targets))
        first = first_rows(self._rules, arrays)
        kept = arrays.copied() if keep_arrays or not self._rules.has_throws else None
        return Expanded(layer, targets.copy(), kept, first)

    def put_away(self) -> None:
        """Release the explorer and its arrays."""
        self.last = None


class Expanded(NamedTuple):
    """The rules of some states, in the order of the states.

    Attributes
    ----------
    layer : rollwise.layers.Layer
        All other targets of the states are its border.
    targets : (layer.n_border, n_fields) int32
        The states of the border.
    arrays : Arrays or None
        The arrays of the states, in reading order. Present on request, and if states have no
        throws.
    first_rows : dict
        See `rollwise.builders.arrays.first_rows`.
    """

    layer: Layer
    targets: Rows
    arrays: Arrays | None
    first_rows: dict[int, list[int]]

    def packed(self) -> Expanded:
        """The same rules, with targets in fewer bytes, which no kernel reads."""
        return self._with_targets(smallest_kind(self.layer.n_places))

    def unpacked(self) -> Expanded:
        """The packed rules, for kernels."""
        return self._with_targets(np.uint32)

    def _with_targets(self, kind: type[np.unsignedinteger[Any]]) -> Expanded:
        blocks = [
            (place, block._replace(target=block.target.astype(kind, copy=False)))
            for place, block in self.layer.blocks
        ]
        return self._replace(layer=replace(self.layer, blocks=blocks))

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        others = 0 if self.arrays is None else self.arrays.nbytes
        return self.layer.nbytes + self.targets.nbytes + others


def falls(rules: Rules, states: Rows, asked: Reached) -> RulesError:
    """The error for an outcome of one of these states with lower progress.

    Raises
    ------
    RulesDiffer
        Python's rules do not lower it.
    """
    explorer = Explorer(rules, states, limits.MOST_NUMBERED)
    explorer.run(len(states))
    arrays, known = explorer.arrays(), explorer.graph.states[: explorer.n_states]
    source = _state_of_outcomes(arrays)
    inside = np.flatnonzero(arrays.outcome_state >= 0)
    reached, target = asked.of(known), arrays.outcome_state[inside]
    lower = np.any(reached[target] < reached[source[inside]], axis=1)
    outcome = int(inside[np.argmax(lower)])
    pair = np.array([source[outcome], arrays.outcome_state[outcome]])
    function, size = type(rules.game).progress, rules.progress_size
    for part in range(reached.shape[1]):
        told = None if size is None else part
        compare_answers(rules, function, known[pair], reached[pair, part], told)
    here, after = (as_progress(row[0] if size is None else row) for row in reached[pair])
    a = int(np.searchsorted(arrays.outcome_indptr, outcome, side="right")) - 1
    state = rules.layout.state(known[pair[0]].tolist())
    where = rules.where(Situation(state), int(arrays.action_label[a]))
    return rules.fault(
        f"progress() falls from {here} to {after} in the state {where}; {rules.no_outcome_lowers}"
    )


def _state_of_outcomes(arrays: Arrays) -> Numbers:
    """The source state of each outcome: (n_outcomes,) int64."""
    ends = arrays.outcome_indptr[arrays.action_indptr]
    if arrays.throws is not None:
        ends = ends[arrays.throws.situation_indptr]
    return np.repeat(np.arange(len(ends) - 1), np.diff(ends))


LAST = 2**32 - 1  # minus the number of a lottery's outcome: provisional target of an ending


def block_from(arrays: Arrays) -> Block:
    """Some positions as a block. Their endings are numbered later (`layer_of`)."""
    n, throws = len(arrays.states), arrays.throws
    situation = np.arange(n + 1) if throws is None else throws.situation_indptr
    action = arrays.action_indptr[situation]
    first = np.column_stack([situation, action, arrays.outcome_indptr[action]])
    target = arrays.outcome_state.astype(np.uint32)
    over = np.flatnonzero(arrays.outcome_state < 0)
    owner = np.searchsorted(arrays.outcome_indptr, over, side="right") - 1
    along = over - arrays.outcome_indptr[owner]
    target[over] = LAST - (arrays.lottery_indptr[arrays.action_lottery[owner]] + along)
    lists = np.zeros(n, np.uint8) if throws is None else throws.of_state
    return block_of(first, lists, np.diff(arrays.action_indptr), arrays.action_lottery, target)


def layer_of(
    rules: Rules, arrays: Arrays, blocks: Sequence[tuple[int, Block]], n: int, n_border: int
) -> Layer:
    """A layer from its blocks. Endings are numbered in place.

    Parameters
    ----------
    arrays : Arrays
        With the lotteries and lists of throws of all blocks.
    """
    lotteries, sign = lotteries_of(arrays), float(sign_of(rules.game.objective))
    endings, ending = endings_of(lotteries, sign, n + n_border)
    # Provisional targets count down from LAST, one for each outcome of a lottery.
    first_ending = LAST - len(ending) + 1
    for _, block in blocks:
        over = np.flatnonzero(block.target >= first_ending)
        block.target[over] = ending[LAST - block.target[over].astype(np.int64)]
    throws = None
    if arrays.throws is not None:
        throws = arrays.throws.indptr, whole(arrays.throws.weight)
    tables = tables_of(lotteries, sign, throws, _pool_of(rules))
    return Layer(list(blocks), tables, n, n_border, endings)


def _pool_of(rules: Rules) -> Pool:
    """The tables of the pool of dice; empty ones without a pool."""
    if rules.pool is None:
        return NO_POOL
    from rollwise.builders.turns import pool_tables

    return pool_tables(rules.pool, rules.reads_rolls_left)
