"""Building a graph in compiled code, for games of more than a few thousand states.

First come the arrays of the kernels, and their tables of states.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from rollwise.builders import limits
from rollwise.builders.arrays import Arrays, Throws
from rollwise.builders.compiled.cache_key import RULES
from rollwise.builders.compiled.compiling import Question, compiled_rules
from rollwise.builders.compiled.reads import new_call, reads_of
from rollwise.builders.compiled.spot_check import compare, sample
from rollwise.builders.expand import Action, expand, situations_in
from rollwise.builders.rules import Rules, Situation
from rollwise.errors import RollwiseError, RulesDiffer, RulesError
from rollwise.graph.layout import LEAST, MOST
from rollwise.kernels import explore
from rollwise.kernels import state_tables as kernels
from rollwise.kernels.calls import EXPAND, QUESTION
from rollwise.kernels.explore import BATCH, RECENT, Buffers, GraphArrays
from rollwise.kernels.lotteries import LotteryTable, enter_lotteries
from rollwise.machine import endless
from rollwise.machine.endless import Stall, watched
from rollwise.machine.interrupts import LOOK, heard
from rollwise.numbers.shares import SMALLEST
from rollwise.reach import functions_reached, names_in
from rollwise.then import LEAST_PAYOFF

# A dense table has an entry for every state in the box of the fields. It is used
# for a box of at most this many entries, or of this many for each state found.
DENSE_PLACES = 1 << 22
DENSE_PLACES_PER_STATE = 16
MOST_PLACES = 1 << 62  # largest size of a box whose indices are the keys of a hash table
LEAST_NEW = 1 << 17  # states for which a hash table has room, beside the first ones
FEW_AT_ONCE = 1 << 4  # divisor of these sizes if many small tables are made


NO_LOOKUP = kernels.Lookup(np.empty(0, np.int32), np.empty(0, np.uint64), None, 0, True)


class StateTable:
    """The kernel's map from states to their numbers: dense if possible, otherwise hashed.

    Parameters
    ----------
    roots : (n_roots, n_fields) int32
    call : (1,) EXPAND
        The call of the rules, which receives the addresses of the table.
    few_at_once : bool
        Many tables are made in turn, each for a small set of states.
    """

    def __init__(self, roots: np.ndarray, call: np.ndarray, *, few_at_once: bool = False) -> None:
        self._call = call
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
            # The least power of two that leaves enough slots free.
            size = 1 << (8 * most // kernels.MOST_TAKEN).bit_length()
            table, slots, mask = NO_LOOKUP.table, self._free("slots", size), size - 1
        # The whole place fits into a slot beside the number.
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
        """Widen the box by a quarter, on the sides that grew.

        A small table is fast, but each growth takes time. The size of a hash table does not depend
        on the box, which then doubles.
        """
        lower, higher = self.box[0] < before[0], self.box[1] > before[1]
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


# states and outcomes between two reports of progress
STATES_OF_CHUNK, OUTCOMES_OF_CHUNK = 200_000, 4_000_000
ROWS = 1 << 20  # initial rows of arrays; growing them takes time
LAYER_ROWS = 1 << 12  # the same if many layers are explored one after the other
TOO_WIDE = 16  # multiple of a layer's needs beyond which arrays are too large
FEW_MORE = 20  # random states to compare if this process has compared the same game before

_COMPARED: set[str] = set()  # keys of games


class Explorer:
    """Expands states by compiled rules, and numbers the states found.

    Attributes
    ----------
    graph : explore.GraphArrays
        The arrays of the graph so far.
    counts : (1,) explore.COUNTS
        The progress of the kernel.
    n_roots : int
    outcomes_each : float
        Estimated outcomes per state. It determines the steps of `run`.

    Parameters
    ----------
    roots : (n_roots, n_fields) int32
    layer_by_layer : bool
        Many small graphs are explored, each after a `restart`.

    Raises
    ------
    RulesError, TooManyStates
        By `run`.
    """

    def __init__(
        self,
        rules: Rules,
        roots: np.ndarray,
        max_states: int,
        *,
        layer_by_layer: bool = False,
    ) -> None:
        self._rules, self._expand, self._max_states = rules, compiled_rules(rules), max_states
        self._call, self._alive = new_call(EXPAND, rules.game, reads_of(rules).values)
        self._contract = explore.Contract(
            allowed=np.array([then in rules.allowed_thens for then in range(6)]),
            payoffs_allowed=rules.payoffs_allowed,
            least_payoff=SMALLEST if rules.seats_allowed else LEAST_PAYOFF,
            rewards_allowed=rules.rewards_allowed,
            max_states=max_states,
            # the number of states already includes the turns of a pool
            max_thrown=max_states if rules.pool is None else 2**62,
            max_outcomes=limits.most_outcomes(rules, max_states),
            looked_at=limits.LOOKED_AT,
        )
        self.outcomes_each = OUTCOMES_OF_CHUNK / 1000  # of a state, until some have been expanded
        self._most = 512  # actions and outcomes that fit into the buffers
        n_fields = len(rules.field_names)
        self._buffers = new_buffers(self._call, self._most, n_fields, rules.has_throws)
        self.counts = np.zeros(1, explore.COUNTS)
        self._least_rows = LAYER_ROWS if layer_by_layer else ROWS
        rows = max(self._least_rows, 2 * len(roots))
        self.graph = new_graph_arrays(rows, n_fields, rules.has_throws)
        self._lotteries, self._throw_lists = new_lotteries(self._most), new_lotteries(self._most)
        self._table = StateTable(roots, self._call, few_at_once=layer_by_layer)
        self.n_roots = self._table.make(roots, self.graph.states)
        self.counts["states"] = self.n_roots
        self._known = 0  # states of other layers, which count towards the limit
        self._within = explore.Within(
            self._expand, np.zeros(1, QUESTION), np.empty(0, np.int64), np.empty((0, 0), np.int64)
        )

    @property
    def n_states(self) -> int:
        """The number of states found so far."""
        return int(self.counts["states"][0])

    @property
    def n_outcomes(self) -> int:
        """The number of outcomes in the arrays."""
        return int(self.counts["outcomes"][0])

    @property
    def place(self) -> int:
        """The number of the next state to expand."""
        return int(self.counts["place"][0])

    @property
    def merging(self) -> bool:
        """Whether equal outcomes are merged."""
        return bool(self.counts["merging"][0])

    def restart(self, roots: np.ndarray, *, known: int = 0, looked_at: int = 0) -> None:
        """Forget all states and the explored layer, and begin with other roots.

        Parameters
        ----------
        roots : (n_roots, n_fields) int32
        known : int
            The number of states found before. They count towards the limit.
        looked_at : int
            The number of states examined for equal outcomes, if none were found yet.
        """
        merging, expected = self.merging, max(len(roots), self.n_states)  # as many as before
        # few different sizes, so that memory is reused
        rows = max(self._least_rows, 1 << (2 * expected).bit_length())
        self._chunk()  # this updates the number of outcomes per state
        self._known = known
        self._contract = self._contract._replace(
            looked_at=looked_at, max_states=self._max_states - known
        )
        self._within = self._within._replace(wanted=np.empty(0, np.int64))
        if not rows <= len(self.graph.states) <= TOO_WIDE * rows:
            self.graph = new_graph_arrays(rows, roots.shape[1], self._rules.has_throws)
        self.counts[0] = 0
        self.counts["merging"] = merging
        self._lotteries, self._throw_lists = new_lotteries(self._most), new_lotteries(self._most)
        self._table.fit_also(roots)
        self.n_roots = self._table.make(roots, self.graph.states, expected)
        self.counts["states"] = self.n_roots

    def explore_within(self, question: Question, wanted: np.ndarray) -> None:
        """Expand only states of one layer, by their answers to the question.

        Parameters
        ----------
        wanted : (n_parts,) int64
        """
        shape, reached = (len(self.graph.states), len(wanted)), self._within.reached
        if reached.shape[1] != shape[1] or len(reached) < shape[0]:
            reached = np.empty(shape, np.int64)
        self._within = explore.Within(question.answer, question.call, wanted, reached)

    @property
    def reached(self) -> np.ndarray:
        """The progress of each state, after `explore_within`: (n_states, n_parts) int64."""
        found: np.ndarray = self._within.reached[: self.n_states]
        return found

    def run(
        self,
        stop: int | None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> bool:
        """Expand states, up to the number `stop`; return whether states remain.

        Parameters
        ----------
        progress : callable, optional
            Called with the numbers of expanded and found states before it begins.
        """
        self._call["states"] = 0
        try:
            if progress is not None:
                progress(self.place, self.n_states)
            return self._run(stop)
        except KeyboardInterrupt as stopped:
            stopped.add_note(self._whereabouts())
            raise

    def _run(self, stop: int | None) -> bool:
        stop = self.place + self._chunk() if stop is None else stop
        self._table.reconsider(self.graph.states, self.n_states)
        # The kernel returns where it needs more room, and goes on from the same state.
        while self.place < stop:
            box = self._table.box.copy()
            self._call["states"] = 0  # until the kernel, which may need compiling, has begun
            ending = heard(self._explore, stop, watch=self.watch())
            if ending == explore.DONE:
                return False
            if ending == explore.LIMIT_REACHED:
                rows, outcomes = self.graph.states[: self.n_states], int(self.counts["outcomes"][0])
                raise limits.too_many_states(
                    self._rules, self.place, rows, self._max_states, outcomes, self._known
                )
            if ending == explore.PROGRESS_FAILED:
                asked = self.graph.states[int(self.counts["asked"][0])]
                raise self._rules.progress_fails(asked.tolist())
            if ending == explore.ODD_STATE:
                raise what_is_odd(self._rules, self.graph.states[self.place].tolist())
            if ending == explore.BOX_NEEDED:
                self._table.widen(box)
                self._table.make(self.graph.states[: self.n_states], self.graph.states)
            if ending == explore.BUFFERS_NEEDED:
                self._enlarge_buffers()
            if ending == explore.ROOM_NEEDED:
                self._enlarge_arrays()
        return True

    def _chunk(self) -> int:
        """The number of states to expand next."""
        first, place = int(self.counts["first"][0]), self.place
        seen = place - first
        if len(self._within.wanted):  # states outside the layer have no outcomes
            reached = self._within.reached[first:place]
            seen -= int(np.count_nonzero(np.any(reached != self._within.wanted, axis=1)))
        if seen > 0:
            self.outcomes_each = max(int(self.counts["outcomes"][0]) / seen, 1.0)
        return max(min(STATES_OF_CHUNK, int(OUTCOMES_OF_CHUNK / self.outcomes_each)), 1)

    def _explore(self, stop: int) -> int:
        ending: int = explore.explore(
            self._expand,
            self._call,
            self._within,
            self._buffers,
            self.graph,
            self._lotteries,
            self._throw_lists,
            self._table.lookup,
            self._table.box,
            self.counts,
            self._contract,
            stop,
        )
        return ending

    def _asked(self) -> np.ndarray:
        """The states last passed to the compiled rules."""
        states, address = self.graph.states, int(self._call["states"][0])
        # The address in the call shows the present states also while the kernel runs.
        place = self.place if address == 0 else (address - states.ctypes.data) // states.strides[0]
        asked: np.ndarray = states[place : place + max(int(self._call["count"][0]), 1)]
        return asked

    def _whereabouts(self) -> str:
        """The current states of the compiled rules, in words."""
        first, *others = self._asked().tolist()
        more = f" or one of the {len(others)} after it" if others else ""
        return f"in the state {self._rules.state_text(self._rules.layout.state(first))}{more}"

    def watch(self) -> Callable[[], None]:
        """A function that raises an error once the rules make no more progress."""
        stall = Stall(endless.LOOKS * endless.SECONDS_BETWEEN / LOOK)

        def look() -> None:
            address = int(self._call["states"][0])
            if address != 0 and stall.seen((self.place, address)):
                raise self._no_end()

        return look

    def _no_end(self) -> RollwiseError:
        """The error for endless compiled rules. They run on until the process ends."""
        asked = self._asked().copy()
        where = self._whereabouts()
        try:
            with watched():
                for fields in asked.tolist():
                    if self._rules.has_progress:
                        self._rules.progress(self._rules.layout.state(fields))
                    deque(expand_state(self._rules, fields), maxlen=0)
        except RulesError as error:
            return error  # it names the state, the action and the line
        return CompiledFails(
            f"{self._rules.game.name}: the compiled rules come to no end {where}, where Python's "
            "do; --mode interpreted (mode='interpreted') runs the rules in Python"
        )

    def _enlarge_buffers(self) -> None:
        if self._most > limits.MOST_YIELDED:  # raises an error for an endless loop in the rules
            fields = self.graph.states[self.place].tolist()
            deque(expand_state(self._rules, fields), maxlen=0)
        self._most *= 2
        n_fields, throws = self.graph.states.shape[1], self._rules.has_throws
        self._buffers = new_buffers(self._call, self._most, n_fields, throws)

    def _enlarge_arrays(self) -> None:
        counts = self.counts[0]
        self.graph = grown_graph_arrays(self.graph, counts, self._most)
        if len(self._within.wanted):
            reached, asked = self._within.reached, int(counts["asked"])
            more = roomier(reached, len(self.graph.states), asked)
            self._within = self._within._replace(reached=more)
        if self._table.is_full(self.n_states):
            self._table.make(self.graph.states[: self.n_states], self.graph.states)
        self._lotteries = grown_lotteries(
            self._lotteries, int(counts["lotteries"]), int(counts["lottery_outcomes"]), self._most
        )
        self._throw_lists = grown_lotteries(
            self._throw_lists, int(counts["throw_lists"]), int(counts["list_throws"]), self._most
        )

    def forget(self) -> None:
        """Drop the actions and outcomes found so far. The states stay."""
        self._chunk()  # this updates the number of outcomes per state
        self.counts["first"] = self.place
        self.counts["situations"] = self.counts["actions"] = self.counts["outcomes"] = 0

    def arrays(self) -> Arrays:
        """The result as arrays."""
        count = self.counts[0]
        first, place, actions = int(count["first"]), int(count["place"]), int(count["actions"])
        lotteries, lottery_outcomes = int(count["lotteries"]), int(count["lottery_outcomes"])
        graph, known = self.graph, self._lotteries
        weight = known.weight[:lottery_outcomes]
        return Arrays(
            self.n_roots,
            graph.states[first:place],
            graph.action_indptr[: int(count["situations"]) + 1],
            graph.action_label[:actions],
            graph.action_lottery[:actions],
            graph.outcome_indptr[: actions + 1],
            graph.outcome_state[: int(count["outcomes"])],
            known.indptr[: lotteries + 1],
            known.reward[:lotteries],
            weight.view(np.float64) if self._call["real_weights"][0] else weight,
            known.then[:lottery_outcomes],
            self._throws(place - first) if self._rules.has_throws else None,
        )

    def _throws(self, n: int) -> Throws:
        """The throws of the first `n` states in the arrays."""
        lists, found = (int(self.counts[name][0]) for name in ("throw_lists", "list_throws"))
        weight = self._throw_lists.weight[:found]
        return Throws(
            self.graph.state_throws[:n],
            self._throw_lists.indptr[: lists + 1],
            weight.view(np.float64) if self._call["real_throws"][0] else weight,
            self._throw_lists.then[:found],
        )


def build_compiled(
    rules: Rules,
    roots: np.ndarray,
    max_states: int,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Arrays:
    """Expand every state, breadth first, by the compiled rules.

    Parameters
    ----------
    roots : (n_roots, n_fields) int32

    Raises
    ------
    RulesError, RulesDiffer, TooManyStates
    """
    explorer = Explorer(rules, roots, max_states)
    more = True
    while more:
        more = explorer.run(progress=progress)
    arrays = explorer.arrays()
    chosen, key = sample(arrays.states), reads_of(rules).whole_key.text
    compare(rules, arrays, arrays.states, chosen[-FEW_MORE:] if key in _COMPARED else chosen)
    _COMPARED.add(key)
    return arrays


def expand_state(rules: Rules, fields: list[int]) -> Iterator[tuple[Situation, Action]]:
    """The situations and actions of a state, checked.

    Raises
    ------
    RulesError
    """
    for at in situations_in(rules, rules.layout.state(fields)):
        for action in expand(rules, at):
            yield at, action


class CompiledFails(RulesDiffer):
    """The compiled rules raise an exception, but Python's rules do not."""


def what_is_odd(rules: Rules, fields: list[int]) -> RollwiseError:
    """The error of a state at which the kernel stopped, by interpreting the state."""
    state = rules.layout.state(fields)
    try:
        for at, action in expand_state(rules, fields):
            for next_state in action.next_states:
                if next_state is not None:
                    where = rules.where(at, action.label)
                    rules.checked(next_state, f"outcomes() in the state {where}")
    except RulesError as error:
        return error
    return CompiledFails(
        f"{rules.game.name}: the compiled rules fail in the state {rules.state_text(state)}, where "
        "Python's don't: compiled whole numbers have 64 bits, 53 where they meet floats, and "
        "powers of them stay whole (see 'Compiled rules' in docs/language.md)"
        f"{_of_counters(rules)}; --mode interpreted (mode='interpreted') runs the rules in Python"
    )


def _of_counters(rules: Rules) -> str:
    """The remedy for a Counter of which compiled rules don't know that it is one."""
    kind = type(rules.game)
    reached = functions_reached((getattr(kind, name) for name in RULES), kind)
    counts = any("Counter" in names_in(function.__code__) for function in reached)
    return "; of a Counter handed to a function, write counts.get(k, 0)" if counts else ""
