"""Rules into a graph in compiled code, for games of more than a few thousand states."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import numpy as np

from rollwise.builders.compiled.compiling import CompiledRules
from rollwise.builders.compiled.spot_check import compare, sample
from rollwise.builders.interpreted import (
    LOOKED_AT,
    MOST_YIELDED,
    Arrays,
    expand,
    too_many_states,
)
from rollwise.builders.rules import LEAST, MOST, Rules
from rollwise.errors import RollwiseError, RulesDiffer, RulesError
from rollwise.kernels import explore
from rollwise.machine import large_pages
from rollwise.machine.interrupts import heard

CHUNK = 200_000
OUTCOMES_PER_STATE = 40  # a graph may have this many outcomes for each state of the limit

# A dense table takes a place for every state in the box of the fields; it is used
# while the box is at most this many places, or this many for each state found.
DENSE_PLACES = 1 << 22
DENSE_PLACES_PER_STATE = 16


def _few_places(box: np.ndarray, n_states: int = 0) -> bool:
    """Whether a dense table is worth its places."""
    places = math.prod((box[1] - box[0] + 1).tolist())
    return bool(places <= max(DENSE_PLACES, DENSE_PLACES_PER_STATE * n_states))


def _likely_ends(rules: Rules) -> np.ndarray:
    """Where fields may end, in order: at 0, or at a parameter of the game."""
    found = [p for p in rules.game.parameters.values() if type(p) is int and LEAST < p < MOST]
    return np.unique(np.array([LEAST, 0, *found, MOST], np.int64))


class StateTable:
    """Where the kernel looks up the number of a state: dense if it can be, else hashed.

    Parameters
    ----------
    roots : (n_roots, n_fields) int32
    context : (CONTEXT_SLOTS,) int64
        Of the rules, which are told there where to look up states.
    likely : int64
        Where fields may end, from LEAST to MOST.
    """

    def __init__(self, roots: np.ndarray, context: np.ndarray, likely: np.ndarray) -> None:
        self._context, self._likely = context, likely
        self.box = explore.box_of(roots)
        self.dense = True
        self._considered = 0  # states, when it was last asked whether it could be dense again
        self.lookup: explore.Lookup

    def make(self, rows: np.ndarray, states: np.ndarray) -> int:
        """Enter the rows without repeats, as the first of `states`; how many there are.

        A dense table gets room for the box, a hash table for all of `states`.
        """
        n_fields = rows.shape[1]
        low, span = self.box[0].copy(), self.box[1] - self.box[0] + 1
        spans = span.tolist()
        places = math.prod(spans)
        self.dense &= _few_places(self.box, len(rows))
        if self.dense:
            stride = np.array([math.prod(spans[k + 1 :]) for k in range(n_fields)], np.int64)
        else:
            low, span = np.full(n_fields, LEAST), np.full(n_fields, MOST - LEAST + 1)
            stride = np.zeros(n_fields, np.int64)
            places = 1 << (2 * len(states) - 1).bit_length()
        frame = np.array([low, span, stride], np.int64)
        mask = 0 if self.dense else places - 1
        table = large_pages.empty(places, np.int32)
        table.fill(-1)
        self.lookup = explore.Lookup(table, frame, mask)
        self._context[explore.CONTEXT_TABLE] = table.ctypes.data
        self._context[explore.CONTEXT_FRAME] = frame.ctypes.data
        self._context[explore.CONTEXT_MASK] = mask
        return int(explore.add_rows(rows, states, *self.lookup))

    def reconsider(self, states: np.ndarray, n: int) -> None:
        """Make a hash table dense again, if by now the first `n` states are enough for that.

        It looks at all of them, so only where they are half as many again as the last time.
        """
        if self.dense or 2 * n < 3 * self._considered:
            return
        self._considered = n
        box = explore.box_of(states[:n])
        if _few_places(box, n):
            self.box, self.dense = box, True
            self.make(states[:n], states)

    def widen(self, before: np.ndarray) -> None:
        """Grow the box where it had to grow: to a likely end, or by a quarter.

        A small table is a fast one, but each growth takes time.
        """
        lower, higher = self.box[0] < before[0], self.box[1] > before[1]
        likely = self._likely
        below = likely[np.searchsorted(likely, self.box[0], "right") - 1]
        above = likely[np.searchsorted(likely, self.box[1])]
        ends = np.array([np.where(lower, below, self.box[0]), np.where(higher, above, self.box[1])])
        if _few_places(ends):
            self.box = ends
            return
        more = (self.box[1] - self.box[0]) // 4 + 2
        self.box[0] -= np.where(lower, more, 0)
        self.box[1] += np.where(higher, more, 0)
        np.clip(self.box, LEAST, MOST, out=self.box)


def _roomier(array: np.ndarray, rows: int, used: int) -> np.ndarray:
    """The array with room for `rows`; memory past the used part is not touched."""
    if len(array) >= rows:
        return array
    grown = large_pages.empty((rows, *array.shape[1:]), array.dtype)
    grown[:used] = array[:used]
    return grown


def _buffers(context: np.ndarray, most: int, n_fields: int) -> explore.Buffers:
    """Scratch room for outcomes of states to be expanded, entered in the context."""
    state_end = np.zeros(explore.BATCH, np.int64)
    label, end, weight, then, place = np.zeros((5, most), np.int64)
    reward = np.zeros(most)
    next_state = np.zeros((most, n_fields), np.int64)
    context[explore.CONTEXT_STATE_END] = state_end.ctypes.data
    context[explore.CONTEXT_ACTION] = label.ctypes.data
    context[explore.CONTEXT_ACTION_END] = end.ctypes.data
    context[explore.CONTEXT_WEIGHT] = weight.ctypes.data
    context[explore.CONTEXT_THEN] = then.ctypes.data
    context[explore.CONTEXT_REWARD] = reward.ctypes.data
    context[explore.CONTEXT_NEXT] = next_state.ctypes.data
    context[explore.CONTEXT_PLACE] = place.ctypes.data
    context[explore.CONTEXT_MOST_ACTIONS] = most
    context[explore.CONTEXT_MOST_OUTCOMES] = most
    return explore.Buffers(state_end, label, end, reward, weight, then, next_state, place)


def _lottery_room(
    before: explore.LotteryRoom | None, n: int, used: int, more: int
) -> explore.LotteryRoom:
    """Room for `n` lotteries with `used` outcomes together, and far more than `more` others."""
    rows = max(1 << 12, 1 << (4 * (n + more)).bit_length())
    outcomes = max(1 << 16, 4 * (used + more))
    table = np.full(2 * rows, -1, np.int32)
    if before is None:
        return explore.LotteryRoom(
            np.zeros(rows + 1, np.int64),
            np.empty(rows),
            np.empty(rows, np.uint64),
            np.empty(outcomes, np.int64),
            np.empty(outcomes, np.int64),
            table,
        )
    room = explore.LotteryRoom(
        _roomier(before.indptr, rows + 1, n + 1),
        _roomier(before.reward, rows, n),
        _roomier(before.key, rows, n),
        _roomier(before.weight, outcomes, used),
        _roomier(before.then, outcomes, used),
        table,
    )
    explore.enter_lotteries(room, n)
    return room


class Explorer:
    """Expands states by compiled rules, and numbers those that it comes to.

    Attributes
    ----------
    room : explore.Room
        The arrays of the graph so far.
    counters : (explore.COUNTERS,) int64
    n_roots : int

    Parameters
    ----------
    roots : (n_roots, n_fields) int32

    Raises
    ------
    RulesError, TooManyStates
        By `run`.
    """

    def __init__(
        self, rules: Rules, compiled: CompiledRules, roots: np.ndarray, max_states: int
    ) -> None:
        self._rules, self._expand, self._max_states = rules, compiled.expand, max_states
        self._context, self._alive = compiled.context(rules.game)
        self._allowed = np.array([then in rules.allowed_thens for then in range(6)])
        self._looked_at = LOOKED_AT
        self._most = 512
        n_fields = len(rules.field_names)
        self._buffers = _buffers(self._context, self._most, n_fields)
        self.counters = np.zeros(explore.COUNTERS, np.int64)
        # Room that is never touched takes no memory; arrays that needn't grow take less time.
        rows = max(1 << 20, 2 * len(roots))
        self.room = explore.Room(
            large_pages.empty((rows, n_fields), np.int32),
            large_pages.empty(rows + 1, np.int64),
            large_pages.empty(2 * rows, np.int32),
            large_pages.empty(2 * rows, np.int32),
            large_pages.empty(2 * rows + 1, np.int64),
            large_pages.empty(8 * rows, np.int32),
        )
        self.room.action_indptr[0] = self.room.outcome_indptr[0] = 0
        self._lotteries = _lottery_room(None, 0, 0, self._most)
        self._table = StateTable(roots, self._context, _likely_ends(rules))
        self.n_roots = self._table.make(roots, self.room.states)
        self.counters[explore.STATES] = self.n_roots

    @property
    def n_states(self) -> int:
        """States found so far."""
        return int(self.counters[explore.STATES])

    @property
    def place(self) -> int:
        """The state to be expanded next."""
        return int(self.counters[explore.PLACE])

    def run(self, stop: int | None = None) -> bool:
        """Expand a number of states, up to the number `stop`; whether there are more."""
        stop = self.place + CHUNK if stop is None else stop
        self._table.reconsider(self.room.states, self.n_states)
        while self.place < stop:
            box = self._table.box.copy()
            try:
                ending = heard(self._explore, stop - self.place)
            except KeyboardInterrupt as stopped:
                stopped.add_note(self._whereabouts())
                raise
            if ending == explore.DONE:
                return False
            if ending != explore.PAUSED:
                self._help(ending, box)
        return True

    def _explore(self, chunk: int) -> int:
        ending: int = explore.explore(
            self._expand,
            self._context.ctypes.data,
            self._context,
            self._buffers,
            self.room,
            self._lotteries,
            self._table.lookup,
            self._table.box,
            self.counters,
            self._allowed,
            self._rules.game.objective != "win",
            self._max_states,
            self._max_states * OUTCOMES_PER_STATE,
            chunk,
            self._looked_at,
        )
        return ending

    def _whereabouts(self) -> str:
        """What the compiled rules were asked last, while they are still at it."""
        states = self.room.states
        offset = int(self._context[explore.CONTEXT_STATE]) - states.ctypes.data
        place = min(max(offset // states.strides[0], 0), self.n_states - 1)
        more = int(self._context[explore.CONTEXT_COUNT]) - 1
        state = self._rules.state_text(states[place].tolist())
        return f"in the state {state}" + (f" or one of the {more} after it" if more > 0 else "")

    def _help(self, ending: int, box: np.ndarray) -> None:
        """What the kernel needs to go on."""
        place, n_states, n_actions, n_outcomes, n_lotteries, lottery_outcomes = (
            int(count) for count in self.counters[:6]
        )
        room, table = self.room, self._table
        if ending == explore.LIMIT_REACHED:
            raise too_many_states(
                self._rules, place, room.states[:n_states], self._max_states, n_outcomes
            )
        if ending == explore.ODD_STATE:
            raise _what_is_odd(self._rules, room.states[place].tolist())
        if ending == explore.BOX_NEEDED:
            table.widen(box)
            table.make(room.states[:n_states], room.states)
        if ending == explore.BUFFERS_NEEDED:
            if self._most > MOST_YIELDED:  # if a loop in the rules doesn't end, it says so
                state = self._rules.state_type(*room.states[place].tolist())
                deque(expand(self._rules, state), maxlen=0)
            self._most *= 2
            self._buffers = _buffers(self._context, self._most, room.states.shape[1])
        if ending == explore.ROOM_NEEDED:
            most = self._most
            rows, actions, outcomes = len(room.states), len(room.action_label), 0
            if n_states + most > rows:
                rows = 2 * n_states + most
            if 2 * (n_actions + most) > actions:
                actions = 4 * (n_actions + most)
            if 2 * (n_outcomes + most) > len(room.outcome_state):
                outcomes = 4 * (n_outcomes + most)
            done = place - int(self.counters[explore.FIRST])
            self.room = explore.Room(
                _roomier(room.states, rows, n_states),
                _roomier(room.action_indptr, rows + 1, done + 1),
                _roomier(room.action_label, actions, n_actions),
                _roomier(room.action_lottery, actions, n_actions),
                _roomier(room.outcome_indptr, actions + 1, n_actions + 1),
                _roomier(room.outcome_state, outcomes, n_outcomes),
            )
            if not table.dense:
                table.make(self.room.states[:n_states], self.room.states)
            self._lotteries = _lottery_room(self._lotteries, n_lotteries, lottery_outcomes, most)

    def begin_at(self, first: int) -> None:
        """Let the arrays of the graph begin anew, with the state `first`."""
        self.counters[[explore.PLACE, explore.FIRST]] = first
        self.forget()
        self.counters[[explore.LOTTERIES, explore.LOTTERY_OUTCOMES]] = 0
        self._lotteries = _lottery_room(None, 0, 0, self._most)

    def forget(self) -> None:
        """Drop the actions and outcomes found so far; the states stay."""
        self.counters[explore.FIRST] = self.place
        self.counters[[explore.ACTIONS, explore.OUTCOMES]] = 0

    def renumber(self, states: np.ndarray) -> None:
        """Take the states in another order: (n_states and some more, n_fields) int32."""
        self._looked_at = 0  # what is found out stays
        self.room = self.room._replace(states=states)
        self._table.make(states[: self.n_states], states)

    def arrays(self) -> Arrays:
        """What was found."""
        place, _, n_actions, n_outcomes, n_lotteries, lottery_outcomes = (
            int(count) for count in self.counters[:6]
        )
        first = int(self.counters[explore.FIRST])
        room, lotteries = self.room, self._lotteries
        weight = lotteries.weight[:lottery_outcomes]
        if self.counters[explore.REAL_WEIGHTS]:
            weight = weight.view(np.float64)
        return Arrays(
            self.n_roots,
            room.states[first:place],
            room.action_indptr[: place - first + 1],
            room.action_label[:n_actions],
            room.action_lottery[:n_actions],
            room.outcome_indptr[: n_actions + 1],
            room.outcome_state[:n_outcomes],
            lotteries.indptr[: n_lotteries + 1],
            lotteries.reward[:n_lotteries],
            weight,
            lotteries.then[:lottery_outcomes].astype(np.int8),
        )


def build_compiled(
    rules: Rules,
    compiled: CompiledRules,
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
    explorer = Explorer(rules, compiled, roots, max_states)
    more = True
    while more:
        if progress is not None:
            progress(explorer.place, explorer.n_states)
        more = explorer.run()
    arrays = explorer.arrays()
    compare(rules, arrays, arrays.states, sample(arrays.states))
    return arrays


class CompiledFails(RulesDiffer):
    """The compiled rules raise an exception where Python's don't."""


def _what_is_odd(rules: Rules, fields: list[int]) -> RollwiseError:
    """The error of a state that the kernel stopped at, found by interpreting it."""
    state = rules.state_type(*fields)
    try:
        for action in expand(rules, state):
            for next_state in action.next_states:
                if next_state is not None:
                    where = rules.where(state, action.label)
                    rules.checked(next_state, f"outcomes() in the state {where}")
    except RulesError as error:
        return error
    return CompiledFails(
        f"{rules.game.name}: the compiled rules fail in the state {rules.state_text(state)}, where "
        "Python's don't: compiled whole numbers have 64 bits, and powers of them stay whole (see "
        "'Compiled rules' in the README); --mode interpreted (mode='interpreted') runs the rules "
        "in Python"
    )
