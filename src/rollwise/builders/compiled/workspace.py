"""The arrays of a compiled builder, and its tables of states."""

from __future__ import annotations

import math

import numpy as np

from rollwise.builders.rules import Rules
from rollwise.graph.layout import LEAST, MOST
from rollwise.kernels import state_tables as kernels
from rollwise.kernels.explore import BATCH, RECENT, Buffers, GraphArrays
from rollwise.kernels.lotteries import LotteryTable, enter_lotteries

# A dense table has an entry for every state in the box of the fields. It is used
# for a box of at most this many entries, or of this many for each state found.
DENSE_PLACES = 1 << 22
DENSE_PLACES_PER_STATE = 16
MOST_PLACES = 1 << 62  # largest size of a box whose indices are the keys of a hash table
LEAST_NEW = 1 << 17  # states for which a hash table has room, beside the first ones
FEW_AT_ONCE = 1 << 4  # divisor of these sizes if many small tables are made


NO_LOOKUP = kernels.Lookup(np.empty(0, np.int32), np.empty(0, np.uint64), None, 0, True)


def likely_ends(rules: Rules) -> np.ndarray:
    """The likely limits of fields, sorted: 0 and the parameters of the game."""
    numbers = [p for p in rules.game.parameters.values() if type(p) is int and LEAST < p < MOST]
    return np.unique(np.array([LEAST, 0, *numbers, MOST], np.int64))


class StateTable:
    """The kernel's map from states to their numbers: dense if possible, otherwise hashed.

    Parameters
    ----------
    roots : (n_roots, n_fields) int32
    call : (1,) EXPAND
        The call of the rules, which receives the addresses of the table.
    likely : int64
        The likely limits of fields, from LEAST to MOST.
    few_at_once : bool
        Many tables are made in turn, each for a small set of states.
    """

    def __init__(
        self, roots: np.ndarray, call: np.ndarray, likely: np.ndarray, *, few_at_once: bool = False
    ) -> None:
        self._call, self._likely = call, likely
        self._less = FEW_AT_ONCE if few_at_once else 1
        self.box = kernels.box_of(roots)
        self.dense = True
        self._considered = 0  # number of states when a dense table was last considered
        self.lookup = NO_LOOKUP

    def _few_places(self, box: np.ndarray, n_states: int = 0) -> bool:
        """Whether a dense table of this size is worthwhile."""
        places = math.prod((box[1] - box[0] + 1).tolist())
        return bool(places <= max(DENSE_PLACES // self._less, DENSE_PLACES_PER_STATE * n_states))

    def make(self, rows: np.ndarray, states: np.ndarray, expected: int = 0) -> int:
        """Enter the rows without duplicates, as the first of `states`; return their number.

        A dense table has room for the box. A hash table has room for half as many states again, or
        for `expected` states if these are more, and some spare room.
        """
        n_fields = rows.shape[1]
        low, span = self.box[0].copy(), self.box[1] - self.box[0] + 1
        spans = span.tolist()
        places = math.prod(spans)
        self.dense &= self._few_places(self.box, len(rows))
        placed = places < MOST_PLACES
        if placed:
            stride = np.array([math.prod(spans[k + 1 :]) for k in range(n_fields)], np.int64)
        else:
            low, span = np.full(n_fields, LEAST), np.full(n_fields, MOST - LEAST + 1)
            stride = np.zeros(n_fields, np.int64)
        frame, mask = np.array([low, span, stride], np.int64), 0
        if self.dense:
            table, slots = self._free("table", places), NO_LOOKUP.slots
        else:
            most = max(len(rows) * 3 // 2, expected)
            most += max(LEAST_NEW // self._less, int(self._call["most_outcomes"][0]))
            size = 1 << (8 * most // kernels.MOST_TAKEN).bit_length()
            table, slots, mask = NO_LOOKUP.table, self._free("slots", size), size - 1
        exact = self.dense or (placed and places * (mask + 1) <= 1 << 64)
        self.lookup = kernels.Lookup(table, slots, frame, mask, exact)
        self._call["table"], self._call["slots"] = table.ctypes.data, slots.ctypes.data
        self._call["frame"] = frame.ctypes.data
        self._call["mask"], self._call["placed"] = mask, placed
        return int(kernels.add_rows(rows, states, *self.lookup))

    def _free(self, name: str, size: int) -> np.ndarray:
        """An array with all bits set: the array of the last table, if it has this size."""
        array: np.ndarray = getattr(self.lookup, name)
        if len(array) != size:
            dtype = array.dtype
            del array
            self.lookup = NO_LOOKUP  # frees the old array before a new one is allocated
            array = np.empty(size, dtype)
        array.view(np.int8).fill(-1)
        return array

    def is_full(self, n: int) -> bool:
        """Whether a hash table of `n` states may have too little room for one call of the rules."""
        if self.dense:
            return False
        return bool(n + int(self._call["most_outcomes"][0]) > kernels.room_in(self.lookup.slots))

    def reconsider(self, states: np.ndarray, n: int) -> None:
        """Make a hash table dense again, if the first `n` states now justify it.

        This reads all of them, so it happens only when there are half as many again as last time.
        If small tables are made in turn, the table stays hashed and the box as wide as it was.
        """
        if self.dense or self._less > 1 or 2 * n < 3 * self._considered:
            return
        self._considered = n
        box = kernels.box_of(states[:n])
        if self._few_places(box, n):
            self.box, self.dense = box, True
            self.make(states[:n], states)

    def fit_also(self, rows: np.ndarray) -> None:
        """Widen the box for other states, for a new table."""
        box = kernels.box_of(rows)
        self.box = np.array([np.minimum(self.box[0], box[0]), np.maximum(self.box[1], box[1])])
        self.dense = True

    def widen(self, before: np.ndarray) -> None:
        """Widen the box on the sides that grew: to a likely limit, or by a quarter.

        A small table is fast, but each growth takes time. The size of a hash table does not depend
        on the box, which then doubles.
        """
        lower, higher = self.box[0] < before[0], self.box[1] > before[1]
        likely = self._likely
        below = likely[np.searchsorted(likely, self.box[0], "right") - 1]
        above = likely[np.searchsorted(likely, self.box[1])]
        ends = np.array([np.where(lower, below, self.box[0]), np.where(higher, above, self.box[1])])
        if self._few_places(ends):
            self.box = ends
            return
        more = (self.box[1] - self.box[0]) // (4 if self.dense else 1) + 2
        self.box[0] -= np.where(lower, more, 0)
        self.box[1] += np.where(higher, more, 0)
        np.clip(self.box, LEAST, MOST, out=self.box)


def roomier(array: np.ndarray, rows: int, used: int) -> np.ndarray:
    """The array with room for `rows`. Memory beyond the used part is not touched."""
    if len(array) >= rows:
        return array
    grown = np.empty((rows, *array.shape[1:]), array.dtype)
    grown[:used] = array[:used]
    return grown


def new_buffers(call: np.ndarray, most: int, n_fields: int, throws: bool) -> Buffers:
    """Buffers for the outcomes of states, entered in the call."""
    label, end, weight, then, place, situation_end = np.zeros((6, most), np.int64)
    throw_weight, throw = np.zeros((2, most if throws else 0), np.int64)
    reward = np.zeros(most)
    buffers = Buffers(
        throw_end=np.zeros(BATCH, np.int64),
        throw_weight=throw_weight,
        throw=throw,
        real_throw_weight=throw_weight.view(np.float64),
        situation_end=situation_end,
        label=label,
        end=end,
        reward=reward,
        weight=weight,
        then=then,
        next_state=np.zeros((most, n_fields), np.int64),
        place=place,
        reward_bits=reward.view(np.int64),
        real_weight=weight.view(np.float64),
        payoff=then.view(np.float64),
        recent=np.zeros(RECENT, np.uint64),
        slots=np.zeros(4 * most + 3, np.int64),
    )
    call["most_actions"] = call["most_outcomes"] = most
    call["throw_ends"] = buffers.throw_end.ctypes.data
    call["throw_weights"] = throw_weight.ctypes.data
    call["throws"] = throw.ctypes.data
    call["situation_ends"] = situation_end.ctypes.data
    call["labels"] = label.ctypes.data
    call["rewards"] = reward.ctypes.data
    call["action_ends"] = end.ctypes.data
    call["weights"] = weight.ctypes.data
    call["thens"] = then.ctypes.data
    call["next_states"] = buffers.next_state.ctypes.data
    call["places"] = place.ctypes.data
    return buffers


def new_graph_arrays(rows: int, n_fields: int, throws: bool) -> GraphArrays:
    """Arrays for a number of states. Untouched memory takes no space."""
    graph = GraphArrays(
        states=np.empty((rows, n_fields), np.int32),
        state_throws=np.empty(rows if throws else 0, np.int32),
        action_indptr=np.empty(rows + 1, np.int64),
        action_label=np.empty(2 * rows, np.int32),
        action_lottery=np.empty(2 * rows, np.int32),
        outcome_indptr=np.empty(2 * rows + 1, np.int64),
        outcome_state=np.empty(7 * rows, np.int32),
    )
    graph.action_indptr[0] = graph.outcome_indptr[0] = 0
    return graph


def grown_graph_arrays(graph: GraphArrays, counts: np.void, more: int) -> GraphArrays:
    """Arrays for `more` states, actions and outcomes. A half full array grows much larger.

    Each growth copies into fresh memory, and untouched memory is free.
    """
    names = ("states", "situations", "actions", "outcomes")
    states, situations, actions, outcomes = (int(counts[name]) for name in names)
    expanded = int(counts["place"] - counts["first"])
    rows, action_rows, outcome_rows = len(graph.states), len(graph.action_label), 0
    situation_rows = len(graph.action_indptr) - 1
    if states + more > rows:
        rows = 4 * states + more
    if situations + more > situation_rows:
        situation_rows = 4 * situations + more
    if 2 * (actions + more) > action_rows:
        action_rows = 8 * (actions + more)
    if 2 * (outcomes + more) > len(graph.outcome_state):
        outcome_rows = 8 * (outcomes + more)
    return GraphArrays(
        roomier(graph.states, rows, states),
        roomier(graph.state_throws, rows if len(graph.state_throws) else 0, expanded),
        roomier(graph.action_indptr, situation_rows + 1, situations + 1),
        roomier(graph.action_label, action_rows, actions),
        roomier(graph.action_lottery, action_rows, actions),
        roomier(graph.outcome_indptr, action_rows + 1, actions + 1),
        roomier(graph.outcome_state, outcome_rows, outcomes),
    )


def new_lotteries(more: int) -> LotteryTable:
    """Tables for far more than `more` lotteries."""
    rows, outcomes = _lottery_rows(0, 0, more)
    return LotteryTable(
        indptr=np.zeros(rows + 1, np.int64),
        reward=np.empty(rows),
        key=np.empty(rows, np.uint64),
        weight=np.empty(outcomes, np.int64),
        then=np.empty(outcomes, np.int64),
        table=np.full(2 * rows, -1, np.int32),
    )


def grown_lotteries(lotteries: LotteryTable, n: int, used: int, more: int) -> LotteryTable:
    """Tables for more lotteries than the `n` present ones, with `used` outcomes together."""
    rows, outcomes = _lottery_rows(n, used, more)
    grown = LotteryTable(
        roomier(lotteries.indptr, rows + 1, n + 1),
        roomier(lotteries.reward, rows, n),
        roomier(lotteries.key, rows, n),
        roomier(lotteries.weight, outcomes, used),
        roomier(lotteries.then, outcomes, used),
        np.full(2 * rows, -1, np.int32),
    )
    enter_lotteries(grown, n)
    return grown


def _lottery_rows(n: int, used: int, more: int) -> tuple[int, int]:
    return max(1 << 12, 1 << (4 * (n + more)).bit_length()), max(1 << 16, 4 * (used + more))
