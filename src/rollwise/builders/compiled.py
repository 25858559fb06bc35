"""Rules into a graph in compiled code, for games of more than a few thousand states."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rollwise.builders.compiling import CompiledRules
from rollwise.builders.interpreted import Arrays, expand, too_many_states
from rollwise.builders.rules import Rules
from rollwise.errors import RulesError
from rollwise.kernels import explore

CHUNK = 200_000
OUTCOMES_PER_STATE = 40  # a graph may have this many outcomes for each state of the limit

# A dense table takes a place for every state in the box of the fields; it is used
# while the box is at most this many places, or this many for each state found.
DENSE_PLACES = 1 << 22
DENSE_PLACES_PER_STATE = 16


class StateTable:
    """Where the kernel looks up the number of a state: dense if it can be, else hashed."""

    def __init__(self, roots: np.ndarray) -> None:
        self.box = np.array([roots.min(axis=0), roots.max(axis=0)], np.int64)
        self.dense = True
        self.low = np.zeros(roots.shape[1], np.int64)
        self.stride = np.zeros(roots.shape[1], np.int64)
        self.table = np.empty(0, np.int32)

    def make(self, rows: np.ndarray, states: np.ndarray) -> int:
        """Enter the rows without repeats, as the first of `states`; how many there are.

        A dense table gets room for the box, a hash table for all of `states`.
        """
        low, spans = self.box[0], (self.box[1] - self.box[0] + 1).tolist()
        places = math.prod(spans)
        self.dense &= places <= max(DENSE_PLACES, DENSE_PLACES_PER_STATE * len(rows))
        if self.dense:
            self.low[:] = low
            self.stride[:] = [math.prod(spans[k + 1 :]) for k in range(len(spans))]
        else:
            self.stride[:] = 0
            places = 1 << (2 * len(states) - 1).bit_length()
        self.table = np.full(places, -1, np.int32)
        return int(explore.add_rows(rows, states, self.table, self.low, self.stride))

    def widen(self, before: np.ndarray) -> None:
        """Grow the box, where it had to grow, to twice its span."""
        spans = before[1] - before[0] + 1
        grown = self.box[0] < before[0]
        self.box[0] -= np.where(grown, spans, 0)
        grown = self.box[1] > before[1]
        self.box[1] += np.where(grown, spans, 0)
        np.clip(self.box, -(2**31), 2**31 - 1, out=self.box)


def _roomier(array: np.ndarray, rows: int, used: int) -> np.ndarray:
    """The array with room for `rows`; memory past the used part is not touched."""
    if len(array) >= rows:
        return array
    grown = np.empty((rows, *array.shape[1:]), array.dtype)
    grown[:used] = array[:used]
    return grown


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
    RulesError, TooManyStates
    """
    n_fields = len(rules.field_names)
    whole, real, alive = compiled.record(rules.game)
    context = np.zeros(explore.CONTEXT_SLOTS, np.int64)
    context[explore.CONTEXT_INTS] = whole.ctypes.data
    context[explore.CONTEXT_REALS] = real.ctypes.data
    counters = np.zeros(5, np.int64)
    allowed = np.array([then in rules.allowed_thens for then in range(6)])
    most = 256

    def buffers(most: int) -> tuple[np.ndarray, ...]:
        numbers = np.zeros((4, most), np.int64)
        rewards = np.zeros(most)
        next_states = np.zeros((most, n_fields), np.int64)
        context[explore.CONTEXT_ACTION] = numbers[0].ctypes.data
        context[explore.CONTEXT_ACTION_END] = numbers[1].ctypes.data
        context[explore.CONTEXT_WEIGHT] = numbers[2].ctypes.data
        context[explore.CONTEXT_THEN] = numbers[3].ctypes.data
        context[explore.CONTEXT_REWARD] = rewards.ctypes.data
        context[explore.CONTEXT_NEXT] = next_states.ctypes.data
        context[explore.CONTEXT_MOST_ACTIONS] = most
        context[explore.CONTEXT_MOST_OUTCOMES] = most
        return numbers, rewards, next_states, np.zeros(most, np.int64)

    numbers, rewards, next_states, places = buffers(most)
    # Room that is never touched takes no memory, and arrays that needn't grow take less time.
    rows = max(1 << 20, 2 * len(roots))
    states = np.empty((rows, n_fields), np.int32)
    lookup = StateTable(roots)
    n_roots = counters[explore.STATES] = lookup.make(roots, states)
    action_indptr = np.zeros(rows + 1, np.int64)
    action_label = np.empty(2 * rows, np.int32)
    action_reward = np.empty(2 * rows)
    outcome_indptr = np.zeros(2 * rows + 1, np.int64)
    outcome_state = np.empty(8 * rows, np.int32)
    outcome_weight = np.empty(8 * rows, np.int64)
    outcome_then = np.empty(8 * rows, np.int8)
    while True:
        box = lookup.box.copy()
        ending = explore.explore(
            compiled.expand,
            context.ctypes.data,
            context,
            numbers,
            rewards,
            next_states,
            places,
            states,
            lookup.table,
            lookup.low,
            lookup.stride,
            lookup.box,
            action_indptr,
            action_label,
            action_reward,
            outcome_indptr,
            outcome_state,
            outcome_weight,
            outcome_then,
            counters,
            allowed,
            rules.game.objective != "win",
            max_states,
            max_states * OUTCOMES_PER_STATE,
            CHUNK,
        )
        place, n_states, n_actions, n_outcomes = (int(count) for count in counters[:4])
        if ending == explore.DONE:
            break
        if progress is not None:
            progress(place, n_states)
        if ending == explore.LIMIT_REACHED:
            raise too_many_states(rules, place, n_states, max_states, n_outcomes)
        if ending == explore.ODD_STATE:
            raise _what_is_odd(rules, states[place].tolist())
        if ending == explore.BOX_NEEDED:
            lookup.widen(box)
            lookup.make(states[:n_states], states)
        if ending == explore.BUFFERS_NEEDED:
            most *= 2
            numbers, rewards, next_states, places = buffers(most)
        if ending == explore.ROOM_NEEDED:
            states = _roomier(states, 2 * n_states + most, n_states)
            action_indptr = _roomier(action_indptr, len(states) + 1, place + 1)
            if not lookup.dense:
                lookup.make(states[:n_states], states)
            if 2 * (n_actions + most) > len(action_label):
                action_label = _roomier(action_label, 4 * (n_actions + most), n_actions)
                action_reward = _roomier(action_reward, len(action_label), n_actions)
                outcome_indptr = _roomier(outcome_indptr, len(action_label) + 1, n_actions + 1)
            if 2 * (n_outcomes + most) > len(outcome_state):
                outcome_state = _roomier(outcome_state, 4 * (n_outcomes + most), n_outcomes)
                outcome_weight = _roomier(outcome_weight, len(outcome_state), n_outcomes)
                outcome_then = _roomier(outcome_then, len(outcome_state), n_outcomes)
    del alive
    weights = outcome_weight[:n_outcomes]
    if counters[explore.REAL_WEIGHTS]:
        weights = weights.view(np.float64)
    return Arrays(
        int(n_roots),
        states[:n_states],
        action_indptr[: n_states + 1],
        action_label[:n_actions],
        action_reward[:n_actions],
        outcome_indptr[: n_actions + 1],
        outcome_state[:n_outcomes],
        weights,
        outcome_then[:n_outcomes],
    )


def _what_is_odd(rules: Rules, fields: list[int]) -> RulesError:
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
    return RulesError(
        f"{rules.game.name}: the compiled rules fail in the state {rules.state_text(state)}, "
        "where the interpreted ones don't (whole numbers beyond 64 bits?); "
        "build with mode='interpreted'"
    )
